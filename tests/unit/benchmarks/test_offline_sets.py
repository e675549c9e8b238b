"""The checksums and contents of the public files for bench-offline."""

from hashlib import sha256
from pathlib import Path

import pytest

from tests import public_data
from tests.benchmarks import offline_sets
from tests.benchmarks.offline_sets import CHECKSUMS, INSTRUCTIONS, file_of, instructions

TASK = '{"question_id": 81, "turns": ["Compose a travel post.", "Rewrite it."]}\n'


@pytest.fixture
def task(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path.joinpath(*INSTRUCTIONS)
    path.parent.mkdir()
    path.write_text(TASK)
    monkeypatch.setenv(public_data.VARIABLE, str(tmp_path))
    return path


def test_a_dataset_file_with_a_different_checksum_is_rejected(task: Path) -> None:
    with pytest.raises(ValueError, match=r"mt_bench_question\.jsonl is not the file that was measured"):
        list(instructions())


def test_a_dataset_file_with_the_recorded_checksum_is_read(task: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    digest = sha256(task.read_bytes()).hexdigest()
    monkeypatch.setitem(CHECKSUMS, "/".join(INSTRUCTIONS), digest)
    (talk,) = instructions()
    assert [said.content for said in talk.messages] == ["Compose a travel post.", "Rewrite it."]


def test_a_dataset_whose_file_is_missing_is_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(public_data.VARIABLE, str(tmp_path))
    assert file_of(*INSTRUCTIONS) is None
    assert offline_sets.present() == []
