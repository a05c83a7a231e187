"""Which system calls a submission may not make: a filter for the kernel, made by libseccomp.

The filter forbids what no notebook needs and what would widen the reach of an attack: new namespaces and
mounts, other processes' memory, kernel modules, keys, and memory that no limit counts.
"""

import errno
import socket
import tempfile
from functools import cache

# Without these the sandbox would not hold, so an unknown name is an error.
_ESSENTIAL = (
    *("mount", "umount2", "pivot_root", "setns", "unshare", "chroot"),
    *("ptrace", "process_vm_readv", "process_vm_writev", "kcmp"),
    *("bpf", "perf_event_open", "keyctl", "add_key", "request_key", "userfaultfd"),
    *("msgget", "memfd_create"),  # memory that outlives or escapes what a process is charged for
)
# These are refused where libseccomp knows them: an older one does not know the newer calls.
_REFUSED = (
    *("open_tree", "move_mount", "fsopen", "fsconfig", "fsmount", "fspick", "mount_setattr"),
    *("open_by_handle_at", "name_to_handle_at", "fanotify_init", "quotactl", "quotactl_fd"),
    *("io_uring_setup", "io_uring_enter", "io_uring_register", "memfd_secret"),
    *("pidfd_getfd", "process_madvise", "process_mrelease"),
    *("init_module", "finit_module", "delete_module", "kexec_load", "kexec_file_load", "reboot"),
    *("swapon", "swapoff", "acct", "syslog", "personality", "vhangup", "lookup_dcookie"),
    *("settimeofday", "clock_settime", "clock_adjtime", "adjtimex", "sethostname", "setdomainname"),
    *("iopl", "ioperm", "modify_ldt", "vmsplice"),
    *("mbind", "set_mempolicy", "migrate_pages", "move_pages"),
)
# The flags of clone() that make a namespace: mount, cgroup, uts, ipc, user, pid, net.
_NEW_NAMESPACE = (0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000)
# Shared memory escapes, too, but Postgres makes a segment of a few bytes, by which it knows that it runs.
_LARGEST_SEGMENT = 4096
_FAMILIES = ("AF_UNIX", "AF_INET", "AF_INET6")  # inet reaches nothing without an interface
_HIGHEST_FAMILY = 45


class NoSeccomp(Exception):
    """pyseccomp or the library it calls is missing; the message says how to get it."""


@cache
def program() -> bytes:
    """The filter as a BPF program, as prctl(PR_SET_SECCOMP) and bubblewrap's --seccomp take it.

    A call of another architecture ends the process, which is libseccomp's default. Raises NoSeccomp.
    """
    try:
        import pyseccomp
    except ImportError as problem:
        raise NoSeccomp("The package pyseccomp is missing: run `pip install pyseccomp`.") from problem
    except (RuntimeError, OSError) as problem:
        raise NoSeccomp("The library libseccomp is missing: run `apt install libseccomp2`.") from problem

    not_permitted = pyseccomp.ERRNO(errno.EPERM)
    seccomp = pyseccomp.SyscallFilter(pyseccomp.ALLOW)
    for name in _ESSENTIAL:
        seccomp.add_rule(not_permitted, name)
    for name in _REFUSED:
        try:
            seccomp.add_rule(not_permitted, name)
        except (ValueError, OSError):
            continue
    for flag in _NEW_NAMESPACE:
        seccomp.add_rule(not_permitted, "clone", pyseccomp.Arg(0, pyseccomp.MASKED_EQ, flag, flag))
    seccomp.add_rule(not_permitted, "shmget", pyseccomp.Arg(1, pyseccomp.GT, _LARGEST_SEGMENT))
    # clone3's flags lie in memory, where no filter can read them. Without it, libraries fall back to clone.
    seccomp.add_rule(pyseccomp.ERRNO(errno.ENOSYS), "clone3")
    no_family = pyseccomp.ERRNO(errno.EAFNOSUPPORT)
    allowed = {getattr(socket, name) for name in _FAMILIES}  # not every system has each of them
    for family in sorted(set(range(_HIGHEST_FAMILY + 1)) - allowed):
        seccomp.add_rule(no_family, "socket", pyseccomp.Arg(0, pyseccomp.EQ, family))
    seccomp.add_rule(no_family, "socket", pyseccomp.Arg(0, pyseccomp.GT, _HIGHEST_FAMILY))
    with tempfile.TemporaryFile() as file:
        seccomp.export_bpf(file)
        file.seek(0)
        return file.read()
