"""Raises the request number by two."""


def client_of(packets):
    """The box's end of the wire, dug out of the generator that hides it."""
    return packets.gi_frame.f_locals["client"]


class Entry:
    def run(self, packets):
        next(packets)
        client = client_of(packets)
        client._seq += 1
        client.next()
        yield 201
