"""What `arena release` makes of recordings: training blocks with their truth, then scored blocks without."""

from bciarena.release import Release

RELEASE = Release(sets={"train": "train", "test": "scored"})
