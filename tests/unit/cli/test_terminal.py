"""Tables in the output of the command line."""

import pytest

from deploy.cli import terminal
from deploy.cli.terminal import show_table

MEMORY = "521e3de6-243e-571e-8c5d-b2e54fa114a3"


@pytest.mark.parametrize("ids", [[MEMORY], [f"{MEMORY}\n{MEMORY}", "m1"]], ids=["one", "several in a cell"])
def test_an_id_stays_on_one_line_and_the_table_as_wide_as_before(
    ids: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(terminal.console, "width", terminal.LOG_WIDTH)
    rows = [("0.91", "communication_style", "User prefers short answers. " * 9, each) for each in ids]
    show_table("memories", ("score", "kind", "text", "id"), rows, wide="text")
    lines = capsys.readouterr().out.splitlines()
    assert any(MEMORY in line for line in lines)
    assert max(map(len, lines)) <= terminal.LOG_WIDTH


def test_long_cells_other_than_ids_fold(capsys: pytest.CaptureFixture[str]):
    show_table("rows", ("name", "id"), [("n" * 40, "m1")])
    assert max(map(len, capsys.readouterr().out.splitlines())) < 40
