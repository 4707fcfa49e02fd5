"""The watcher of boxes without a cgroup: nobody hides from it behind a thread or in shared memory."""

import subprocess
import sys
import time

from bciarena.sandbox.usage import tree_usage

BEHIND_A_THREAD = """
import os, threading, time
def burn():
    if os.fork() == 0:
        while True: pass
    time.sleep(1000)
threading.Thread(target=burn, daemon=True).start()
time.sleep(1000)
"""
SHARED = """
import mmap, time
area = mmap.mmap(-1, 256 << 20)
for at in range(0, len(area), 4096): area[at] = 1
area.madvise(mmap.MADV_DONTNEED)
print("filled", flush=True)
time.sleep(1000)
"""

SOCKETS = """
import socket, time
pairs = [socket.socketpair() for _ in range(100)]
for one, other in pairs:
    for end in (one, other):
        end.setblocking(False)
        end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 24)
        try:
            while True: end.send(bytes(32768))
        except BlockingIOError: pass
print("filled", flush=True)
time.sleep(1000)
"""


def test_children_of_threads_count():
    process = subprocess.Popen([sys.executable, "-c", BEHIND_A_THREAD], start_new_session=True)
    try:
        deadline = time.monotonic() + 30
        while tree_usage(process.pid).cpu_s < 1.0:
            assert time.monotonic() < deadline, tree_usage(process.pid)
            time.sleep(0.1)
        assert tree_usage(process.pid).processes == 2
    finally:
        subprocess.run(["kill", "-9", "--", f"-{process.pid}"], check=True)
        process.wait()


def test_shared_memory_counts_when_no_page_is_resident():
    process = subprocess.Popen([sys.executable, "-c", SHARED], stdout=subprocess.PIPE)
    try:
        assert process.stdout.readline() == b"filled\n"
        assert tree_usage(process.pid).memory_bytes > 256 << 20
    finally:
        process.kill()
        process.communicate()


def test_what_waits_in_the_sockets_of_a_box_counts():
    own_network = ["unshare", "--user", "--map-root-user", "--net"]
    process = subprocess.Popen([*own_network, sys.executable, "-c", SOCKETS], stdout=subprocess.PIPE)
    try:
        assert process.stdout.readline() == b"filled\n"
        assert tree_usage(process.pid).memory_bytes > 64 << 20  # about 100 MiB; the process itself has 10
    finally:
        process.kill()
        process.communicate()


def test_sockets_of_the_machine_are_not_the_boxs():
    process = subprocess.Popen([sys.executable, "-c", SOCKETS], stdout=subprocess.PIPE)
    try:
        assert process.stdout.readline() == b"filled\n"
        assert tree_usage(process.pid).memory_bytes < 64 << 20
    finally:
        process.kill()
        process.communicate()
