"""Tries to open the memory of every process it can name, the referee's first."""

import json
import os


class Entry:
    def start(self, info):
        with open("where.json") as file:
            where = json.load(file)
        for pid in {where["pid"], os.getppid(), 1} - {os.getpid()}:
            for name in ("mem", "environ", "maps"):
                try:
                    with open("/proc/%d/%s" % (pid, name), "rb") as file:
                        text = file.read(1 << 16)
                    if where["environment"].encode() in text or (name == "mem" and text):
                        print("ESCAPED", pid, name, text[:100])
                except OSError as error:
                    print("held", pid, name, error.strerror)
        print("done looking")

    def step(self, packet):
        return None
