"""Sends an answer that our client would never send: a float that is no number, then text that is no text."""


def client_of(packets):
    """The box's end of the wire, dug out of the generator that hides it."""
    return packets.gi_frame.f_locals["client"]


class Entry:
    def run(self, packets):
        next(packets)
        client_of(packets)._ask(2, b"s\xff\xfe")
        yield 201
