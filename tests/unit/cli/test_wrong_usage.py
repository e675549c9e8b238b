"""Wrong usage ends with exit code 2 and one line, before any server is asked."""

import pytest
from typer.testing import CliRunner

from deploy.cli.main import cli


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("erase", "exactly one of --user"),
        ("erase --memory m1 --namespace app/ada", "exactly one of --user"),
        ("erase --namespace app/ada --keep-messages", "give --memory"),
        ("erase --user ada --namespace app/ada", "exactly one of --user"),
        ("erase --namespace app/ada --tenant t", "give --user"),
        ("dead-letters replay", "select dead letters"),
        ("dead-letters discard", "select dead letters"),
        ("dead-letters list 3", "partition:offset"),
        ("replay", "select what to replay"),
        ("replay --all -n notes/tom", "or --all"),
        ("replay --resume 00000000 --all", "omit all others"),
        ("consolidate --policy p -n n", "not several"),
        ("consolidate --most 3", "for a dry_run only"),
        ("profile", "one namespace"),
        ("export app/ada -n app/ada", "one namespace"),
        ("export --app kitchen app/ada", "give --user"),
        ("export app/ada --user ada", "without a namespace"),
        ("export --user=", "'' has 0 characters: an id has 1 to 256"),
        ("import app/ada memories.jsonl -n app/ada", "one namespace"),
        ("profile --namespace=", "'' has 0 characters: a namespace has 1 to 256"),
        ("search tea --namespace=", "a namespace has 1 to 256"),
        ("mcp --namespace=", "a namespace has 1 to 256"),
        (f"import {'n' * 257} memories.jsonl", "a namespace has 1 to 256"),
        ("keys create chat", "the key has no rights"),
        ("policies put", "give policy files"),
        ("policies put notes.yaml --name n", "need --preset"),
        ("runs list --status over", "pending, running"),
        ("window mark c m holy", "pinned, important"),
        ("window settings c", "at least one setting"),
        ("window settings c --reset --min-recent 3", "omit the others"),
        ("worker --stage dreams", "the stages are"),
    ],
)
def test_wrong_usage_ends_with_exit_code_2_and_one_line(words: str, why: str):
    done = CliRunner().invoke(cli, words.split())
    assert (done.exit_code, done.stdout, done.stderr.count("\n")) == (2, "", 1), done.stderr
    assert done.stderr.startswith("memstream: ") and why in done.stderr
