"""Loopback ports: finding free ones, and saying early when a wanted one is taken."""

import socket

from deploy.embedded.errors import EmbeddedPartFailed

LOOPBACK = "127.0.0.1"


def free_ports(count: int) -> list[int]:
    """Distinct ports nobody listens on now; held together while searching, so that they differ."""
    held = [socket.socket() for _ in range(count)]
    try:
        for one in held:
            one.bind((LOOPBACK, 0))
        return [int(one.getsockname()[1]) for one in held]
    finally:
        for one in held:
            one.close()


def free_port() -> int:
    """A loopback port nobody listens on now."""
    return free_ports(1)[0]


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
