"""The local store of a partition's committed rows: a copy of the changelog up to an offset, never ahead of it.

A store is a cache: it may be emptied and read from the changelog again. Rows and their offset are written together, so a
killed process comes back with both or neither.
"""

import logging
import shutil
import threading
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

from msgspec import Struct
from rocksdict import BlockBasedOptions, DBCompressionType, Options, Rdict, WriteBatch

from schemas import codec
from schemas.errors import Misconfigured

log = logging.getLogger(__name__)

Rows = dict[bytes, bytes | None]

MARK_KEY = b"\x00mark"  # sorts before every row, as keys are JSON
WRITE_BUFFER_BYTES = 8 * 1024 * 1024  # at most two per partition are in memory
BLOOM_BITS = 10  # per key; 1 % false positives (RocksDB wiki, "Bloom Filter")
SIZES = ("rocksdb.estimate-live-data-size", "rocksdb.size-all-mem-tables")
BROKEN = "BROKEN"
REMOVED = ".removed-"


class Mark(Struct, frozen=True):
    """The content of a store: the changelog `source` up to `offset` (exclusive).

    `current_at` is the time when it last was at the end of the changelog, or began to be read from its beginning (Unix
    seconds). Rows erased before `compacted_at` are off the disk.
    """

    source: str = ""
    offset: int = 0
    current_at: float = 0.0
    compacted_at: float = 0.0


class Store(Protocol):
    """The committed rows of one partition. Methods are synchronous."""

    mark: Mark

    def get(self, key: bytes) -> bytes | None: ...

    def scan(self, prefix: bytes = b"") -> Iterator[tuple[bytes, bytes]]:
        """Rows whose key begins with `prefix`, in the order of keys. Do not write while it iterates."""

    def size(self) -> int:
        """Bytes of the rows, about."""

    def write(self, rows: Rows, mark: Mark) -> None:
        """Writes rows (None deletes) and mark atomically. Raises Misconfigured when the disk fails."""

    def purge(self, first: bytes, last: bytes) -> None:
        """Removes overwritten and deleted rows with keys from `first` to `last` from the disk. Call it on a thread, as it
        may take seconds; does nothing to a store that was closed meanwhile."""

    def clear(self) -> None:
        """Empties the store and its mark."""

    def close(self) -> None:
        """Closes the store; written rows stay."""


Stores = Callable[[int], Store]


class MemoryStore:
    """Rows in memory, lost with the process."""

    def __init__(self) -> None:
        self.mark = Mark()
        self._rows: dict[bytes, bytes] = {}

    def get(self, key: bytes) -> bytes | None:
        return self._rows.get(key)

    def scan(self, prefix: bytes = b"") -> Iterator[tuple[bytes, bytes]]:
        return iter(sorted(row for row in self._rows.items() if row[0].startswith(prefix)))

    def size(self) -> int:
        return sum(len(key) + len(value) for key, value in self._rows.items())

    def write(self, rows: Rows, mark: Mark) -> None:
        for key, value in rows.items():
            if value is None:
                self._rows.pop(key, None)
            else:
                self._rows[key] = value
        self.mark = mark

    def purge(self, first: bytes, last: bytes) -> None:
        pass

    def clear(self) -> None:
        self._rows, self.mark = {}, Mark()

    def close(self) -> None:
        pass


class RocksStore:
    """Rows in a RocksDB database at `directory`. A damaged database is deleted and recreated.

    Raises Misconfigured when another process has it open or the directory is not writable. Calls run on the calling thread
    and hold the GIL, except `purge`: a write takes some 2 us a row.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._purging = threading.Lock()
        if (directory / BROKEN).exists():
            self._remove()
        self._open()

    def _open(self) -> None:
        self._directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        try:
            self._database = Rdict(str(self._directory), options())
        except Exception as exc:  # rocksdict has no error classes; the text has the cause
            if not is_damage(exc):
                raise Misconfigured(
                    f"{self._directory} cannot be opened: {exc}; it must be writable, and only one process may use a data_dir"
                ) from exc
            log.warning("the store %s is damaged, reading it from the changelog again: %s", self._directory, exc)
            self._remove()
            self._directory.mkdir(mode=0o700)
            self._database = self._attempt(lambda: Rdict(str(self._directory), options()))
        written = self._attempt(lambda: self._database.get(MARK_KEY))
        self.mark = codec.decode(written, Mark) if written is not None else Mark()
        self._closed = False

    def _attempt(self, operation: Callable[[], Any]) -> Any:
        """Runs an operation. A failure makes the database untrusted: it is recreated the next time that it is opened."""
        try:
            return operation()
        except Exception as exc:  # rocksdict has no error classes
            with suppress(OSError):  # fails on a full disk
                (self._directory / BROKEN).touch()
            raise Misconfigured(f"the store in {self._directory} failed: {exc}; is the disk full or damaged?") from exc

    def get(self, key: bytes) -> bytes | None:
        value: bytes | None = self._attempt(lambda: self._database.get(key))
        return value

    def size(self) -> int:
        """RocksDB's estimate, unflushed rows included."""
        return sum(self._attempt(lambda: [self._database.property_int_value(name) or 0 for name in SIZES]))

    def scan(self, prefix: bytes = b"") -> Iterator[tuple[bytes, bytes]]:
        """Copies the rows first: an abandoned iterator would keep the database open."""
        return iter(self._attempt(lambda: self._found(prefix)))

    def _found(self, prefix: bytes) -> list[tuple[bytes, bytes]]:
        iterator = self._database.iter()
        iterator.seek(max(prefix, MARK_KEY + b"\x00"))
        found = []
        while iterator.valid() and (key := iterator.key()).startswith(prefix):
            found.append((key, iterator.value()))
            iterator.next()
        iterator.status()  # an iterator also ends at a damaged block; only its status shows that
        return found

    def write(self, rows: Rows, mark: Mark) -> None:
        batch = WriteBatch(raw_mode=True)
        for key, value in rows.items():
            if value is None:
                batch.delete(key)
            else:
                batch.put(key, value)
        batch.put(MARK_KEY, codec.encode(mark))
        self._attempt(lambda: self._database.write(batch))
        self.mark = mark

    def purge(self, first: bytes, last: bytes) -> None:
        """Flushing ends the write-ahead log, which has the old rows too; compaction removes overwritten and deleted rows.
        RocksDB releases the GIL meanwhile, so other calls continue."""
        with self._purging:
            if not self._closed:
                self._attempt(self._database.flush)
                self._attempt(lambda: self._database.compact_range(first, last))

    def clear(self) -> None:
        self.close()
        self._remove()
        self._open()

    def close(self) -> None:
        with self._purging:
            self._closed = True
            self._database.close()

    def _remove(self) -> None:
        """Renames the directory before deleting it: an interrupted deletion must leave nothing that looks like a store."""
        gone = self._directory.with_name(f"{self._directory.name}{REMOVED}{time.time_ns()}")
        try:
            self._directory.rename(gone)
            shutil.rmtree(gone)
        except OSError as exc:
            raise Misconfigured(f"{self._directory} cannot be removed: {exc}; make it writable for the worker") from exc


def is_damage(error: Exception) -> bool:
    """Whether RocksDB reports damaged files, and not that it cannot access them now."""
    text = str(error)
    return text.startswith("Corruption") or ("No such file" in text and "lock" not in text)


def options() -> Options:
    chosen = Options(raw_mode=True)
    chosen.create_if_missing(True)
    chosen.set_write_buffer_size(WRITE_BUFFER_BYTES)
    chosen.set_max_write_buffer_number(2)
    chosen.set_compression_type(DBCompressionType.lz4())
    chosen.set_keep_log_file_num(2)
    blocks = BlockBasedOptions()
    blocks.set_bloom_filter(BLOOM_BITS, False)
    chosen.set_block_based_table_factory(blocks)
    return chosen


def remove_old(directory: Path, older_than_s: float, held: Collection[int] = ()) -> None:
    """Deletes stores of partitions that have not been held for `older_than_s` seconds: their content would not be trusted.

    No store may be open except those of the `held` partitions.
    """
    open_ones = {str(partition) for partition in held}
    for store in directory.iterdir() if directory.exists() else ():
        if store.name in open_ones:
            continue
        newest = max((file.stat().st_mtime for file in store.glob("*")), default=0.0)
        if REMOVED in store.name or ((store / "CURRENT").exists() and time.time() - newest > older_than_s):
            log.info("removing the store %s, unused for more than %.0f s", store, older_than_s)
            shutil.rmtree(store)
