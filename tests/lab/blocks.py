"""Blocks as `arena lab` shows them."""

from bciarena.lab.hub import Hub
from bciarena.protocol import Screening, screened


def plan(challenge, split=None, subject=1, block=1, seed=0, word=None, rounds=None):
    options = {name: value for name, value in {"word": word, "rounds": rounds}.items() if value is not None}
    return screened(challenge, Screening(split, subject, block, seed, options))


def word_block(word, subject=1, block=1):
    return plan("speller", None, subject, block, 0, word=word)


def rounds_block(rounds, subject=1, block=1, seed=0):
    return plan("turing", None, subject, block, seed, rounds=rounds)


def patient(timeline, log=None, send_code=None, **more):
    """A hub that may start at once and on a busy machine: the warning was given, lost frames make no trial void."""
    return Hub(timeline, log, send_code, **{"confirmed": True, "lost_ms": 1e6} | more)
