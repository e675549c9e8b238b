"""The ready file exists exactly while a worker is ready."""

from pathlib import Path

import pytest

from deploy.cli import worker


def test_a_stale_ready_file_is_removed_at_start_and_the_own_one_when_stopping(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """A container that is started again finds the files of the one before it."""
    ended: list[str] = []
    monkeypatch.setattr(worker, "exit_after", lambda within_s: ended.append(f"within {within_s:g} s"))
    file = tmp_path / "ready"
    file.write_text("ready\n")
    ready, stopping = worker.notifier(file, 1.0)
    assert not file.exists()
    ready()
    assert file.exists()
    stopping()
    assert (file.exists(), ended) == (False, ["within 1 s"])
