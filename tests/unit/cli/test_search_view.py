"""The output of `memstream search`."""

from datetime import UTC, datetime

from deploy.cli.search import passage_text
from schemas.passages.passages import Passage
from schemas.retrieval.searches import SaidHit


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
