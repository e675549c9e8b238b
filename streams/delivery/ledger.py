"""What one partition of a table has applied and not yet made safe, in the order of its way to the broker."""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from schemas.records import Outgoing
from streams.delivery.batch import Batch

Rows = dict[bytes, bytes | None]


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

    Reads see all three. `safe_to` is the changelog offset up to which `rows` is complete (exclusive).
    """

    def __init__(self) -> None:
        self.rows: dict[bytes, bytes] = {}
        self.safe_to = 0
        self._changes: Rows = {}
        self._leaving: Checkpoint | None = None
        self._effects: list[Outgoing] = []
        self._batches: list[Batch] = []
        self.pending_bytes = 0

    def read(self, key: bytes) -> bytes | None:
        if key in self._changes:
            return self._changes[key]
        if self._leaving is not None and key in self._leaving.rows:
            return self._leaving.rows[key]
        return self.rows.get(key)

    def scan(self) -> Iterator[tuple[bytes, bytes]]:
        """Every row, as reads would see it; not to be written to meanwhile."""
        leaving = self._leaving.rows if self._leaving is not None else {}
        for key in {**dict.fromkeys(self.rows), **dict.fromkeys(leaving), **dict.fromkeys(self._changes)}:
            value = self.read(key)
            if value is not None:
                yield key, value

    def record(self, batch: Batch, rows: Rows, effects: list[Outgoing]) -> None:
        """Notes what applying a batch changed and what it wants sent. Order of keys: chunks before their head."""
        for key, value in rows.items():
            self._changes.pop(key, None)  # a key changed again moves behind what it now refers to
            self._changes[key] = value
        self._effects += effects
        self._batches.append(batch)
        self.pending_bytes += size(rows, effects)

    @property
    def dirty(self) -> bool:
        return bool(self._batches) and self._leaving is None

    @property
    def busy(self) -> bool:
        """Whether a checkpoint is on its way."""
        return self._leaving is not None

    def leave(self) -> Checkpoint:
        """Takes what is pending on its way. One checkpoint at a time: raises RuntimeError while another is under way."""
        if self._leaving is not None:
            raise RuntimeError("a checkpoint of this partition is already on its way")
        self._leaving = Checkpoint(self._changes, tuple(self._effects), tuple(self._batches))
        self._changes, self._effects, self._batches, self.pending_bytes = {}, [], [], 0
        return self._leaving

    def arrived(self, safe_to: int) -> None:
        """The broker has the checkpoint that left; the rows follow, never the other way round."""
        assert self._leaving is not None
        self.restore(self._leaving.rows)
        self.safe_to = max(self.safe_to, safe_to)
        self._leaving = None

    def restore(self, rows: Rows) -> None:
        """Applies rows of the changelog."""
        for key, value in rows.items():
            if value is None:
                self.rows.pop(key, None)
            else:
                self.rows[key] = value

    def forget(self) -> None:
        """At the end of an epoch: what did not arrive is read and applied again by whoever owns the partition next."""
        self._changes, self._leaving, self._effects, self._batches, self.pending_bytes = {}, None, [], [], 0
