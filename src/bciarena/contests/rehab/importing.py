"""Words of public imagery recordings, and the form of the contest's own: within a trial only imagery is kept (R20)."""

from bciarena.contests.rehab.rules import CLASSES
from bciarena.importing.meanings import Meanings

CUE_S, REST_S = 3.0, 1.5
SLACK_S = 0.5
"""A cue lasts until the imagery's code, a rest until the next cue's: both may come a little later than planned."""

IMPORTING = Meanings(
    words={"left_hand": 3, "right_hand": 4},
    trial_s=4.0,
    blank_s={240: CUE_S + SLACK_S, 241: REST_S + SLACK_S, 243: 0.0, **dict.fromkeys(CLASSES, 0.0)},
)
