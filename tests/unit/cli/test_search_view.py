"""The output of `memstream search`."""

import json
from datetime import UTC, datetime

import pytest
from typer.testing import CliRunner

from deploy.cli import search, terminal
from deploy.cli.search import passage_text
from schemas.passages.passages import Passage
from schemas.retrieval.searches import Found, Query, SaidHit


def passage(speaker: str, text: str, ordinal: int) -> Passage:
    return Passage(
        passage_id=f"p{ordinal}",
        namespace="kitchen/ada",
        conversation_id="trip",
        message_id=f"m{ordinal}",
        role="user",
        speaker=speaker,
        said_at=datetime(2026, 3, 1, tzinfo=UTC),
        text=text,
        ordinal=ordinal,
    )


def test_a_passage_hit_with_neighbours_shows_the_speaker_on_each_line():
    reply, question = passage("ada", "The red one.", 2), passage("bob", "Which cabin?", 1)
    assert (
        passage_text(SaidHit(score=1, passage=reply, neighbours=(question,))) == "bob: Which cabin?\nada: The red one."
    )
    assert passage_text(SaidHit(score=1, passage=reply)) == "The red one."


def test_a_search_in_said_shows_passage_hits_as_a_table_and_as_json(monkeypatch: pytest.MonkeyPatch):
    neighbour = passage("bob", "Which train?", 0)
    hit = SaidHit(score=0.5, passage=passage("ada", "We took the night train.", 1), neighbours=(neighbour,))
    queries: list[Query] = []

    async def found(query: Query) -> Found:
        queries.append(query)
        return Found(said=(hit,), mixed=(hit,))

    monkeypatch.setattr(search, "search_once", found)
    monkeypatch.setattr(terminal.console, "width", terminal.LOG_WIDTH)
    asked = ["night train", "-n", "kitchen/ada", "--in", "said"]
    shown = CliRunner().invoke(search.cli, asked)
    (printed,) = CliRunner().invoke(search.cli, [*asked, "--json"]).stdout.splitlines()
    assert [query.tier for query in queries] == ["said", "said"]
    assert all(cell in shown.stdout for cell in ("0.50", "2026-03-01", "ada", "We took the night train.", "trip"))
    hit_read = json.loads(printed)
    assert (hit_read["tier"], hit_read["passage"]["message_id"]) == ("said", "m1")
    assert hit_read["message_ids"] == ["m0", "m1"]
