"""The window agent, the only writer of the windows table: decodes events, applies them to windows, records rows and effects."""

import logging
import time
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from opentelemetry.trace import SpanKind

from agents.dead_letters.writer import dead_letter
from agents.windows.cache import WindowCache
from agents.windows.decoding import STAGE, EventDecoder
from agents.windows.deduplication import MessageDeduplicator
from agents.windows.erasures import Decoded, WindowErasures
from agents.windows.records import due_event, outgoing
from agents.windows.terms import WindowTerms
from agents.windows.user_choices import UserChoices
from schemas.conversations.messages import ConversationEnded, Message
from schemas.errors import MemstreamError, Rejected
from schemas.kafka import topics
from schemas.kafka.records import Outgoing, Publisher
from schemas.observability import traces
from schemas.windows.window_controls import WindowControl
from streams.apps import BATCH_RECORDS
from streams.delivery.app import StageApp
from streams.delivery.batch import Batch
from streams.delivery.store import Rows
from streams.kafka.topics import TopicSettings
from streams.windows.detectors.detect import detect_in
from streams.windows.effects import Effect, EndedIncomplete
from streams.windows.terms import Terms
from streams.windows.tokens.counting import TokenCount, message_tokens
from streams.windows.window import Window

log = logging.getLogger(__name__)

DUE_AGAIN_AFTER_S = 10.0
MANUAL_KINDS = ("flush", "prune", "clear", "restore", "mark", "settings", "user_settings")
NO_WINDOW = Rejected(
    "no_window", "this partition has no window of the conversation: use the key and partition of its messages"
)
NO_USER = Rejected("no_user", "the conversation's messages name no user: choose settings for the conversation instead")


class WindowAgent:
    """One per process. `clock` returns Unix seconds; `publisher` publishes the control events of timers; `erasures` filters
    messages older than an erasure, `repeats` messages extracted long ago; `users` has the users' settings."""

    def __init__(
        self,
        app: StageApp,
        names: TopicSettings,
        terms: WindowTerms,
        count_tokens: TokenCount,
        publisher: Publisher,
        clock: Callable[[], float] = time.time,
        erasures: WindowErasures | None = None,
        repeats: MessageDeduplicator | None = None,
        users: UserChoices | None = None,
    ) -> None:
        self._app = app
        self._terms = terms
        self._count_tokens = count_tokens
        self._publisher = publisher
        self._clock = clock
        self._erasures = erasures
        self._repeats = repeats
        self._users = users
        self._logical = {names.physical(name): name for name in (topics.MESSAGES, topics.ENDED, topics.WINDOW_CONTROL)}
        self._decoder = EventDecoder(names.max_message_bytes, clock)
        self._messages_topic = names.physical(topics.MESSAGES)
        self._armed_by = terms.policies
        self._cache = WindowCache(app, lambda window: self._terms.policy(window.head.scope))

    async def handle(self, batch: Batch) -> None:
        """Applies a batch; the checkpoint that carries its rows and effects acks it."""
        assert self._app.checkpointer is not None
        await self._app.checkpointer.wait_for_room(batch.partition)
        topic = self._logical[batch.topic]
        log_end = 0
        events: Sequence[tuple[Any, Any]] = ()
        dead_letters: list[Outgoing] = []
        if topic == topics.MESSAGES:
            events = list(self._decoder.events(batch, Message, dead_letters))
            if self._repeats is not None:
                events = await self._repeats.without_duplicates(batch, events, self._cache)
            if self._users is not None:
                await self._users.look_up(batch, events, self._cache)
            if self._erasures is not None:  # checked last: no erasure may begin between this check and the changes
                events = await self._erasures.without_erased(batch, events)
        if topic == topics.WINDOW_CONTROL:
            events = list(self._decoder.events(batch, WindowControl, dead_letters))
            if self._users is not None:
                await self._users.apply_controls(batch, events, self._cache)
        if topic == topics.ENDED:
            events = list(self._decoder.events(batch, ConversationEnded, dead_letters))
            log_end = await self._app.consumer.log_end(self._messages_topic, batch.partition)
        if not batch.current:
            return
        # No await from here to the end: the changes belong to the epoch that was just checked.
        self._cache.enter(batch.epoch)
        rows, effects = self._applied(topic, batch, log_end, events, dead_letters)
        self._app.checkpointer.record(batch, rows, effects)
        if self._urgent(batch, effects):
            self._app.checkpointer.request(batch.partition)
        batch.release()

    def _urgent(self, batch: Batch, effects: list[Outgoing]) -> bool:
        """Whether an effect must be sent soon: requests, unless there is a backlog of full batches."""
        return len(batch.records) < BATCH_RECORDS[STAGE] and any(effect.topic == topics.REQUESTS for effect in effects)

    def _applied(
        self, topic: str, batch: Batch, log_end: int, events: Sequence[tuple[Any, Any]], dead_letters: list[Outgoing]
    ) -> tuple[Rows, list[Outgoing]]:
        """The rows and effects of a batch. After an unexpected failure it is applied again, record by record."""
        now = self._clock()
        try:
            effects = self._apply_events(topic, batch, log_end, events, now)
            self._cache.save(batch.partition)
        except MemstreamError:
            raise
        except Exception:
            log.exception("%r failed unexpectedly: applying its records one by one", batch)
            self._cache.discard(batch.partition)
            effects = self._applied_one_by_one(topic, batch, log_end, events, now)
        if topic == topics.MESSAGES:
            effects += self._apply_held_ends(batch, now)
        return self._cache.take_rows(batch.partition), [*dead_letters, *effects]

    def _applied_one_by_one(
        self, topic: str, batch: Batch, log_end: int, events: Sequence[tuple[Any, Any]], now: float
    ) -> list[Outgoing]:
        """The effects of a batch without its failing records, which would fail on every worker and stop them all."""
        effects: list[Outgoing] = []
        for record, event in events:
            try:
                applied = self._apply_events(topic, batch, log_end, [(record, event)], now)
                self._cache.save(batch.partition)
                effects += applied
            except MemstreamError:
                raise
            except Exception as exc:
                log.exception(
                    "the record at %s[%d]@%d failed unexpectedly and is skipped",
                    record.topic,
                    record.partition,
                    record.offset,
                )
                self._cache.discard(batch.partition)
                effects += self._failed_record(record, event, exc, now)
        return effects

    def _failed_record(self, record: Any, event: Any, error: Exception, now: float) -> list[Outgoing]:
        """The dead letter of a record; none for a timer's event, which comes again."""
        if isinstance(event, WindowControl) and event.kind == "due":
            return []
        return [dead_letter(record, STAGE, Rejected("unforeseen", repr(error)), datetime.fromtimestamp(now, UTC))]

    def _apply_events(
        self, topic: str, batch: Batch, log_end: int, events: Sequence[tuple[Any, Any]], now: float
    ) -> list[Outgoing]:
        if topic == topics.MESSAGES:
            return self._apply_messages(batch, events, now)
        if topic == topics.ENDED:
            return [effect for each in events for effect in self._apply_end(batch, *each, log_end, now)]
        return [effect for each in events for effect in self._apply_control(batch, *each, now)]

    def _apply_messages(self, batch: Batch, events: Sequence[Decoded], now: float) -> list[Outgoing]:
        terms_of = self._terms.now if self._users is None else self._terms_of
        effects: list[Outgoing] = []
        # Each step runs over the whole batch, so that its lookup tables stay in the CPU cache.
        counts = self.counted_messages(events)
        found = [detect_in(message) for _, message in events]
        # Conversations are applied one after another for the same reason; they are independent of each other.
        for conversation_id, places in by_conversation(events).items():
            window = self._cache.window(conversation_id, batch.partition)
            for at in places:
                record, message = events[at]
                trace = traced(record, message) if record.headers else None
                if window_effects := window.add(message, record.offset, counts[at], terms_of, now, found[at], trace):
                    effects += self._records(window_effects, batch, now)
        return effects

    def _terms_of(self, window: Window) -> Terms:
        """The window's terms with its user's settings."""
        if self._users is not None and self._terms.adjustable:
            self._users.apply_to(window)
        return self._terms.now(window)

    def _apply_held_ends(self, batch: Batch, now: float) -> list[Outgoing]:
        """Applies held ends once every message of the batch is applied. One that fails stays held."""
        effects: list[Outgoing] = []
        self._cache.applied(batch.partition, batch.end)
        read_to = self.read_to(batch.partition)
        for conversation_id in self._cache.ready(batch.partition, read_to, now):
            try:
                window = self._cache.window(conversation_id, batch.partition)
                applied = self._records(window.release(read_to, self._terms.now(window), now), batch, now)
                self._cache.save(batch.partition)
                effects += applied
            except Exception:
                log.exception("applying the end of conversation %r failed, trying again later", conversation_id)
                self._cache.discard(batch.partition)
                self._cache.put_off(batch.partition, conversation_id)
        return effects

    def counted_messages(self, events: Iterable[Decoded]) -> list[int]:
        """The tokens of each message."""
        count = self._count_tokens
        return [message_tokens(message, count) for _, message in events]

    def _apply_end(
        self, batch: Batch, record: Any, event: ConversationEnded, log_end: int, now: float
    ) -> list[Outgoing]:
        window = self._cache.window(event.conversation_id, batch.partition)
        read_to = self.read_to(batch.partition)
        window_effects = window.end(event, record.offset, log_end, read_to, self._terms.now(window), now)
        return self._records(window_effects, batch, now)

    def _apply_control(self, batch: Batch, record: Any, control: WindowControl, now: float) -> list[Outgoing]:
        window = self._cache.existing(control.conversation_id, batch.partition)
        if window is None:
            return self._new_records(record, control)
        if control.kind == "user_settings" and control.settings is not None and window.head.scope.user_id is None:
            return self._refused(record, NO_USER)
        terms = self._terms_of(window) if control.kind == "user_settings" else self._terms.now(window)
        tokens = self._count_tokens(control.summary) if control.summary else 0
        window_effects = window.control(control, record.offset, terms, now, tokens)
        if control.kind in ("settings", "user_settings"):
            window_effects += window.prune_if_due(self._terms.now(window), now)
        if control.kind == "erase" and self._users is not None:
            self._users.forget(window)
        effects = self._records(window_effects, batch, now)
        if control.kind != "erase" and window.expired(terms.policy, now):
            self._cache.forget(window)
        return effects

    def _new_records(self, record: Any, control: WindowControl) -> list[Outgoing]:
        """Dead letters for manual requests to a missing window; memstream's own events to it are dropped."""
        looks_up = control.kind == "user_settings" and control.settings is None
        if control.kind not in MANUAL_KINDS or looks_up:
            return []
        return self._refused(record, NO_WINDOW)

    def _refused(self, record: Any, rejected: Rejected) -> list[Outgoing]:
        return [dead_letter(record, STAGE, rejected, datetime.fromtimestamp(self._clock(), UTC))]

    def _records(self, window_effects: list[Effect], batch: Batch, now: float) -> list[Outgoing]:
        for each in window_effects:
            if isinstance(each, EndedIncomplete):
                log.warning(
                    "conversation %r ended, and partition %d lacks messages that its end event announces (message_count %s, "
                    "last_message_id %r): %d arrived",
                    each.scope.conversation_id,
                    batch.partition,
                    each.message_count,
                    each.last_message_id,
                    each.received,
                )
        return [outgoing(each, batch.partition, datetime.fromtimestamp(now, UTC)) for each in window_effects]

    def read_to(self, partition: int) -> int:
        """The offset up to which this agent has applied the messages partition, trailing control records included."""
        applied = self._cache.applied_to(partition)
        read_to: int | None = self._app.consumer.read_to(self._messages_topic, partition, applied)
        return read_to or 0

    async def tick(self) -> None:
        """Publishes control events for due windows: timers never write the table. Raises Retryable."""
        if self._app.checkpointer is None or not self._app.fence.admits(self._app.fence.epoch):
            return
        self._cache.enter(self._app.fence.epoch)
        if self._armed_by is not self._terms.policies:
            self._armed_by = self._terms.policies
            self._cache.rescan_deadlines()
        now = self._clock()
        due: list[Outgoing] = []
        for partition in self._app.checkpointer.partitions:
            read_to = self.read_to(partition)
            for conversation_id in self._cache.due_conversations(partition, read_to, now, DUE_AGAIN_AFTER_S):
                due.append(due_event(conversation_id, partition, read_to, now))
        if due:
            await self._publisher.publish(due)


def by_conversation(events: Iterable[Decoded]) -> dict[str, list[int]]:
    """The places (from 0) of each conversation's messages, in order."""
    places: dict[str, list[int]] = {}
    for at, (_, message) in enumerate(events):
        places.setdefault(message.conversation_id, []).append(at)
    return places


def traced(record: Any, message: Message) -> str | None:
    """The trace that the window keeps with a message: that of applying it, or the message's own where no traces are
    recorded."""
    cause = traces.traceparent_of(record.headers)
    if cause is None or not traces.recording():
        return cause
    of = {"memstream.conversation_id": message.conversation_id, "memstream.message_id": message.message_id}
    with traces.span(f"{STAGE} process message", of, causes=(cause,), kind=SpanKind.CONSUMER):
        return traces.current()
