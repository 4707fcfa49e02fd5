"""Looks for the platform's own code: with the simulator it could make the recording, truth included, once more."""

import importlib
import os
import sys

WANTED = ("bciarena", "bciarena.simulator", "bciarena.recording", "bciarena.protocol", "bciarena.contests")


class Entry:
    def start(self, info):
        for name in WANTED:
            try:
                module = importlib.import_module(name)
                print("ESCAPED", name, getattr(module, "__file__", None))
            except ImportError as error:
                print("held", name, error)
        found = 0
        for start in {sys.prefix, sys.base_prefix, "/arena", "/usr", *filter(None, sys.path)}:
            for where, folders, files in os.walk(start):
                found += 1
                for name in folders + files:
                    inside = os.path.join(where, name)
                    if name.startswith("bciarena") and os.path.isdir(inside) and os.listdir(inside):
                        print("ESCAPED", inside)
        print("held walk" if found > 50 else "nothing walked")

    def step(self, packet):
        return None
