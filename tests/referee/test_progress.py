"""What people who wait are told."""

from bciarena.contests import rulebook
from bciarena.match import Match
from bciarena.referee.ledger import Ledger
from bciarena.stream import Stream
from tests.making import make_recording

IMAGERY = rulebook("imagery")


def test_progress_names_subject_block_and_trial():
    blocks = [(3000, {0: 201, 605: 202, 640: 203}), (700, {100: 201})]
    told = []
    match = Match(IMAGERY, Stream(IMAGERY, make_recording(IMAGERY, blocks)), Ledger({}), on_progress=told.append)
    while match.next():
        told.append(match.progress)
    at = {(now.block, now.packets): now.trial for now in told}
    # The packet that holds a code is the 61st: 610 samples are out then.
    assert [at[1, n] for n in (1, 60, 61, 64, 65, 300)] == [1, 1, 2, 2, 3, 3]
    assert [at[2, n] for n in (310, 311)] == [0, 1]


def test_progress_does_not_tell_where_hidden_trials_begin():
    book = rulebook("speller")
    code = min(book.opens - book.forbidden)
    match = Match(book, Stream(book, make_recording(book, [(3000, {100: code, 1600: code})])), Ledger({}))
    trials = set()
    while match.next():
        trials.add(match.progress.trial)
    assert trials == {0}
