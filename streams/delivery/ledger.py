"""Applied and uncommitted changes of one table partition, in order."""

import heapq
from collections.abc import Iterator, Sequence
from operator import itemgetter

from msgspec import Struct, structs

from schemas.kafka.records import Outgoing
from streams.delivery.batch import Batch
from streams.delivery.store import Mark, MemoryStore, Rows, Store

# Half the time that the changelog keeps tombstones (streams.kafka.topics): a store that has not read it for longer could miss
# a deletion.
TRUSTED_S = 43_200.0


class Checkpoint(Struct, frozen=True):
    """A unit of commitment: rows (None deletes), effects, and the batches whose source offsets it commits."""

    rows: Rows
    effects: tuple[Outgoing, ...]
    batches: tuple[Batch, ...]

    def offsets(self) -> dict[str, int]:
        """The offset to commit by source topic: that of the last batch, as the batches of a topic are applied in order."""
        return {batch.topic: batch.end for batch in self.batches}


def size(rows: Rows, effects: Sequence[Outgoing]) -> int:
    """Bytes of rows and effects, without Kafka's overhead."""
    values = sum(len(key) + len(value or b"") for key, value in rows.items())
    return values + sum(len(effect.value or b"") for effect in effects)


class Ledger:
    """Rows of one partition in three layers: changed, in a running checkpoint, and committed to the changelog.

    Reads see all three. A store has the committed rows, and knows up to which changelog offset it is complete.
    """

    def __init__(self, store: Store | None = None) -> None:
        self._store = store or MemoryStore()
        self._changes: Rows = {}
        self._leaving: Checkpoint | None = None
        self._effects: list[Outgoing] = []
        self._batches: list[Batch] = []
        self._recorded: dict[str, int] = {}
        self._changed_bytes = self._leaving_bytes = 0

    def read(self, key: bytes) -> bytes | None:
        if key in self._changes:
            return self._changes[key]
        if self._leaving is not None and key in self._leaving.rows:
            return self._leaving.rows[key]
        return self._store.get(key)

    def stored_bytes(self) -> int:
        """The approximate size of the committed rows."""
        return self._store.size()

    def committed(self, key: bytes) -> bytes | None:
        """The committed row, which no crash takes back."""
        return self._store.get(key)

    def scan(self, prefix: bytes = b"") -> Iterator[tuple[bytes, bytes]]:
        """Rows whose keys begin with `prefix`, as reads would see them, in the order of keys. Do not write while it iterates."""
        above: Rows = {**(self._leaving.rows if self._leaving is not None else {}), **self._changes}
        changed = sorted((k, value) for k, value in above.items() if value is not None and k.startswith(prefix))
        unchanged = ((key, value) for key, value in self._store.scan(prefix) if key not in above)
        yield from heapq.merge(unchanged, changed, key=itemgetter(0))

    def record(self, batch: Batch, rows: Rows, effects: list[Outgoing]) -> None:
        """Adds the changes and effects of an applied batch. Order of keys: chunks before their head.

        Raises RuntimeError for a batch that does not follow the last one of its topic: the commit would skip records.
        """
        if self._recorded.setdefault(batch.topic, batch.first) != batch.first:
            raise RuntimeError(f"{batch!r} does not follow offset {self._recorded[batch.topic]}")
        self._recorded[batch.topic] = batch.end
        for key, value in rows.items():
            self._changes.pop(key, None)  # a key that changes again moves behind the rows that it now refers to
            self._changes[key] = value
        self._effects += effects
        self._batches.append(batch)
        self._changed_bytes += size(rows, effects)

    @property
    def pending_bytes(self) -> int:
        """Bytes of uncommitted rows and effects, in a running checkpoint or not."""
        return self._changed_bytes + self._leaving_bytes

    @property
    def busy(self) -> bool:
        """Whether a checkpoint is running."""
        return self._leaving is not None

    @property
    def dirty(self) -> bool:
        """Whether there are changes and no running checkpoint."""
        return bool(self._batches) and not self.busy

    def begin_checkpoint(self) -> Checkpoint:
        """Takes the pending changes as a checkpoint. Raises RuntimeError while another one is running."""
        if self._leaving is not None:
            raise RuntimeError("a checkpoint of this partition is already running")
        self._leaving = Checkpoint(self._changes, tuple(self._effects), tuple(self._batches))
        self._leaving_bytes, self._changed_bytes = self._changed_bytes, 0
        self._changes, self._effects, self._batches = {}, [], []
        return self._leaving

    def mark_committed(self, end: int, now: float) -> None:
        """The running checkpoint is committed, up to changelog offset `end`; updates the store, always after the changelog.

        `now` must be from before the commit: a process that was stopped in between must not take an old answer for a new
        one. Raises Misconfigured when the store cannot be written.
        """
        assert self._leaving is not None
        mark = structs.replace(self._store.mark, offset=max(end, self.complete_to), current_at=now)
        self._store.write(self._leaving.rows, mark)
        self._leaving, self._leaving_bytes = None, 0

    @property
    def source(self) -> str:
        """The id of the changelog that the store copies."""
        return self._store.mark.source

    @property
    def complete_to(self) -> int:
        """The changelog offset up to which the store is complete (exclusive)."""
        return self._store.mark.offset

    def read_from(self, source: str, beginning: int, end: int, now: float) -> int:
        """The offset from which to read the changelog `source`, which holds `beginning` to `end` (exclusive).

        This is the store's offset. If the store is of another changelog, is outside of that range, or is so old that
        compaction may have removed deletions, it is emptied.
        """
        mark = self._store.mark
        here = mark.source == source and beginning <= mark.offset <= end
        if not here or abs(now - mark.current_at) > TRUSTED_S:
            self._store.clear()
            self._store.write({}, Mark(source, beginning, now))
        return self._store.mark.offset

    def restore(self, rows: Rows, offset: int) -> None:
        """Stores rows of the changelog; the store is then complete up to `offset`."""
        self._store.write(rows, structs.replace(self._store.mark, offset=offset))

    def mark_current(self, now: float) -> None:
        """Notes that the store has reached the end of the changelog."""
        self._store.write({}, structs.replace(self._store.mark, current_at=now))

    def remove_overwritten(self, first: bytes, last: bytes) -> None:
        """Removes overwritten versions of committed rows with keys from `first` to `last` from the disk. Call it on a
        thread: see Store.purge. Raises Misconfigured."""
        self._store.purge(first, last)

    @property
    def compacted_at(self) -> float:
        """Erased rows older than this time (Unix seconds) are off the disk."""
        return self._store.mark.compacted_at

    def compacted(self, at: float) -> None:
        """Notes that rows erased until then are off the disk. Raises Misconfigured."""
        self._store.write({}, structs.replace(self._store.mark, compacted_at=at))

    def close(self) -> None:
        """Closes the store; it keeps the committed rows."""
        self._store.close()

    def drop_uncommitted(self) -> None:
        """Drops uncommitted changes at the end of an epoch: the next owner of the partition applies them again."""
        self._changes, self._leaving, self._effects, self._batches, self._recorded = {}, None, [], [], {}
        self._changed_bytes = self._leaving_bytes = 0
