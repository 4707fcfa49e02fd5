"""The sets of the text: training blocks with their truth, then test blocks."""

from bciarena.release.part import Release

RELEASE = Release(sets={"train": "train", "test": "scored"})
