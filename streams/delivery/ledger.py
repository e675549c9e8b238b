"""What one partition of a table has applied and not yet made safe, in the order of its way to the broker."""

import heapq
from collections.abc import Iterator, Sequence
from operator import itemgetter

from msgspec import Struct, structs

from schemas.kafka.records import Outgoing
from streams.delivery.batch import Batch
from streams.delivery.store import Mark, MemoryStore, Rows, Store

# Half the time that the changelog keeps tombstones (streams.kafka.topics): a store that has not followed it for longer could miss
# that a row was deleted.
TRUSTED_S = 43_200.0


class Checkpoint(Struct, frozen=True):
    """One unit of commitment: rows (None deletes), effects, and the batches whose source offsets go with them."""

    rows: Rows
    effects: tuple[Outgoing, ...]
    batches: tuple[Batch, ...]

    def offsets(self) -> dict[str, int]:
        """The offset to commit by source topic: batches of a topic are applied in order, so the last one counts."""
        return {batch.topic: batch.end for batch in self.batches}


def size(rows: Rows, effects: Sequence[Outgoing]) -> int:
    """Bytes on the way to the broker, without what Kafka adds."""
    values = sum(len(key) + len(value or b"") for key, value in rows.items())
    return values + sum(len(effect.value or b"") for effect in effects)


class Ledger:
    """Rows of one partition in three layers: changed, on their way to the broker, and safe in the changelog.

    Reads see all three. The safe ones rest in a store, which says up to which changelog offset it is complete.
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
        """What the safe rows come to, about."""
        return self._store.size()

    def safe(self, key: bytes) -> bytes | None:
        """The row as the changelog has it: what no crash takes back."""
        return self._store.get(key)

    def scan(self, prefix: bytes = b"") -> Iterator[tuple[bytes, bytes]]:
        """Rows whose key begins with `prefix` as reads would see them, in the order of keys; nothing may be written meanwhile."""
        above: Rows = {**(self._leaving.rows if self._leaving is not None else {}), **self._changes}
        changed = sorted((k, value) for k, value in above.items() if value is not None and k.startswith(prefix))
        unchanged = ((key, value) for key, value in self._store.scan(prefix) if key not in above)
        yield from heapq.merge(unchanged, changed, key=itemgetter(0))

    def record(self, batch: Batch, rows: Rows, effects: list[Outgoing]) -> None:
        """Notes what applying a batch changed and what it wants sent. Order of keys: chunks before their head.

        Raises RuntimeError for a batch that does not follow the last one of its topic: a hole would be committed over.
        """
        if self._recorded.setdefault(batch.topic, batch.first) != batch.first:
            raise RuntimeError(f"{batch!r} does not follow offset {self._recorded[batch.topic]}")
        self._recorded[batch.topic] = batch.end
        for key, value in rows.items():
            self._changes.pop(key, None)  # a key changed again moves behind what it now refers to
            self._changes[key] = value
        self._effects += effects
        self._batches.append(batch)
        self._changed_bytes += size(rows, effects)

    @property
    def pending_bytes(self) -> int:
        """Of rows and effects that the broker does not have yet, on their way or not."""
        return self._changed_bytes + self._leaving_bytes

    @property
    def busy(self) -> bool:
        """Whether a checkpoint is on its way."""
        return self._leaving is not None

    @property
    def dirty(self) -> bool:
        """Whether there is something to checkpoint, and no checkpoint on its way."""
        return bool(self._batches) and not self.busy

    def leave(self) -> Checkpoint:
        """Takes what is pending on its way. One checkpoint at a time: raises RuntimeError while another is under way."""
        if self._leaving is not None:
            raise RuntimeError("a checkpoint of this partition is already on its way")
        self._leaving = Checkpoint(self._changes, tuple(self._effects), tuple(self._batches))
        self._leaving_bytes, self._changed_bytes = self._changed_bytes, 0
        self._changes, self._effects, self._batches = {}, [], []
        return self._leaving

    def arrived(self, end: int, now: float) -> None:
        """The broker has the checkpoint that left, up to changelog offset `end`; the store follows, never the other way round.

        `now` is from before it left: a process that was stopped in between must not take an old answer for a fresh one.
        Raises Misconfigured when the store cannot be written.
        """
        assert self._leaving is not None
        mark = structs.replace(self._store.mark, offset=max(end, self.safe_to), current_at=now)
        self._store.write(self._leaving.rows, mark)
        self._leaving, self._leaving_bytes = None, 0

    @property
    def source(self) -> str:
        """Which changelog the store follows."""
        return self._store.mark.source

    @property
    def safe_to(self) -> int:
        """The changelog offset up to which the store is complete (exclusive)."""
        return self._store.mark.offset

    def follow(self, source: str, beginning: int, end: int, now: float) -> int:
        """Where to read the changelog `source` from, which holds `beginning` to `end` (exclusive).

        That is the store's own offset, unless the store is of another changelog, stands outside it, or has not followed it for
        so long that compaction may have taken deletions away: then it is emptied.
        """
        mark = self._store.mark
        here = mark.source == source and beginning <= mark.offset <= end
        if not here or abs(now - mark.current_at) > TRUSTED_S:
            self._store.clear()
            self._store.write({}, Mark(source, beginning, now))
        return self._store.mark.offset

    def restore(self, rows: Rows, offset: int) -> None:
        """Takes over rows of the changelog; with them the store is complete up to `offset`."""
        self._store.write(rows, structs.replace(self._store.mark, offset=offset))

    def followed(self, now: float) -> None:
        """The store has reached the changelog's end."""
        self._store.write({}, structs.replace(self._store.mark, current_at=now))

    def forgotten(self, first: bytes, last: bytes) -> None:
        """What safe rows from `first` to `last` said before is not in the store either. For a thread: see Store.forget. Raises
        Misconfigured."""
        self._store.forget(first, last)

    @property
    def compacted_at(self) -> float:
        """What was erased before is not on the disk (Unix seconds)."""
        return self._store.mark.compacted_at

    def compacted(self, at: float) -> None:
        """What was erased until then was `forgotten`. Raises Misconfigured."""
        self._store.write({}, structs.replace(self._store.mark, compacted_at=at))

    def close(self) -> None:
        """Gives the store up; what is safe stays in it."""
        self._store.close()

    def forget(self) -> None:
        """At the end of an epoch: what did not arrive is read and applied again by whoever owns the partition next."""
        self._changes, self._leaving, self._effects, self._batches, self._recorded = {}, None, [], [], {}
        self._changed_bytes = self._leaving_bytes = 0
