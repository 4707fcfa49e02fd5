"""The filter, run here by a small interpreter of its own instructions; hostile entries try it on the kernel."""

import errno

import pytest

from bciarena.sandbox import seccomp
from bciarena.sandbox.seccomp import AUDIT_ARCH_X86_64, REFUSED, RET_ALLOW, RET_ERRNO, RET_KILL, instructions


def verdict(number, *arguments, arch=AUDIT_ARCH_X86_64):
    memory = {seccomp.NUMBER_AT: number, seccomp.ARCH_AT: arch}
    memory |= {16 + 8 * index: value & 0xFFFFFFFF for index, value in enumerate(arguments)}
    program, at, register = instructions(), 0, 0
    while True:
        code, yes, no, constant = program[at]
        if code == seccomp.RET:
            return constant
        if code == seccomp.LD:
            register = memory.get(constant, 0)
            at += 1
        else:
            true = {
                seccomp.JEQ: register == constant,
                seccomp.JGT: register > constant,
                seccomp.JSET: bool(register & constant),
            }[code]
            at += 1 + (yes if true else no)


@pytest.mark.parametrize("name", [name for group in REFUSED.values() for name in group])
def test_refused(name):
    number = next(group[name] for group in REFUSED.values() if name in group)
    assert verdict(number) == RET_ERRNO | errno.EPERM


@pytest.mark.parametrize("number", [0, 1, 2, 9, 57, 59, 202, 231, 257, 318])
def test_everyday_calls_pass(number):
    assert verdict(number) == RET_ALLOW


def test_other_architectures_die_and_x32_and_the_future_do_not_exist():
    assert verdict(0, arch=0x40000003) == RET_KILL
    assert verdict(0x40000000 | 1) == RET_ERRNO | errno.ENOSYS
    assert verdict(seccomp.NEWEST + 1) == RET_ERRNO | errno.ENOSYS


def test_arguments_decide():
    assert verdict(seccomp.SOCKET, 1) == RET_ALLOW
    assert verdict(seccomp.SOCKET, 2) == RET_ERRNO | errno.EAFNOSUPPORT
    assert verdict(seccomp.CLONE, 0x11) == RET_ALLOW
    assert verdict(seccomp.CLONE, 0x10000011) == RET_ERRNO | errno.EPERM
    assert verdict(seccomp.FCNTL, 3, 3) == RET_ALLOW
    assert verdict(seccomp.FCNTL, 3, 6) == RET_ERRNO | errno.ENOLCK
    assert verdict(seccomp.IOCTL, 0, 0x5401) == RET_ALLOW
    assert verdict(seccomp.IOCTL, 0, 0x5412) == RET_ERRNO | errno.EPERM


def test_no_jump_leaves_the_program():
    program = instructions()
    assert len(seccomp.filter_bytes()) == 8 * len(program)
    assert len(program) < 4096
    for at, (code, yes, no, _) in enumerate(program):
        if code in (seccomp.JEQ, seccomp.JGT, seccomp.JSET):
            assert at + 1 + max(yes, no) < len(program)
            assert max(yes, no) < 256
