"""BCI Arena: plays EEG recordings to decoding algorithms packet by packet and referees them by contest rules."""

from importlib.metadata import version

__version__ = version("bciarena")

__all__ = ["__version__", "play", "rulebook"]


def __getattr__(name: str) -> object:
    # Loaded on first use, so that code inside an entry's interpreter can import the package without scipy.
    if name == "play":
        from bciarena.inprocess import play

        return play
    if name == "rulebook":
        from bciarena.contests import rulebook

        return rulebook
    raise AttributeError(name)
