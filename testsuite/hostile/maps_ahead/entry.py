"""Maps all of the shared memory and looks for samples that were not handed out yet."""

import mmap
import os

import numpy as np


def client_of(packets):
    """The box's end of the wire, dug out of the generator that hides it."""
    return packets.gi_frame.f_locals["client"]


class Entry:
    def run(self, packets):
        seen = 0
        for packet in packets:
            seen += packet.data.shape[1]
            if seen == 1000:
                self.look(seen, client_of(packets))
        return
        yield

    def look(self, seen, client):
        for fd in range(1024):
            try:
                size = os.fstat(fd).st_size
                whole = mmap.mmap(fd, size, prot=mmap.PROT_READ)
            except (OSError, ValueError):
                continue
            values = np.frombuffer(whole, np.float64, size // 8)
            if ((values >= seen) & (values < seen + 100_000)).any():
                print("ESCAPED", fd, size)
            print("held", fd, size)
        values = client._full
        print("ESCAPED" if (values[0] >= seen).any() else "held", "client")
        try:
            client._map.resize(1 << 20)
            print("ESCAPED resize")
        except (OSError, ValueError, SystemError, BufferError) as error:
            print("held resize", type(error).__name__)
        for fd in range(1024):
            try:
                if not os.fstat(fd).st_size:
                    continue
            except OSError:
                continue
            try:
                os.ftruncate(fd, 16)  # would kill the referee where it looks
                print("ESCAPED truncate")
            except OSError as error:
                print("held truncate", error.strerror)
