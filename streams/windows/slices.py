"""Cutting messages into slices: as few as fit the policy's limits, each with a derived request id."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime

from schemas import codec, ids
from schemas.messages import Scope
from schemas.policies import Policy
from schemas.requests import ExtractionRequest, Lane, SliceMessage
from schemas.windows import Gap
from streams.windows.entry import Entry
from streams.windows.head import Head

ESCAPED = 6  # bytes of a character at most, as JSON
FIELDS_BYTES = 6_500  # at most, of a message's other fields, three of them texts of up to 256 characters


def cut(messages: Iterable[SliceMessage], policy: Policy) -> Iterator[tuple[SliceMessage, ...]]:
    """Consecutive runs of at most `slice_tokens` and `slice_bytes` as JSON; a larger message stands alone."""
    current: list[SliceMessage] = []
    tokens = size = 0
    for message in messages:
        length = _most_bytes(message)
        if size + length > policy.slice_bytes:  # by the rough measure; the exact one costs as much as writing it all
            size, length = sum(len(codec.encode(each)) for each in current), len(codec.encode(message))
        if current and (tokens + message.tokens > policy.slice_tokens or size + length > policy.slice_bytes):
            yield tuple(current)
            current, tokens, size = [], 0, 0
        current.append(message)
        tokens += message.tokens
        size += length
    if current:
        yield tuple(current)


def _most_bytes(message: SliceMessage) -> int:
    """A bound on its length as JSON; for tool calls, whose arguments may be anything, the length itself."""
    if message.tool_calls:
        return len(codec.encode(message))
    return ESCAPED * (len(message.content) + len(message.message_id)) + FIELDS_BYTES


def summary_request(left: Sequence[Entry], gap: Gap, head: Head, policy: Policy, now: float) -> ExtractionRequest:
    """The request for a summary of messages that left for a gap; what its marker says so far goes with it.

    Of more than a slice may hold, the latest messages are summarised.
    """
    *_, run = cut((entry.said for entry in left), policy)
    first, last = left[0].position, left[-1].position
    scope, partition = head.scope, head.partition
    request_id = ids.derive("summary", scope.conversation_id, partition, first, last, head.prunings)
    return ExtractionRequest(
        request_id=request_id,
        scope=scope,
        partition=partition,
        first=first,
        last=last,
        policy=policy.name,
        policy_version=policy.version,
        namespaces=(),
        messages=run,
        requested_at=datetime.fromtimestamp(now, UTC),
        purpose="summarise",
        lane="background",
        summary=gap.summary,
    )


def request(
    messages: Sequence[SliceMessage],
    scope: Scope,
    partition: int,
    policy: Policy,
    now: float,
    attempt: int = 1,
    lane: Lane = "live",
) -> ExtractionRequest:
    """The extraction request of one slice; the same slice has the same id, whoever asks and however often."""
    first, last = messages[0], messages[-1]
    return ExtractionRequest(
        request_id=ids.request_id(scope.conversation_id, partition, first.position, last.position, first.message_id),
        scope=scope,
        partition=partition,
        first=first.position,
        last=last.position,
        policy=policy.name,
        policy_version=policy.version,
        namespaces=policy.namespaces_of(scope),
        messages=tuple(messages),
        requested_at=datetime.fromtimestamp(now, UTC),
        attempt=attempt,
        lane=lane,
    )
