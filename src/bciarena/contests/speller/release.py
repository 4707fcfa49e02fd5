"""The text has no training set: whatever is recorded is scored."""

from bciarena.release.part import Release

RELEASE = Release(sets={"test": "scored"})
