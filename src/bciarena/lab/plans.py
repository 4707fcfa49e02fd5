"""Which timeline is shown: a block of the contest, a word to type, some rounds of soccer."""

from __future__ import annotations

from bciarena.contests import rulebook
from bciarena.contests.liveness.rules import EYES_CLOSED, EYES_OPEN
from bciarena.contests.speller.rules import FREQUENCY_HZ, PHASE_RAD
from bciarena.errors import BadInput
from bciarena.protocol import timelines
from bciarena.protocol.seeds import stream
from bciarena.contests.turing.soccer import play_round
from bciarena.contests.speller.protocol import CUE_S, FEEDBACK_S, STIMULUS_S
from bciarena.protocol.timeline import Kind, Script, Timeline
from bciarena.contests.turing.protocol import _soccer_trial

KEYS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 ,."
WORD_REST_S = 1.0
RESTING_S = 60.0


def plan(
    challenge: str, split: str | None, subject: int, block: int, seed: int, word: str | None, rounds: int | None
) -> Timeline:
    """The timeline asked for; BadInput when there is none."""
    book = rulebook(challenge)
    if word is not None:
        if book.name != "speller":
            raise BadInput("--word is for the speller")
        return word_block(word, subject, block)
    if rounds is not None:
        if book.name != "turing":
            raise BadInput("--rounds is for turing")
        if rounds < 1:
            raise BadInput(f"--rounds {rounds}: give 1 or more")
        return rounds_block(rounds, subject, block, seed)
    if book.name == "liveness":
        return resting_block(subject, block)
    found = timelines(book.id, split or "test", subject, seed)
    if not 1 <= block <= len(found):
        raise BadInput(f"--block {block}: {book.id} has blocks 1 to {len(found)}")
    return found[block - 1]


def resting_block(subject: int, block: int) -> Timeline:
    """A minute with eyes open and a minute with eyes closed, coded as real trials of the subject."""
    script = Script(250)
    script.opening(None)
    kinds: tuple[tuple[Kind, int], ...] = (("eyes_open", EYES_OPEN), ("eyes_closed", EYES_CLOSED))
    for kind, base in kinds:
        script.add(RESTING_S, kind, base + subject)
        script.mark(241)
        script.add(2.0, "rest")
    script.closing(stream(0, "resting"), None)
    return script.timeline("liveness/1", "cali_train", subject, block)


def word_block(word: str, subject: int, block: int) -> Timeline:
    """Every letter of a word as a flicker trial."""
    script = Script(250)
    script.opening(None)
    for letter in word.upper():
        if letter not in KEYS:
            raise BadInput(f"--word: there is no key {letter!r}; the keys are letters, digits, space, comma, full stop")
        key = KEYS.index(letter) + 1
        script.add(CUE_S, "cue", key=key)
        script.add(STIMULUS_S, "flicker", key, key=key, hz=FREQUENCY_HZ[key - 1], phase_rad=PHASE_RAD[key - 1])
        script.add(FEEDBACK_S, "feedback", key=key)
        script.mark(241)
        script.add(WORD_REST_S, "rest")
    script.closing(stream(0, "word", word), None)
    return script.timeline("speller/1", "test", subject, block)


def rounds_block(rounds: int, subject: int, block: int, seed: int) -> Timeline:
    """Some rounds of soccer."""
    rng = stream(seed, "lab soccer", subject, block)
    script = Script(250)
    script.opening(250)
    for _ in range(rounds):
        for trial in play_round(rng):
            _soccer_trial(script, trial)
    script.closing(rng, 251)
    return script.timeline("turing/1", "test", subject, block)
