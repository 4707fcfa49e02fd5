"""The box: what an entry may see and use while it runs, and how it is ended."""

from bciarena.sandbox.limits import Limits
from bciarena.sandbox.player import boxed
from bciarena.sandbox.probe import why_not

__all__ = ["Limits", "boxed", "why_not"]
