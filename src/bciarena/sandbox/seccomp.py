"""A seccomp filter, assembled by hand: the system calls that numerical Python needs, and no others.

What is not on the list answers "Function not implemented", as on an older kernel: libraries that only probe for a
feature go on without it, and an entry that needs it fails with that error, which its verdict explains. Calls of another
architecture end the process.
"""

from __future__ import annotations

import errno
import platform
import struct
from typing import NamedTuple

from bciarena.errors import Fault
from bciarena.sandbox.syscalls import ALLOWED, ARGUED

RET_KILL, RET_ERRNO, RET_ASK, RET_ALLOW = 0x80000000, 0x00050000, 0x7FC00000, 0x7FFF0000
LD, JEQ, JSET, RET = 0x20, 0x15, 0x45, 0x06
NUMBER_AT, ARCH_AT = 0, 4


class Machine(NamedTuple):
    audit: int  # the kernel's name for it
    column: int  # of the tables in sandbox.syscalls


MACHINES = {"x86_64": Machine(0xC000003E, 0), "aarch64": Machine(0xC00000B7, 1)}

NAMESPACE_FLAGS = 0x7E020000  # CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET
CLONE_PIDFD = 0x1000  # its number counts the processes of the whole machine
MAP_SHARED = 1
MAP_HUGETLB = 0x40000  # pages from a separate pool that no memory limit counts
UNIX, INET = 1, 2
SECCOMP = (317, 277)
NUMBERED = (57, 71, 76, 77)  # SO_COOKIE, SO_NETNS_COOKIE, SO_PASSPIDFD, SO_PEERPIDFD: numbers of the whole machine
LOCKS = (5, 6, 7, 36, 37, 38, 1024, 1025, 1026)  # F_GETLK .. F_OFD_SETLKW, leases, F_NOTIFY: messages between boxes
DESCRIPTORS = (0, 1, 2, 3, 4, 8, 9, 1030, 1031, 1032, 1034)  # F_DUPFD .. F_SETFL, owner, CLOEXEC, pipe size, seals
TERMINALS = (0x5401, 0x540F, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)  # TCGETS, TIOCGPGRP, TIOCGWINSZ, FIO...
ADVICE = (0, 1, 2, 3, 4, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19)  # without page-outs and populating (20 on)
FILE_ADVICE = (0, 1, 2, 3)  # without dropping pages that other boxes use
PROCESS = (1, 2, 3, 4, 15, 16, 23, 24, 29, 30, 36, 37, 38, 39, 41, 42, 0x41555856, 0x53564D41)
"""prctl: parent's death, dumpable, names, capability bounding set, timer slack, reaping, no_new_privs, huge pages."""

Instruction = tuple[int, int, int, int]  # code, jump if true, jump if false, constant
ALLOW: Instruction = (RET, 0, 0, RET_ALLOW)


def _refuse(number: int) -> Instruction:
    return RET, 0, 0, RET_ERRNO | number


def _argument(index: int) -> Instruction:
    """Loads the lower half of an argument: the kernel uses no more in any of the calls checked here."""
    return LD, 0, 0, 16 + 8 * index


def _one_of(index: int, values: tuple[int, ...], then: Instruction) -> list[Instruction]:
    tests: list[Instruction] = [_argument(index)]
    for value in values:
        tests += [(JEQ, 0, 1, value), then]
    return tests


def _any_bit(index: int, bits: int, then: Instruction) -> list[Instruction]:
    return [_argument(index), (JSET, 0, 1, bits), then]


BY_ARGUMENT: dict[str, list[Instruction]] = {
    "clone": [
        *_any_bit(0, NAMESPACE_FLAGS, _refuse(errno.EPERM)),
        *_any_bit(0, CLONE_PIDFD, _refuse(errno.EINVAL)),
        ALLOW,
    ],
    "clone3": [_refuse(errno.ENOSYS)],  # its flags are in memory; the C library falls back to clone
    "mmap": [*_any_bit(3, MAP_HUGETLB, _refuse(errno.ENOMEM)), ALLOW],
    "madvise": [*_one_of(2, ADVICE, ALLOW), _refuse(errno.EINVAL)],
    "fadvise64": [*_one_of(3, FILE_ADVICE, ALLOW), _refuse(errno.EINVAL)],
    "fcntl": [*_one_of(1, DESCRIPTORS, ALLOW), *_one_of(1, LOCKS, _refuse(errno.ENOLCK)), _refuse(errno.EINVAL)],
    "flock": [_refuse(errno.ENOLCK)],
    "ioctl": [*_one_of(1, TERMINALS, ALLOW), _refuse(errno.ENOTTY)],
    "prctl": [*_one_of(0, PROCESS, ALLOW), _refuse(errno.EINVAL)],
    **{name: [*_one_of(2, NUMBERED, _refuse(errno.ENOPROTOOPT)), ALLOW] for name in ("getsockopt", "setsockopt")},
    # Answered but not done: a pinned match would take its neighbour's core.
    "sched_setaffinity": [_refuse(0)],
    # The same: the next box could read a time set on a device node, and copying files sets times.
    **{name: [_refuse(0)] for name in ("utime", "utimes", "futimesat", "utimensat")},
}
"""What is done with a call whose arguments matter; each list ends in a return."""
SOCKETS = ("socket", "socketpair")
ASKED = ("pipe", "pipe2", "socket", "socketpair", "accept", "accept4")


def instructions(machine: Machine, families: tuple[int, ...] = (UNIX,), asking: bool = False) -> list[Instruction]:
    """The filter as readable tuples; ``families`` are the kinds of sockets that may be made.

    ``asking``: its first code may add ``asking_instructions``.
    """
    program: list[Instruction] = [
        (LD, 0, 0, ARCH_AT),
        (JEQ, 1, 0, machine.audit),
        (RET, 0, 0, RET_KILL),
        (LD, 0, 0, NUMBER_AT),
    ]
    sockets = [*_one_of(0, families, ALLOW), _refuse(errno.EAFNOSUPPORT)]
    for name, body in (BY_ARGUMENT | dict.fromkeys(SOCKETS, sockets)).items():
        number = ARGUED[name][machine.column]
        program += [(JEQ, 0, len(body), number), *body] if number >= 0 else []
    if asking:
        program += [(JEQ, 0, 1, SECCOMP[machine.column]), ALLOW]
    numbers = {numbers[machine.column] for calls in ALLOWED.values() for numbers in calls.values()}
    for number in sorted(numbers - {-1}):
        program += [(JEQ, 0, 1, number), ALLOW]
    return [*program, _refuse(errno.ENOSYS)]  # including x32 calls and everything newer than the table


def asking_instructions(machine: Machine) -> list[Instruction]:
    """A second filter: what makes something that the machine numbers is asked of the referee (sandbox.counters)."""
    ask: Instruction = (RET, 0, 0, RET_ASK)
    program: list[Instruction] = [(LD, 0, 0, NUMBER_AT)]
    calls = {name: numbers for group in ALLOWED.values() for name, numbers in group.items()} | ARGUED
    for name in ASKED:
        if (number := calls[name][machine.column]) >= 0:
            program += [(JEQ, 0, 1, number), ask]
    shared = [*_any_bit(3, MAP_SHARED, ask), ALLOW]
    program += [(JEQ, 0, len(shared), calls["mmap"][machine.column]), *shared]
    program += [(JEQ, 0, 1, SECCOMP[machine.column]), _refuse(errno.ENOSYS)]
    return [*program, ALLOW]


def filter_bytes(families: tuple[int, ...] = (UNIX,), asking: bool = False) -> bytes:
    """The filter for this machine, as the kernel takes it."""
    return _packed(instructions(_this_machine(), families, asking))


def asking_bytes() -> bytes:
    """The second filter for this machine."""
    return _packed(asking_instructions(_this_machine()))


def _this_machine() -> Machine:
    machine = MACHINES.get(platform.machine())
    if machine is None:
        raise Fault(f"the box's seccomp filter knows {' and '.join(MACHINES)}, not {platform.machine()}")
    return machine


def _packed(program: list[Instruction]) -> bytes:
    """struct sock_filter, one after another."""
    return b"".join(struct.pack("<HBBI", *instruction) for instruction in program)
