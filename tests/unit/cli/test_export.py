"""`memstream export` leaves no file behind if it fails."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from deploy.cli.main import cli


@pytest.mark.parametrize("what", [["app/ada"], ["--user", "ada"]])
def test_a_failed_export_leaves_no_file_so_that_it_can_be_repeated(
    what: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("MEMSTREAM_POSTGRES_DSN", "postgresql://memstream@127.0.0.1:1/memstream")
    file = tmp_path / "ada.jsonl"
    done = CliRunner().invoke(cli, ["export", *what, "-o", str(file)])
    assert (done.exit_code, done.stderr.count("\n")) == (1, 1), done.stderr
    assert not file.exists()


def test_an_export_neither_replaces_nor_removes_an_existing_file(tmp_path: Path):
    file = tmp_path / "ada.jsonl"
    file.write_text("kept")
    done = CliRunner().invoke(cli, ["export", "app/ada", "-o", str(file)])
    assert (done.exit_code, file.read_text()) == (1, "kept")
    assert "cannot create" in done.stderr
