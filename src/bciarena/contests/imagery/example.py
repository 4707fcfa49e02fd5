"""The minute that arena check plays."""

from bciarena.entries.tiny import Example

QUIET_UNDER = {201: "C4", 202: "C3", 203: "Cz"}

EXAMPLE = Example((2.0, 4.0, 2.0), ((201, 203, 202), (202, 201, 203)), cue=240, quiet=QUIET_UNDER.get)
