"""Erasures as the owner of windows sees them: which messages are too old to come in, which windows are to be emptied, and the
answer for a partition once nothing is left in them."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from datetime import UTC, datetime
from typing import Any, Protocol, TypeAlias

from agents.windows.terms import WindowTerms
from schemas import codec
from schemas.conversations.messages import Message, Scope
from schemas.conversations.window_controls import WindowControl
from schemas.erasure.erasures import Erasure, Fence, Fences
from schemas.kafka import topics
from schemas.kafka.records import Outgoing, Publisher
from schemas.policies.namespaces import OWN_NAMESPACE, render, shortened
from streams.delivery.app import StageApp
from streams.delivery.batch import Batch
from streams.delivery.checkpoint import Checkpointer
from streams.delivery.ledger import Ledger
from streams.windows.rows import rows
from streams.windows.rows.head import Erased, Head

log = logging.getLogger(__name__)

TOLD_AGAIN_AFTER_S = 5.0
CLOCKS_APART_S = (
    300.0  # of two workers: beyond it a store that comes back may be taken for one that is newer than an erasure
)
WHOLE = (b"", b"\xff")  # first and last key of all

Decoded: TypeAlias = tuple[Any, Message]  # a record with what it says


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
    """One per process. PostgreSQL is asked about messages that are older than the latest erasure, which few are; it is asked for
    that every second, and when an epoch begins. What takes long is done `apart` from the event loop."""

    def __init__(
        self,
        app: StageApp,
        known: ErasureFences,
        terms: WindowTerms,
        publisher: Publisher,
        clock: Callable[[], float] = time.time,
        apart: Callable[..., Awaitable[None]] = asyncio.to_thread,
    ) -> None:
        self._app = app
        self._known = known
        self._terms = terms
        self._publisher = publisher
        self._clock = clock
        self._apart = apart
        self._epoch = self._compacted_in = 0
        self._newest: Fence | None = None
        self._told: dict[tuple[int, str], dict[str, float]] = {}  # by partition and erasure, then conversation

    async def without_erased(self, batch: Batch, heard: Sequence[Decoded]) -> Sequence[Decoded]:
        """Of a batch's messages those that are not older than an erasure of what they belong to. Raises Retryable."""
        if batch.epoch != self._epoch:
            await self._look(batch.epoch)
        while True:
            newest = self._newest
            older = await self._older(batch, heard, newest)
            if (
                newest is self._newest
            ):  # else an erasure came meanwhile, and its windows may have been looked at already
                return [each for each in heard if each[0].offset not in older] if older else heard

    async def _older(self, batch: Batch, heard: Sequence[Decoded], newest: Fence | None) -> frozenset[int]:
        if newest is None:
            return frozenset()
        old = {
            record.offset: message
            for record, message in heard
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
            self._epoch, self._told = epoch, {}

    def _feeds(self, scope: Scope) -> tuple[str, ...]:
        """And the conversation's own, by which what was said is found that feeds none of one person alone."""
        return (*self._terms.policies.match(scope).namespaces_of(scope), shortened(render(OWN_NAMESPACE, scope) or ""))

    async def tick(self) -> None:
        """Tells windows that are to be emptied, and answers for partitions in which none is left. Raises Retryable."""
        checkpointer, epoch = self._app.checkpointer, self._app.fence.epoch
        if checkpointer is None or not self._app.fence.admits(epoch):
            return
        if self._compacted_in != epoch and not await self._compact(checkpointer, epoch):
            return
        pending = await self._known.unanswered(checkpointer.partitions)
        await self._look(epoch)  # only then: nothing older than what is answered for may come in afterwards
        named = {each.erasure_id: await self._known.conversations(each.erasure_id) for _, each in pending}
        by_partition: dict[int, list[Erasure]] = {}
        for partition, erasure in pending:
            by_partition.setdefault(partition, []).append(erasure)
        for partition, erasures in by_partition.items():
            if not self._holds(epoch, partition):
                return
            scanned = list(checkpointer[partition].scan(rows.HEADS))  # once for all of them: there may be very many
            for erasure in erasures:
                if not self._holds(epoch, partition):
                    return
                heads = list(self._concerned(erasure, named[erasure.erasure_id], scanned))
                await self._empty(erasure, heads, named[erasure.erasure_id], partition, checkpointer[partition])

    async def _compact(self, checkpointer: Checkpointer, epoch: int) -> bool:
        """Stores in which words may rest that another owner erased meanwhile, or that were read from the changelog with all that
        it has not compacted yet. False when the epoch ended before all were done. Raises Retryable."""
        for partition, at in (await self._known.answered(checkpointer.partitions)).items():
            if not self._holds(epoch, partition):
                return False
            ledger, now = checkpointer[partition], self._clock()
            if ledger.compacted_at <= at.timestamp() + CLOCKS_APART_S:
                await self._apart(ledger.forgotten, *WHOLE)
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
        """Answers by the safe rows: no crash takes those back."""
        epoch = self._app.fence.epoch
        whose = {head.scope.conversation_id: self._erased_users(erasure, head) for head in heads}
        if left := [head for head in heads if through(head, erasure, whose[head.scope.conversation_id]) is None]:
            await self._publisher.publish(list(self._controls(erasure, partition, left)))
            return
        if not all(is_safe(head, erasure, ledger, whose[head.scope.conversation_id]) for head in heads):
            return
        conversations = [head.scope.conversation_id for head in heads]
        now = self._clock()
        for first, last in [WHOLE] if erasure.kind == "namespace" else spans_around(named.union(conversations)):
            await self._apart(ledger.forgotten, first, last)
            if not self._holds(epoch, partition):
                return  # the store may have been closed before
        ledger.compacted(now)
        gone = (through(head, erasure, whose[head.scope.conversation_id]) for head in heads)
        removed = sum(each.messages for each in gone if each is not None)
        at = datetime.fromtimestamp(now, UTC)
        await self._known.answer(erasure.erasure_id, partition, conversations, removed, at)
        self._told.pop((partition, erasure.erasure_id), None)
        log.info("erasure %s: %d windows of partition %d are empty", erasure.erasure_id, len(heads), partition)

    def _concerned(
        self, erasure: Erasure, named: frozenset[str], scanned: Iterable[tuple[bytes, bytes]]
    ) -> Iterable[Head]:
        """The heads of its windows. Few of the others are decoded, where something tells them apart."""
        said = codec.encode(erasure.user_id or erasure.conversation_id) if erasure.kind != "namespace" else b""
        for key, row in scanned:
            if said in row or codec.decode(key, str) in named:
                head = codec.decode(row, Head)
                if head.scope.conversation_id in named or self._is_concerned(erasure, head):
                    yield head

    def _is_concerned(self, erasure: Erasure, head: Head) -> bool:
        return any(self._concerns(erasure, scope) for scope in head.speakers)

    def _concerns(self, erasure: Erasure, scope: Scope) -> bool:
        return erasure.concerns(scope, self._feeds(scope) if erasure.kind == "namespace" else ())

    def _erased_users(self, erasure: Erasure, head: Head) -> tuple[str, ...]:
        """Whose words go, where others said something too, which stays; nobody in particular where all of the window goes."""
        if erasure.kind == "conversation" or head.untold or not head.others:
            return ()
        concerned = [scope.user_id for scope in head.speakers if self._concerns(erasure, scope)]
        if len(concerned) == len(head.speakers):
            return ()
        return tuple(filter(None, concerned)) or tuple(filter(None, [erasure.user_id]))

    def _controls(self, erasure: Erasure, partition: int, heads: Iterable[Head]) -> Iterable[Outgoing]:
        now = self._clock()
        told = self._told.setdefault((partition, erasure.erasure_id), {})
        for head in heads:
            conversation_id = head.scope.conversation_id
            if now - told.get(conversation_id, 0.0) >= TOLD_AGAIN_AFTER_S:
                told[conversation_id] = now
                yield erase(erasure, conversation_id, partition, self._erased_users(erasure, head))


def spans_around(conversations: Iterable[str]) -> Iterable[tuple[bytes, bytes]]:
    """First and last key of where the words of all these windows may rest, also of those that are there no more: a few spans,
    however many windows."""
    for spans in zip(*map(rows.spans, conversations), strict=True):
        yield min(first for first, _ in spans), max(last for _, last in spans)


def through(head: Head, erasure: Erasure, users: Sequence[str]) -> Erased | None:
    """What went of the window, once that is done."""
    moment = erasure.at.timestamp()
    if head.erased is not None and head.erased.at >= moment:
        return head.erased
    partly = [head.partly[each] for each in users if each in head.partly and head.partly[each].at >= moment]
    return partly[0] if partly and len(partly) == len(users) else None


def is_safe(head: Head, erasure: Erasure, ledger: Ledger, users: Sequence[str]) -> bool:
    row = ledger.safe(rows.head_key(head.scope.conversation_id))
    return row is not None and through(codec.decode(row, Head), erasure, users) is not None


def erase(erasure: Erasure, conversation_id: str, partition: int, users: tuple[str, ...] = ()) -> Outgoing:
    """The word to a window that it is to be emptied, of what these users said where there are others."""
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
