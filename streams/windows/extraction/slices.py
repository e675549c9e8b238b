"""Cutting messages into slices: as few as fit the policy's limits, apart between tasks where that is near, each with an id."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import pairwise

from msgspec import structs

from schemas import codec, ids
from schemas.conversations.messages import Scope
from schemas.conversations.windows import Gap
from schemas.extraction.requests import ExtractionRequest, Lane, SliceMessage
from schemas.policies.policies import Policy
from streams.windows.entry import Entry
from streams.windows.extraction.speakers import fed
from streams.windows.rows.head import Head

ESCAPED = 6  # bytes of a character at most, as JSON
FIELDS_BYTES = 6_500  # at most, of a message's other fields, three of them texts of up to 256 characters
LEAST_FULL = 0.5  # of a slice that ends before its limits, for the sake of a task that begins
OVERLAP_CHARS = 400  # of each message before a slice: its end, where an assistant asks what the user then answers


def cut(entries: Iterable[Entry], policy: Policy) -> Iterator[tuple[SliceMessage, ...]]:
    """Consecutive runs of at most `slice_tokens` and `slice_bytes` as JSON; a larger message stands alone.

    A run that is full ends where the last task in it begins, if it is at least half full by then. Where the cuts lie
    depends on no message before the first, so that going on after any run cuts the rest in the same places.
    """
    filling = _Filling(policy)
    for entry in entries:
        length = _most_bytes(entry.said)
        while filling.entries and not filling.has_room(entry.said, length):
            yield filling.taken(entry)
        filling.add(entry, length)
    if filling.entries:
        yield tuple(entry.said for entry in filling.entries)


class _Filling:
    """A run that messages are added to, with its tokens and its bytes, or a bound on them."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._start([])

    def _start(self, entries: list[Entry]) -> None:
        self.entries = entries
        self._tokens = sum(entry.said.tokens for entry in entries)
        self._bytes = sum(_most_bytes(entry.said) for entry in entries)

    def add(self, entry: Entry, length: int) -> None:
        """`length` is its length as JSON, or a bound on it."""
        self.entries.append(entry)
        self._tokens += entry.said.tokens
        self._bytes += length

    def has_room(self, message: SliceMessage, length: int) -> bool:
        policy = self._policy
        if self._tokens + message.tokens > policy.slice_tokens:
            return False
        if self._bytes + length > policy.slice_bytes:  # by the bound; to measure costs as much as writing it all
            self._bytes, length = sum(len(codec.encode(each.said)) for each in self.entries), len(codec.encode(message))
        return self._bytes + length <= policy.slice_bytes

    def taken(self, following: Entry) -> tuple[SliceMessage, ...]:
        """What goes out now that `following` has no room; what it leaves begins with a task."""
        end = self._end(following)
        run = tuple(entry.said for entry in self.entries[:end])
        self._start(self.entries[end:])
        return run

    def _end(self, following: Entry) -> int:
        tokens = characters = 0
        end = len(self.entries)
        for number, (entry, after) in enumerate(pairwise((*self.entries, following)), start=1):
            tokens += entry.said.tokens
            characters += len(entry.said.content)
            full = max(tokens / self._policy.slice_tokens, characters / self._policy.slice_bytes)
            if after.segment != entry.segment and full >= LEAST_FULL:
                end = number
        return end


def _most_bytes(message: SliceMessage) -> int:
    """A bound on its length as JSON; for tool calls, whose arguments may be anything, the length itself."""
    if message.tool_calls:
        return len(codec.encode(message))
    speaker = len(message.user_id or "") + len(message.name or "")
    return ESCAPED * (len(message.content) + len(message.message_id) + speaker) + FIELDS_BYTES


def summary_request(left: Sequence[Entry], gap: Gap, head: Head, policy: Policy, now: float) -> ExtractionRequest:
    """The request for a summary of messages that left for a gap; what its marker says so far goes with it.

    Of more than a slice may hold, the latest messages are summarised.
    """
    *_, run = cut(left, policy)
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
        speakers=fed(run, (), scope, policy, in_group=True)[1] if head.in_group else (),
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
) -> ExtractionRequest:
    """The extraction request of one slice; the same slice has the same id, whoever asks and however often.

    `overlap` are messages before it, of which the request takes the ends. `in_group`: others than the user of the scope take
    part in the conversation.
    """
    first, last = messages[0], messages[-1]
    namespaces, speakers = fed(messages, overlap, scope, policy, in_group=in_group)
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
    )


def _excerpt(message: SliceMessage) -> SliceMessage:
    """As much of a message as shows what the next one is about."""
    content = message.content
    if len(content) > OVERLAP_CHARS:
        content = f"…{content[-OVERLAP_CHARS:]}"
    return structs.replace(message, content=content, tool_calls=(), trace=None)
