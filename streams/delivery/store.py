"""Where a partition's safe rows rest on this machine: a copy of the changelog up to an offset, never ahead of it.

A store is a cache: whatever is wrong with it, it may be emptied and read from the changelog again. Rows and the offset they
reach are written together, so a process that is killed comes back with both or neither.
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

MARK_KEY = b"\x00mark"  # before every row: rows' keys are JSON
WRITE_BUFFER_BYTES = 8 * 1024 * 1024  # a partition may keep two of them in memory
BLOOM_BITS = 10  # a key; 1 % false positives (RocksDB wiki, "Bloom Filter")
SIZES = ("rocksdb.estimate-live-data-size", "rocksdb.size-all-mem-tables")
BROKEN = "BROKEN"
REMOVED = ".removed-"


class Mark(Struct, frozen=True):
    """What a store holds: the changelog `source` up to `offset` (exclusive).

    `current_at` is when it last stood at the changelog's end, or began to be read from its beginning (Unix seconds). What was
    erased before `compacted_at` is not on the disk.
    """

    source: str = ""
    offset: int = 0
    current_at: float = 0.0
    compacted_at: float = 0.0


class Store(Protocol):
    """The safe rows of one partition. Every method returns when it is done; nothing here is awaited."""

    mark: Mark

    def get(self, key: bytes) -> bytes | None: ...

    def scan(self, prefix: bytes = b"") -> Iterator[tuple[bytes, bytes]]:
        """Rows whose key begins with `prefix`, in the order of keys; nothing may be written meanwhile."""

    def size(self) -> int:
        """Bytes of the rows, about."""

    def write(self, rows: Rows, mark: Mark) -> None:
        """Rows (None deletes) and mark, both or neither. Raises Misconfigured when the disk refuses."""

    def forget(self, first: bytes, last: bytes) -> None:
        """Whatever was overwritten or deleted from `first` to `last` is not on the disk any more. To be called on a thread of its
        own, as it may take seconds; of a store that was closed meanwhile nothing is forgotten."""

    def clear(self) -> None:
        """Back to no rows and an empty mark."""

    def close(self) -> None:
        """What was written stays."""


Stores = Callable[[int], Store]


class MemoryStore:
    """Rows that are gone with the process."""

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

    def forget(self, first: bytes, last: bytes) -> None:
        pass

    def clear(self) -> None:
        self._rows, self.mark = {}, Mark()

    def close(self) -> None:
        pass


class RocksStore:
    """Rows in a RocksDB database at `directory`. One that is damaged is thrown away and begun anew.

    Raises Misconfigured when another process has it open or nothing can be written there. Everything happens on the calling
    thread, and RocksDB keeps Python's lock meanwhile, but for `forget`: a write takes some 2 us a row.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._forgetting = threading.Lock()
        if (directory / BROKEN).exists():
            self._remove()
        self._open()

    def _open(self) -> None:
        self._directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        try:
            self._database = Rdict(str(self._directory), options())
        except Exception as exc:  # rocksdict raises nothing more precise than its text
            if not is_damage(exc):
                raise Misconfigured(
                    f"{self._directory} cannot be opened: {exc}; one process may use a data_dir, and must be able to write there"
                ) from exc
            log.warning("%s is damaged and is read from the changelog anew: %s", self._directory, exc)
            self._remove()
            self._directory.mkdir(mode=0o700)
            self._database = self._attempt(lambda: Rdict(str(self._directory), options()))
        written = self._attempt(lambda: self._database.get(MARK_KEY))
        self.mark = codec.decode(written, Mark) if written is not None else Mark()
        self._closed = False

    def _attempt(self, operation: Callable[[], Any]) -> Any:
        """After a failure nothing here is trusted again: the next one to open it begins anew."""
        try:
            return operation()
        except Exception as exc:  # rocksdict raises nothing more precise
            with suppress(OSError):  # on a full disk there is no room for it
                (self._directory / BROKEN).touch()
            raise Misconfigured(f"the store in {self._directory} failed: {exc}; is the disk full or damaged?") from exc

    def get(self, key: bytes) -> bytes | None:
        value: bytes | None = self._attempt(lambda: self._database.get(key))
        return value

    def size(self) -> int:
        """As RocksDB estimates it, with what is not written out yet."""
        return sum(self._attempt(lambda: [self._database.property_int_value(name) or 0 for name in SIZES]))

    def scan(self, prefix: bytes = b"") -> Iterator[tuple[bytes, bytes]]:
        """Copies what it finds first: an iterator that somebody left would keep the database open."""
        return iter(self._attempt(lambda: self._found(prefix)))

    def _found(self, prefix: bytes) -> list[tuple[bytes, bytes]]:
        iterator = self._database.iter()
        iterator.seek(max(prefix, MARK_KEY + b"\x00"))
        found = []
        while iterator.valid() and (key := iterator.key()).startswith(prefix):
            found.append((key, iterator.value()))
            iterator.next()
        iterator.status()  # a damaged block ends an iterator like the end of the rows does, and says so only here
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

    def forget(self, first: bytes, last: bytes) -> None:
        """Flushing ends the log that the rows were written to first; compaction takes out what newer rows stand for. RocksDB lets
        go of Python's lock meanwhile, and other calls go on."""
        with self._forgetting:
            if not self._closed:
                self._attempt(self._database.flush)
                self._attempt(lambda: self._database.compact_range(first, last))

    def clear(self) -> None:
        self.close()
        self._remove()
        self._open()

    def close(self) -> None:
        with self._forgetting:
            self._closed = True
            self._database.close()

    def _remove(self) -> None:
        """Renamed first: a removal that is broken off half way must not leave something that looks like a store."""
        gone = self._directory.with_name(f"{self._directory.name}{REMOVED}{time.time_ns()}")
        try:
            self._directory.rename(gone)
            shutil.rmtree(gone)
        except OSError as exc:
            raise Misconfigured(
                f"{self._directory} cannot be removed: {exc}; a worker must be able to write there"
            ) from exc


def is_damage(error: Exception) -> bool:
    """Whether RocksDB says that its files are wrong, and not that it may not or cannot use them now."""
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
    """Takes away stores of partitions that have not been held for so long that they would not be trusted any more.

    Nobody may have any of them open but those of the partitions that are `held`.
    """
    open_ones = {str(partition) for partition in held}
    for store in directory.iterdir() if directory.exists() else ():
        if store.name in open_ones:
            continue
        newest = max((file.stat().st_mtime for file in store.glob("*")), default=0.0)
        if REMOVED in store.name or ((store / "CURRENT").exists() and time.time() - newest > older_than_s):
            log.info("removing %s, which nobody has used for more than %.0f s", store, older_than_s)
            shutil.rmtree(store)
