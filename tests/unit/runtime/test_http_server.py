"""Socket options and keep-alive of the API."""

import socket
from contextlib import closing

from fastapi import FastAPI

from deploy.runtime.http_server import configured, listener


def test_the_api_listener_sets_tcp_nodelay():
    with (
        closing(listener("127.0.0.1", 0)) as listening,
        closing(socket.create_connection(listening.getsockname())),
        closing(listening.accept()[0]) as connection,
    ):
        assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_idle_connections_are_kept_alive_longer_than_by_clients_and_proxies():
    assert configured(FastAPI(), stop_s=10.0).timeout_keep_alive > 60
