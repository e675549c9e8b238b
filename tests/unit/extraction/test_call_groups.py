"""Slices share a model call if user and policy are the same and nobody waits for them."""

import pytest
from msgspec import structs

from agents.extraction.parked_requests import MAX_MEMBERS, groups
from agents.extraction.shared_calls import SHARED, sharing_key
from schemas.conversations.messages import Scope
from schemas.extraction.requests import ExtractionRequest, Speaker
from sinks.extraction.parked import Parked
from tests.unit.extraction.extraction_stage import POLICY, patient


@pytest.mark.parametrize(
    "other",
    [
        {"policy_version": 2},
        {"local_only": True},
        {"namespaces": ("app",)},
        {"scope": Scope(conversation_id="conversation-2", app_id="app", user_id="somebody else")},
        {"scope": Scope(conversation_id="conversation-2", app_id="app", user_id="user", mode="support")},
        {"scope": Scope(conversation_id="conversation-2", app_id="app", user_id="user", tenant_id="other")},
        {"speakers": (Speaker(user_id="user"), Speaker(user_id="bob"))},
    ],
)
def test_requests_of_different_scope_policy_or_speakers_share_no_model_call(other):
    assert sharing_key(patient(2), POLICY) == sharing_key(patient(1), POLICY) is not None
    assert sharing_key(patient(2, **other), POLICY) != sharing_key(patient(1), POLICY)


@pytest.mark.parametrize("policy", [{"share_wait_s": 0.0}, {"note": True}, {"share_tokens": 1}])
def test_requests_share_no_call_under_a_policy_that_excludes_sharing(policy):
    said = tuple(structs.replace(message, tokens=20) for message in patient(1).messages)
    assert sharing_key(patient(1, messages=said), structs.replace(POLICY, **policy)) is None


def test_due_requests_are_grouped_into_calls_of_bounded_size():
    one = Parked(
        request_id="",
        lane="live",
        reason=SHARED,
        topic="",
        partition=0,
        offset=0,
        timestamp=0,
        key=None,
        value=b"",
        headers=(),
    )
    due = [structs.replace(one, request_id=f"r{number}", shares="k", tokens=1) for number in range(MAX_MEMBERS + 1)]
    assert [len(together) for together in groups(due)] == [MAX_MEMBERS, 1]


def of(user_id: str | None, number: int = 1, **changed: object) -> ExtractionRequest:
    scope = Scope(conversation_id=f"conversation-{number}", app_id="app", user_id=user_id)
    return patient(number, **({"scope": scope, "namespaces": ("app",), "speakers": ()} | changed))


@pytest.mark.parametrize("user_id", [None, ""])
def test_conversations_without_a_user_id_share_no_call(user_id):
    assert sharing_key(of("None"), POLICY) is not None
    assert sharing_key(of(user_id), POLICY) is None


@pytest.mark.parametrize("said", ["messages", "overlap"])
def test_a_slice_with_another_speaker_shares_no_call(said):
    by_bob = tuple(structs.replace(each, role="user", user_id="bob") for each in patient(1).messages)
    assert sharing_key(of("ada", **{said: by_bob}), POLICY) is None
    assert sharing_key(of("ada", speakers=(Speaker(user_id="bob"),)), POLICY) is None
    assert sharing_key(of("ada", speakers=(Speaker(user_id="ada", name="Ada"),)), POLICY) is not None
