"""Reports without end after one packet, to fill the referee's memory and disk."""


class Entry:
    def run(self, packets):
        next(packets)
        while True:
            yield 201
