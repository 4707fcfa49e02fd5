"""Tries to write everywhere: its own code, the interpreter, the machine's folders, kernel settings."""

import json
import os
import sys


class Entry:
    def start(self, info):
        with open("where.json") as file:
            where = json.load(file)
        places = [where["folder"], os.getcwd(), os.path.dirname(os.__file__), sys.prefix, "/", "/etc", "/usr/lib", "/root"]
        places += ["/home", "/var/tmp", "/arena", "/arena/lib/arenabox/wire", "/dev", "/proc", "/proc/sys/kernel", "/sys"]
        for place in places:
            try:
                with open(os.path.join(place, "left_by_an_entry"), "w") as file:
                    file.write("here")
                print("ESCAPED", place)
            except OSError as error:
                print("held", place, error.strerror)
        for path in ("/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger", "/proc/self/oom_score_adj", __file__, os.__file__):
            try:
                with open(path, "r+") as file:
                    file.write("-1000" if "oom" in path else "|/tmp/x")
                print("ESCAPED", path)
            except OSError as error:
                print("held", path, error.strerror)

    def step(self, packet):
        return None
