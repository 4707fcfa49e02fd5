"""Reads address zero."""

import ctypes


class Entry:
    def step(self, packet):
        ctypes.string_at(0)
