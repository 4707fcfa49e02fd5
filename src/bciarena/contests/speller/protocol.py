"""Asynchronous speller: 60 trials a block, 40-45 of them flickering; 1 s cue, 4 s stimulus, 1 s feedback, rest.

Every key flickers at least once a block. Trials that do not flicker are coded 100 + the key looked at; 141, the
41st code of the text's range, is a look at the middle of the screen where no key is.
"""

from __future__ import annotations

import numpy as np

from bciarena.contests.speller.rules import FREQUENCY_HZ, KEYS, PHASE_RAD
from bciarena.errors import BadInput
from bciarena.protocol import Place, Protocol, Screening, Script, Split, Timeline, stream

TRIALS = 60
FLICKER = (40, 45)
CUE_S, STIMULUS_S, FEEDBACK_S = 1.0, 4.0, 1.0
SHORT_REST_S, LONG_REST_S, SHORT_SHARE = 4.0, 12.0, 0.9
WORD_REST_S = 1.0
FREE_ROUNDS = 200
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 ,."
"""Keys 1 to 39; the 40th is backspace."""


def rest_s(rng: np.random.Generator) -> float:
    """90 % of rests last 0-4 s, the others up to 12 s."""
    return float(rng.uniform(0, SHORT_REST_S) if rng.random() < SHORT_SHARE else rng.uniform(SHORT_REST_S, LONG_REST_S))


def block(place: Place) -> Timeline:
    """One block of 60 trials."""
    rng = place.rng
    flicker_n = int(rng.integers(FLICKER[0], FLICKER[1] + 1))
    keys = [*range(1, KEYS + 1), *rng.integers(1, KEYS + 1, flicker_n - KEYS)]
    codes = [*keys, *rng.integers(101, 142, TRIALS - flicker_n)]
    script = Script(250)
    script.opening(None)
    for code in map(int, rng.permutation(codes)):
        key = code if code <= KEYS else (code - 100 if code - 100 <= KEYS else None)
        script.add(CUE_S, "cue", key=key)
        if code <= KEYS:
            hz, phase = FREQUENCY_HZ[code - 1], PHASE_RAD[code - 1]
            script.add(STIMULUS_S, "flicker", code, key=key, hz=hz, phase_rad=phase)
        else:
            script.add(STIMULUS_S, "still", code, key=key)
        script.add(FEEDBACK_S, "feedback", key=key)
        script.mark(241)
        script.add(rest_s(rng), "rest")
    script.closing(rng, None)
    return script.timeline("speller/1", place.split, place.subject, place.block)


def word_block(asked: Screening) -> Timeline | None:
    """Every letter of a word as a flicker trial; None if no word is asked for. Free spelling has no cues."""
    word, free = asked.options.get("word"), bool(asked.options.get("free"))
    if word is None:
        return free_block(asked) if free else None
    script = Script(250)
    script.opening(None)
    for letter in word.upper():
        if letter not in LETTERS:
            raise BadInput(f"--word: there is no key {letter!r}; the keys are letters, digits, space, comma, full stop")
        key = LETTERS.index(letter) + 1
        if not free:
            script.add(CUE_S, "cue", key=key)
        hz, phase = FREQUENCY_HZ[key - 1], PHASE_RAD[key - 1]
        script.add(STIMULUS_S, "flicker", key, key=key, hz=hz, phase_rad=phase, free=free)
        script.add(FEEDBACK_S, "feedback", key=key, free=free)
        script.mark(241)
        script.add(WORD_REST_S, "rest")
    script.closing(stream(0, "word", word), None)
    return script.timeline("speller/1", "test", asked.subject, asked.block)


def free_block(asked: Screening) -> Timeline:
    """Keys flicker and rest, on and on; nobody but the subject knows what is spelt, so no code tells it."""
    script = Script(250)
    script.opening(None)
    for _ in range(FREE_ROUNDS):
        script.add(
            STIMULUS_S, "flicker", key=None, hz=FREQUENCY_HZ[0], phase_rad=0.0, others_hz=FREQUENCY_HZ, free=True
        )
        script.add(FEEDBACK_S, "feedback", free=True)
        script.add(WORD_REST_S, "rest")
    script.closing(stream(0, "free"), None)
    return script.timeline("speller/1", "test", asked.subject, asked.block)


PROTOCOL = Protocol(
    # The contest has no training data: a training set is an extra, of other people.
    splits={"train": Split(3, "practice"), "test": Split(3, "people")},
    block=block,
    practice={"split": "train", "subjects": 1, "blocks": 1},
    screen=word_block,
    options=frozenset({"word", "free"}),
    # A made-up person with strong responses, and an entry that answers every key.
    demo={"subject": 6, "seed": 3, "entry": "@speller-baseline", "options": {"word": "HELLO WORLD.", "free": True}},
)
