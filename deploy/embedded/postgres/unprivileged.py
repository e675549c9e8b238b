"""Runs a server that refuses to run as root (PostgreSQL), without changes to the host.

It uses a user namespace in which the current uid is an ordinary one. If the kernel denies that, it uses the user `nobody`
and changes the owner of the server's directories.
"""

import ctypes
import os
import pwd
import signal
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

CLONE_NEWUSER = 0x10000000  # linux/sched.h
PR_SET_PDEATHSIG = 1  # linux/prctl.h
OVERFLOW_UID = 65534  # the owner of unmapped uids inside a namespace


def die_with_parent() -> None:
    """Makes the kernel kill the calling process when the thread that started it ends (Linux only).

    Call it last before exec: the kernel clears the setting whenever credentials change.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def must_drop_privileges() -> bool:
    """Whether this process cannot run PostgreSQL directly: it is root, or its uid has no passwd entry."""
    return os.geteuid() == 0 or os.geteuid() not in {user.pw_uid for user in pwd.getpwall()}


def ordinary_user() -> pwd.struct_passwd:
    """A user of this machine other than root and the overflow uid; initdb looks up its name."""
    return next(user for user in pwd.getpwall() if 0 < user.pw_uid < OVERFLOW_UID)


def enter_namespace(uid: int, gid: int) -> None:
    """Moves the calling process into a user namespace in which it is uid:gid. Raises OSError if that is denied."""
    own_uid, own_gid = os.geteuid(), os.getegid()
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWUSER) != 0:
        raise OSError(ctypes.get_errno(), "user namespaces are denied")
    # setgroups first: without it an unprivileged writer may not set gid_map.
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{uid} {own_uid} 1")
    Path("/proc/self/gid_map").write_text(f"{gid} {own_gid} 1")


def namespace_allowed(uid: int, gid: int) -> bool:
    """Tests it in a child process, as a process cannot leave a namespace."""
    if sys.platform != "linux":
        return False
    child = os.fork()
    if child == 0:
        try:
            enter_namespace(uid, gid)
        except OSError:
            os._exit(1)
        os._exit(0)
    return os.waitpid(child, 0)[1] == 0


def hand_over(directories: Iterable[Path], uid: int, gid: int) -> None:
    """Changes the owner of these directories and their contents."""
    for directory in directories:
        for path in (directory, *directory.rglob("*")):
            os.chown(path, uid, gid, follow_symlinks=False)


def drop_to(uid: int, gid: int) -> None:
    """Drops root privileges of the calling process for good."""
    os.setgroups([])
    os.setgid(gid)
    os.setuid(uid)


def privilege_drop(owned: list[Path]) -> Callable[[], None]:
    """The function that a child calls before exec to become unprivileged; does nothing for an ordinary user.

    `owned` are the directories that the server writes to; their owner changes only if `nobody` has to be used.
    """
    if not must_drop_privileges():
        return lambda: None
    user = ordinary_user()
    if namespace_allowed(user.pw_uid, user.pw_gid):
        return lambda: enter_namespace(user.pw_uid, user.pw_gid)
    if os.geteuid() != 0:
        return lambda: None
    nobody = pwd.getpwnam("nobody")
    hand_over(owned, nobody.pw_uid, nobody.pw_gid)
    return lambda: drop_to(nobody.pw_uid, nobody.pw_gid)
