"""Loopback ports: finding free ones, and saying early when a wanted one is taken."""

import random
import socket
from collections.abc import Iterator
from functools import cache
from itertools import cycle, islice
from pathlib import Path

from deploy.embedded.errors import EmbeddedPartFailed

LOOPBACK = "127.0.0.1"
POSSIBLE = range(10_000, 25_000)  # below the ports that `memstream dev` takes if it is told nothing
OUTGOING = Path("/proc/sys/net/ipv4/ip_local_port_range")


def free_ports(count: int) -> list[int]:
    """Distinct ports nobody listens on now, and nobody is likely to take before they are listened on.

    Any connection of any program may be given a port that the kernel hands out by itself, and a server takes seconds to start.
    So none of those is chosen, nor twice the same in one process; of several processes, each tries them in an order of its own.
    Raises EmbeddedPartFailed when there are not so many.
    """
    found = list(islice(filter(is_free, islice(candidates(), len(POSSIBLE))), count))
    if len(found) < count:
        raise EmbeddedPartFailed(
            "ports", f"fewer than {count} of {POSSIBLE} are free", "Stop programs that listen there."
        )
    return found


def free_port() -> int:
    """A loopback port that is free in the same sense."""
    return free_ports(1)[0]


@cache
def candidates() -> Iterator[int]:
    """The process's own: what has been tried comes again after all others."""
    lowest, highest = map(int, OUTGOING.read_text().split()) if OUTGOING.exists() else (49_152, 65_535)
    apart = [port for port in POSSIBLE if not lowest <= port <= highest] or list(POSSIBLE)
    return cycle(random.sample(apart, len(apart)))


def is_free(port: int) -> bool:
    try:
        require_free("", port)
    except EmbeddedPartFailed:
        return False
    return True


def require_free(part: str, port: int) -> None:
    """Raises EmbeddedPartFailed when something already listens on the loopback port."""
    with socket.socket() as probe:
        # Without it a port in TIME_WAIT, as after a restart, would count as taken.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError as exc:
            raise EmbeddedPartFailed(
                part,
                f"port {port} on {LOOPBACK} cannot be used ({exc.strerror})",
                "Stop the program that listens there, or choose another port.",
            ) from exc
