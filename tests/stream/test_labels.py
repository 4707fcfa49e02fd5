"""Labels that arrive after each trial arrive too late for it, and tell nothing of the next one."""

from __future__ import annotations

import numpy as np
import pytest

from bciarena.contests import CONTESTS, rulebook
from bciarena.contests.spans import trial_spans
from bciarena.stream import Stream
from bciarena.stream.labels import with_labels
from tests.noise import noise_set


@pytest.mark.parametrize("name", CONTESTS)
def test_a_label_comes_when_no_report_can_count_for_its_trial(name):
    book = rulebook(name)
    block = noise_set(name, subjects=1, blocks=1).subjects[0].blocks[0]
    plain, told = book.masked_trigger(block.trigger), with_labels(book, block)
    at = np.flatnonzero(plain != told)
    spans = trial_spans(book, block)
    assert len(at) in (len(spans), len(spans) - 1)  # of a block's last trial there may be nothing left to tell
    assert not plain[at].any(), "no code of the stream is lost"
    for place, span in zip(at, spans, strict=False):
        assert told[place] == span.code
        seen = (place // book.packet_n + 1) * book.packet_n  # the first position of a report that has seen it
        limit = span.data_start + round((book.limit_s or 1e9) * book.rate)
        assert seen > span.stop or seen > limit
        if not book.mask[span.code]:  # onsets are hidden: the label stands where the limit is, whatever follows
            assert 0 <= place - limit < book.packet_n


def test_the_stream_shows_them_only_where_it_is_asked_to():
    book, recording = rulebook("imagery"), noise_set("imagery", subjects=1, blocks=1)

    def codes(**how):
        source, found = Stream(book, recording, **how), []
        while (packet := source.next()) is not None:
            found += packet.data[-1][packet.data[-1] > 0].astype(int).tolist()
        return found

    assert not {201, 202, 203} & set(codes())
    truth = [event.code for event in recording.subjects[0].blocks[0].events if event.code in book.opens]
    assert [code for code in codes(labels=True) if code in book.opens] == truth[:-1]
