"""A conversation's token window: applies events, asks for extraction, forgets what is extracted and out of context.

Every method takes values and the time, changes the window and returns what is to be told. Applying the same event twice
changes nothing: offsets and message ids are remembered.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import NamedTuple

from schemas.conversations.adjustments import Adjustments
from schemas.conversations.messages import ConversationEnded, Message, Scope
from schemas.conversations.window_choices import WindowChoice
from schemas.conversations.window_controls import WindowControl
from schemas.conversations.windows import Gap
from schemas.erasure.erasures import Fence
from schemas.extraction.requests import Lane, SliceMessage
from schemas.kafka import topics
from schemas.policies.policies import Policy
from streams.windows.arrival import arrived, merged_scope
from streams.windows.context.history import History
from streams.windows.detectors.detect import Detected, detect_in
from streams.windows.effects import Effect, MessageMarked
from streams.windows.entry import Entry
from streams.windows.extraction.progress import Extraction
from streams.windows.marks import marked
from streams.windows.rows.chunks import Chunks
from streams.windows.rows.head import Erased, Head, HeldEnd, Removals
from streams.windows.seen_messages import SeenMessages
from streams.windows.terms import Terms


class Deadline(NamedTuple):
    """When a window wants to be looked at (Unix seconds): at `at`, or, with an end held back, once the messages
    partition is read to `held_to` and `held_until` has come."""

    at: float | None
    held_to: int | None
    held_until: float

    def is_due(self, read_to: int, now: float) -> bool:
        if self.at is not None and now >= self.at:
            return True
        return self.held_to is not None and read_to >= self.held_to and now >= self.held_until


TermsOf = Callable[["Window"], Terms]  # raises nothing: the window has noted the message's offset by then


class Window:
    """`entries` holds what has not left yet, by position in order; `fresh` are positions that rest in no row yet.

    `chunks` are the rows that messages rest in, `dropped` the numbers of those to be deleted.
    `memory_bytes` is about what it takes in memory, `terms` whatever its keeper last looked up for what is known of it.
    `adjusted`: the row of its `adjustments` is to be written.
    """

    def __init__(
        self,
        head: Head,
        entries: Iterable[Entry] = (),
        removals: Removals | None = None,
        chunks: Chunks | None = None,
        adjustments: Adjustments | None = None,
    ) -> None:
        self.head = head
        self.entries = {entry.position: entry for entry in entries}
        self.memory_bytes = sum(entry.memory_bytes for entry in self.entries.values())
        self.fresh: list[int] = []
        self.chunks = chunks or Chunks()
        self.dropped: list[int] = []
        self.terms: Terms | None = None
        self.adjustments = adjustments or Adjustments()
        self.adjusted = False
        self.history = History(head, self.entries, removals or Removals(), self.adjustments)
        self._extraction = Extraction(head, self.entries)
        self._ids = SeenMessages((entry.said.message_id for entry in self.entries.values()), self.history.removals.left)

    @classmethod
    def opened(cls, conversation_id: str, partition: int) -> "Window":
        return cls(Head(scope=Scope(conversation_id=conversation_id), partition=partition))

    def is_applied(self, topic: str, offset: int) -> bool:
        """Whether an event was applied before; notes it otherwise."""
        if offset < self.head.applied.get(topic, 0):
            return True
        self.head.applied[topic] = offset + 1
        return False

    def add(
        self,
        message: Message,
        offset: int,
        tokens: int,
        terms_of: TermsOf,
        now: float,
        found: Detected | None = None,
        trace: str | None = None,
    ) -> list[Effect]:
        """Takes a message in, unless it, or its message_id, was there before; asks and prunes as it calls for.

        `terms_of` is asked once the window knows what the message tells of its conversation. `found` is what the detectors find
        in it, if they have looked already. The `trace` that it came with stays with it.
        """
        if self.is_applied(topics.MESSAGES, offset) or message.message_id in self._ids:
            return []
        self._learn(message)
        terms = terms_of(self)
        head = self.head
        if not head.received:
            head.opened = offset
        head.received += 1
        head.touched_at = head.heard_at = now
        before = head.segmentation
        entry, turn, head.segmentation = arrived(
            message,
            found or detect_in(message),
            offset,
            tokens,
            before,
            terms.policy.window.task_gap_s,
            trace,
            head.scope.user_id,
        )
        self._hold(entry)
        told = [*self._extraction.take(entry.said, terms, now), *self.history.take(turn, before, terms, now)]
        if not terms.policy.extract:
            self._remove([*self.history.out])
        elif told:
            self._remove(self.history.just_out())
        return told

    def _learn(self, message: Message) -> None:
        """What a message tells of its conversation, on which its terms may depend."""
        head = self.head
        scope, model = merged_scope(head.scope, message), message.model or head.model
        if scope is not head.scope or model != head.model:
            head.scope, head.model, self.terms = scope, model, None
        user_id = message.user_id
        if user_id is not None and user_id != scope.user_id and user_id not in (*head.others, *head.untold):
            head.others.append(user_id)

    def _hold(self, entry: Entry) -> None:
        position = entry.said.position
        self.entries[position] = entry
        self.memory_bytes += entry.memory_bytes
        self.fresh.append(position)
        self._ids.add(entry.said.message_id)

    def end(
        self, event: ConversationEnded, offset: int, log_end: int, read_to: int, terms: Terms, now: float
    ) -> list[Effect]:
        """Holds the end until the messages partition is read to `log_end`, its end when the event arrived."""
        if self.is_applied(topics.ENDED, offset):
            return []
        self.head.touched_at = now
        self.head.held = HeldEnd(
            log_end,
            now + terms.policy.straggler_wait_s,
            event.last_message_id,
            event.message_count,
            event.timestamp.timestamp(),
        )
        return self.release(read_to, terms, now)

    def release(self, read_to: int, terms: Terms, now: float) -> list[Effect]:
        """Lets a held end take effect once what it waits for is there, or its bound has passed."""
        held = self.head.held
        if held is None or read_to < held.read_to or (now < held.deadline and not self._complete(held)):
            return []
        self.head.held = None
        self.head.ended, self.head.resumed, self.head.ended_at = True, False, held.said_at
        return self._cut(terms, now) if terms.policy.triggers.on_end else []

    def _complete(self, held: HeldEnd) -> bool:
        last_is_there = held.last_message_id is None or held.last_message_id in self._ids
        return last_is_there and (held.message_count is None or self.head.received >= held.message_count)

    def control(
        self, control: WindowControl, offset: int, terms: Terms, now: float, summary_tokens: int = 0
    ) -> list[Effect]:
        """What memstream's own word asks for; `summary_tokens` are those of its summary, if it brings one."""
        if self.is_applied(topics.WINDOW_CONTROL, offset):
            return []
        told: list[Effect] = []
        if control.kind == "flush":
            told = self._cut(terms, now, control.lane or "live")
        elif control.kind == "due":
            told = self.due(control.read_to or 0, terms, now)
        elif control.kind == "prune":
            told = self.history.prune("manual", terms, now)
        elif control.kind == "clear":
            told = self.history.clear(terms, now)
        elif control.kind == "restore":
            told = self.history.restore(terms, now)
        elif control.kind == "mark":
            told = self._mark(control, offset)
        elif control.kind == "settings":
            self._choose(control.settings)
        elif control.kind == "rated":
            self._rate(control.ratings)
        elif control.kind == "erase":
            told = self.erase(control.fence(self.head.partition), terms, now, control.users)
        elif control.kind == "summarised":
            told = self._summarised(control, summary_tokens, terms, now)
        elif control.request_id:
            told = self._answered(control.request_id, terms, now)
        self._remove(self.history.just_out())
        return told

    def _mark(self, control: WindowControl, offset: int) -> list[Effect]:
        assert control.message_id is not None and control.importance is not None  # the control event holds itself to it
        message_id, mark = control.message_id, control.importance
        held = {self.entries[at].said.message_id: self.entries[at] for at in self.history.shown}
        left = message_id in self._ids and message_id not in held
        outcome = marked(self.adjustments, message_id, mark, held, left)
        self.adjusted = True
        if outcome == "applied":
            self.history.weigh(held[message_id].position)
        return [MessageMarked(self.head.scope, offset, message_id, mark, outcome)]

    def _choose(self, settings: WindowChoice | None) -> None:
        """They take effect with the terms that are looked up next."""
        self.adjustments.settings = settings if settings != WindowChoice() else None
        self.adjusted, self.terms = True, None

    def held_to(self, terms: Terms, now: float) -> list[Effect]:
        """What changed terms call for."""
        told = self.history.held_to(terms, now)
        self._remove(self.history.just_out())
        return told

    def _rate(self, ratings: Mapping[str, int]) -> None:
        """Of messages in context; what left meanwhile is passed over."""
        for position in self.history.shown:
            message_id = self.entries[position].said.message_id
            if message_id in ratings:
                self.adjustments.ratings[message_id] = ratings[message_id]
                self.adjusted = True
                self.history.weigh(position)

    def _unmark(self, message_id: str) -> None:
        adjustments = self.adjustments
        marked, rated = adjustments.marks.pop(message_id, None), adjustments.ratings.pop(message_id, None)
        self.adjusted = self.adjusted or marked is not None or rated is not None

    def _answered(self, request_id: str, terms: Terms, now: float) -> list[Effect]:
        """What the slice held may leave, and there is room for the next one."""
        asked = self._extraction.answered(request_id, now)
        if asked is None:
            return []
        self._remove([at for at in self._extraction.between(asked.first, asked.last) if at in self.history.out])
        return self._cut(terms, now, "background" if asked.background else "live") if self.head.wanted else []

    def _summarised(self, control: WindowControl, tokens: int, terms: Terms, now: float) -> list[Effect]:
        if control.first is None or control.last is None or not control.summary:
            return []
        part = Gap(control.first, control.last, 0, 0, control.summary, tokens)
        return self.history.summarised(part, control.known, terms, now)

    def due(self, read_to: int, terms: Terms, now: float) -> list[Effect]:
        """Whatever deadline has passed takes effect: held end, triggers by time, requests without an answer."""
        told = self.release(read_to, terms, now)
        self.history.lapse(now)
        due_at = self._extraction.due_at(terms.policy)
        if due_at is not None and now >= due_at:
            told += self._cut(terms, now, self._extraction.due_lane(terms.policy, now))
        return [*told, *self._extraction.request_again(terms.policy, now)]

    def _cut(self, terms: Terms, now: float, lane: Lane = "live") -> list[Effect]:
        told: list[Effect] = [*self._extraction.request_all(terms.policy, now, lane)]
        if not terms.policy.extract:
            self._remove([*self.history.out])
        return told

    def _remove(self, positions: Iterable[int]) -> None:
        """What left the context and needs no extraction leaves for good."""
        out, head = self.history.out, self.head
        held = self.history.is_held
        leaving = [at for at in positions if at in out and head.extracted(at) and not held(at)]
        if not leaving:
            return
        for position in leaving:
            entry = self.entries.pop(position)
            self.memory_bytes -= entry.memory_bytes
            self._ids.remove(entry.said.message_id)
            self._unmark(entry.said.message_id)
            if (number := self.chunks.remove_message(position)) is not None:
                self.dropped.append(number)
        self.history.gone(leaving, self._ids.left)
        head.sealed = [number for number in head.sealed if number in self.chunks.numbers]
        while head.first_row < head.next_row and head.first_row not in self.chunks.numbers:
            head.first_row += 1

    def erase(self, fence: Fence, terms: Terms, now: float, users: Collection[str] = ()) -> list[Effect]:
        """What is older than an erasure leaves at once, whether it was extracted or not; with `users` what others said stays. Of
        what left before, no word does."""
        head, partition = self.head, self.head.partition
        refused = (at for at, entry in self.entries.items() if fence.refuses(entry.said.timestamp, partition, at))
        gone = dict.fromkeys(at for at in refused if not users or self._is_of(users, self.entries[at].said))
        erased = Erased(fence.at.timestamp(), len(gone))
        if users:
            head.partly |= dict.fromkeys(users, erased)
        else:
            head.erased = erased
        head.touched_at = now
        self.history.changed = True
        if not gone and 0 < fence.positions.get(partition, 0) <= head.opened:
            return []  # nothing of it is as old as that
        for position in gone:
            entry = self.entries.pop(position)
            self.memory_bytes -= entry.memory_bytes
            self._ids.remove(entry.said.message_id)
            self._unmark(entry.said.message_id)
        self.history.erase(gone)
        self.history.gone(gone, self._ids.left)
        self._extraction.erase(gone, now, partly=bool(users))
        self._rewrite_rows()
        return self._cut(terms, now) if head.wanted else []

    def _is_of(self, users: Collection[str], said: SliceMessage) -> bool:
        """Whether one of them said it, or nobody did: an assistant may have repeated it."""
        return said.role != "user" or (said.user_id or self.head.scope.user_id) in users

    def _rewrite_rows(self) -> None:
        """No row stays as it is: it may hold messages that left, beside others that have not."""
        self.dropped += self.chunks.clear()
        self.fresh = list(self.entries)
        self.head.sealed, self.head.first_row = [], self.head.next_row

    def deadline(self, policy: Policy) -> Deadline:
        """What `due` waits for."""
        held = self.head.held
        times = [asked.due for asked in self.head.asked]
        if (due_at := self._extraction.due_at(policy)) is not None:
            times.append(due_at)
        if (cleared := self.history.removals.cleared) is not None:
            times.append(cleared.until)
        if self.finished:
            times.append(self._expires_at(policy))
        return Deadline(
            at=min(times, default=None),
            held_to=held.read_to if held else None,
            held_until=0.0 if held is None or self._complete(held) else held.deadline,
        )

    @property
    def finished(self) -> bool:
        """Nothing is left to extract or to wait for."""
        return not (self.head.waiting_since or self.head.asked or self.head.held)

    def _expires_at(self, policy: Policy) -> float:
        """A conversation that did not end counts as abandoned after a time of silence."""
        head = self.head
        over = head.touched_at if head.ended else max(head.touched_at, head.heard_at + policy.triggers.abandoned_s)
        return over + policy.grace_s

    def expired(self, policy: Policy, now: float) -> bool:
        """Whether the window has been finished for so long that it may be forgotten altogether."""
        return self.finished and now >= self._expires_at(policy)
