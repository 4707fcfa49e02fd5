"""Raises in the middle of the first block; the report before it stands."""


class Entry:
    count = 0

    def step(self, packet):
        self.count += 1
        if self.count == 51:  # 250 samples into the first trial, whose answer is 201
            return 201
        if self.count == 100:
            raise ValueError("something the author did not think of")
