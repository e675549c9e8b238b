"""Both stores keep rows and offset together; a store on disk is restored completely or not at all."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from schemas.errors import Misconfigured
from streams.delivery.store import BROKEN, Mark, MemoryStore, RocksStore, Store, remove_old

MARK = Mark("cluster/changelog", 7, 1_800_000_000.0)

WRITE_AND_DIE = """
import os, signal, sys
from pathlib import Path
from streams.delivery.store import Mark, RocksStore
store = RocksStore(Path(sys.argv[1]))
for number in range(1, 101):
    store.write({b"a": b"%d" % number, b"b": b"%d" % number}, Mark("cluster/changelog", number, 0.0))
os.kill(os.getpid(), signal.SIGKILL)
"""

OPEN_WITH_FEW_FILES = """
import resource, sys
from pathlib import Path
from streams.delivery.store import RocksStore
resource.setrlimit(resource.RLIMIT_NOFILE, (6, 6))
RocksStore(Path(sys.argv[1]))
"""


@pytest.fixture(params=["memory", "rocksdb"])
def store(request, tmp_path: Path):
    opened: Store = MemoryStore() if request.param == "memory" else RocksStore(tmp_path / "0")
    yield opened
    opened.close()


def test_a_new_store_is_empty(store: Store):
    assert store.mark == Mark()
    assert store.get(b"a") is None
    assert list(store.scan()) == []


def test_rows_and_mark_are_written_together(store: Store):
    store.write({b'"b"': b"2", b'"a"': b"1", b'"c"': b"\x00"}, Mark())
    store.write({b'"b"': None, b'"a"': b"1 again", b'"never there"': None}, MARK)
    assert store.mark == MARK
    assert store.get(b'"a"') == b"1 again"
    assert store.get(b'"b"') is None
    assert list(store.scan()) == [(b'"a"', b"1 again"), (b'"c"', b"\x00")]


def test_clear_removes_all_rows_and_the_mark(store: Store):
    store.write({b"a": b"1"}, MARK)
    store.clear()
    assert store.mark == Mark()
    assert list(store.scan()) == []
    store.write({b"b": b"2"}, MARK)
    assert list(store.scan()) == [(b"b", b"2")]


def test_a_reopened_store_on_disk_has_its_rows_and_mark(tmp_path: Path):
    first = RocksStore(tmp_path / "0")
    first.write({b"a": b"1"}, MARK)
    first.close()
    second = RocksStore(tmp_path / "0")
    assert second.mark == MARK
    assert list(second.scan()) == [(b"a", b"1")]
    second.close()


def test_a_killed_process_leaves_rows_and_mark_of_the_same_write(tmp_path: Path):
    killed = subprocess.run([sys.executable, "-c", WRITE_AND_DIE, str(tmp_path / "0")], cwd=Path.cwd(), check=False)
    assert killed.returncode == -9
    store = RocksStore(tmp_path / "0")
    assert store.mark.offset == 100
    assert store.get(b"a") == store.get(b"b") == b"100"
    store.close()


def another_manifest(directory: Path) -> None:
    (directory / "CURRENT").write_bytes(b"MANIFEST-999999\n")


def garbled_manifest(directory: Path) -> None:
    next(directory.glob("MANIFEST-*")).write_bytes(os.urandom(300))


def no_table(directory: Path) -> None:
    for file in directory.glob("*.sst"):
        file.unlink()


def said_to_be_broken(directory: Path) -> None:
    (directory / BROKEN).touch()


@pytest.mark.parametrize("damage", [another_manifest, garbled_manifest, no_table, said_to_be_broken])
def test_a_damaged_store_is_replaced_by_an_empty_one(tmp_path: Path, damage: Callable[[Path], None]):
    on_disk(tmp_path / "0")
    damage(tmp_path / "0")
    again = RocksStore(tmp_path / "0")
    assert again.mark == Mark()
    assert list(again.scan()) == []
    again.close()
    assert [path.name for path in tmp_path.iterdir()] == ["0"]


def on_disk(directory: Path, rows: int = 20_000) -> None:
    """A store whose rows are not in the write-ahead log but in tables, several blocks of them."""
    store = RocksStore(directory)
    store.write({b'"%05d"' % number: os.urandom(100) for number in range(rows)}, MARK)
    store._database.flush()
    store.close()


@pytest.mark.parametrize("use", ["scan", "get"])
def test_reading_a_damaged_block_raises_and_the_next_process_starts_with_an_empty_store(tmp_path: Path, use: str):
    on_disk(tmp_path / "0")
    (table,) = (tmp_path / "0").glob("*.sst")
    content = bytearray(table.read_bytes())
    middle = len(content) // 3
    content[middle : middle + 4096] = os.urandom(4096)
    table.write_bytes(content)
    store = RocksStore(tmp_path / "0")
    with pytest.raises(Misconfigured, match=str(tmp_path / "0")):
        if use == "scan":
            list(store.scan())
        else:
            [store.get(b'"%05d"' % number) for number in range(20_000)]
    store.close()
    again = RocksStore(tmp_path / "0")
    assert again.mark == Mark()
    again.close()


def test_a_store_that_cannot_be_opened_without_being_damaged_is_left_unchanged(tmp_path: Path):
    on_disk(tmp_path / "0")
    failed = subprocess.run(
        [sys.executable, "-c", OPEN_WITH_FEW_FILES, str(tmp_path / "0")], capture_output=True, text=True, check=False
    )
    assert "Misconfigured" in failed.stderr
    store = RocksStore(tmp_path / "0")
    assert store.mark == MARK
    store.close()


def test_scan_finds_rows_by_key_prefix(store: Store):
    store.write({b'"a"': b"1", b'"b"': b"2", b"chunk": b"3", b"": b"4", b"\xff": b"5"}, MARK)
    assert list(store.scan(b'"')) == [(b'"a"', b"1"), (b'"b"', b"2")]
    assert list(store.scan(b"\xff")) == [(b"\xff", b"5")]
    assert list(store.scan(b"nothing")) == []


def test_a_write_failure_raises_with_the_path_and_the_next_process_starts_with_an_empty_store(tmp_path: Path):
    store = RocksStore(tmp_path / "0")
    store.write({b"a": b"1"}, MARK)
    store.close()
    with pytest.raises(Misconfigured, match=str(tmp_path / "0")):
        store.write({b"a": b"2"}, MARK)
    again = RocksStore(tmp_path / "0")
    assert again.mark == Mark()
    again.close()


def test_opening_a_directory_already_in_use_is_a_configuration_error(tmp_path: Path):
    store = RocksStore(tmp_path / "0")
    store.write({b"a": b"1"}, MARK)
    with pytest.raises(Misconfigured, match="one process may use a data_dir"):
        RocksStore(tmp_path / "0")
    assert store.get(b"a") == b"1"
    store.close()


def test_remove_old_deletes_stores_out_of_use_and_keeps_everything_else(tmp_path: Path):
    for name in ("0", "1"):
        RocksStore(tmp_path / name).close()
    for file in (tmp_path / "0").iterdir():
        os.utime(file, (0, 0))
    (tmp_path / "not a store").mkdir()
    (tmp_path / "2.removed-17").mkdir()
    remove_old(tmp_path, 3600.0)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["1", "not a store"]
    remove_old(tmp_path / "missing", 3600.0)


def test_the_size_is_about_that_of_the_rows(store: Store):
    before = store.size()
    store.write({b"%d" % number: os.urandom(10_000) for number in range(100)}, MARK)
    assert store.size() - before == pytest.approx(1_000_000, rel=0.2)


def files_that_say(directory: Path, word: bytes) -> list[str]:
    return [path.name for path in directory.iterdir() if word in path.read_bytes()]


@pytest.mark.parametrize("sorted_before", [False, True])
def test_purge_removes_deleted_rows_from_disk_and_keeps_neighbouring_rows(tmp_path: Path, sorted_before: bool):
    directory = tmp_path / "0"
    store = RocksStore(directory)
    store.write({b"chunk\x00%d" % n: b"Zanzibar %d" % n if n < 50 else b"Porto %d" % n for n in range(100)}, MARK)
    if sorted_before:
        store._database.flush()
    store.write({b"chunk\x00%d" % n: None for n in range(50)}, MARK)
    assert files_that_say(directory, b"Zanzibar") != []
    store.purge(b"chunk\x00", b"chunk\x01")
    assert files_that_say(directory, b"Zanzibar") == []
    assert len([*store.scan(b"chunk")]) == 50
    store.close()
    assert files_that_say(directory, b"Porto") != []


def test_purge_of_a_closed_store_does_nothing_and_does_not_mark_it_broken(tmp_path: Path):
    store = RocksStore(tmp_path / "0")
    store.write({b"a": b"1"}, MARK)
    store.close()
    store.purge(b"", b"\xff")
    assert not (tmp_path / "0" / BROKEN).exists()
    again = RocksStore(tmp_path / "0")
    assert again.get(b"a") == b"1"
    again.close()


def test_purge_of_a_reopened_store_removes_rows_deleted_since_from_disk(tmp_path: Path):
    directory = tmp_path / "0"
    store = RocksStore(directory)
    store.write({b"chunk\x00": b"Zanzibar", b"chunk\x01": b"Porto"}, MARK)
    store.close()
    store = RocksStore(directory)
    store.write({b"chunk\x00": None}, MARK)
    assert files_that_say(directory, b"Zanzibar") != []
    store.purge(b"", b"\xff")
    assert files_that_say(directory, b"Zanzibar") == []
    assert store.get(b"chunk\x01") == b"Porto"
    store.close()
