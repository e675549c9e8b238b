"""Cuts messages into slices: as few as the policy's limits allow, preferably between tasks, each with an id."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import pairwise

from msgspec import structs

from schemas import codec, ids
from schemas.budgets.budgets import Lane
from schemas.conversations.messages import Scope
from schemas.conversations.windows import Gap
from schemas.extraction.requests import ExtractionRequest, SliceMessage
from schemas.policies.policies import Policy
from streams.windows.entry import Entry
from streams.windows.extraction.speakers import namespaces_and_speakers, with_guests
from streams.windows.rows.head import Head

ESCAPED = 6  # most bytes of a character in JSON
FIELDS_BYTES = 6_500  # most bytes of a message's other fields, three of them texts of up to 256 characters
MIN_FULL = 0.5  # least fill of a slice that ends early, at the beginning of a task
OVERLAP_CHARS = 400  # of each message before a slice: its end, which may have the question that the user answers


def cut(entries: Iterable[Entry], policy: Policy) -> Iterator[tuple[SliceMessage, ...]]:
    """Consecutive runs of at most `slice_tokens` and `slice_bytes` as JSON; a larger message stands alone.

    A full run ends before the last task in it, if it is at least half full by then. Cuts do not depend on messages before
    the first entry, so cutting the rest after any run gives the same runs.
    """
    filling = _Filling(policy)
    for entry in entries:
        length = _max_bytes(entry.message)
        while filling.entries and not filling.has_room(entry.message, length):
            yield filling.taken(entry)
        filling.add(entry, length)
    if filling.entries:
        yield tuple(entry.message for entry in filling.entries)


class _Filling:
    """A run being filled, with its tokens and a bound on its bytes."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._start([])

    def _start(self, entries: list[Entry]) -> None:
        self.entries = entries
        self._tokens = sum(entry.message.tokens for entry in entries)
        self._bytes = sum(_max_bytes(entry.message) for entry in entries)

    def add(self, entry: Entry, length: int) -> None:
        """Adds an entry; `length` is its length as JSON, or a bound on it."""
        self.entries.append(entry)
        self._tokens += entry.message.tokens
        self._bytes += length

    def has_room(self, message: SliceMessage, length: int) -> bool:
        policy = self._policy
        if self._tokens + message.tokens > policy.slice_tokens:
            return False
        if self._bytes + length > policy.slice_bytes:  # compares a bound first: measuring costs a full encoding
            self._bytes, length = (
                sum(len(codec.encode(each.message)) for each in self.entries),
                len(codec.encode(message)),
            )
        return self._bytes + length <= policy.slice_bytes

    def taken(self, following: Entry) -> tuple[SliceMessage, ...]:
        """The run to send, as `following` has no room; the remaining entries begin the next run."""
        end = self._end(following)
        run = tuple(entry.message for entry in self.entries[:end])
        self._start(self.entries[end:])
        return run

    def _end(self, following: Entry) -> int:
        tokens = characters = 0
        end = len(self.entries)
        for number, (entry, after) in enumerate(pairwise((*self.entries, following)), start=1):
            tokens += entry.message.tokens
            characters += len(entry.message.content)
            full = max(tokens / self._policy.slice_tokens, characters / self._policy.slice_bytes)
            if after.segment != entry.segment and full >= MIN_FULL:
                end = number
        return end


def _max_bytes(message: SliceMessage) -> int:
    """A bound on the message's length as JSON; for tool calls, with arbitrary arguments, the exact length."""
    if message.tool_calls:
        return len(codec.encode(message))
    speaker = len(message.user_id or "") + len(message.name or "")
    return ESCAPED * (len(message.content) + len(message.message_id) + speaker) + FIELDS_BYTES


def summary_request(left: Sequence[Entry], gap: Gap, head: Head, policy: Policy, now: float) -> ExtractionRequest:
    """The request for a summary of messages that left for a gap, with the marker's summary so far.

    Summarises the latest messages if there are more than a slice may hold.
    """
    *_, run = cut(left, policy)
    run = tuple(with_guests(run, head.owner_names))
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
        local_only=policy.local_only,
        namespaces=(),
        messages=run,
        requested_at=datetime.fromtimestamp(now, UTC),
        purpose="summarise",
        lane="background",
        summary=gap.summary,
        speakers=namespaces_and_speakers(run, (), scope, policy, in_group=True)[1]
        if head.in_group or any(each.guest for each in run)
        else (),
    )


def request(
    messages: Sequence[SliceMessage],
    scope: Scope,
    partition: int,
    policy: Policy,
    now: float,
    attempt: int = 1,
    lane: Lane = "live",
    overlap: Sequence[SliceMessage] = (),
    in_group: bool = False,
    may_wait: bool = False,
    owner_names: Collection[str] = (),
) -> ExtractionRequest:
    """The extraction request of one slice; equal slices have equal ids.

    `overlap` are messages before it, of which the request takes the ends. `in_group`: the conversation has further people
    besides the user of the scope, who has the `owner_names`.
    """
    messages, overlap = with_guests(messages, owner_names), with_guests(overlap, owner_names)
    first, last = messages[0], messages[-1]
    namespaces, speakers = namespaces_and_speakers(messages, overlap, scope, policy, in_group=in_group)
    return ExtractionRequest(
        request_id=ids.request_id(scope.conversation_id, partition, first.position, last.position, first.message_id),
        scope=scope,
        partition=partition,
        first=first.position,
        last=last.position,
        policy=policy.name,
        policy_version=policy.version,
        local_only=policy.local_only,
        namespaces=namespaces,
        messages=tuple(messages),
        requested_at=datetime.fromtimestamp(now, UTC),
        attempt=attempt,
        overlap=tuple(_excerpt(message) for message in overlap),
        lane=lane,
        speakers=speakers,
        may_wait=may_wait,
    )


def _excerpt(message: SliceMessage) -> SliceMessage:
    """The part of a message that shows the context of the next one."""
    content = message.content
    if len(content) > OVERLAP_CHARS:
        content = f"…{content[-OVERLAP_CHARS:]}"
    return structs.replace(message, content=content, tool_calls=(), trace=None)
