"""The text: common average reference; only five electrodes of the cap are given."""

from bciarena.importing.meanings import Meanings

IMPORTING = Meanings(reference="average")
