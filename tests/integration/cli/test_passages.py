"""Passages of messages on the command line: search and backfill."""

from typing import Any

from tests.command_line import Run, lines


def test_a_question_is_answered_by_a_message_of_its_speaker_and_time(memstream_here: Run) -> None:
    asked = ("search", "How long should the next long run be?", "-n", "notes/tom", "--in", "said", "--json")
    (first, *_) = lines(memstream_here(*asked))
    said = first["passage"]
    assert (first["tier"], said["message_id"], said["conversation_id"]) == (
        "said",
        "notes-tom-race-04",
        "notes-tom-race",
    )
    day = said["said_at"][:10]
    for filters, found in (
        (("--speaker", said["speaker"], "--since", day), True),
        (("--speaker", "nobody"), False),
        (("--until", day), False),
        (("--conversation", "notes-tom-dinner"), False),
    ):
        hits = lines(memstream_here(*asked, *filters))
        assert (said["message_id"] in [hit["passage"]["message_id"] for hit in hits]) == found, filters


def test_a_backfill_indexes_nothing_twice(memstream_here: Run, samples: Any) -> None:
    conversations = {row["conversation_id"] for row in samples.twice.rows["messages"]}
    (counts,) = lines(memstream_here("backfill", "--json"))
    assert counts == {"conversations": len(conversations), "passages": 0}
