"""The minute that arena check plays."""

from bciarena.entries.tiny import Example

EXAMPLE = Example((0.0, 6.0, 1.5), ((129, 2, 195), (3, 204, 133)), zeros="outside tasks")
