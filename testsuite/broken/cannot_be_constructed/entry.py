"""Wants arguments; classes are made without."""


class Entry:
    def __init__(self, weights):
        self.weights = weights

    def step(self, packet):
        return 201
