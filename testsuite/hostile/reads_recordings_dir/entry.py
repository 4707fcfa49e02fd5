"""Looks for recordings: at the path it was told, and everywhere else."""

import json
import os


class Entry:
    def start(self, info):
        with open("where.json") as file:
            where = json.load(file)
        if os.path.exists(where["secret"]):
            print("ESCAPED", where["secret"])
        looked = 0
        for top in ("/tmp", "/data", "/home", "/root", "/work", "/mnt", "/media", "/srv", "/var", "/run", "/opt", "/entry"):
            for folder, inside, files in os.walk(top):
                inside[:] = [name for name in inside if name not in ("site-packages", "lib")]  # the interpreter's own
                looked += 1
                for name in files:
                    if name.startswith("block_") or name in ("ledger.jsonl", "score.json", "run.json"):
                        print("ESCAPED", folder, name)
        print("held", looked)

    def step(self, packet):
        return None
