"""System calls by name: the number on x86_64, then on aarch64 (-1: there is none there).

Built from what CPython 3.8 to 3.13 and numpy, scipy, scikit-learn, mne, pyRiemann, joblib, PyTorch and TensorFlow were
seen to call (traced while importing, computing, starting processes and threads, using files, timers and local
sockets), with close relatives that a C library may use instead. A test compares the numbers with the kernel's
headers where these are installed.
"""

from __future__ import annotations

Numbers = tuple[int, int]

ALLOWED: dict[str, dict[str, Numbers]] = {
    "files": {
        "read": (0, 63), "write": (1, 64), "pread64": (17, 67), "pwrite64": (18, 68), "readv": (19, 65),
        "writev": (20, 66), "preadv": (295, 69), "pwritev": (296, 70), "open": (2, -1), "openat": (257, 56),
        "close": (3, 57), "close_range": (436, 436), "stat": (4, -1), "fstat": (5, 80), "lstat": (6, -1),
        "newfstatat": (262, 79), "statx": (332, 291), "access": (21, -1), "faccessat": (269, 48),
        "faccessat2": (439, 439), "lseek": (8, 62), "getdents": (78, -1), "getdents64": (217, 61), "getcwd": (79, 17),
        "chdir": (80, 49), "fchdir": (81, 50), "rename": (82, -1), "renameat": (264, 38), "renameat2": (316, 276),
        "mkdir": (83, -1), "mkdirat": (258, 34), "rmdir": (84, -1), "unlink": (87, -1), "unlinkat": (263, 35),
        "link": (86, -1), "linkat": (265, 37), "symlink": (88, -1), "symlinkat": (266, 36), "readlink": (89, -1),
        "readlinkat": (267, 78), "chmod": (90, -1), "fchmod": (91, 52), "fchmodat": (268, 53), "umask": (95, 166),
        "truncate": (76, 45), "ftruncate": (77, 46), "fallocate": (285, 47), "fsync": (74, 82), "fdatasync": (75, 83),
        "getxattr": (191, 8), "lgetxattr": (192, 9), "fgetxattr": (193, 10),
        "listxattr": (194, 11), "llistxattr": (195, 12), "flistxattr": (196, 13), "copy_file_range": (326, 285),
        "sendfile": (40, 71), "dup": (32, 23), "dup2": (33, -1), "dup3": (292, 24), "pipe": (22, -1),
        "pipe2": (293, 59),
    },
    "memory": {
         "munmap": (11, 215), "mprotect": (10, 226), "mremap": (25, 216), "brk": (12, 214),
        "msync": (26, 227), "mlock": (149, 228), "munlock": (150, 229),
    },
    "processes and threads": {
        "fork": (57, -1), "vfork": (58, -1), "execve": (59, 221), "exit": (60, 93), "exit_group": (231, 94),
        "wait4": (61, 260), "waitid": (247, 95), "kill": (62, 129), "tkill": (200, 130), "tgkill": (234, 131),
        "getpid": (39, 172), "getppid": (110, 173), "gettid": (186, 178), "getpgid": (121, 155), "getpgrp": (111, -1),
        "getsid": (124, 156), "setsid": (112, 157), "setpgid": (109, 154), "getuid": (102, 174), "geteuid": (107, 175),
        "getgid": (104, 176), "getegid": (108, 177), "getresuid": (118, 148), "getresgid": (120, 150),
        "getgroups": (115, 158), "set_tid_address": (218, 96), "set_robust_list": (273, 99),
        "get_robust_list": (274, 100), "rseq": (334, 293), "arch_prctl": (158, -1), "futex": (202, 98),
        "sched_yield": (24, 124), "sched_getaffinity": (204, 123),
        "sched_getparam": (143, 121), "sched_getscheduler": (145, 120), "sched_get_priority_max": (146, 125),
        "sched_get_priority_min": (147, 126), "getpriority": (140, 141), "setpriority": (141, 140),
        "getrlimit": (97, 163), "setrlimit": (160, 164), "prlimit64": (302, 261), "getrusage": (98, 165),
        "times": (100, 153), "uname": (63, 160), "getcpu": (309, 168), "membarrier": (324, 283),
    },
    "giving up rights, which the first code in the box does": {
        "setgroups": (116, 159), "setresuid": (117, 147), "setresgid": (119, 149), "capget": (125, 90),
        "capset": (126, 91), "landlock_create_ruleset": (444, 444), "landlock_add_rule": (445, 445),
        "landlock_restrict_self": (446, 446),
    },
    "signals, timers and clocks": {
        "rt_sigaction": (13, 134), "rt_sigprocmask": (14, 135), "rt_sigreturn": (15, 139), "rt_sigpending": (127, 136),
        "rt_sigtimedwait": (128, 137), "rt_sigsuspend": (130, 133), "sigaltstack": (131, 132),
        "restart_syscall": (219, 128), "pause": (34, -1), "alarm": (37, -1), "setitimer": (38, 103),
        "getitimer": (36, 102), "timer_create": (222, 107), "timer_settime": (223, 110), "timer_gettime": (224, 108),
        "timer_delete": (226, 111), "timer_getoverrun": (225, 109), "timerfd_create": (283, 85),
        "timerfd_settime": (286, 86), "timerfd_gettime": (287, 87), "signalfd4": (289, 74), "eventfd2": (290, 19),
        "clock_gettime": (228, 113), "clock_getres": (229, 114), "clock_nanosleep": (230, 115), "nanosleep": (35, 101),
        "gettimeofday": (96, 169), "time": (201, -1), "getrandom": (318, 278),
    },
    "waiting": {
        "select": (23, -1), "pselect6": (270, 72), "poll": (7, -1), "ppoll": (271, 73), "epoll_create": (213, -1),
        "epoll_create1": (291, 20), "epoll_ctl": (233, 21), "epoll_wait": (232, -1), "epoll_pwait": (281, 22),
        "epoll_pwait2": (441, 441),
    },
    "sockets, of the local family only": {
        "bind": (49, 200), "listen": (50, 201), "accept": (43, 202), "accept4": (288, 242), "connect": (42, 203),
        "getsockname": (51, 204), "getpeername": (52, 205), "sendto": (44, 206), "recvfrom": (45, 207),
        "sendmsg": (46, 211), "recvmsg": (47, 212), "shutdown": (48, 210),
    },
}  # fmt: skip
ARGUED: dict[str, Numbers] = {
    "clone": (56, 220), "clone3": (435, 435), "socket": (41, 198), "socketpair": (53, 199), "fcntl": (72, 25),
    "ioctl": (16, 29), "flock": (73, 32), "madvise": (28, 233), "prctl": (157, 167), "fadvise64": (221, 223),
    "mmap": (9, 222), "utime": (132, -1), "utimes": (235, -1), "futimesat": (261, -1), "utimensat": (280, 88),
    "sched_setaffinity": (203, 122), "setsockopt": (54, 208), "getsockopt": (55, 209),
}  # fmt: skip
"""Allowed for some arguments only: see sandbox.seccomp."""
