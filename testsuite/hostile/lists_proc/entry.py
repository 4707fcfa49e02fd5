"""Lists processes and what /proc tells of the machine and its neighbours."""

import os


class Entry:
    def start(self, info):
        pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
        for pid in pids:  # stand-ins that all look the same
            if not os.path.islink("/proc/%d" % pid):
                print("ESCAPED", pid)
        for name in ("maps", "fd", "task", "ns", "mountinfo", "fdinfo", "mem", "environ", "../net", "../1"):
            if os.path.lexists("/proc/self/" + name):
                print("ESCAPED", name)
        for pid in pids:
            for name in ("environ", "cmdline"):
                try:
                    with open("/proc/%d/%s" % (pid, name), "rb") as file:
                        text = file.read()
                except OSError:
                    continue
                if b"ARENA" in text or b"pytest" in text:
                    print("ESCAPED", pid, name, text)
        for name in ("kallsyms", "kcore", "keys", "locks", "kmsg", "sys/kernel/hostname", "timer_list", "config.gz"):
            try:
                with open("/proc/" + name, "rb") as file:
                    text = file.read(64)
                if text:
                    print("ESCAPED", name, text)
            except OSError:
                continue
        if any(name.startswith("ARENA") for name in os.environ):
            print("ESCAPED", dict(os.environ))
        for name in ("/sys/kernel", "/etc/passwd", "/etc/shadow", "/bin/sh", "/usr/bin/env"):
            if os.path.exists(name):
                print("ESCAPED", name)
        print("held", len(pids))

    def step(self, packet):
        return None
