"""The first code in the box: sets its limits, loads the entry, plays it, and reports how it went.

It starts twice. First without the interpreter's site packages (-S), from a folder that is not the entry's: nothing of
the entry, nor of what its requirements installed, runs before the limits are in place. Then as the interpreter would
start by itself, so that what an entry starts from it (worker processes) finds everything too.
"""

import sys

sys.path[:] = [place for place in sys.path if place]  # not the working directory

import importlib  # noqa: E402
import io  # noqa: E402
import json  # noqa: E402
import os  # noqa: E402
import resource  # noqa: E402

MODEL = "model"  # below the working directory
REFUSALS = (1, 37, 38, 97)  # EPERM, ENOLCK, ENOSYS, EAFNOSUPPORT: how the box's filter answers


def main(text, again=""):
    order = json.loads(text)
    if not again:
        confine(order)
        if order.get("writable") is not None:
            from .landlock import wall

            wall(order["writable"])
        if order.get("asking"):
            ask_first(**order["asking"])
        greet(order["fds"])
        os.execv(sys.executable, [sys.executable, "-s", "-c", order["start"], text, "again"])
    os.chdir(order["root"])
    sys.argv = [order["target"].rpartition(":")[0]]
    if order.get("call"):
        leave(importlib.import_module(order["call"]).main(order))
    if order.get("install"):
        from .installing import install

        leave(install(order))
    if order.get("train"):
        from .training import REFUSED, refuse, train

        try:
            leave(train(order))
        except BaseException as error:
            if refuse(error, order["train"]["out"]):
                leave(REFUSED)
            describe(error, order["root"])
            leave(1)
    from ..wire.client import Client

    info = order["info"]
    client = Client(order["fds"], len(info["channels"]) + 1, info["packet_n"], info)
    speak(client)
    leave(play(order, client))


def confine(order):
    """Limits first, then the identity: once it is given up nothing can be raised again."""
    for name, value in order["rlimits"].items():
        which = getattr(resource, name)
        hard = resource.getrlimit(which)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(which, (value, value))
    if order["uid"]:
        import ctypes

        libc = ctypes.CDLL(None, use_errno=True)
        for cap in range(64):  # the bounding set: what could ever be regained
            if libc.prctl(24, cap, 0, 0, 0) and cap == 0:  # PR_CAPBSET_DROP
                raise OSError(ctypes.get_errno(), "the bounding set cannot be emptied")
        os.setgroups([])
        os.setresgid(order["uid"], order["uid"], order["uid"])
        os.setresuid(order["uid"], order["uid"], order["uid"])
        nothing = (ctypes.c_uint32 * 6)()  # effective, permitted and inheritable, 64 bits each
        if libc.capset((ctypes.c_uint32 * 2)(0x20080522, 0), nothing):
            raise OSError(ctypes.get_errno(), "the capabilities cannot be given up")


def ask_first(fd, call, filter):
    """Add the filter with which the referee is asked for every pipe, socket and shared page; it gets the listener."""
    import _socket
    import base64
    import ctypes

    raw = base64.b64decode(filter)
    code = ctypes.create_string_buffer(raw, len(raw))
    program = (ctypes.c_uint64 * 2)(len(raw) // 8, ctypes.addressof(code))  # struct sock_fprog
    listener = ctypes.CDLL(None, use_errno=True).syscall(call, 1, 8, program)  # a filter, with a new listener
    if listener < 0:
        raise OSError(ctypes.get_errno(), "seccomp: %s" % os.strerror(ctypes.get_errno()))
    to_referee = _socket.socket(fileno=fd)
    to_referee.sendmsg([b"l"], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, listener.to_bytes(4, sys.byteorder))])
    os.close(listener)
    to_referee.close()


def greet(fds):
    """Tell the referee that the box is ready, and wait until it knows: failures from here on are the entry's."""
    os.write(fds[2], b"h")
    os.read(fds[1], 1)


class Voice(io.FileIO):
    """A stdout or stderr that tells the referee when something is written, so that it knows at which packet."""

    def __init__(self, fd, client):
        super().__init__(fd, "w", closefd=False)
        self._client = client

    def write(self, raw):
        self._client.printed()
        return super().write(raw)


def speak(client):
    for name, fd in (("stdout", 1), ("stderr", 2)):
        stream = io.TextIOWrapper(Voice(fd, client), encoding="utf-8", errors="backslashreplace", write_through=True)
        setattr(sys, name, stream)
        setattr(sys, "__%s__" % name, stream)


def play(order, client):
    """Load and run the entry; the referee is told however it ends."""
    from ..wire import page
    from . import loading

    phase = "import"
    try:
        sow(order["info"].get("seed", 0))
        entry = prepare(loading.load_class(order["root"], order["target"], order["dialect"]), order)
        client.tell(page.READY)
        phase = "run"
        player(order["dialect"])(entry, client)
    except BaseException as error:
        status = error.code if isinstance(error, SystemExit) else 1
        if isinstance(error, SystemExit) and phase == "run" and status in (None, 0):
            client.tell(page.DONE)
            return 0
        client.tell(page.FAILED, "\x1f".join([phase] + describe(error, order["root"])))
        return 1
    client.tell(page.DONE)
    return 0


def sow(seed):
    """The same seed, the same random numbers: for every entry that uses the two global generators."""
    import random

    import numpy

    random.seed(seed)
    numpy.random.seed(seed % 2**32)


def prepare(found, order):
    """The entry's object; in dialect D with what it learnt, if a model was given."""
    from .loading import construct

    if order["dialect"] == "D" and order["model"]:
        from .training import load_model

        return load_model(found, MODEL)
    return construct(found)


def player(dialect):
    if dialect == "C":
        from .dialect_async import play_async

        return play_async
    if dialect == "D":
        from .plain import play_plain

        return play_plain
    from .dialect_sync import play_sync

    return play_sync


def describe(error, root):
    """Print the traceback without our own frames; returns kind, message and the entry's line."""
    import traceback

    ours = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not frame.filename.startswith(ours)]
    frames = [frame for frame in frames if not frame.filename.startswith("<frozen importlib")]
    lines = ["Traceback (most recent call last):\n"] + traceback.format_list(frames) if frames else []
    sys.stderr.write("".join(lines + traceback.format_exception_only(type(error), error)))
    own = [frame for frame in frames if frame.filename.startswith(root)]
    where = ""
    if own:
        where = "line %d of %s" % (own[-1].lineno or 0, os.path.relpath(own[-1].filename, root))
    if isinstance(error, SystemExit):
        words = "exited with code %s" % (error.code,)
    else:
        words = traceback.format_exception_only(type(error), error)[-1].strip()
    if isinstance(error, OSError) and error.errno in REFUSALS:
        words += " - a box refuses network, file locks, namespaces and unusual system calls (SECURITY.md)"
    return [type(error).__name__, where[:200], words]


def leave(status):
    """End at once, whatever threads and exit handlers the entry has."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None and not stream.closed:
            stream.flush()
    os._exit(status)
