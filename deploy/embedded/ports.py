"""Loopback ports: finds free ones, and reports an occupied one early."""

import random
import socket
from collections.abc import Iterator
from functools import cache
from itertools import cycle, islice
from pathlib import Path

from deploy.embedded.errors import EmbeddedPartFailed

LOOPBACK = "127.0.0.1"
POSSIBLE = range(10_000, 25_000)  # below the default ports of `memstream dev`
OUTGOING = Path("/proc/sys/net/ipv4/ip_local_port_range")


def free_ports(count: int) -> list[int]:
    """Distinct ports that are free now and unlikely to be taken before a server listens on them.

    The kernel gives its ephemeral ports to any outgoing connection, and a server takes seconds to start, so ephemeral ports
    are excluded. A process never returns a port twice, and each process tries ports in its own order. Raises
    EmbeddedPartFailed if there are not enough.
    """
    found = list(islice(filter(is_free, islice(candidates(), len(POSSIBLE))), count))
    if len(found) < count:
        raise EmbeddedPartFailed(
            "ports", f"fewer than {count} of {POSSIBLE} are free", "Stop programs that listen there."
        )
    return found


def free_port() -> int:
    """A free loopback port, chosen as by `free_ports`."""
    return free_ports(1)[0]


@cache
def candidates() -> Iterator[int]:
    """The ports in this process's order; tried ones come last."""
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
    """Raises EmbeddedPartFailed if a program listens on the loopback port."""
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
