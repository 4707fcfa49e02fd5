"""Takes memory until there is none."""


class Entry:
    def step(self, packet):
        held = []
        while True:
            held.append(bytearray(b"x") * (16 << 20))
