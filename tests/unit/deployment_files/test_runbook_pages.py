"""Failing commands and outdated transcripts of runbook pages are detected."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from deploy.settings import Settings
from tests.runbook_page import Page


@pytest.fixture
def tried(tmp_path: Path):
    """`tried(block)`: runs a page with this block alone, and returns what its commands printed."""
    deployment: Any = SimpleNamespace(settings=Settings())

    def tried(block: str) -> str:
        path = tmp_path / "page.md"
        path.write_text(f"# Page\n\n```console\n{block}```\n")
        page = Page(str(path), deployment, tmp_path, {"PATH": "/usr/bin:/bin"})
        said = page.run()
        page.done()
        return said

    return tried


def test_an_unknown_command_fails_the_page(tried):
    with pytest.raises(AssertionError, match="'memstream topics craete' ended with 2"):
        tried("$ memstream topics craete\nnothing to create\n")


def test_a_failing_command_fails_the_page_even_if_later_commands_of_the_block_succeed(tried):
    with pytest.raises(AssertionError, match="'false' ended with 1"):
        tried("$ false\n$ echo done\ndone\n")


def test_a_command_expected_to_fail_must_exit_with_the_documented_code(tried):
    assert tried("$ echo no; exit 3\nno\n(exit code 3)\n") == "no\n(exit code 3)\n"
    for said in ("0", "1"):
        with pytest.raises(AssertionError, match="ended with 3"):
            tried(f"$ echo no; exit 3\nno\n(exit code {said})\n")


def test_output_shown_by_the_page_must_be_printed(tried):
    with pytest.raises(AssertionError, match="did not print"):
        tried("$ echo Error: the group is not empty\nmoved to offset 7\n")


def test_unexpected_output_of_a_command_fails_the_page(tried):
    with pytest.raises(AssertionError, match="does not show"):
        tried("$ echo Error: the group is not empty\n")


def test_numbers_ids_times_and_widths_may_differ_from_the_page(tried):
    tried(
        "$ echo 'run 2c81b1a6-5b07-4f0e-9bb5-1f7f5b1d2a3c from 2026-11-22T22:47:07.036541Z: 12 in t-0   of 3.5 GB  ────'\n"
        "run f5acbed7-3a86-46c0-953d-b21923ce242c from 2027-01-01T01:02:03.1Z: 7 in t-1 of 12 GB ──\n"
    )


def test_a_page_may_show_only_the_beginning_of_a_long_output(tried):
    assert tried("$ printf 'first\\nsecond\\nthird\\n'\nfirst\n...\n") == "first\nsecond\nthird\n"
