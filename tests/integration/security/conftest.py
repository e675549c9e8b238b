"""One broker for all: a listener that asks for names and passwords, and one that asks for certificates, both encrypted."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from deploy.embedded.kafka.broker import EmbeddedBroker
from deploy.embedded.kafka.config import Listener
from deploy.embedded.ports import LOOPBACK, free_ports
from tests.certificates import Authority
from tests.preparation import PASSWORD

USER = "memstream"
MODULES = {
    "plain": f"org.apache.kafka.common.security.plain.PlainLoginModule required user_{USER}='{PASSWORD}';",
    "scram-sha-256": "org.apache.kafka.common.security.scram.ScramLoginModule required;",
    "scram-sha-512": "org.apache.kafka.common.security.scram.ScramLoginModule required;",
}


class Secured:
    """Where the listeners are, and settings that get in."""

    def __init__(self, directory: Path) -> None:
        self.authority = Authority(directory)
        self.by_password, self.by_certificate = free_ports(2)
        shown, key = self.authority.issue("broker")
        store = directory / "keystore.pem"
        store.write_bytes(key.read_bytes() + shown.read_bytes())
        tls = {
            "ssl.keystore.type": "PEM",
            "ssl.keystore.location": str(store),
            "ssl.truststore.type": "PEM",
            "ssl.truststore.location": str(self.authority.file),
        }
        asked = {"sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512"}
        asked |= {f"{mechanism}.sasl.jaas.config": module for mechanism, module in MODULES.items()}
        self.listeners = (
            Listener("PASSWORDS", "SASL_SSL", self.by_password, tls | asked),
            Listener("CERTIFICATES", "SSL", self.by_certificate, tls | {"ssl.client.auth": "required"}),
        )
        self._certificate, self._key = self.authority.issue("client", PASSWORD)

    def password_settings(self, mechanism: str) -> dict[str, Any]:
        return {
            "bootstrap_servers": f"{LOOPBACK}:{self.by_password}",
            "kafka_security_protocol": "SASL_SSL",
            "kafka_sasl_mechanism": mechanism,
            "kafka_username": USER,
            "kafka_password": PASSWORD,
            "kafka_ca_file": self.authority.file,
        }

    def certificate_settings(self) -> dict[str, Any]:
        return {
            "bootstrap_servers": f"{LOOPBACK}:{self.by_certificate}",
            "kafka_security_protocol": "SSL",
            "kafka_ca_file": self.authority.file,
            "kafka_certificate_file": self._certificate,
            "kafka_key_file": self._key,
            "kafka_key_password": PASSWORD,
        }


@pytest.fixture(scope="session")
def secured(tmp_path_factory: pytest.TempPathFactory, cache_dir: Path) -> Iterator[Secured]:
    directory = tmp_path_factory.mktemp("secured")
    secured = Secured(directory)
    broker = EmbeddedBroker(directory / "kafka", cache_dir / "jars", None, secured.listeners, {USER: PASSWORD})
    with asyncio.Runner() as runner:
        runner.run(broker.start())
        yield secured
        runner.run(broker.stop())
