"""Begins a request and never finishes it."""

import time


def client_of(packets):
    """The box's end of the wire, dug out of the generator that hides it."""
    return packets.gi_frame.f_locals["client"]


class Entry:
    def run(self, packets):
        next(packets)
        words = client_of(packets)._words
        words[1], words[2] = 2, 500
        time.sleep(10_000)
        yield 201
