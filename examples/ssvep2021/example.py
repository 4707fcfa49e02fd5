"""What `arena check` plays."""

from bciarena.entries.tiny import Example

from .brain import flicker

EXAMPLE = Example((0.5, 4.0, 1.0), ((7, 30, 24), (38, 13, 1)), flicker=flicker)
