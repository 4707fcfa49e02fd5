"""A seccomp filter, assembled by hand: what namespaces, capabilities and read-only mounts leave open.

It is a list of refusals, because contestants' numerical libraries use a wide and changing set of system calls. Refused
calls return an error instead of killing, so that libraries that only probe for a feature go on without it. System calls
newer than this table do not exist in the box.
"""

from __future__ import annotations

import errno
import platform
import struct

from bciarena.errors import Fault

AUDIT_ARCH_X86_64 = 0xC000003E
X32_BIT = 0x40000000
NEWEST = 462  # mseal; anything above answers ENOSYS

RET_KILL, RET_ERRNO, RET_ALLOW = 0x80000000, 0x00050000, 0x7FFF0000
LD, JEQ, JGT, JSET, RET = 0x20, 0x15, 0x25, 0x45, 0x06
NUMBER_AT, ARCH_AT, ARG0_AT, ARG1_AT = 0, 4, 16, 24

REFUSED: dict[str, dict[str, int]] = {
    "other processes' memory and descriptors": {
        "ptrace": 101, "process_vm_readv": 310, "process_vm_writev": 311, "kcmp": 312, "pidfd_getfd": 438,
        "process_madvise": 440, "process_mrelease": 448,
    },
    "keys, which are not in a namespace": {"add_key": 248, "request_key": 249, "keyctl": 250},
    "wide kernel interfaces": {
        "io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427, "bpf": 321, "userfaultfd": 323,
        "perf_event_open": 298, "modify_ldt": 154, "memfd_secret": 447, "io_setup": 206, "io_destroy": 207,
        "io_getevents": 208, "io_submit": 209, "io_cancel": 210, "io_pgetevents": 333, "vmsplice": 278,
    },
    "mounts and namespaces": {
        "mount": 165, "umount2": 166, "pivot_root": 155, "chroot": 161, "open_tree": 428, "move_mount": 429,
        "fsopen": 430, "fsconfig": 431, "fsmount": 432, "fspick": 433, "mount_setattr": 442, "statmount": 457,
        "listmount": 458, "unshare": 272, "setns": 308,
    },
    "memory that belongs to no process, so that nobody counts it": {
        "memfd_create": 319, "shmget": 29, "shmat": 30, "shmctl": 31, "shmdt": 67, "semget": 64, "msgget": 68,
    },
    "files by handle, past the mounts": {"name_to_handle_at": 303, "open_by_handle_at": 304},
    "messages through files that boxes share: watches, page cache": {
        "inotify_init": 253, "inotify_init1": 294, "inotify_add_watch": 254, "fanotify_init": 300,
        "fanotify_mark": 301, "cachestat": 451, "mincore": 27,
    },
    "the machine itself": {
        "kexec_load": 246, "kexec_file_load": 320, "init_module": 175, "finit_module": 313, "delete_module": 176,
        "create_module": 174, "query_module": 178, "get_kernel_syms": 177, "reboot": 169, "swapon": 167,
        "swapoff": 168, "settimeofday": 164, "clock_settime": 227, "clock_adjtime": 305, "adjtimex": 159,
        "iopl": 172, "ioperm": 173, "syslog": 103, "acct": 163, "quotactl": 179, "quotactl_fd": 443,
        "nfsservctl": 180, "lookup_dcookie": 212, "vhangup": 153, "sethostname": 170, "setdomainname": 171,
        "sysfs": 139, "ustat": 136, "uselib": 134, "_sysctl": 156, "move_pages": 279, "migrate_pages": 256,
        "personality": 135, "lsm_set_self_attr": 460,
    },
}  # fmt: skip
CLONE, CLONE3, SOCKET, SOCKETPAIR, FCNTL, IOCTL, FLOCK, UNIX, INET = 56, 435, 41, 53, 72, 16, 73, 1, 2
NAMESPACE_FLAGS = 0x7E020000  # CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET
LOCK_COMMANDS = (5, 6, 7, 36, 37, 38, 1024, 1025, 1026)  # F_GETLK .. F_OFD_SETLKW, leases, F_NOTIFY
TERMINAL_COMMANDS = (0x5412, 0x541C)  # TIOCSTI, TIOCLINUX: typing into somebody's terminal

Instruction = tuple[int, int, int, int]  # code, jump if true, jump if false, constant


def _refuse(number: int) -> Instruction:
    return RET, 0, 0, RET_ERRNO | number


def _when(number: int, body: list[Instruction]) -> list[Instruction]:
    """Run ``body`` for one system call; it must end in a return."""
    return [(JEQ, 0, len(body), number), *body]


def _by_argument(at: int, values: tuple[int, ...], if_in: Instruction, otherwise: Instruction) -> list[Instruction]:
    tests: list[Instruction] = []
    for value in values:
        tests += [(JEQ, 0, 1, value), if_in]
    return [(LD, 0, 0, at), *tests, otherwise]


def instructions(families: tuple[int, ...] = (UNIX,)) -> list[Instruction]:
    """The filter as readable tuples; ``families`` are the kinds of sockets that may be made."""
    allow: Instruction = (RET, 0, 0, RET_ALLOW)
    program: list[Instruction] = [
        (LD, 0, 0, ARCH_AT),
        (JEQ, 1, 0, AUDIT_ARCH_X86_64),
        (RET, 0, 0, RET_KILL),
        (LD, 0, 0, NUMBER_AT),
        (JGT, 0, 1, NEWEST),  # the x32 calls are above it too
        _refuse(errno.ENOSYS),
    ]
    for calls in REFUSED.values():
        for number in calls.values():
            program += _when(number, [_refuse(errno.EPERM)])
    program += _when(FLOCK, [_refuse(errno.ENOLCK)])
    program += _when(FCNTL, _by_argument(ARG1_AT, LOCK_COMMANDS, _refuse(errno.ENOLCK), allow))
    program += _when(IOCTL, _by_argument(ARG1_AT, TERMINAL_COMMANDS, _refuse(errno.EPERM), allow))
    for number in (SOCKET, SOCKETPAIR):
        program += _when(number, _by_argument(ARG0_AT, families, allow, _refuse(errno.EAFNOSUPPORT)))
    program += _when(CLONE, [(LD, 0, 0, ARG0_AT), (JSET, 0, 1, NAMESPACE_FLAGS), _refuse(errno.EPERM), allow])
    program += _when(CLONE3, [_refuse(errno.ENOSYS)])  # its flags lie in memory; the C library falls back to clone
    return [*program, allow]


def filter_bytes(families: tuple[int, ...] = (UNIX,)) -> bytes:
    """The filter as the kernel takes it (struct sock_filter)."""
    if platform.machine() != "x86_64":
        raise Fault(f"the box's seccomp filter is written for x86_64, not for {platform.machine()}")
    return b"".join(struct.pack("<HBBI", *instruction) for instruction in instructions(families))
