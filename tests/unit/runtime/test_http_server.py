"""Where the API listens, and for how long it keeps connections."""

import socket
from contextlib import closing

from fastapi import FastAPI

from deploy.runtime.http_server import configured, listener


def test_answers_do_not_wait_for_acknowledgements_of_what_was_sent_before():
    with (
        closing(listener("127.0.0.1", 0)) as listening,
        closing(socket.create_connection(listening.getsockname())),
        closing(listening.accept()[0]) as connection,
    ):
        assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_a_connection_that_is_not_used_is_kept_for_longer_than_clients_and_proxies_use_it():
    assert configured(FastAPI(), stop_s=10.0).timeout_keep_alive > 60
