"""The filter, run here by a small interpreter of its own instructions; hostile entries try it on the kernel."""

import errno
import re
from pathlib import Path

import pytest

from bciarena.sandbox import seccomp
from bciarena.sandbox.seccomp import (
    BY_ARGUMENT,
    MACHINES,
    RET_ALLOW,
    RET_ASK,
    RET_ERRNO,
    RET_KILL,
    SECCOMP,
    asking_instructions,
    instructions,
)
from bciarena.sandbox.syscalls import ALLOWED, ARGUED

NAMES = {name: numbers for calls in [*ALLOWED.values(), ARGUED] for name, numbers in calls.items()}
REFUSED = """
    ptrace process_vm_readv process_vm_writev pidfd_getfd process_madvise add_key request_key keyctl
    io_uring_setup io_uring_enter bpf userfaultfd perf_event_open modify_ldt memfd_create memfd_secret io_setup
    io_submit vmsplice splice mount umount2 pivot_root chroot open_tree move_mount fsopen unshare setns shmget
    shmat semget msgget mq_open name_to_handle_at open_by_handle_at inotify_init1 inotify_add_watch
    fanotify_init cachestat mincore readahead preadv2 pwritev2 kexec_load init_module reboot settimeofday
    clock_settime adjtimex iopl syslog personality seccomp setxattr fsetxattr move_pages mbind set_mempolicy
    sync_file_range openat2 execveat mknod quotactl statfs fstatfs pidfd_open pidfd_send_signal
""".split()
HEADERS = {"x86_64": "/usr/include/x86_64-linux-gnu/asm/unistd_64.h", "aarch64": "/usr/include/asm-generic/unistd.h"}


def kernel_numbers(machine="x86_64"):
    path = Path(HEADERS[machine])
    if not path.is_file():
        pytest.skip(f"no kernel headers here: {path} (apt install linux-libc-dev)")
    pairs = re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)", path.read_text())
    return {name: int(number) for name, number in pairs}


def decision(number, *arguments, machine="x86_64", arch=None, program=None):
    memory = {seccomp.NUMBER_AT: number, seccomp.ARCH_AT: arch or MACHINES[machine].audit}
    memory |= {16 + 8 * index: value & 0xFFFFFFFF for index, value in enumerate(arguments)}
    program, at, register = program or instructions(MACHINES[machine]), 0, 0
    while True:
        code, yes, no, constant = program[at]
        if code == seccomp.RET:
            return constant
        if code == seccomp.LD:
            register = memory.get(constant, 0)
            at += 1
        else:
            true = {seccomp.JEQ: register == constant, seccomp.JSET: bool(register & constant)}[code]
            at += 1 + (yes if true else no)


@pytest.mark.parametrize("machine", MACHINES)
def test_numbers_are_the_kernels(machine):
    there = kernel_numbers(machine)
    column = MACHINES[machine].column
    names = {"newfstatat": "fstatat"} if machine == "aarch64" else {}
    for name, numbers in NAMES.items():
        if numbers[column] >= 0:
            assert there[names.get(name, name)] == numbers[column], name


@pytest.mark.parametrize("name", REFUSED)
def test_everything_else_does_not_exist(name):
    there = kernel_numbers()
    number = there.get(name, 451)  # cachestat is younger than some headers
    assert decision(number) == RET_ERRNO | errno.ENOSYS


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("name", ["read", "openat", "futex", "execve", "mmap", "getrandom", "landlock_restrict_self"])
def test_everyday_calls_pass(machine, name):
    assert decision(NAMES[name][MACHINES[machine].column], machine=machine) == RET_ALLOW


def test_other_architectures_die_and_x32_and_the_future_do_not_exist():
    assert decision(0, arch=0x40000003) == RET_KILL
    assert decision(0, arch=MACHINES["aarch64"].audit) == RET_KILL
    assert decision(0x40000000 | 1) == RET_ERRNO | errno.ENOSYS
    assert decision(600) == RET_ERRNO | errno.ENOSYS


def test_arguments_decide():
    def ask(name, *arguments):
        return decision(ARGUED[name][0], *arguments)

    assert ask("socket", 1) == RET_ALLOW
    assert ask("socket", 2) == RET_ERRNO | errno.EAFNOSUPPORT
    assert ask("clone", 0x11) == RET_ALLOW
    assert ask("clone", 0x10000011) == RET_ERRNO | errno.EPERM
    assert ask("clone", 0x1011) == RET_ERRNO | errno.EINVAL  # CLONE_PIDFD
    assert ask("getsockopt", 3, 1, 3) == RET_ALLOW
    assert ask("getsockopt", 3, 1, 57) == RET_ERRNO | errno.ENOPROTOOPT  # SO_COOKIE
    assert ask("sched_setaffinity") == RET_ERRNO  # success, and nothing done
    assert ask("fcntl", 3, 3) == RET_ALLOW
    assert ask("fcntl", 3, 6) == RET_ERRNO | errno.ENOLCK
    assert ask("fcntl", 3, 1036) == RET_ERRNO | errno.EINVAL  # F_SET_RW_HINT
    assert ask("ioctl", 0, 0x5401) == RET_ALLOW
    assert ask("ioctl", 0, 0x5412) == RET_ERRNO | errno.ENOTTY  # TIOCSTI
    assert ask("madvise", 0, 0, 4) == RET_ALLOW
    assert ask("madvise", 0, 0, 21) == RET_ERRNO | errno.EINVAL  # MADV_PAGEOUT
    assert ask("fadvise64", 0, 0, 0, 4) == RET_ERRNO | errno.EINVAL  # POSIX_FADV_DONTNEED
    assert ask("mmap", 0, 0, 0, 0x22) == RET_ALLOW
    assert ask("mmap", 0, 0, 0, 0x40022) == RET_ERRNO | errno.ENOMEM
    assert ask("prctl", 15) == RET_ALLOW
    assert ask("prctl", 22) == RET_ERRNO | errno.EINVAL  # PR_SET_SECCOMP
    assert ask("utimensat") == RET_ERRNO  # success, and nothing done
    assert set(BY_ARGUMENT) | set(seccomp.SOCKETS) == set(ARGUED)


@pytest.mark.parametrize("machine", MACHINES)
def test_the_referee_is_asked_for_what_the_machine_numbers(machine):
    column = MACHINES[machine].column
    program = asking_instructions(MACHINES[machine])
    for name in ("pipe2", "socket", "socketpair", "accept", "accept4"):
        assert decision(NAMES[name][column], machine=machine, program=program) == RET_ASK
    mmap = NAMES["mmap"][column]
    assert decision(mmap, 0, 0, 0, 0x21, machine=machine, program=program) == RET_ASK
    assert decision(mmap, 0, 0, 0, 0x22, machine=machine, program=program) == RET_ALLOW
    assert decision(NAMES["read"][column], machine=machine, program=program) == RET_ALLOW
    first = instructions(MACHINES[machine], asking=True)
    assert decision(SECCOMP[column], 1, 8, machine=machine, program=first) == RET_ALLOW
    assert decision(SECCOMP[column], 1, 8, machine=machine, program=program) == RET_ERRNO | errno.ENOSYS


@pytest.mark.parametrize("make", [instructions, asking_instructions])
@pytest.mark.parametrize("machine", MACHINES.values())
def test_no_jump_leaves_the_program(machine, make):
    program = make(machine)
    assert len(program) < 4096
    assert program[-1][0] == seccomp.RET
    for at, (code, yes, no, _) in enumerate(program):
        if code in (seccomp.JEQ, seccomp.JSET):
            assert at + 1 + max(yes, no) < len(program)
            assert max(yes, no) < 256
