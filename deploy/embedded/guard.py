"""Runs a server that must not outlive its parent: `python -m deploy.embedded.guard [options] -- command`.

The parent holds the write end of the guard's stdin. When it closes, even by kill -9, or on SIGTERM, the
server is told to stop, then killed. The lock is inherited by the server: who holds it knows that no
process of an earlier life is left. The guard writes the server's pid as one line to its stdout.
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

from deploy.embedded.postgres.unprivileged import die_with_parent, way_down

LOCK_POLL_S = 0.05
EXIT_LOCKED = 75  # EX_TEMPFAIL


def parse(argv: list[str]) -> argparse.Namespace:
    """The options, and the server's command after `--`."""
    parser = argparse.ArgumentParser(prog="guard", description=__doc__)
    parser.add_argument("--stop-signal", default="TERM", help="name of the signal that stops the server")
    parser.add_argument("--grace-s", type=float, default=10.0, help="seconds before SIGKILL follows")
    parser.add_argument("--lock", type=Path, help="file locked for as long as the server lives")
    parser.add_argument("--lock-wait-s", type=float, default=15.0, help="seconds to wait for that lock")
    parser.add_argument("--stale", type=Path, action="append", default=[], help="removed once the lock is held")
    parser.add_argument("--unprivileged", action="store_true", help="run the server as an ordinary user")
    parser.add_argument("--owned", type=Path, action="append", default=[], help="directories that user needs")
    parser.add_argument("command", nargs="+")
    return parser.parse_args(argv)


def hold_lock(path: Path, wait_s: float) -> int | None:
    """The descriptor that holds the lock, or None when somebody else kept it for all of `wait_s`."""
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


def prepared(step_down: Callable[[], None]) -> Callable[[], None]:
    """What runs in the child between fork and exec."""
    parent = os.getpid()

    def prepare() -> None:
        step_down()
        die_with_parent()
        if os.getppid() != parent:  # the guard died before the line above took effect
            os._exit(1)

    return prepare


def spawn(options: argparse.Namespace, lock: int | None) -> subprocess.Popen[bytes]:
    """Starts the server; its output goes to the guard's stderr."""
    step_down = way_down(options.owned) if options.unprivileged else (lambda: None)
    return subprocess.Popen(
        options.command,
        stdin=subprocess.DEVNULL,
        stdout=sys.stderr.fileno(),
        start_new_session=True,  # Ctrl-C at the terminal must reach the parent only
        pass_fds=() if lock is None else (lock,),
        preexec_fn=prepared(step_down),
    )


def watch(server: subprocess.Popen[bytes], wake: int, stop_signal: int, grace_s: float) -> int:
    """Waits until the server has ended, stopping it when the parent is gone or asks for it."""
    deadline: float | None = None
    sources = [0, wake]
    while server.poll() is None:
        left = None if deadline is None else max(0.0, deadline - time.monotonic())
        ready, _, _ = select.select(sources, [], [], left)
        if not ready and deadline is not None:
            server.kill()
            return server.wait()
        asked = wake in ready and any(number != signal.SIGCHLD for number in os.read(wake, 64))
        orphaned = 0 in ready and not os.read(0, 64)
        if orphaned:
            sources.remove(0)
        if (asked or orphaned) and deadline is None:
            server.send_signal(stop_signal)
            deadline = time.monotonic() + grace_s
    return server.wait()


def wake_on_signals() -> int:
    """A descriptor that becomes readable on SIGTERM, SIGINT and SIGCHLD, one byte a signal."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGCHLD):
        signal.signal(number, lambda *_: None)
    signal.set_wakeup_fd(writer)
    return reader


def main(argv: list[str]) -> int:
    """The server's exit code; 128 + n when signal n ended it; 75 when the lock could not be had."""
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
