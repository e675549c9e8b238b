"""Projects windows to PostgreSQL after each checkpoint, for the API."""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from itertools import islice
from typing import Protocol

from agents.windows.terms import WindowTerms
from schemas import codec
from schemas.conversations.windows import WindowState
from streams.delivery.app import StageApp
from streams.delivery.ledger import Ledger
from streams.windows.context import statistics
from streams.windows.rows import rows
from streams.windows.rows.head import Head

AT_ONCE = 200  # windows: some milliseconds of work between two turns of the event loop


class Windows(Protocol):
    """Where they are projected to. All raise Retryable; what is older than what is there changes nothing."""

    async def project(self, states: Sequence[WindowState]) -> None: ...

    async def forget(
        self, conversation_ids: Collection[str], partition: int, source: str, revision: int, at: datetime
    ) -> None: ...

    async def forget_older(self, source: str, partition: int, revision: int, at: datetime) -> None: ...


class WindowProjection:
    """Remembers which windows changed and reads them from the store when they are told, so a busy window is told once a turn.

    What a crash left untold is told again: at the beginning of an epoch every window is.
    """

    def __init__(self, app: StageApp, windows: Windows, terms: WindowTerms) -> None:
        self._app = app
        self._windows = windows
        self._terms = terms
        self._epoch = 0
        self._changed: dict[int, dict[bytes, None]] = {}  # keys of heads, by partition
        self._unread: list[int] = []

    async def project(self, at: datetime) -> None:
        """Tells of all that changed since the last call, and of one more partition's windows after a new epoch began."""
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
        self._app.checkpointer.on_safe = self._mark_changed

    def _mark_changed(self, partition: int, keys: Iterable[bytes]) -> None:
        self._changed.setdefault(partition, {}).update((key, None) for key in keys if rows.is_head(key))

    async def _project_all(self, partition: int, at: datetime) -> None:
        """Whatever was told of before and is not told of now was forgotten, and nobody lived to tell."""
        if (ledger := self._ledger(partition)) is None:
            return
        source, revision = ledger.source, ledger.safe_to
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
        """Its rows, as long as the epoch lasts that was entered."""
        checkpointer = self._app.checkpointer
        if checkpointer is None or not self._app.fence.admits(self._epoch) or partition not in checkpointer.partitions:
            return None
        return checkpointer[partition]

    def _take_changed(self, partition: int) -> list[bytes]:
        changed = self._changed.get(partition, {})
        taken = list(islice(changed, AT_ONCE))
        for key in taken:
            del changed[key]
        return taken

    async def _project_partition(self, partition: int, ledger: Ledger, keys: list[bytes], at: datetime) -> None:
        """Everything is read before anything is awaited: rows and revision are of one moment."""
        source, revision = ledger.source, ledger.safe_to
        found = {key: ledger.safe(key) for key in keys}
        states = [self._state(codec.decode(row, Head), ledger, source, revision) for row in found.values() if row]
        gone = [codec.decode(key, str) for key, row in found.items() if row is None]
        if states:
            await self._windows.project(states)
        if gone:
            await self._windows.forget(gone, partition, source, revision, at)

    def _state(self, head: Head, ledger: Ledger, source: str, revision: int) -> WindowState:
        adjustments = rows.adjustments_of(head.scope.conversation_id, ledger.safe)
        terms = self._terms.of(head.scope, head.model, adjustments.settings)
        removals = rows.removals_of(head, ledger.safe)
        return WindowState(
            scope=head.scope,
            partition=head.partition,
            source=source,
            revision=revision,
            policy=terms.policy.name,
            phase="ended" if head.ended else "open",
            statistics=statistics.of(head.tally, terms.budget, head.last_prune),
            model=head.model,
            gaps=removals.gaps,
            prunings=removals.prunings,
            opened=head.opened,
            extracted_to=head.extracted_to,
            cleared_at=head.cleared_at,
            adjustments=adjustments,
        )
