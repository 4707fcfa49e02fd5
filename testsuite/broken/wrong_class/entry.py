"""A class without anything that can be played."""


class Entry:
    def decode(self, packet):
        return 201
