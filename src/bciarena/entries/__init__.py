"""Entries: what contestants bring (opened, checked, packed), and our own reference entries, one folder each."""

from bciarena.package import Interpreter, Package

__all__ = ["Interpreter", "Package", "interpreter_for", "open_entry"]


def __getattr__(name: str) -> object:
    # On first use: a reference entry inside a box imports its own subpackage and none of this.
    if name == "open_entry":
        from bciarena.entries.package import open_entry

        return open_entry
    if name == "interpreter_for":
        from bciarena.entries.environments import interpreter_for

        return interpreter_for
    raise AttributeError(name)
