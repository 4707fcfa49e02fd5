"""Words of public imagery recordings."""

from bciarena.importing.meanings import Meanings

IMPORTING = Meanings(words={"left_hand": 3, "right_hand": 4}, trial_s=4.0)
