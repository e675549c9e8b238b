"""A shared broker with encrypted listeners for passwords, certificates and tokens."""

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
from tests.servers.openid import AUDIENCE, OpenIdServer
from tests.servers.scripted import in_a_thread

USER = "memstream"
TOKEN_LIVES_S = 10
REAUTHENTICATE_MS = 60_000
MODULES = {
    "plain": f"org.apache.kafka.common.security.plain.PlainLoginModule required user_{USER}='{PASSWORD}';",
    "scram-sha-256": "org.apache.kafka.common.security.scram.ScramLoginModule required;",
    "scram-sha-512": "org.apache.kafka.common.security.scram.ScramLoginModule required;",
}


class Secured:
    """The listeners, and settings that connect to them."""

    def __init__(self, directory: Path, provider: OpenIdServer) -> None:
        self.authority = Authority(directory)
        self.provider = provider
        self.by_password, self.by_certificate, self.by_token = free_ports(3)
        shown, key = self.authority.issue("broker")
        store = directory / "keystore.pem"
        store.write_bytes(key.read_bytes() + shown.read_bytes())
        tls = {
            "ssl.keystore.type": "PEM",
            "ssl.keystore.location": str(store),
            "ssl.truststore.type": "PEM",
            "ssl.truststore.location": str(self.authority.file),
        }
        settings = {"sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512"}
        settings |= {f"{mechanism}.sasl.jaas.config": module for mechanism, module in MODULES.items()}
        self.listeners = (
            Listener("PASSWORDS", "SASL_SSL", self.by_password, tls | settings),
            Listener("CERTIFICATES", "SSL", self.by_certificate, tls | {"ssl.client.auth": "required"}),
            Listener("TOKENS", "SASL_SSL", self.by_token, tls | tokens_of(provider)),
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

    def token_settings(self) -> dict[str, Any]:
        return self.password_settings("OAUTHBEARER") | {
            "bootstrap_servers": f"{LOOPBACK}:{self.by_token}",
            "kafka_oauth_token_url": self.provider.token_url,
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


def tokens_of(provider: OpenIdServer) -> dict[str, str]:
    """Trusts a provider by its keys. A connection ends with its token, as on managed clusters."""
    package = "org.apache.kafka.common.security.oauthbearer"
    return {
        "sasl.enabled.mechanisms": "OAUTHBEARER",
        "oauthbearer.sasl.jaas.config": f"{package}.OAuthBearerLoginModule required;",
        "oauthbearer.sasl.server.callback.handler.class": f"{package}.OAuthBearerValidatorCallbackHandler",
        "oauthbearer.connections.max.reauth.ms": str(REAUTHENTICATE_MS),
        "sasl.oauthbearer.jwks.endpoint.url": provider.keys_url,
        "sasl.oauthbearer.expected.audience": AUDIENCE,
    }


@pytest.fixture(scope="session")
def secured(tmp_path_factory: pytest.TempPathFactory, cache_dir: Path) -> Iterator[Secured]:
    directory = tmp_path_factory.mktemp("secured")
    with (
        in_a_thread(OpenIdServer({USER: PASSWORD}, TOKEN_LIVES_S)) as provider,
        pytest.MonkeyPatch.context() as patched,
    ):
        # Kafka's brokers fetch keys only from addresses in this list.
        patched.setenv("JAVA_TOOL_OPTIONS", f"-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls={provider.keys_url}")
        secured = Secured(directory, provider)
        broker = EmbeddedBroker(directory / "kafka", cache_dir / "jars", None, secured.listeners, {USER: PASSWORD})
        with asyncio.Runner() as runner:
            runner.run(broker.start())
            yield secured
            runner.run(broker.stop())
