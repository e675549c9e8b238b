"""OAuth tokens for Kafka are shared by connections and renewed in time; a failure has a clear error."""

import asyncio
import base64
import sys
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import jwt
import pytest
from aiokafka.errors import KafkaError
from faust.transport.drivers.aiokafka import credentials_to_aiokafka_auth

from schemas.errors import Misconfigured
from streams.apps import credentials
from streams.kafka.security import Security
from streams.kafka.tokens import ClientCredentials, MskIam, SharedToken, Token
from tests.servers.openid import OpenIdServer

SECRET = "EXAMPLE-pa55word"


@pytest.fixture
async def provider() -> AsyncIterator[OpenIdServer]:
    async with OpenIdServer({"memstream": SECRET}) as server:
        yield server


def asking(provider: OpenIdServer, **changed: Any) -> ClientCredentials:
    known = {"token_url": provider.token_url, "client_id": "memstream", "client_secret": SECRET}
    return ClientCredentials(**known | changed)


async def test_a_token_is_requested_with_client_credentials_scope_and_audience(provider: OpenIdServer):
    token = await asyncio.to_thread(asking(provider, scope="kafka.write", audience="https://kafka").fetch)
    assert jwt.decode(token.value, options={"verify_signature": False})["sub"] == "memstream"
    assert token.lives_s == provider.lives_s
    assert provider.requests == [
        {"grant_type": "client_credentials", "scope": "kafka.write", "audience": "https://kafka"}
    ]


@pytest.mark.parametrize(
    ("script", "changed", "said"),
    [
        ((), {"client_secret": "EXAMPLE-an0ther"}, "invalid_client: wrong secret"),
        (("status:503",), {}, "503"),
        (("page",), {}, ""),
        ((), {"token_url": "http://127.0.0.1:9/token"}, "Connect"),
    ],
    ids=["wrong secret", "away", "a web page", "nobody there"],
)
async def test_a_failed_token_request_names_endpoint_client_and_reason_but_no_secret(
    provider: OpenIdServer, script: tuple[str, ...], changed: dict[str, Any], said: str
):
    provider.script(*script)
    source = asking(provider, **changed)
    with pytest.raises(KafkaError) as refused:
        await SharedToken(source.fetch).token()
    error = str(refused.value)
    assert "no token for the client 'memstream' from" in error
    assert source.token_url in error
    assert said in error
    assert "EXAMPLE-" not in error


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Counted:
    """Tokens by number, each with ten seconds to live."""

    def __init__(self) -> None:
        self.number = 0

    def __call__(self) -> Token:
        self.number += 1
        return Token(str(self.number), 10.0)


async def test_a_token_is_reused_until_most_of_its_lifetime_has_passed():
    clock = Clock()
    shared = SharedToken(Counted(), clock=clock)
    grants = []
    for passed in (0.0, 7.9, 0.2, 7.9, 0.2):
        clock.now += passed
        grants.append(await shared.token())
    assert grants == ["1", "1", "2", "2", "3"]


def test_connections_that_begin_at_once_on_several_threads_share_one_token():
    counted, together = Counted(), threading.Barrier(4)
    shared = SharedToken(counted)
    paths: list[str] = []

    def connect() -> None:
        together.wait(10)
        paths.append(asyncio.run(shared.token()))

    threads = [threading.Thread(target=connect) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert paths == ["1"] * 4


async def test_a_failed_token_request_is_not_cached():
    answers = iter([KafkaError("away"), Token("1", 10.0)])

    def fetch() -> Token:
        answer = next(answers)
        if isinstance(answer, KafkaError):
            raise answer
        return answer

    shared = SharedToken(fetch)
    with pytest.raises(KafkaError):
        await shared.token()
    assert await shared.token() == "1"


@pytest.mark.parametrize("protocol", ["SASL_PLAINTEXT", "SASL_SSL"])
async def test_all_clients_share_one_token_provider_and_its_sasl_extensions(provider: OpenIdServer, protocol: Any):
    security = Security(
        protocol=protocol,
        mechanism="OAUTHBEARER",
        username="memstream",
        password=SECRET,
        token_url=provider.token_url,
        extensions=(("logicalCluster", "lkc-1"),),
    )
    ours, faust = security.client(), credentials_to_aiokafka_auth(credentials(security))
    tokens = ours["sasl_oauth_token_provider"]
    assert faust["sasl_oauth_token_provider"] is tokens
    assert (ours["sasl_mechanism"], faust["sasl_mechanism"]) == ("OAUTHBEARER", "OAUTHBEARER")
    assert ours["security_protocol"] == faust["security_protocol"] == protocol
    assert tokens.extensions() == {"logicalCluster": "lkc-1"}
    await tokens.token()
    await tokens.token()
    assert provider.issued == 1


def test_an_unusable_ca_file_is_named_in_the_error(tmp_path: Path):
    with pytest.raises(Misconfigured, match=r"missing\.pem"):
        Security(
            protocol="SASL_SSL",
            mechanism="OAUTHBEARER",
            token_url="https://idp/token",
            token_ca_file=tmp_path / "missing.pem",
        ).tokens()


MSK = Security(protocol="SASL_SSL", mechanism="AWS_MSK_IAM", aws_region="eu-central-1")


async def test_an_msk_token_is_a_presigned_connect_request(monkeypatch: pytest.MonkeyPatch):
    """The shape that Amazon's signers make: a presigned address of the region, in base64."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "EXAMPLEKEYID")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    monkeypatch.delenv("AWS_SESSION_TOKEN", raising=False)
    options = MSK.client()
    assert options["sasl_mechanism"] == "OAUTHBEARER"
    token = await options["sasl_oauth_token_provider"].token()
    address = urlsplit(base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)).decode())
    parameters = {name: value for name, (value,) in parse_qs(address.query).items()}
    assert (address.scheme, address.netloc) == ("https", "kafka.eu-central-1.amazonaws.com")
    assert parameters["Action"] == "kafka-cluster:Connect"
    assert parameters["X-Amz-Algorithm"] == "AWS4-HMAC-SHA256"
    assert parameters["X-Amz-Credential"].startswith("EXAMPLEKEYID/")
    assert parameters["X-Amz-Credential"].endswith("/eu-central-1/kafka-cluster/aws4_request")
    assert len(parameters["X-Amz-Signature"]) == 64
    assert SECRET not in address.query
    assert 0 < MskIam(region="eu-central-1").fetch().lives_s <= int(parameters["X-Amz-Expires"]) == 900


async def test_missing_aws_credentials_are_reported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    with pytest.raises(KafkaError, match="no AWS credentials"):
        await SharedToken(MskIam(region="eu-central-1").fetch).token()


def test_msk_authentication_without_the_msk_extra_raises_misconfigured_with_the_remedy(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "aws_msk_iam_sasl_signer", None)
    monkeypatch.setitem(sys.modules, "aws_msk_iam_sasl_signer.MSKAuthTokenProvider", None)
    with pytest.raises(Misconfigured, match="extra msk"):
        Security(protocol="SASL_SSL", mechanism="AWS_MSK_IAM", aws_region="eu-west-1").client()
