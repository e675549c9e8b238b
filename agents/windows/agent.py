"""The window agent: the only writer of the windows table. Decodes, applies to windows, records rows and effects."""

import logging
import time
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar

from opentelemetry.trace import SpanKind

from agents.dead_letters.writer import dead_letter
from agents.windows.cache import WindowCache
from agents.windows.erasures import Decoded, WindowErasures
from agents.windows.records import outgoing
from agents.windows.repeats import WindowRepeats
from agents.windows.terms import WindowTerms
from schemas import codec
from schemas.conversations.messages import ConversationEnded, Message
from schemas.conversations.window_controls import WindowControl
from schemas.errors import MemstreamError, Rejected
from schemas.kafka import topics
from schemas.kafka.records import Outgoing, Publisher
from schemas.observability import traces
from streams.apps import BATCH_RECORDS
from streams.delivery.app import StageApp
from streams.delivery.batch import Batch
from streams.delivery.store import Rows
from streams.kafka.topics import TopicSettings
from streams.windows.detectors.detect import detect_in
from streams.windows.effects import Effect
from streams.windows.tokens.counting import TokenCount, message_tokens

log = logging.getLogger(__name__)

STAGE = "windows"
TOLD_AGAIN_AFTER_S = 10.0
BY_HAND = ("flush", "prune", "clear", "restore", "mark", "settings")
SMALL = 65_536  # bytes of a record that cannot grow beyond any limit when it is written again

Event = TypeVar("Event", Message, ConversationEnded, WindowControl)


class WindowAgent:
    """One per process. `clock` gives Unix seconds; `publisher` takes the timers' control events to Kafka; `erasures` says what is
    older than an erasure, `repeats` what was extracted long ago."""

    def __init__(
        self,
        app: StageApp,
        names: TopicSettings,
        terms: WindowTerms,
        count_tokens: TokenCount,
        publisher: Publisher,
        clock: Callable[[], float] = time.time,
        erasures: WindowErasures | None = None,
        repeats: WindowRepeats | None = None,
    ) -> None:
        self._app = app
        self._terms = terms
        self._count_tokens = count_tokens
        self._publisher = publisher
        self._clock = clock
        self._erasures = erasures
        self._repeats = repeats
        self._logical = {names.physical(name): name for name in (topics.MESSAGES, topics.ENDED, topics.WINDOW_CONTROL)}
        self._largest = names.max_message_bytes
        self._surely_fits = min(SMALL, self._largest)
        self._messages_topic = names.physical(topics.MESSAGES)
        self._armed_by = terms.policies
        self._cache = WindowCache(app, lambda window: self._terms.policy(window.head.scope))

    async def handle(self, batch: Batch) -> None:
        """Applies a batch; the checkpoint that carries its rows and effects acks it."""
        assert self._app.checkpointer is not None
        await self._app.checkpointer.wait_for_room(batch.partition)
        topic = self._logical[batch.topic]
        log_end = 0
        heard: Sequence[tuple[Any, Any]] = ()
        letters: list[Outgoing] = []
        if topic == topics.MESSAGES:
            heard = list(self._decoded(batch, Message, letters))
            if self._repeats is not None:
                heard = await self._repeats.without_repeated(batch, heard, self._cache)
            if self._erasures is not None:  # the last: no erasure may come between this and the changes
                heard = await self._erasures.without_erased(batch, heard)
        if topic == topics.ENDED:
            log_end = await self._app.consumer.log_end(self._messages_topic, batch.partition)
        if not batch.current:
            return
        # Nothing may be awaited from here to the end: the epoch was checked, and the changes must be of that epoch.
        self._cache.enter(batch.epoch)
        rows, effects = self._carried_out(topic, batch, log_end, heard, letters)
        self._app.checkpointer.record(batch, rows, effects)
        if self._urgent(batch, effects):
            self._app.checkpointer.ask(batch.partition)
        batch.release()

    def _urgent(self, batch: Batch, effects: list[Outgoing]) -> bool:
        """Whether somebody waits for an effect. Nobody does for activity, nor while there is a backlog: whole batches."""
        return len(batch.records) < BATCH_RECORDS[STAGE] and any(effect.topic == topics.REQUESTS for effect in effects)

    def _carried_out(
        self, topic: str, batch: Batch, log_end: int, heard: Sequence[tuple[Any, Any]], letters: list[Outgoing]
    ) -> tuple[Rows, list[Outgoing]]:
        """The rows and effects of a batch. One that fails for a reason nobody foresaw is applied again, record by record."""
        now = self._clock()
        if topic == topics.ENDED:
            heard = list(self._decoded(batch, ConversationEnded, letters))
        elif topic == topics.WINDOW_CONTROL:
            heard = list(self._decoded(batch, WindowControl, letters))
        try:
            effects = self._take_in(topic, batch, log_end, heard, now)
            self._cache.save(batch.partition)
        except MemstreamError:
            raise
        except Exception:
            log.exception("%r fails for a reason nobody foresaw: its records are applied one by one", batch)
            self._cache.discard(batch.partition)
            effects = self._one_by_one(topic, batch, log_end, heard, now)
        if topic == topics.MESSAGES:
            effects += self._read_to_end(batch, now)
        return self._cache.take_rows(batch.partition), [*letters, *effects]

    def _one_by_one(
        self, topic: str, batch: Batch, log_end: int, heard: Sequence[tuple[Any, Any]], now: float
    ) -> list[Outgoing]:
        """The effects of a batch without its records that fail: those would fail on every worker, and must not stop them all."""
        effects: list[Outgoing] = []
        for record, event in heard:
            try:
                told = self._take_in(topic, batch, log_end, [(record, event)], now)
                self._cache.save(batch.partition)
                effects += told
            except MemstreamError:
                raise
            except Exception as exc:
                log.exception(
                    "%s[%d]@%d fails for a reason nobody foresaw", record.topic, record.partition, record.offset
                )
                self._cache.discard(batch.partition)
                effects += self._given_up(record, event, exc, now)
        return effects

    def _given_up(self, record: Any, event: Any, error: Exception, now: float) -> list[Outgoing]:
        """The dead letter of a record; there is none of what a timer will say again."""
        if isinstance(event, WindowControl) and event.kind == "due":
            return []
        return [dead_letter(record, STAGE, Rejected("unforeseen", repr(error)), datetime.fromtimestamp(now, UTC))]

    def _take_in(
        self, topic: str, batch: Batch, log_end: int, heard: Sequence[tuple[Any, Any]], now: float
    ) -> list[Outgoing]:
        if topic == topics.MESSAGES:
            return self._take_messages(batch, heard, now)
        if topic == topics.ENDED:
            return [told for each in heard for told in self._take_end(batch, *each, log_end, now)]
        return [told for each in heard for told in self._take_control(batch, *each, now)]

    def _take_messages(self, batch: Batch, heard: Sequence[Decoded], now: float) -> list[Outgoing]:
        terms_of = self._terms.now
        effects: list[Outgoing] = []
        # Step by step over the whole batch: what a step looks things up in stays in the processor's cache.
        counts = self.counted_messages(heard)
        found = [detect_in(message) for _, message in heard]
        # And one conversation after another, for the same reason: they have no order among each other.
        for conversation_id, places in by_conversation(heard).items():
            window = self._cache.window(conversation_id, batch.partition)
            for at in places:
                record, message = heard[at]
                trace = traced(record, message) if record.headers else None
                if told := window.add(message, record.offset, counts[at], terms_of, now, found[at], trace):
                    effects += self._records(told, batch, now)
        return effects

    def _read_to_end(self, batch: Batch, now: float) -> list[Outgoing]:
        """Every message of the batch is applied: ends that waited for them take effect. One that fails waits on."""
        effects: list[Outgoing] = []
        self._cache.applied(batch.partition, batch.end)
        read_to = self.read_to(batch.partition)
        for conversation_id in self._cache.ready(batch.partition, read_to, now):
            try:
                window = self._cache.window(conversation_id, batch.partition)
                told = self._records(window.release(read_to, self._terms.now(window), now), batch, now)
                self._cache.save(batch.partition)
                effects += told
            except Exception:
                log.exception("the end of conversation %r cannot take effect", conversation_id)
                self._cache.discard(batch.partition)
                self._cache.put_off(batch.partition, conversation_id)
        return effects

    def counted_messages(self, heard: Iterable[Decoded]) -> list[int]:
        """The tokens of each message."""
        count = self._count_tokens
        return [message_tokens(message, count) for _, message in heard]

    def _take_end(
        self, batch: Batch, record: Any, event: ConversationEnded, log_end: int, now: float
    ) -> list[Outgoing]:
        window = self._cache.window(event.conversation_id, batch.partition)
        read_to = self.read_to(batch.partition)
        told = window.end(event, record.offset, log_end, read_to, self._terms.now(window), now)
        return self._records(told, batch, now)

    def _take_control(self, batch: Batch, record: Any, control: WindowControl, now: float) -> list[Outgoing]:
        window = self._cache.existing(control.conversation_id, batch.partition)
        if window is None:
            return self._new_records(record, control)
        terms = self._terms.now(window)
        tokens = self._count_tokens(control.summary) if control.summary else 0
        told = window.control(control, record.offset, terms, now, tokens)
        if control.kind == "settings":
            told += window.held_to(self._terms.now(window), now)
        effects = self._records(told, batch, now)
        if control.kind != "erase" and window.expired(terms.policy, now):
            self._cache.forget(window)
        return effects

    def _new_records(self, record: Any, control: WindowControl) -> list[Outgoing]:
        """What somebody asked of a window that is not there; memstream's own word to one that was forgotten is nothing."""
        if control.kind not in BY_HAND:
            return []
        rejected = Rejected(
            "no_window", "no such window here: use the key and partition of the conversation's messages"
        )
        return [dead_letter(record, STAGE, rejected, datetime.fromtimestamp(self._clock(), UTC))]

    def _records(self, told: list[Effect], batch: Batch, now: float) -> list[Outgoing]:
        return [outgoing(each, batch.partition, datetime.fromtimestamp(now, UTC)) for each in told]

    def _decoded(self, batch: Batch, shape: type[Event], effects: list[Outgoing]) -> Iterable[tuple[Any, Event]]:
        """Each record with its event; what cannot be decoded becomes a dead letter among the effects."""
        for record in batch.records:
            try:
                if len(record.value or b"") > self._surely_fits:
                    self._require_size(record)
                yield record, codec.decode_untrusted(record.value, shape)
            except Rejected as rejected:
                effects.append(dead_letter(record, STAGE, rejected, datetime.fromtimestamp(self._clock(), UTC)))

    def _require_size(self, record: Any) -> None:
        """Raises Rejected `too_large` for what a row or request of ours could not hold.

        The broker's limit counts compressed bytes, and JSON written again may be longer than it came: 1e15 is written out.
        """
        size = len(record.value or b"")
        if size > self._largest:
            raise Rejected("too_large", f"{size} bytes; the limit is {self._largest} (MEMSTREAM_MAX_MESSAGE_BYTES)")
        if size > SMALL and (again := len(codec.encode(codec.parse(record.value)))) > 3 * self._largest:
            raise Rejected("too_large", f"{again} bytes when written again; the limit is {3 * self._largest}")

    def read_to(self, partition: int) -> int:
        """The offset up to which this agent has applied the messages partition, trailing control records included."""
        applied = self._cache.applied_to(partition)
        read_to: int | None = self._app.consumer.read_to(self._messages_topic, partition, applied)
        return read_to or 0

    async def tick(self) -> None:
        """Tells windows whose time has come, as control events: timers never write the table. Raises Retryable."""
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
            for conversation_id in self._cache.due_conversations(partition, read_to, now, TOLD_AGAIN_AFTER_S):
                due.append(due_event(conversation_id, partition, read_to, now))
        if due:
            await self._publisher.publish(due)


def by_conversation(heard: Iterable[Decoded]) -> dict[str, list[int]]:
    """The places (from 0) of each conversation's messages, in order."""
    places: dict[str, list[int]] = {}
    for at, (_, message) in enumerate(heard):
        places.setdefault(message.conversation_id, []).append(at)
    return places


def traced(record: Any, message: Message) -> str | None:
    """What the message's window keeps of its trace: that of taking it in; the one it came with where nothing is recorded."""
    cause = traces.traceparent_of(record.headers)
    if cause is None or not traces.recording():
        return cause
    of = {"memstream.conversation_id": message.conversation_id, "memstream.message_id": message.message_id}
    with traces.span(f"{STAGE} take in", of, causes=(cause,), kind=SpanKind.CONSUMER):
        return traces.current()


def due_event(conversation_id: str, partition: int, read_to: int, now: float) -> Outgoing:
    """Says which position the messages partition was read to, so that applying the event again decides the same."""
    at = datetime.fromtimestamp(now, UTC)
    control = WindowControl(conversation_id=conversation_id, kind="due", at=at, read_to=read_to)
    return Outgoing(
        topic=topics.WINDOW_CONTROL,
        key=conversation_id.encode(),
        value=codec.encode(control),
        partition=partition,
    )
