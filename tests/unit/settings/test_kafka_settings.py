"""Incomplete Kafka security settings stop the start."""

from pathlib import Path
from typing import Any

import pytest

from deploy.runtime.dev import PLAIN_KAFKA
from deploy.settings import load
from schemas.errors import Misconfigured

SASL = {"kafka_security_protocol": "SASL_SSL", "kafka_username": "memstream", "kafka_password": "EXAMPLE-pa55word"}
OAUTH = SASL | {"kafka_sasl_mechanism": "OAUTHBEARER", "kafka_oauth_token_url": "https://idp.example.com/token"}
MSK = {"kafka_security_protocol": "SASL_SSL", "kafka_sasl_mechanism": "AWS_MSK_IAM", "kafka_aws_region": "eu-central-1"}
PAIR = {"kafka_certificate_file": Path("c.pem"), "kafka_key_file": Path("c.key")}


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"kafka_password": "EXAMPLE-pa55word"}, "KAFKA_PASSWORD is set, but .*PLAINTEXT does not use it"),
        ({"kafka_ca_file": Path("ca.pem")}, "KAFKA_CA_FILE is set, but .*PLAINTEXT does not use it"),
        (SASL | {"kafka_security_protocol": "SSL"}, "KAFKA_USERNAME is set, but .*=SSL does not use it"),
        (SASL | {"kafka_security_protocol": "SASL_PLAINTEXT"} | PAIR, "KAFKA_CERTIFICATE_FILE is set"),
        (SASL | {"kafka_password": None}, "SASL_SSL needs MEMSTREAM_KAFKA_PASSWORD"),
        (SASL | {"kafka_username": None}, "SASL_SSL needs MEMSTREAM_KAFKA_USERNAME"),
        (SASL | PAIR | {"kafka_key_file": None}, "CERTIFICATE_FILE and MEMSTREAM_KAFKA_KEY_FILE are set together"),
        (SASL | {"kafka_key_password": "EXAMPLE-pa55word"}, "CERTIFICATE_FILE and MEMSTREAM_KAFKA_KEY_FILE"),
        (OAUTH | {"kafka_oauth_token_url": None}, "OAUTHBEARER .*needs MEMSTREAM_KAFKA_OAUTH_TOKEN_URL"),
        (OAUTH | {"kafka_oauth_token_url": "idp.example.com"}, "KAFKA_OAUTH_TOKEN_URL='idp.example.com'"),
        (OAUTH | {"kafka_password": None}, "OAUTHBEARER .*needs MEMSTREAM_KAFKA_PASSWORD"),
        (OAUTH | {"kafka_sasl_mechanism": "PLAIN"}, "KAFKA_OAUTH_TOKEN_URL is set, but .*PLAIN .*does not use it"),
        (OAUTH | {"kafka_oauth_extensions": "logicalCluster"}, "KAFKA_OAUTH_EXTENSIONS='logicalCluster'"),
        (MSK | {"kafka_aws_region": None}, "AWS_MSK_IAM .*needs MEMSTREAM_KAFKA_AWS_REGION"),
        (SASL | MSK, "KAFKA_USERNAME is set, but .*AWS_MSK_IAM .*does not use it"),
        (SASL | {"kafka_aws_region": "eu-central-1"}, "KAFKA_AWS_REGION is set, but .*SCRAM-SHA-512 .*does not"),
        ({"kafka_sasl_mechanism": "GSSAPI"}, "KAFKA_SASL_MECHANISM='GSSAPI'"),
    ],
)
def test_an_incomplete_kafka_security_setting_is_rejected_with_its_variable_but_without_its_value(
    given: dict[str, Any], named: str
):
    with pytest.raises(Misconfigured, match=named) as refused:
        load(**given)
    assert "EXAMPLE-pa55word" not in str(refused.value)


@pytest.mark.parametrize("given", [SASL, SASL | PAIR, OAUTH, MSK, PAIR | {"kafka_security_protocol": "SSL"}])
def test_complete_security_settings_are_passed_to_the_cluster(given: dict[str, Any]):
    security = load(**given).cluster().security
    assert security.protocol == given["kafka_security_protocol"]
    assert security.username == given.get("kafka_username")
    assert security.key_file == given.get("kafka_key_file")


def test_the_embedded_broker_ignores_security_settings_of_the_environment():
    """`memstream dev` beside a `.env` for a managed cluster."""
    plain = load(**SASL).model_copy(update=PLAIN_KAFKA).cluster().security
    assert plain.client() == {}


def test_oauth_scope_audience_and_extensions_are_taken_from_the_settings():
    said = {"scope": "a b", "audience": "kafka", "extensions": "logicalCluster=lkc-1,identityPoolId=pool-2"}
    security = load(**OAUTH | {f"kafka_oauth_{name}": value for name, value in said.items()}).security()
    assert (security.token_url, security.scope, security.audience) == ("https://idp.example.com/token", "a b", "kafka")
    assert security.extensions == (("logicalCluster", "lkc-1"), ("identityPoolId", "pool-2"))
