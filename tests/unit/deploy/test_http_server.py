"""Where the API listens."""

import socket
from contextlib import closing

from deploy.http_server import listener


def test_answers_do_not_wait_for_acknowledgements_of_what_was_sent_before():
    with (
        closing(listener("127.0.0.1", 0)) as listening,
        closing(socket.create_connection(listening.getsockname())),
        closing(listening.accept()[0]) as connection,
    ):
        assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
