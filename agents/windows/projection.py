"""Projects windows to PostgreSQL after each checkpoint, for the API."""

import logging
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from itertools import islice
from typing import Final, Protocol

from agents.windows.terms import WindowTerms
from schemas import codec
from schemas.conversations.windows import Restorable, WindowState
from schemas.counts import counted
from streams.delivery.app import StageApp
from streams.delivery.ledger import Ledger
from streams.windows.context import statistics
from streams.windows.rows import rows
from streams.windows.rows.head import Head, Removals

log = logging.getLogger(__name__)

BATCH_WINDOWS = 200  # windows: a few milliseconds of work between two yields to the event loop
REMEMBERED_SPLIT = 10_000  # conversations in several partitions that are logged once

SPLIT_REMEDY: Final = (
    "unless partitions were added, let all clients publish with the key conversation_id and the same partitioner"
)


class Windows(Protocol):
    """The projected windows. Every method raises Retryable; an outdated state changes nothing."""

    async def project(self, states: Sequence[WindowState]) -> tuple[str, ...]: ...

    async def forget(
        self, conversation_ids: Collection[str], partition: int, source: str, revision: int, at: datetime
    ) -> None: ...

    async def forget_older(self, source: str, partition: int, revision: int, at: datetime) -> None: ...


class WindowProjection:
    """Tracks changed windows and projects their committed rows, so a busy window is projected once per call. After a crash,
    the next epoch projects every window again."""

    def __init__(self, app: StageApp, windows: Windows, terms: WindowTerms) -> None:
        self._app = app
        self._windows = windows
        self._terms = terms
        self._epoch = 0
        self._changed: dict[int, dict[bytes, None]] = {}  # keys of window heads by partition
        self._unread: list[int] = []
        self._split: set[str] = set()  # conversations that were logged as split

    async def project(self, at: datetime) -> None:
        """Projects all windows changed since the last call, and, after a new epoch began, all windows of one more partition."""
        if self._app.checkpointer is None or not self._app.fence.admits(self._app.fence.epoch):
            return
        self._enter(self._app.fence.epoch)
        if self._unread:
            await self._project_all(self._unread[-1], at)
            self._unread.pop()
        for partition in list(self._changed):
            await self._project_changed(partition, at)

    def _enter(self, epoch: int) -> None:
        if epoch == self._epoch:
            return
        assert self._app.checkpointer is not None
        self._epoch, self._changed, self._unread = epoch, {}, self._app.checkpointer.partitions
        self._app.checkpointer.on_committed = self._mark_changed

    def _mark_changed(self, partition: int, keys: Iterable[bytes]) -> None:
        self._changed.setdefault(partition, {}).update((key, None) for key in keys if rows.is_head(key))

    async def _project_all(self, partition: int, at: datetime) -> None:
        """Projects all windows of a partition, and marks the other projected ones as forgotten."""
        if (ledger := self._ledger(partition)) is None:
            return
        source, revision = ledger.source, ledger.complete_to
        self._mark_changed(partition, [key for key, _ in ledger.scan(rows.HEADS)])
        await self._project_changed(partition, at)
        if self._ledger(partition) is ledger:
            await self._windows.forget_older(source, partition, revision, at)

    async def _project_changed(self, partition: int, at: datetime) -> None:
        while (ledger := self._ledger(partition)) is not None and (keys := self._take_changed(partition)):
            try:
                await self._project_partition(partition, ledger, keys, at)
            except BaseException:
                self._mark_changed(partition, keys)
                raise

    def _ledger(self, partition: int) -> Ledger | None:
        """The partition's ledger, while the entered epoch lasts."""
        checkpointer = self._app.checkpointer
        if checkpointer is None or not self._app.fence.admits(self._epoch) or partition not in checkpointer.partitions:
            return None
        return checkpointer[partition]

    def _take_changed(self, partition: int) -> list[bytes]:
        changed = self._changed.get(partition, {})
        taken = list(islice(changed, BATCH_WINDOWS))
        for key in taken:
            del changed[key]
        return taken

    async def _project_partition(self, partition: int, ledger: Ledger, keys: list[bytes], at: datetime) -> None:
        """Reads everything before it awaits, so that rows and revision are of one moment."""
        source, revision = ledger.source, ledger.complete_to
        found = {key: ledger.committed(key) for key in keys}
        states = [self._state(codec.decode(row, Head), ledger, source, revision) for row in found.values() if row]
        gone = [codec.decode(key, str) for key, row in found.items() if row is None]
        if states:
            self._warn(await self._windows.project(states))
        if gone:
            await self._windows.forget(gone, partition, source, revision, at)

    def _warn(self, split: Collection[str]) -> None:
        """Logs conversations that have a window in another partition, too: each once, and one line for all of a call."""
        if new := set(split) - self._split:
            self._split = self._split | new if len(self._split) < REMEMBERED_SPLIT else new
            log.warning(
                "%s in several partitions, such as %r: %s", counted(len(new), "conversations"), min(new), SPLIT_REMEDY
            )

    def _state(self, head: Head, ledger: Ledger, source: str, revision: int) -> WindowState:
        adjustments = rows.adjustments_of(head.scope.conversation_id, ledger.committed)
        terms = self._terms.of(head.scope, head.model, adjustments.choices)
        removals = rows.removals_of(head, ledger.committed)
        return WindowState(
            scope=head.shown_scope,
            partition=head.partition,
            source=source,
            revision=revision,
            policy=terms.policy.name,
            phase="ended" if head.ended else "open",
            statistics=statistics.of(head.tally, terms.budget, head.last_prune),
            model=head.model,
            gaps=removals.gaps,
            prunings=removals.prunings,
            opened=head.first_position,
            extracted_to=head.extracted_to,
            cleared_at=head.cleared_at,
            adjustments=adjustments,
            last_message_at=head.segmentation.last_at,
            restorable=restorable(removals),
        )


def restorable(removals: Removals) -> Restorable | None:
    """The prune or clear that `restore` would undo, and the time until which it can."""
    undoable = removals.undoable
    if undoable is None:
        return None
    undone = undoable.pruning
    return Restorable(undoable.until, undone.cause if undone else "cleared", undone.count if undone else None)
