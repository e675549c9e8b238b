"""Runs a server that must not outlive its parent: `python -m deploy.embedded.guard [options] -- command`.

The parent holds the write end of the guard's stdin. When it closes (even after kill -9 of the parent), or on SIGTERM, the
guard stops the server, and kills it after the grace period. The server inherits the lock, so a free lock proves that no
earlier server is running. The guard writes the server's pid to its stdout, on one line.
"""

import argparse
import fcntl
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from deploy.embedded.postgres.unprivileged import die_with_parent, privilege_drop

LOCK_POLL_S = 0.05
EXIT_LOCKED = 75  # EX_TEMPFAIL


def parse(argv: list[str]) -> argparse.Namespace:
    """The options, and the server's command after `--`."""
    parser = argparse.ArgumentParser(prog="guard", description=__doc__)
    parser.add_argument("--stop-signal", default="TERM", help="name of the signal that stops the server")
    parser.add_argument("--grace-s", type=float, default=10.0, help="seconds before SIGKILL follows")
    parser.add_argument("--lock", type=Path, help="file that is locked while the server runs")
    parser.add_argument("--lock-wait-s", type=float, default=15.0, help="seconds to wait for that lock")
    parser.add_argument("--stale", type=Path, action="append", default=[], help="file to remove once the lock is held")
    parser.add_argument("--unprivileged", action="store_true", help="run the server as an ordinary user")
    parser.add_argument("--owned", type=Path, action="append", default=[], help="directories that this user must own")
    parser.add_argument("command", nargs="+")
    return parser.parse_args(argv)


def hold_lock(path: Path, wait_s: float) -> int | None:
    """The file descriptor that holds the lock; None if another process held it for all of `wait_s`."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    deadline = time.monotonic() + wait_s
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                os.close(descriptor)
                return None
            time.sleep(LOCK_POLL_S)
        else:
            return descriptor


def child_setup(step_down: Callable[[], None]) -> Callable[[], None]:
    """The function that runs in the child between fork and exec."""
    parent = os.getpid()

    def prepare() -> None:
        step_down()
        die_with_parent()
        if os.getppid() != parent:  # the guard ended before the call above
            os._exit(1)

    return prepare


def spawn(options: argparse.Namespace, lock: int | None) -> subprocess.Popen[bytes]:
    """Starts the server. Its output goes to the guard's stderr."""
    step_down = privilege_drop(options.owned) if options.unprivileged else (lambda: None)
    return subprocess.Popen(
        options.command,
        stdin=subprocess.DEVNULL,
        stdout=sys.stderr.fileno(),
        start_new_session=True,  # Ctrl-C in the terminal must reach the parent only
        pass_fds=() if lock is None else (lock,),
        preexec_fn=child_setup(step_down),
    )


def watch(server: subprocess.Popen[bytes], wake: int, stop_signal: int, grace_s: float) -> int:
    """Waits for the end of the server. Stops it once the parent is gone or requests it."""
    deadline: float | None = None
    sources = [0, wake]
    while server.poll() is None:
        left = None if deadline is None else max(0.0, deadline - time.monotonic())
        ready, _, _ = select.select(sources, [], [], left)
        if not ready and deadline is not None:
            server.kill()
            return server.wait()
        stop_requested = wake in ready and any(number != signal.SIGCHLD for number in os.read(wake, 64))
        orphaned = 0 in ready and not os.read(0, 64)
        if orphaned:
            sources.remove(0)
        if (stop_requested or orphaned) and deadline is None:
            server.send_signal(stop_signal)
            deadline = time.monotonic() + grace_s
    return server.wait()


def wake_on_signals() -> int:
    """A file descriptor that gets one byte for each SIGTERM, SIGINT and SIGCHLD."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGCHLD):
        signal.signal(number, lambda *_: None)
    signal.set_wakeup_fd(writer)
    return reader


def main(argv: list[str]) -> int:
    """Returns the server's exit code, 128 + n if signal n ended it, or 75 if the lock was not free."""
    options = parse(argv)
    lock = None
    if options.lock is not None:
        lock = hold_lock(options.lock, options.lock_wait_s)
        if lock is None:
            print(f"{options.lock} is held by another process", file=sys.stderr)  # noqa: T201
            return EXIT_LOCKED
    for path in options.stale:
        path.unlink(missing_ok=True)
    wake = wake_on_signals()
    server = spawn(options, lock)
    os.write(1, f"{server.pid}\n".encode())
    code = watch(server, wake, signal.Signals[f"SIG{options.stop_signal}"], options.grace_s)
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
