"""Words of public imagery recordings."""

from bciarena.importing.meanings import Meanings

IMPORTING = Meanings(
    words={"left_hand": 201, "right_hand": 202, "feet": 203, "left hand": 201, "right hand": 202}, trial_s=4.0
)
