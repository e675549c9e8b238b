"""Slots of a data directory: one per process, released at its end; unusable stores are deleted."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from deploy.runtime.data_directories import LOCK, claimed_slot, remove_unheld
from streams.delivery.ledger import TRUSTED_S
from streams.delivery.store import Mark, RocksStore

CLAIM = """
import sys
from pathlib import Path
from deploy.runtime.data_directories import claimed_slot
with claimed_slot(Path(sys.argv[1])) as slot:
    print(slot.name, flush=True)
    sys.stdin.read()
"""
# The same lock without the seconds that importing Faust takes.
HOLD = """
import fcntl, pathlib, sys
slot = pathlib.Path(sys.argv[1])
slot.mkdir(exist_ok=True)
with (slot / ".lock").open("ab") as lock:
    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    print(slot.name, flush=True)
    sys.stdin.read()
"""

Process = subprocess.Popen[str]
Start = Callable[[str, Path], tuple[Process, str]]


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts a process that keeps a slot until it ends: that process, and the slot's name."""
    started: list[Process] = []

    def begin(script: str, path: Path) -> tuple[Process, str]:
        command = [sys.executable, "-c", script, str(path)]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        started.append(process)
        assert process.stdout is not None
        return process, process.stdout.readline().strip()

    yield begin
    for process in started:
        process.kill()
        process.communicate()


def claim(directory: Path) -> str:
    with claimed_slot(directory) as slot:
        return slot.name


def kill(process: Process) -> None:
    process.send_signal(signal.SIGKILL)
    process.wait()


def a_store(slot: Path, *, old: bool, partition: int = 0) -> Path:
    directory = slot / "tables" / "windows" / str(partition)
    directory.parent.mkdir(parents=True, exist_ok=True)
    store = RocksStore(directory)
    store.write({b"a": b"1"}, Mark("cluster/changelog", 7, 0.0))
    store.close()
    then = time.time() - TRUSTED_S * (1.01 if old else 0.99)
    for file in directory.iterdir():
        os.utime(file, (then, then))
    return directory


def test_the_first_process_claims_slot_zero_and_creates_its_directory(tmp_path: Path):
    with claimed_slot(tmp_path / "data" / "workers") as slot:
        assert slot == tmp_path / "data" / "workers" / "0"
        assert slot.is_dir()


def test_each_process_claims_its_own_slot_and_the_slot_of_a_killed_process_is_free_again(tmp_path: Path, start: Start):
    with claimed_slot(tmp_path) as mine:
        other, theirs = start(CLAIM, tmp_path)
        assert (mine.name, theirs) == ("0", "1")
        assert claim(tmp_path) == "2"
        kill(other)
        assert claim(tmp_path) == "1"


def test_a_released_slot_is_claimed_first(tmp_path: Path):
    assert [claim(tmp_path), claim(tmp_path)] == ["0", "0"]


def test_a_slot_is_released_when_its_process_fails(tmp_path: Path):
    with pytest.raises(ValueError, match="a bug"), claimed_slot(tmp_path):
        raise ValueError("a bug")
    assert claim(tmp_path) == "0"


def test_the_slot_of_a_killed_process_is_reclaimed_with_its_contents(tmp_path: Path, start: Start):
    kept = a_store(tmp_path / "1", old=False)
    holders = [start(HOLD, tmp_path / str(slot))[0] for slot in range(3)]
    assert claim(tmp_path) == "3"
    kill(holders[1])
    with claimed_slot(tmp_path) as slot:
        assert slot.name == "1"
        store = RocksStore(kept)
        assert store.mark.offset == 7
        store.close()
    kill(holders[0])
    assert claim(tmp_path) == "0"


def test_old_stores_are_removed_from_the_own_and_from_unclaimed_slots(tmp_path: Path):
    old = [a_store(tmp_path / slot, old=True) for slot in ("0", "1", "7")]
    fresh = [a_store(tmp_path / slot, old=False, partition=1) for slot in ("0", "1", "7")]
    with claimed_slot(tmp_path):
        assert [store.exists() for store in old] == [False] * 3
        assert [store.exists() for store in fresh] == [True] * 3


def test_stores_of_a_running_process_are_kept_regardless_of_their_age(tmp_path: Path, start: Start):
    """A partition without messages is not written for days, and its process has the database open."""
    start(HOLD, tmp_path / "1")
    held = a_store(tmp_path / "1", old=True)
    with claimed_slot(tmp_path) as slot:
        assert slot.name == "0"
        assert held.exists()


def test_a_running_worker_removes_old_stores_that_no_process_holds(tmp_path: Path):
    with claimed_slot(tmp_path) as slot:
        held, revoked = a_store(slot, old=True, partition=0), a_store(slot, old=True, partition=1)
        fresh, abandoned = a_store(slot, old=False, partition=2), a_store(tmp_path / "7", old=True)
        store = RocksStore(held)
        for file in held.iterdir():
            os.utime(file, (0.0, 0.0))
        remove_unheld(slot, {"windows": [0]})
        assert [each.exists() for each in (held, revoked, fresh, abandoned)] == [True, False, True, False]
        assert store.get(b"a") == b"1"
        store.close()


def test_leftovers_of_an_interrupted_removal_are_removed(tmp_path: Path):
    left = a_store(tmp_path / "0", old=False)
    half = left.with_name("0.removed-17")
    left.rename(half)
    with claimed_slot(tmp_path):
        assert not half.exists()


def test_unclaimed_slots_remain_free_after_their_cleanup(tmp_path: Path):
    for slot in ("0", "1", "2"):
        a_store(tmp_path / slot, old=True)
    with claimed_slot(tmp_path), claimed_slot(tmp_path) as second, claimed_slot(tmp_path) as third:
        assert (second.name, third.name) == ("1", "2")


def test_files_and_directories_that_are_no_slots_are_left_alone(tmp_path: Path):
    """A volume's root has a lost+found that only root may enter; a desktop leaves files everywhere."""
    (tmp_path / ".DS_Store").write_bytes(b"")
    (tmp_path / "lost+found").mkdir()
    assert claim(tmp_path) == "0"
    assert not (tmp_path / "lost+found" / LOCK).exists()
