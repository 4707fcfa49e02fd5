"""From recordings to what contestants and the referee get: a masked public copy, the truth, and a data card."""

from bciarena.release.making import release
from bciarena.release.part import Release, Role, release_of

__all__ = ["Release", "Role", "release", "release_of"]
