"""Builders of slices, contexts and memories; by default on a Monday morning in Berlin."""

from collections.abc import Sequence
from datetime import UTC, datetime

from msgspec.structs import replace

from agents.models.port import Context
from schemas.conversations.messages import Role, Scope
from schemas.extraction.candidates import Candidate, CandidateBatch
from schemas.extraction.requests import ExtractionRequest, SliceMessage
from schemas.memories.memories import Memory
from schemas.policies.policies import DEFAULT_POLICY, Policy
from tests.builders.memories import NOON, a_memory

MONDAY = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
BERLIN = "Europe/Berlin"
BATCH = CandidateBatch(
    request_id="r",
    conversation_id="c",
    partition=0,
    namespace="app/user",
    part=1,
    parts=1,
    policy="default",
    policy_version=1,
    provider="claude",
    candidates=(),
    extracted_at=MONDAY,
)


def batch_for_rules(*candidates: Candidate) -> CandidateBatch:
    """A batch of the rules for the namespace `n`."""
    return replace(BATCH, namespace="n", provider="offline", candidates=candidates, extracted_at=NOON)


def said(
    content: str,
    number: int = 1,
    role: Role = "user",
    at: datetime = MONDAY,
    zone: str | None = BERLIN,
    language: str | None = None,
) -> SliceMessage:
    return SliceMessage(
        message_id=f"m{number}",
        role=role,
        timestamp=at,
        content=content,
        position=number,
        time_zone=zone,
        language=language,
    )


def slice_of(*messages: SliceMessage | str) -> ExtractionRequest:
    """A request; plain texts are the user's messages m1, m2 and so on."""
    built = tuple(
        said(message, number) if isinstance(message, str) else message for number, message in enumerate(messages, 1)
    )
    return ExtractionRequest(
        request_id="request-1",
        scope=Scope(conversation_id="conversation-1"),
        partition=0,
        first=1,
        last=len(built),
        policy="default",
        policy_version=1,
        namespaces=("app/user",),
        messages=built,
        requested_at=MONDAY,
    )


def known(text: str, kind: str = "fact", memory_id: str | None = None) -> Memory:
    """A live memory; its id is its text by default."""
    return a_memory(text, MONDAY, memory_id=memory_id or text, namespace="app/user", kind=kind, confidence=0.8)


def knowing(*related: Memory | str, policy: Policy = DEFAULT_POLICY) -> Context:
    memories: Sequence[Memory] = [known(each) if isinstance(each, str) else each for each in related]
    return Context(policy=policy, related=tuple(memories))
