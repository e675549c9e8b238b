"""Security options of Kafka clients, and settings rejected before connecting."""

import ssl
from pathlib import Path

import pytest
from faust.transport.drivers.aiokafka import credentials_to_aiokafka_auth
from rich.pretty import pretty_repr

from schemas.errors import Misconfigured
from streams.apps import credentials, stage_app
from streams.kafka.cluster import ClusterSettings
from streams.kafka.security import Security
from streams.kafka.topics import TopicSettings
from tests.certificates import Authority

SECRET = "EXAMPLE-pa55word"


def test_a_plaintext_broker_gets_no_security_options():
    assert Security().client() == {}
    assert credentials(Security()) is None


@pytest.mark.parametrize("protocol", ["SSL", "SASL_PLAINTEXT", "SASL_SSL"])
def test_faust_and_aiokafka_get_the_same_security_options(protocol: str, tmp_path: Path):
    security = Security(
        protocol=protocol,  # type: ignore[arg-type]
        mechanism="SCRAM-SHA-256",
        username="memstream",
        password=SECRET,
        ca_file=Authority(tmp_path).file,
    )
    cluster = ClusterSettings(bootstrap_servers="127.0.0.1:9", datadir=tmp_path, security=security)
    app = stage_app("archive", cluster, TopicSettings(), {})
    faust = {
        name: value
        for name, value in credentials_to_aiokafka_auth(app.conf.broker_credentials).items()
        if value is not None
    }
    ours = security.client()
    contexts = [each.pop("ssl_context", None) for each in (faust, ours)]
    assert faust == ours
    assert [type(context) for context in contexts] == [ssl.SSLContext if protocol.endswith("SSL") else type(None)] * 2


def test_tls_verifies_host_names_and_requires_tls_1_2(tmp_path: Path):
    context = Security(protocol="SSL", ca_file=Authority(tmp_path).file).context()
    assert context.check_hostname
    assert context.verify_mode is ssl.CERT_REQUIRED
    assert context.minimum_version >= ssl.TLSVersion.TLSv1_2


def test_secrets_are_in_no_representation():
    security = Security(protocol="SASL_SSL", username="memstream", password=SECRET, key_password=SECRET)
    cluster = ClusterSettings(bootstrap_servers="b:1", datadir=Path("d"), security=security)
    assert SECRET not in repr(cluster) + pretty_repr(cluster) + str(security)


def test_files_that_cannot_be_used_are_named(tmp_path: Path):
    (tmp_path / "none.pem").write_text("no certificate")
    certificate, key = Authority(tmp_path).issue("client", SECRET)
    for wrong, named in (
        ({"ca_file": tmp_path / "missing.pem"}, "missing.pem"),
        ({"ca_file": tmp_path / "none.pem"}, "none.pem"),
        ({"certificate_file": certificate, "key_file": tmp_path / "missing.key"}, "missing.key"),
        ({"certificate_file": certificate, "key_file": key, "key_password": "another"}, "client.key"),
        ({"certificate_file": certificate, "key_file": key}, "encrypted"),
    ):
        with pytest.raises(Misconfigured, match=named):
            Security(protocol="SSL", **wrong).client()  # type: ignore[arg-type]
