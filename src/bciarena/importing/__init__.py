"""Turns existing recordings into data folders of a challenge, with a list of what was adapted."""

from bciarena.importing.bring import bring_in

__all__ = ["bring_in"]
