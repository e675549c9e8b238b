"""Commands with one namespace take it as an argument or as an option."""

from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from agents.api.memories.imports import ImportReport
from deploy.cli.command import WrongUsage
from deploy.cli.namespace_options import one_namespace

importing = import_module("deploy.cli.import")


def test_the_namespace_is_the_argument_or_the_option():
    assert one_namespace("app/ada", None) == one_namespace(None, "app/ada") == "app/ada"


@pytest.mark.parametrize(("argument", "option"), [(None, None), ("app/ada", "app/ada")])
def test_a_namespace_given_twice_or_not_at_all_is_wrong_usage(argument: str | None, option: str | None):
    with pytest.raises(WrongUsage, match="one namespace"):
        one_namespace(argument, option)


@pytest.mark.parametrize(
    "words", ["app/ada FILE", "FILE -n app/ada", "--namespace app/ada FILE", "-n app/ada", "app/ada"]
)
def test_an_import_reads_the_file_whichever_way_the_namespace_is_given(
    words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    file = tmp_path / "memories.jsonl"
    file.write_bytes(b"of the file")
    imported: list[tuple[str, bytes]] = []

    async def run_import(namespace: str, import_id: str, source: Any, wait: bool) -> ImportReport:
        imported.append((namespace, source.read()))
        counts = {"lines": 1, "accepted": 1, "skipped": 0, "rejected": 0}
        return ImportReport(import_id=import_id, namespace=namespace, problems=(), **counts)

    monkeypatch.setattr(importing, "run_import", run_import)
    done = CliRunner().invoke(importing.cli, words.replace("FILE", str(file)).split(), input="of stdin")
    assert done.exit_code == 0, done.stderr
    assert imported == [("app/ada", b"of the file" if "FILE" in words else b"of stdin")]
