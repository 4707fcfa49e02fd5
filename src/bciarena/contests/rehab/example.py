"""The minute that arena check plays."""

from bciarena.entries.tiny import Example

QUIET_UNDER = {1: "C4", 2: "C3", 3: "C4", 4: "C3"}

EXAMPLE = Example((3.0, 4.0, 1.5), ((1, 3, 1), (4, 2, 4)), cue=240, zeros="in trials", quiet=QUIET_UNDER.get)
