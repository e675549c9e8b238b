"""Settings of Kafka's security are whole, or they stop the start."""

from pathlib import Path
from typing import Any

import pytest

from deploy.runtime.dev import PLAIN_KAFKA
from deploy.settings import load
from schemas.errors import Misconfigured

SASL = {"kafka_security_protocol": "SASL_SSL", "kafka_username": "memstream", "kafka_password": "EXAMPLE-pa55word"}
PAIR = {"kafka_certificate_file": Path("c.pem"), "kafka_key_file": Path("c.key")}


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"kafka_password": "EXAMPLE-pa55word"}, "KAFKA_PASSWORD is set, and .*PLAINTEXT would not use it"),
        ({"kafka_ca_file": Path("ca.pem")}, "KAFKA_CA_FILE is set, and .*PLAINTEXT would not use it"),
        (SASL | {"kafka_security_protocol": "SSL"}, "KAFKA_USERNAME is set, and .*=SSL would not use it"),
        (SASL | {"kafka_security_protocol": "SASL_PLAINTEXT"} | PAIR, "KAFKA_CERTIFICATE_FILE is set"),
        (SASL | {"kafka_password": None}, "SASL_SSL needs MEMSTREAM_KAFKA_PASSWORD"),
        (SASL | {"kafka_username": None}, "SASL_SSL needs MEMSTREAM_KAFKA_USERNAME"),
        (SASL | PAIR | {"kafka_key_file": None}, "CERTIFICATE_FILE and MEMSTREAM_KAFKA_KEY_FILE are set together"),
        (SASL | {"kafka_key_password": "EXAMPLE-pa55word"}, "CERTIFICATE_FILE and MEMSTREAM_KAFKA_KEY_FILE"),
        ({"kafka_sasl_mechanism": "GSSAPI"}, "KAFKA_SASL_MECHANISM='GSSAPI'"),
    ],
)
def test_half_a_setting_is_refused_with_its_variable_and_without_its_value(given: dict[str, Any], named: str):
    with pytest.raises(Misconfigured, match=named) as refused:
        load(**given)
    assert "EXAMPLE-pa55word" not in str(refused.value)


@pytest.mark.parametrize("given", [SASL, SASL | PAIR, PAIR | {"kafka_security_protocol": "SSL"}])
def test_whole_settings_reach_the_cluster(given: dict[str, Any]):
    security = load(**given).cluster().security
    assert security.protocol == given["kafka_security_protocol"]
    assert security.username == given.get("kafka_username")
    assert security.key_file == given.get("kafka_key_file")


def test_the_embedded_broker_is_asked_for_nothing_whatever_the_environment_says():
    """`memstream dev` beside a `.env` for a managed cluster."""
    plain = load(**SASL).model_copy(update=PLAIN_KAFKA).cluster().security
    assert plain.client() == {}
