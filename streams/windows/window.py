"""A conversation's token window: applies events, asks for extraction, forgets a slice only when its answer is stored.

Every method takes values and the time, changes the window and returns what is to be sent. Applying the same event twice
changes nothing: offsets and message ids are remembered.
"""

from bisect import bisect_left
from collections.abc import Iterable
from typing import NamedTuple

from schemas import topics
from schemas.messages import ConversationEnded, Message, Scope
from schemas.policies import Policy
from schemas.requests import ExtractionRequest, SliceMessage, WindowControl
from streams.windows import slices, triggers
from streams.windows.head import REMEMBERED_IDS, Asked, Chunk, Head, HeldEnd
from streams.windows.triggers import Waiting

Requests = list[ExtractionRequest]


class Alarm(NamedTuple):
    """When a window wants to be looked at (Unix seconds): at `at`, or, with an end held back, once the messages
    partition is read to `held_to` and `held_until` has come."""

    at: float | None
    held_to: int | None
    held_until: float

    def rings(self, read_to: int, now: float) -> bool:
        if self.at is not None and now >= self.at:
            return True
        return self.held_to is not None and read_to >= self.held_to and now >= self.held_until


class Window:
    """`messages` holds what has not left yet, by position in order; `fresh` are positions not yet sealed in a chunk."""

    def __init__(self, head: Head, messages: Iterable[SliceMessage] = ()) -> None:
        self.head = head
        self.messages = {message.position: message for message in messages}
        self.fresh: list[int] = []
        self.dropped: list[Chunk] = []
        self._ids = {message.message_id for message in self.messages.values()} | set(head.remembered)
        waiting = [message for position, message in self.messages.items() if position >= head.cut_to]
        self._waiting_tokens = sum(message.tokens for message in waiting)
        self._user_waits = any(message.role == "user" for message in waiting)

    @classmethod
    def opened(cls, conversation_id: str, partition: int) -> "Window":
        return cls(Head(scope=Scope(conversation_id=conversation_id), partition=partition))

    def seen(self, topic: str, offset: int) -> bool:
        """Whether an event was applied before; notes it otherwise."""
        if offset < self.head.applied.get(topic, 0):
            return True
        self.head.applied[topic] = offset + 1
        return False

    def add(self, message: Message, offset: int, tokens: int, policy: Policy, now: float) -> Requests:
        """Takes a message in, unless it, or its message_id, was there before; asks for extraction when that triggers it."""
        if self.seen(topics.MESSAGES, offset) or message.message_id in self._ids:
            return []
        self.head.scope = learned(self.head.scope, message)
        taken = self.messages[offset] = slice_message(message, offset, tokens)
        self.fresh.append(offset)
        self._ids.add(message.message_id)
        self.head.received += 1
        self.head.touched_at = self.head.said_at = now
        self.head.waiting_since = self.head.waiting_since or now
        self._waiting_tokens += tokens
        self._user_waits = self._user_waits or message.role == "user"
        return self.cut(policy, now) if triggers.asked_by(taken, self._waiting, policy) else []

    @property
    def _waiting(self) -> Waiting:
        return Waiting(self.head.waiting_since, self.head.said_at, self._waiting_tokens, self._user_waits)

    def _due_at(self, policy: Policy) -> float | None:
        """When time asks for what waits, if anything does."""
        return triggers.due_at(self._waiting, self.head.ended, policy) if self.head.waiting_since else None

    def end(
        self, event: ConversationEnded, offset: int, log_end: int, read_to: int, policy: Policy, now: float
    ) -> Requests:
        """Holds the end until the messages partition is read to `log_end`, its end when the event arrived."""
        if self.seen(topics.ENDED, offset):
            return []
        self.head.touched_at = now
        self.head.held = HeldEnd(log_end, now + policy.straggler_wait_s, event.last_message_id, event.message_count)
        return self.release(read_to, policy, now)

    def release(self, read_to: int, policy: Policy, now: float) -> Requests:
        """Lets a held end take effect once what it waits for is there, or its bound has passed."""
        held = self.head.held
        if held is None or read_to < held.read_to or (now < held.deadline and not self._complete(held)):
            return []
        self.head.held = None
        self.head.ended = True
        return self.cut(policy, now) if policy.triggers.on_end else []

    def _complete(self, held: HeldEnd) -> bool:
        last_is_there = held.last_message_id is None or held.last_message_id in self._ids
        return last_is_there and (held.message_count is None or self.head.received >= held.message_count)

    def control(self, control: WindowControl, offset: int, policy: Policy, now: float) -> Requests:
        if self.seen(topics.WINDOW_CONTROL, offset):
            return []
        if control.kind == "flush":
            return self.cut(policy, now)
        if control.kind == "due":
            return self.due(control.read_to or 0, policy, now)
        if control.kind in ("extraction_completed", "extraction_failed") and control.request_id:
            self.answered(control.request_id, now)
        return []

    def due(self, read_to: int, policy: Policy, now: float) -> Requests:
        """Whatever deadline has passed takes effect: held end, triggers by time, requests without an answer."""
        requests = self.release(read_to, policy, now)
        due_at = self._due_at(policy)
        if due_at is not None and now >= due_at:
            requests += self.cut(policy, now)
        return requests + self._ask_again(policy, now)

    def cut(self, policy: Policy, now: float) -> Requests:
        """Asks for the extraction of every message not asked for yet."""
        waiting = [message for position, message in self.messages.items() if position >= self.head.cut_to]
        requests = [
            slices.request(run, self.head.scope, self.head.partition, policy, now)
            for run in slices.cut(waiting, policy)
        ]
        for asked in requests:
            due = now + policy.reask_after_s
            self.head.asked.append(Asked(asked.request_id, asked.first, asked.last, asked.attempt, due))
            self.head.cut_to = asked.last + 1
        self.head.waiting_since, self._waiting_tokens, self._user_waits = 0.0, 0, False
        return requests

    def _ask_again(self, policy: Policy, now: float) -> Requests:
        requests = []
        for asked in self.head.asked:
            if now < asked.due:
                continue
            asked.attempt += 1
            asked.due = now + policy.reask_after_s * 2 ** (asked.attempt - 1)
            run = [self.messages[position] for position in self.messages if asked.first <= position <= asked.last]
            requests.append(slices.request(run, self.head.scope, self.head.partition, policy, now, asked.attempt))
        return requests

    def answered(self, request_id: str, now: float) -> None:
        """The answer to a slice is stored: its messages leave. An answer that nobody waits for changes nothing."""
        asked = next((asked for asked in self.head.asked if asked.request_id == request_id), None)
        if asked is None:
            return
        self.head.asked.remove(asked)
        self.head.extracted.append((asked.first, asked.last))
        self.head.touched_at = now
        leaving = [position for position in self.messages if asked.first <= position <= asked.last]
        for position in leaving:
            self.head.remembered.append(self.messages.pop(position).message_id)
        forgotten = self.head.remembered[:-REMEMBERED_IDS]
        del self.head.remembered[:-REMEMBERED_IDS]
        self._ids.difference_update(forgotten)
        self._drop_empty_chunks()

    def _drop_empty_chunks(self) -> None:
        """A chunk goes once none of its messages is left; a partly empty one stays and is read past."""
        held = list(self.messages)  # in order of position
        kept: list[Chunk] = []
        empty: list[Chunk] = []
        for chunk in self.head.chunks:
            at = bisect_left(held, chunk.first)
            (kept if at < len(held) and held[at] <= chunk.last else empty).append(chunk)
        self.head.chunks = kept
        self.dropped += empty
        self.head.extracted = [
            (first, last)
            for first, last in self.head.extracted
            if any(first <= chunk.last and chunk.first <= last for chunk in self.head.chunks)
        ]

    def alarm(self, policy: Policy) -> Alarm:
        """What `due` waits for."""
        held = self.head.held
        times = [asked.due for asked in self.head.asked]
        if (due_at := self._due_at(policy)) is not None:
            times.append(due_at)
        if self.finished:
            times.append(self.head.touched_at + policy.grace_s)
        return Alarm(
            at=min(times, default=None),
            held_to=held.read_to if held else None,
            held_until=0.0 if held is None or self._complete(held) else held.deadline,
        )

    @property
    def finished(self) -> bool:
        """Nothing is left to extract or to wait for."""
        return not (self.messages or self.head.chunks or self.head.asked or self.head.held)

    def expired(self, policy: Policy, now: float) -> bool:
        """Whether the window has been finished for so long that it may be forgotten altogether."""
        return self.finished and now >= self.head.touched_at + policy.grace_s


def learned(known: Scope, message: Message) -> Scope:
    """The conversation's scope after a message; nearly always what it was."""
    if (
        (known.user_id or not message.user_id)
        and (known.app_id or not message.app_id)
        and (known.tenant_id or not message.tenant_id)
        and (known.agent_id or not message.agent_id)
        and (known.mode or not message.mode)
    ):
        return known
    return merged(known, Scope.of(message))


def merged(known: Scope, told: Scope) -> Scope:
    """What was known first stays: a conversation does not change its owner half way."""
    values = {name: getattr(known, name) or getattr(told, name) for name in Scope.__struct_fields__}
    return Scope(**values)


def slice_message(message: Message, position: int, tokens: int) -> SliceMessage:
    return SliceMessage(
        message_id=message.message_id,
        role=message.role,
        timestamp=message.timestamp,
        content=message.content,
        position=position,
        tokens=tokens,
        important=message.important,
        time_zone=message.time_zone,
        language=message.language,
        tool_calls=message.tool_calls,
        tool_call_id=message.tool_call_id,
    )
