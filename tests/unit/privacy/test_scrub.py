"""Credentials are removed and similar texts are kept. Every secret here is made up and says so."""

import pytest

from agents.privacy.scrub import scrub

FAKE = "EXAMPLE0000notreal0000EXAMPLE"
DIGITS = "4111 1111 1111 1111"

SECRETS = [
    (f"use sk-ant-{FAKE}", "API_KEY"),
    (f"use sk-{FAKE}", "API_KEY"),
    (f"use sk-proj-{FAKE}", "API_KEY"),
    ("use sk_live" + "_" + "EXAMPLE0000notreal", "API_KEY"),
    ("use rk_test" + "_" + "EXAMPLE0000notreal", "API_KEY"),
    ("use AKIA" + "EXAMPLE000000000", "API_KEY"),
    ("use AIza" + "EXAMPLE-not-a-real-key-0000000000000", "API_KEY"),
    (f"use hf_{FAKE}", "API_KEY"),
    (f"use glpat-{FAKE}", "API_KEY"),
    (f"use ghp_{FAKE}", "TOKEN"),
    (f"use github_pat_{FAKE}", "TOKEN"),
    ("use xoxb" + "-EXAMPLE-0000-notreal", "TOKEN"),
    ("eyJEXAMPLE0.eyJEXAMPLE0.EXAMPLEsignature", "JWT"),
    (f"Authorization: Bearer {FAKE}", "TOKEN"),
    (f"curl -H 'authorization: bearer {FAKE}'", "TOKEN"),
    ("-----BEGIN RSA PRIVATE " + "KEY-----\nEXAMPLE\n-----END RSA PRIVATE " + "KEY-----", "PRIVATE_KEY"),
    ("-----BEGIN OPENSSH PRIVATE " + "KEY-----\nEXAMPLE and it breaks off", "PRIVATE_KEY"),
    ("postgres://app:EXAMPLEpw@db.example.org/app", "PASSWORD"),
    ("amqp+ssl://u:EXAMPLE!pw@mq:5671", "PASSWORD"),
    ("password: EXAMPLE-pw", "PASSWORD"),
    ("my password is EXAMPLE-pw", "PASSWORD"),
    ("the password for the router is EXAMPLE-pw", "PASSWORD"),
    ('"passwd"="EXAMPLE-pw"', "PASSWORD"),
    ("mein Passwort ist EXAMPLE-pw", "PASSWORD"),
    ("mon mot de passe est EXAMPLE-pw", "PASSWORD"),
    ("mi contraseña es EXAMPLE-pw", "PASSWORD"),
    ("my PIN is 0000", "PIN"),
    ("aws_secret_access_key = EXAMPLE0000notreal0000EXAMPLE0000notreal", "SECRET"),
    ("client_secret=q7EXAMPLEz9notK3realX5", "SECRET"),
    ("API_KEY: q7EXAMPLEz9notK3realX5", "SECRET"),
    ("my token is q7EXAMPLEz9notK3realX5", "SECRET"),
    (f"card {DIGITS}", "CARD_NUMBER"),
    ("card 4111-1111-1111-1111", "CARD_NUMBER"),
    ("card 5555555555554444", "CARD_NUMBER"),
    ("amex 378282246310005", "CARD_NUMBER"),
]

HARMLESS = [
    "commit 3f786850e387550fdab836ed7e6dc881de23001b",
    "key 550e8400-e29b-41d4-a716-446655440000",
    "token: 550e8400-e29b-41d4-a716-446655440000",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "order 4111111111111112",
    "order number 1234567890123456",
    "my password is wrong",
    "the password was not accepted",
    "I forgot my password",
    "the password is stored in the vault",
    "the api key is missing",
    "the key is under the doormat",
    "api_key = your-api-key-goes-here",
    "token: [TOKEN]",
    "password: ********",
    "https://example.org/path?page=2",
    "postgres://db.example.org/app",
    "call +49 30 1234567",
    "sk-learn and sk-image are libraries",
    "The bearer of this letter",
    "secret: chocolate-and-vanilla",
    "version 2026.03.02.1234567",
    "pinned to 1234",
    "The secret to a good soup is time",
    "meet at 14:00:00 on 2026-03-06",
]


@pytest.mark.parametrize(("text", "kind"), SECRETS)
def test_a_secret_is_replaced_by_its_kind(text: str, kind: str) -> None:
    scrubbed = scrub(text)
    assert scrubbed.found == {kind: 1}
    assert f"[{kind}]" in scrubbed.text
    assert "EXAMPLE" not in scrubbed.text and "1111" not in scrubbed.text and "0000" not in scrubbed.text


@pytest.mark.parametrize("text", HARMLESS)
def test_harmless_text_is_unchanged(text: str) -> None:
    assert scrub(text) == scrub(scrub(text).text)
    assert scrub(text).text == text


@pytest.mark.parametrize("text", [text for text, _ in SECRETS])
def test_scrubbing_is_idempotent(text: str) -> None:
    once = scrub(text).text
    assert scrub(once).text == once and scrub(once).found == {}


def test_words_around_a_secret_stay() -> None:
    assert scrub("postgres://app:EXAMPLEpw@db/app, please").text == "postgres://app:[PASSWORD]@db/app, please"
    assert scrub("My password is EXAMPLE-pw, remember?").text == "My password is [PASSWORD], remember?"


def test_every_secret_of_a_text_is_counted() -> None:
    assert scrub(f"sk-{FAKE} and sk-ant-{FAKE}, password: EXAMPLE-pw").found == {"API_KEY": 2, "PASSWORD": 1}
