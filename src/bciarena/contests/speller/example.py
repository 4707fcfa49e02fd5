"""The minute that arena check plays."""

from bciarena.contests.speller.brain import flicker
from bciarena.entries.tiny import Example

EXAMPLE = Example((1.0, 4.0, 3.0), ((7, 110, 24), (38, 13, 101)), flicker=flicker)
