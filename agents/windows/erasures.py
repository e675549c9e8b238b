"""Erasures for the owner of windows: refuses messages older than an erasure, empties windows, and answers for a partition
once nothing is left in them."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from datetime import UTC, datetime
from typing import Any, Protocol, TypeAlias

from agents.windows.terms import WindowTerms
from schemas import codec
from schemas.conversations.messages import Message, Scope
from schemas.erasure.erasures import Erasure, Fence, Fences
from schemas.kafka import topics
from schemas.kafka.records import Outgoing, Publisher
from schemas.policies.namespaces import OWN_NAMESPACE, render, shortened
from schemas.windows.window_controls import WindowControl
from streams.delivery.app import StageApp
from streams.delivery.batch import Batch
from streams.delivery.checkpoint import Checkpointer
from streams.delivery.ledger import Ledger
from streams.windows.rows import rows
from streams.windows.rows.head import Head, WindowErasure

log = logging.getLogger(__name__)

SENT_AGAIN_AFTER_S = 5.0
MAX_CLOCK_SKEW_S = 300.0  # between two workers; with more, a restored store may wrongly count as newer than an erasure
ALL_KEYS = (b"", b"\xff")  # the range of all keys

Decoded: TypeAlias = tuple[Any, Message]  # a record and its decoded event


class ErasureFences(Protocol):
    """sinks.erasure.erasures.Erasures. Every method raises Retryable."""

    async def newest(self) -> Fence | None: ...

    async def fences(
        self, namespaces: Collection[str], conversations: Collection[str], users: Collection[str]
    ) -> Fences: ...

    async def unanswered(self, partitions: Collection[int]) -> tuple[tuple[int, Erasure], ...]: ...

    async def answered(self, partitions: Collection[int]) -> dict[int, datetime]: ...

    async def conversations(self, erasure_id: str) -> frozenset[str]: ...

    async def answer(
        self, erasure_id: str, partition: int, conversations: Collection[str], messages: int, at: datetime
    ) -> None: ...


class WindowErasures:
    """One per process. Asks PostgreSQL only about messages older than the latest erasure, which are few; reads that time
    every second and at the start of an epoch. Slow work runs on the executor `executor`."""

    def __init__(
        self,
        app: StageApp,
        known: ErasureFences,
        terms: WindowTerms,
        publisher: Publisher,
        clock: Callable[[], float] = time.time,
        executor: Callable[..., Awaitable[None]] = asyncio.to_thread,
    ) -> None:
        self._app = app
        self._known = known
        self._terms = terms
        self._publisher = publisher
        self._clock = clock
        self._apart = executor
        self._epoch = self._compacted_in = 0
        self._newest: Fence | None = None
        self._sent_at: dict[tuple[int, str], dict[str, float]] = {}  # by (partition, erasure), then by conversation

    async def without_erased(self, batch: Batch, events: Sequence[Decoded]) -> Sequence[Decoded]:
        """The batch's messages that are not behind an erasure's fence. Raises Retryable."""
        if batch.epoch != self._epoch:
            await self._look(batch.epoch)
        while True:
            newest = self._newest
            older = await self._older(batch, events, newest)
            if newest is self._newest:  # otherwise a new erasure exists, and its windows may have been checked already
                return [each for each in events if each[0].offset not in older] if older else events

    async def _older(self, batch: Batch, events: Sequence[Decoded], newest: Fence | None) -> frozenset[int]:
        if newest is None:
            return frozenset()
        old = {
            record.offset: message
            for record, message in events
            if newest.refuses(message.timestamp, batch.partition, record.offset)
        }
        if not old:
            return frozenset()
        feeds = {offset: self._feeds(Scope.of(message)) for offset, message in old.items()}
        fences = await self._known.fences(
            {name for fed in feeds.values() for name in fed},
            {message.conversation_id for message in old.values()},
            {message.user_id for message in old.values() if message.user_id is not None},
        )
        return frozenset(
            offset
            for offset, message in old.items()
            if any(
                fence.refuses(message.timestamp, batch.partition, offset)
                for fence in fences.of(Scope.of(message), feeds[offset])
            )
        )

    async def _look(self, epoch: int) -> None:
        newest = await self._known.newest()
        if newest != self._newest:
            self._newest = newest
        if epoch != self._epoch:
            self._epoch, self._sent_at = epoch, {}

    def _feeds(self, scope: Scope) -> tuple[str, ...]:
        """The namespaces that the conversation feeds, and its own name, under which shared conversations are found."""
        return (*self._terms.policies.match(scope).namespaces_of(scope), shortened(render(OWN_NAMESPACE, scope) or ""))

    async def tick(self) -> None:
        """Requests the erasure in windows, and answers for partitions that have none of them left. Raises Retryable."""
        checkpointer, epoch = self._app.checkpointer, self._app.fence.epoch
        if checkpointer is None or not self._app.fence.admits(epoch):
            return
        if self._compacted_in != epoch and not await self._compact(checkpointer, epoch):
            return
        pending = await self._known.unanswered(checkpointer.partitions)
        await self._look(epoch)  # the fence is known to this worker from here on, so nothing older is let in afterwards
        named = {each.erasure_id: await self._known.conversations(each.erasure_id) for _, each in pending}
        by_partition: dict[int, list[Erasure]] = {}
        for partition, erasure in pending:
            by_partition.setdefault(partition, []).append(erasure)
        for partition, erasures in by_partition.items():
            if not self._holds(epoch, partition):
                return
            # Scanned once for all erasures, as there may be many windows.
            scanned = list(checkpointer[partition].scan(rows.HEADS))
            for erasure in erasures:
                if not self._holds(epoch, partition):
                    return
                heads = list(self._concerned(erasure, named[erasure.erasure_id], scanned))
                await self._empty(erasure, heads, named[erasure.erasure_id], partition, checkpointer[partition])

    async def _compact(self, checkpointer: Checkpointer, epoch: int) -> bool:
        """Compacts stores that may hold words erased by another owner, or read from an uncompacted changelog. False if the
        epoch ended before all were done. Raises Retryable."""
        for partition, at in (await self._known.answered(checkpointer.partitions)).items():
            if not self._holds(epoch, partition):
                return False
            ledger, now = checkpointer[partition], self._clock()
            if ledger.compacted_at <= at.timestamp() + MAX_CLOCK_SKEW_S:
                await self._apart(ledger.remove_overwritten, *ALL_KEYS)
                if not self._holds(epoch, partition):
                    return False
                ledger.compacted(now)
        self._compacted_in = epoch
        return True

    def _holds(self, epoch: int, partition: int) -> bool:
        checkpointer = self._app.checkpointer
        return checkpointer is not None and self._app.fence.admits(epoch) and partition in checkpointer.partitions

    async def _empty(
        self, erasure: Erasure, heads: Sequence[Head], named: frozenset[str], partition: int, ledger: Ledger
    ) -> None:
        """Answers for a partition by its committed rows, which no crash takes back."""
        epoch = self._app.fence.epoch
        whose = {head.scope.conversation_id: self._erased_users(erasure, head) for head in heads}
        if left := [head for head in heads if window_counts(head, erasure, whose[head.scope.conversation_id]) is None]:
            await self._publisher.publish(list(self._controls(erasure, partition, left)))
            return
        if not all(is_safe(head, erasure, ledger, whose[head.scope.conversation_id]) for head in heads):
            return
        conversations = [head.scope.conversation_id for head in heads]
        now = self._clock()
        for first, last in [ALL_KEYS] if erasure.kind == "namespace" else spans_around(named.union(conversations)):
            await self._apart(ledger.remove_overwritten, first, last)
            if not self._holds(epoch, partition):
                return  # the store may have been closed meanwhile
        ledger.compacted(now)
        gone = (window_counts(head, erasure, whose[head.scope.conversation_id]) for head in heads)
        removed = sum(each.messages for each in gone if each is not None)
        at = datetime.fromtimestamp(now, UTC)
        await self._known.answer(erasure.erasure_id, partition, conversations, removed, at)
        self._sent_at.pop((partition, erasure.erasure_id), None)
        log.info("erasure %s: all windows of partition %d are erased, %d", erasure.erasure_id, partition, len(heads))

    def _concerned(
        self, erasure: Erasure, named: frozenset[str], scanned: Iterable[tuple[bytes, bytes]]
    ) -> Iterable[Head]:
        """The heads of windows that the erasure affects. Others are mostly excluded without decoding."""
        encoded_id = codec.encode(erasure.user_id or erasure.conversation_id) if erasure.kind != "namespace" else b""
        for key, row in scanned:
            if encoded_id in row or codec.decode(key, str) in named:
                head = codec.decode(row, Head)
                if head.scope.conversation_id in named or self._is_concerned(erasure, head):
                    yield head

    def _is_concerned(self, erasure: Erasure, head: Head) -> bool:
        return any(self._concerns(erasure, scope) for scope in head.speakers)

    def _concerns(self, erasure: Erasure, scope: Scope) -> bool:
        return erasure.concerns(scope, self._feeds(scope) if erasure.kind == "namespace" else ())

    def _erased_users(self, erasure: Erasure, head: Head) -> tuple[str, ...]:
        """The users whose messages go while others' stay; empty if the whole window goes."""
        if erasure.kind == "conversation" or head.unattributed_speakers or not head.other_speakers:
            return ()
        concerned = [scope.user_id for scope in head.speakers if self._concerns(erasure, scope)]
        if len(concerned) == len(head.speakers):
            return ()
        return tuple(filter(None, concerned)) or tuple(filter(None, [erasure.user_id]))

    def _controls(self, erasure: Erasure, partition: int, heads: Iterable[Head]) -> Iterable[Outgoing]:
        now = self._clock()
        sent = self._sent_at.setdefault((partition, erasure.erasure_id), {})
        for head in heads:
            conversation_id = head.scope.conversation_id
            if now - sent.get(conversation_id, 0.0) >= SENT_AGAIN_AFTER_S:
                sent[conversation_id] = now
                yield erase_control(erasure, conversation_id, partition, self._erased_users(erasure, head))


def spans_around(conversations: Iterable[str]) -> Iterable[tuple[bytes, bytes]]:
    """First and last keys of the ranges that may hold rows of these windows, deleted ones included: a few ranges for any
    number of windows."""
    for spans in zip(*map(rows.spans, conversations), strict=True):
        yield min(first for first, _ in spans), max(last for _, last in spans)


def window_counts(head: Head, erasure: Erasure, users: Sequence[str]) -> WindowErasure | None:
    """The counts of a window's erased messages, after the erasure."""
    moment = erasure.at.timestamp()
    if head.last_erasure is not None and head.last_erasure.at >= moment:
        return head.last_erasure
    partly = [
        head.user_erasures[each]
        for each in users
        if each in head.user_erasures and head.user_erasures[each].at >= moment
    ]
    return partly[0] if partly and len(partly) == len(users) else None


def is_safe(head: Head, erasure: Erasure, ledger: Ledger, users: Sequence[str]) -> bool:
    row = ledger.committed(rows.head_key(head.scope.conversation_id))
    return row is not None and window_counts(codec.decode(row, Head), erasure, users) is not None


def erase_control(erasure: Erasure, conversation_id: str, partition: int, users: tuple[str, ...] = ()) -> Outgoing:
    """The control event that empties a window, or removes only these users' messages."""
    control = WindowControl(
        conversation_id=conversation_id,
        kind="erase",
        at=erasure.at,
        read_to=erasure.positions.get(partition),
        reason=erasure.erasure_id,
        users=users,
    )
    return Outgoing(
        topic=topics.WINDOW_CONTROL,
        key=conversation_id.encode(),
        value=codec.encode(control),
        partition=partition,
    )
