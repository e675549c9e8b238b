"""Selection of free ports."""

import socket
from pathlib import Path

import pytest

from deploy.embedded import ports
from deploy.embedded.errors import EmbeddedPartFailed
from deploy.embedded.ports import LOOPBACK, OUTGOING, free_port, free_ports, require_free


def test_free_ports_differ_and_can_be_bound():
    found = free_ports(5)
    assert len(set(found)) == 5
    for port in found:
        require_free("test", port)


def test_no_chosen_port_is_in_the_ephemeral_range_of_the_kernel():
    lowest, highest = map(int, OUTGOING.read_text().split())
    assert not [port for port in free_ports(200) if lowest <= port <= highest]


def test_a_process_is_not_given_the_same_port_twice_even_if_nobody_listens_on_it():
    given = [free_port() for _ in range(200)]
    assert len(set(given)) == 200


def test_a_port_in_use_is_skipped(monkeypatch: pytest.MonkeyPatch):
    with socket.create_server((LOOPBACK, 0)) as server:
        taken, free = server.getsockname()[1], free_port()
        monkeypatch.setattr(ports, "candidates", lambda: iter((taken, free)))
        assert free_ports(1) == [free]


def test_an_ephemeral_port_is_chosen_if_the_ephemeral_range_covers_all_ports(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    (tmp_path / "range").write_text("1024\t65535\n")
    monkeypatch.setattr(ports, "OUTGOING", tmp_path / "range")
    assert next(ports.candidates.__wrapped__()) in ports.POSSIBLE


def test_a_port_in_use_is_reported_with_the_component_that_requires_it():
    with socket.create_server((LOOPBACK, 0)) as server:
        port = server.getsockname()[1]
        with pytest.raises(EmbeddedPartFailed, match=f"kafka: port {port} on 127.0.0.1 cannot be used"):
            require_free("kafka", port)
