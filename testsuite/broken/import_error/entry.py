"""Imports what is not there."""

import a_module_that_nobody_has


class Entry:
    def step(self, packet):
        return a_module_that_nobody_has.answer(packet)
