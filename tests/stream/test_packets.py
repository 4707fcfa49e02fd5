"""No sample is lost, doubled or reordered; truth never goes out; the recording is never written to."""

from __future__ import annotations

import numpy as np
import pytest

from bciarena.contests import RULEBOOKS, rulebook
from bciarena.stream import Stream
from tests.making import make_recording


def drain(book, recording):
    stream = Stream(book, recording)
    packets = []
    while packet := stream.next():
        packets.append(packet)
    assert stream.next() is None
    return packets


@pytest.mark.parametrize("book", RULEBOOKS.values(), ids=lambda b: b.name)
def test_counting_recording_comes_out_whole(book):
    """The first channel counts samples: block lengths around every multiple of the packet, and of the read-ahead."""
    n = book.packet_n
    opener = min(book.opens - book.forbidden)
    lengths = [k * n + d for k in (1, 2, 3, 255, 256, 257, 512) for d in (-1, 0, 1) if k * n + d > 1]
    blocks = [(length, {0: opener, length - 1: 241}) for length in lengths]
    packets = drain(book, make_recording(book, blocks, blocks[:2]))
    expected = [(1, b, length) for b, length in enumerate(lengths, 1)] + [
        (2, b, length) for b, length in enumerate(lengths[:2], 1)
    ]
    total = 0
    for subject, block, length in expected:
        own = [p for p in packets if (p.subject, p.block) == (subject, block)]
        count = np.concatenate([p.data[0] for p in own])
        assert np.array_equal(count, np.arange(length))
        assert [p.number for p in own] == list(range(1, len(own) + 1))
        assert all(p.data.shape[1] == n for p in own[:-1])
        assert 1 <= own[-1].data.shape[1] <= n
        assert [p.start for p in own] == list(range(0, length, n))
        assert [p.total_start for p in own] == [total + start for start in range(0, length, n)]
        assert own[-1].position == length
        total += length
    assert [p.finished for p in packets] == [False] * (len(packets) - 1) + [True]


@pytest.mark.parametrize("book", RULEBOOKS.values(), ids=lambda b: b.name)
def test_eeg_goes_out_unchanged_and_belongs_to_the_receiver(book):
    recording = make_recording(book, [(5 * book.packet_n + 3, {0: min(book.opens - book.forbidden), 20: 241})])
    block = recording.subjects[0].blocks[0]
    before = block.data.copy()
    packets = drain(book, recording)
    assert np.array_equal(np.concatenate([p.data[:-1] for p in packets], axis=1), block.eeg.astype(np.float64))
    for packet in packets:
        assert packet.data.dtype == np.float64
        assert packet.data.flags.owndata
        packet.data[:] = 7  # an entry may write into its packet
    assert np.array_equal(block.data, before)


def masked(name, *codes):
    book = rulebook(name)
    return [int(book.mask[code]) for code in codes]


def test_masks_are_those_of_the_texts():
    assert masked("turing", 0b0001011, 0b1001111, 240, 241, 242, 243, 250, 251) == [8, 72, 240, 241, 242, 243, 250, 251]
    assert masked("imagery", 201, 202, 203, 240, 241, 242, 250) == [249, 249, 249, 240, 241, 242, 250]
    assert masked("speller", *range(1, 41), *range(101, 142), 240, 241, 250, 251) == [0] * 85
    assert masked("speller", 242, 243) == [242, 243]
    assert masked("liveness", 1, 23, 129, 151, 193, 215, 241, 242) == [240] * 6 + [241, 242]
    assert masked("rehab", 1, 2, 3, 4, 7, 8, 9, 240, 241) == [200] * 4 + [7, 8, 9, 240, 241]


@pytest.mark.parametrize("book", RULEBOOKS.values(), ids=lambda b: b.name)
def test_no_truth_is_left_in_the_stream(book):
    """All opening codes of one behaviour look alike once masked."""
    if book.name == "turing":
        for behaviour in range(1, 10):
            assert {book.mask[behaviour << 3 | task] for task in range(1, 8)} == {behaviour << 3}
    else:
        assert len({book.mask[code] for code in book.opens}) == 1
