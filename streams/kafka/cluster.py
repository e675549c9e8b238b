"""Connection options of the brokers, and the directories of a worker."""

from pathlib import Path
from typing import Any

from msgspec import Struct

from streams.kafka.security import Security


class ClusterSettings(Struct, frozen=True, kw_only=True):
    """How to reach the brokers, how fast a lost worker is noticed, and where tables are stored on this machine.

    One process at a time may use a `datadir`.
    """

    bootstrap_servers: str
    datadir: Path
    session_timeout_s: float = 10.0
    heartbeat_interval_s: float = 3.0
    checkpoint_interval_s: float = 0.5
    security: Security = Security()

    def client(self) -> dict[str, Any]:
        """aiokafka's connection settings. Raises Misconfigured when a file of certificates cannot be used."""
        return {"bootstrap_servers": self.bootstrap_servers} | self.security.client()
