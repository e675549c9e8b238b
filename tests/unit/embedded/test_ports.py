"""Free ports and taken ones."""

import socket

import pytest

from deploy.embedded.errors import EmbeddedPartFailed
from deploy.embedded.ports import LOOPBACK, free_ports, require_free


def test_free_ports_differ_and_can_be_bound():
    ports = free_ports(5)
    assert len(set(ports)) == 5
    for port in ports:
        require_free("test", port)


def test_a_taken_port_is_named_with_the_part_that_wanted_it():
    with socket.create_server((LOOPBACK, 0)) as server:
        port = server.getsockname()[1]
        with pytest.raises(EmbeddedPartFailed, match=f"kafka: port {port} on 127.0.0.1 cannot be used"):
            require_free("kafka", port)
