"""What public imagery recordings call the three classes."""

from bciarena.importing.meanings import Meanings

IMPORTING = Meanings(words={"left_hand": 201, "right_hand": 202, "feet": 203}, trial_s=4.0)
