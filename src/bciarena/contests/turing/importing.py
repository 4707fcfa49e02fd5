"""Words of public imagery recordings; codes as Table 2 allows them (R21)."""

from bciarena.importing.meanings import Meanings

IMPORTING = Meanings(words={"left_hand": 1 << 3 | 1, "right_hand": 4 << 3 | 2}, trial_s=5.0)
