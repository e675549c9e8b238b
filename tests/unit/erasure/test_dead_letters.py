"""An erasure covers the dead letters that name its user, conversation or namespace."""

import json
from datetime import timedelta
from typing import Any

import pytest

from agents.dead_letters.reader import parse_dead_letter, settlement
from agents.erasure.dead_letters import is_covered, settled_offset
from schemas.erasure.erasures import Erasure
from schemas.policies.policies import Policies, Policy
from tests.builders.dead_letters import put_aside, record_of, source
from tests.builders.slices import MONDAY

AT = MONDAY + timedelta(hours=1)  # letters are of MONDAY
SAID = {"conversation_id": "c", "user_id": "ada", "app_id": "app", "content": "I live in Zanzibar"}


def erasure(kind: Any = "user", at: Any = AT, **subject: Any) -> Erasure:
    subject = subject or {"user_id": "ada"}
    return Erasure(erasure_id="e", kind=kind, at=at, actor="ada", positions={5: 50}, **subject)


def letter(value: Any, key: bytes | None = b"k", **changed: Any) -> Any:
    encoded = value if isinstance(value, bytes) else json.dumps(value).encode()
    return put_aside(source(key=key, value=encoded, **changed))


@pytest.mark.parametrize(
    "value",
    [
        SAID,
        {"request_id": "r", "scope": SAID, "messages": []},
        {"user_id": "ada"},
        b'{"user_id": "ada", "content": "broken',
        b'{"user_id": "ada", "content":' + b"[" * 200_000,
    ],
)
def test_a_dead_letter_that_names_the_erased_user_is_covered_even_if_malformed(value: Any):
    assert is_covered(letter(value), erasure(), (), ())
    assert not is_covered(letter(value), erasure(user_id="adam"), (), ())


def test_a_dead_letter_of_the_same_user_id_in_another_app_is_not_covered():
    assert is_covered(letter(SAID), erasure(user_id="ada", app_id="app"), (), ())
    assert not is_covered(letter(SAID), erasure(user_id="ada", app_id="other"), (), ())


@pytest.mark.parametrize(
    "value",
    [{"conversation_id": "c"}, {"scope": {"conversation_id": "c"}}, {"request_id": "r", "conversation_id": "c"}],
)
def test_a_dead_letter_of_an_erased_conversation_is_covered(value: Any):
    assert is_covered(letter(value), erasure(), {"c"}, ())
    assert is_covered(letter(value), erasure("conversation", conversation_id="c"), (), ())
    assert not is_covered(letter(value), erasure(), {"d"}, ())


def test_a_message_of_another_speaker_in_a_conversation_of_the_erased_user_is_not_covered():
    message = SAID | {"message_id": "m", "user_id": "bob"}
    assert not is_covered(letter(message), erasure(), {"c"}, ())
    assert is_covered(letter(message), erasure("conversation", conversation_id="c"), {"c"}, ())
    assert is_covered(letter(message | {"user_id": None}), erasure(), {"c"}, ())


def test_the_dead_letter_of_a_refused_passage_is_covered_if_the_erased_user_said_or_owns_the_passage():
    passage = {"namespace": "app/bob", "conversation_id": "c", "message_id": "m", "user_id": "bob", "app_id": "app"}
    assert not is_covered(letter(passage), erasure(), {"c"}, {"app/ada"})
    assert is_covered(letter(passage), erasure(user_id="bob"), {"c"}, ())
    assert is_covered(letter(passage | {"namespace": "app/ada"}), erasure(), {"c"}, {"app/ada"})


def test_the_dead_letter_of_a_refused_passage_without_a_user_is_covered_with_any_user_of_its_conversation():
    """Assistants' passages, and letters of versions that did not name the user."""
    passage = {"namespace": "app/bob", "conversation_id": "c", "message_id": "m"}
    assert is_covered(letter(passage), erasure(), {"c"}, {"app/ada"})
    assert not is_covered(letter(passage), erasure(), {"d"}, {"app/ada"})


def test_an_undecodable_dead_letter_is_covered_by_its_key():
    assert is_covered(letter(b"\xff\xfe", key=b"c"), erasure(), {"c"}, ())
    assert is_covered(letter(b"\xff\xfe", key=b"app/ada"), erasure("namespace", namespace="app/ada"), (), ())
    assert not is_covered(letter(b"\xff\xfe", key=b"d"), erasure(), {"c"}, {"app/ada"})
    assert not is_covered(letter(b"\xff\xfe", key=None), erasure(), {"c"}, {"app/ada"})


@pytest.mark.parametrize("value", [{"namespace": "app/ada"}, {"namespaces": ["app", "app/ada"]}])
def test_a_dead_letter_for_an_erased_namespace_is_covered(value: Any):
    assert is_covered(letter(value), erasure(), (), {"app/ada"})
    assert is_covered(letter(value), erasure("namespace", namespace="app/ada"), (), ())
    assert not is_covered(letter(value), erasure("namespace", namespace="app/bob"), (), ())


@pytest.mark.parametrize("cut", ["ada\ud83d", "ada\0"])
def test_a_dead_letter_of_an_id_that_other_stores_have_with_a_replaced_character_is_covered(cut: str):
    stored = erasure("user", app_id="app", user_id="ada\ufffd")
    assert is_covered(letter(SAID | {"user_id": cut}), stored, (), ())


def test_an_id_of_lone_surrogates_matches_nobody():
    odd = letter(SAID | {"conversation_id": "\ud800" * 300})
    assert not is_covered(odd, erasure("namespace", namespace="app/bob"), (), ())


@pytest.mark.parametrize("value", [SAID, {"request_id": "r", "scope": SAID, "messages": []}])
def test_a_message_of_a_conversation_that_feeds_an_erased_namespace_is_covered(value: Any):
    by_mode = Policies((Policy(name="by mode", namespaces=("{app_id}", "{mode}/{user_id}")),))
    for namespace in ("app", "conversation/c"):
        assert is_covered(letter(value, key=b"c"), erasure("namespace", namespace=namespace), (), (), by_mode)
    assert not is_covered(letter(value, key=b"c"), erasure("namespace", namespace="voice/ada"), (), (), by_mode)
    spoken = value | {"mode": "voice"} | ({"scope": SAID | {"mode": "voice"}} if "scope" in value else {})
    assert is_covered(letter(spoken, key=b"c"), erasure("namespace", namespace="voice/ada"), (), (), by_mode)


def test_a_dead_letter_written_after_the_erasure_is_covered_only_if_its_content_is_older():
    before = MONDAY - timedelta(hours=1)
    gone, back = before - timedelta(hours=1), MONDAY + timedelta(days=2)
    after = erasure(at=before)
    assert is_covered(letter(SAID | {"timestamp": gone.isoformat()}, offset=90), after, (), ())
    assert not is_covered(letter(SAID | {"timestamp": MONDAY.isoformat()}, offset=90), after, (), ())
    assert not is_covered(letter(SAID | {"timestamp": "noon"}, offset=90), after, (), ())
    assert is_covered(letter(SAID | {"timestamp": MONDAY.isoformat()}, offset=41), after, (), ()), (
        "it lay before the end"
    )
    assert not is_covered(letter(SAID | {"timestamp": back.isoformat()}, offset=41), after, (), ()), (
        "of a topic made anew"
    )


@pytest.mark.parametrize("timestamp", [1_700_000_000_000_000, -(2**62)])
def test_a_dead_letter_without_a_timestamp_counts_as_older_than_the_erasure(timestamp: int):
    record = letter(SAID | {"timestamp": MONDAY.isoformat()}, offset=90)
    record.headers = tuple((name, value) for name, value in record.headers if name != "memstream-at")
    record.timestamp = timestamp
    assert is_covered(record, erasure(at=MONDAY - timedelta(hours=1)), (), ())


def test_a_settlement_record_has_the_offset_of_its_dead_letter():
    record = letter(SAID)
    assert settled_offset(record) is None
    assert (
        settled_offset(record_of(settlement(record, parse_dead_letter(record), "discarded", MONDAY))) == record.offset
    )


@pytest.mark.parametrize("value", [None, b"\xff", b"", b"no place", b"2026-01-01T00:00:00", b"5:" + b"9" * 5_000])
@pytest.mark.parametrize("name", ["letter", "settled", "at", "partition"])
def test_forged_or_foreign_headers_do_not_exempt_a_dead_letter_from_erasure(name: str, value: bytes | None):
    record = letter(SAID)
    foreign = {"memstream-letter": b"5:7", "memstream-settled": b"discarded", f"memstream-{name}": value}
    record.headers = (*record.headers, *foreign.items())
    settled_offset(record)
    assert is_covered(record, erasure(at=AT + timedelta(days=9_000)), (), ())
