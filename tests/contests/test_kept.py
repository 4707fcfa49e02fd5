"""Ledgers kept from before the score was made from sums give the same numbers, to the last bit."""

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from bciarena.contests import rulebook
from bciarena.recording.model import Block, Recording, Subject
from bciarena.referee import Truth
from bciarena.runs import score_of

KEPT = sorted((Path(__file__).parents[1] / "kept").glob("*.json.gz"))


def recording_of(book, blocks):
    people = {}
    for one in blocks:
        trigger = np.zeros(one["samples"])
        for sample, code in one["events"]:
            trigger[sample] = code
        eeg = np.broadcast_to(np.float32(0), (len(book.channels), one["samples"]))
        people.setdefault(one["subject"], []).append(Block(eeg, trigger, book.rate, book.channels, "kept"))
    return Recording(tuple(Subject(f"S{number:02d}", tuple(own)) for number, own in people.items()))


@pytest.mark.parametrize("path", KEPT, ids=lambda path: path.name.split(".")[0])
def test_a_kept_ledger_scores_as_it_did(path):
    kept = json.loads(gzip.decompress(path.read_bytes()))
    book = rulebook(kept["challenge"])
    truth = Truth.of(book, recording_of(book, kept["blocks"]))
    found = score_of(book, truth, kept["reports"], kept["end"])
    assert json.loads(json.dumps(found)) == kept["score"]
    assert kept["rulebook"] in book.formerly


def test_there_are_kept_ledgers_of_every_contest():
    assert len(KEPT) == 10
