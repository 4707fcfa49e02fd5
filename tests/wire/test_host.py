"""Both ends of the wire in one process: the client in a thread, the host serving by hand."""

import os
import threading

import numpy as np
import pytest

from bciarena.wire import page
from bciarena.wire.client import Client, Packet
from bciarena.wire.host import PATIENCE, Host
from bciarena.wire.page import Malformed

ROWS, N = 3, 4


@pytest.fixture
def ends():
    host = Host(ROWS, N)
    client = Client([os.dup(fd) for fd in host.box_fds], ROWS, N, {"challenge": "test"})
    yield host, client
    os.close(client._in)
    os.close(client._out)
    host.started()
    host.close()


def ask(call, *arguments):
    """Start a client's call; gives a function that waits for its result."""
    results = []
    thread = threading.Thread(target=lambda: results.append(call(*arguments)), daemon=True)
    thread.start()

    def result():
        thread.join(5)
        assert not thread.is_alive()
        return results[0]

    return result


def until_asked(host, seq):
    while host.words[page.ASK] != seq:
        pass
    return host.asked(seq)


def packet(data, **more):
    fields = {"subject": 2, "block": 3, "number": 4, "start": 10, "total_start": 110, "finished": False}
    return Packet(data=data, **{**fields, **more})


@pytest.mark.parametrize("width", [N, 1, 3])
def test_packet_arrives_whole(ends, width):
    host, client = ends
    result = ask(client.next)
    assert until_asked(host, 1) == page.NEXT
    data = np.arange(ROWS * width, dtype=float).reshape(ROWS, width)
    host.hand_out(1, packet(data, finished=True))
    got = result()
    np.testing.assert_array_equal(got.data, data)
    assert got[1:] == (2, 3, 4, 10, 110, True)
    assert got.position == 10 + width
    got.data[:] = -1  # its own copy
    result = ask(client.next)
    until_asked(host, 2)
    host.hand_out(2, None)
    assert result() is None


def test_data_in_any_order_of_memory(ends):
    host, client = ends
    data = np.asfortranarray(np.arange(12.0).reshape(ROWS, N))
    result = ask(client.next)
    until_asked(host, 1)
    host.hand_out(1, packet(data))
    np.testing.assert_array_equal(result().data, data)


def test_report(ends):
    host, client = ends
    result = ask(client.report, np.int64(7))
    assert until_asked(host, 1) == page.REPORT
    assert host.value() == 7
    host.reply(1)
    assert result() is None


def test_a_sleeping_client_is_woken(ends):
    host, client = ends
    assert host.words[page.POLLS] == 0  # unless the referee says otherwise, the box sleeps at once
    result = ask(client.report, "x")
    until_asked(host, 1)
    while not host.words[page.BOX_ASLEEP]:
        pass
    host.reply(1)
    assert result() is None


def test_request_numbers_go_one_by_one(ends):
    host, client = ends
    client._words[page.ASK] = 2
    with pytest.raises(Malformed, match="one request at a time"):
        host.asked(1)


@pytest.mark.parametrize("length", [-1, page.LONGEST_ASK + 1, 1 << 62, -(1 << 62)])
def test_payload_is_bounded(ends, length):
    host, client = ends
    client._words[page.LENGTH] = length
    with pytest.raises(Malformed, match="bytes; at most"):
        host.payload()


def test_wake_pipe(ends):
    host, client = ends
    assert host.take_wakes()
    os.write(client._out, page.WAKE * 3)
    assert host.take_wakes()
    os.write(client._out, b"hello")
    with pytest.raises(Malformed, match="protocol's descriptor"):
        host.take_wakes()
    os.write(client._out, page.WAKE * (PATIENCE + 1))
    with pytest.raises(Malformed, match="flood"):
        host.take_wakes()


def test_the_page_cannot_be_cut_short(ends):
    host, _ = ends
    for size in (0, 1 << 20):
        with pytest.raises(PermissionError):
            os.ftruncate(host.box_fds[0], size)
    assert os.fstat(host.box_fds[0]).st_size == page.page_bytes(ROWS, N)
