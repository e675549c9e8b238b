"""The note of a continued conversation contains the new content and the old content that fits."""

from collections.abc import Callable
from datetime import datetime, timedelta

import pytest
from msgspec.structs import replace

from agents.curation.rules.ledger.ledger import Ledger
from agents.curation.rules.ledger.notes import with_missing_sentences
from schemas.extraction.candidates import Candidate, CandidateBatch
from schemas.memories.memories import Memory
from tests.builders.settled import settled_among_all

OLD = "User plans a trip to Porto in May. The hotel is booked."


def test_old_sentences_that_fit_are_kept_before_the_new_note() -> None:
    assert with_missing_sentences(OLD, "User cancelled the flight.", 200) == f"{OLD} User cancelled the flight."


def test_old_sentences_that_the_new_note_repeats_are_dropped() -> None:
    new = "User plans a trip to Porto in May, and the hotel is booked. The flight is cancelled."
    assert with_missing_sentences(OLD, new, 200) == new


def test_old_sentences_that_exceed_the_length_limit_are_dropped_and_the_new_note_is_kept() -> None:
    new = "User cancelled the flight because the strike goes on until June."
    assert with_missing_sentences(OLD, new, 100) == f"User plans a trip to Porto in May. {new}"
    assert with_missing_sentences(OLD, new, 70) == new


def test_an_old_sentence_is_dropped_only_if_the_new_note_covers_most_of_its_words() -> None:
    assert with_missing_sentences("The rent is 900 euros.", "The rent is 950 euros.", 200) == "The rent is 950 euros."
    assert with_missing_sentences("The rent is 900 euros and due on the 3rd.", "The flat has 2 rooms.", 200).startswith(
        "The rent"
    )


SEARCH = "User is looking for a flat in Turku. The budget is 900 euros."
FOUND = "User looked for a flat in Turku, found one in Oulu for 700 euros and signed the lease."


@pytest.mark.parametrize(
    ("provider", "stored_s_before", "named", "text"),
    [
        ("claude", 60, None, FOUND),
        ("claude", -60, "repeats", f"The budget is 900 euros. {FOUND}"),
        ("claude", -60, "refines", f"The budget is 900 euros. {FOUND}"),
        ("claude", -60, None, f"The budget is 900 euros. {FOUND}"),
        ("offline", 60, None, f"The budget is 900 euros. {FOUND}"),
    ],
)
def test_a_model_that_was_shown_the_note_rewrites_all_of_it(
    provider: str,
    stored_s_before: float,
    named: str | None,
    text: str,
    candidate: Callable[..., Candidate],
    memory: Callable[..., Memory],
    batch: Callable[..., CandidateBatch],
    now: datetime,
) -> None:
    note = memory(SEARCH)
    said = candidate(FOUND, **({named: note.memory_id} if named else {}))
    asked_at = note.updated_at + timedelta(seconds=stored_s_before)
    asked = replace(batch(said), provider=provider, requested_at=asked_at)
    ledger = Ledger("n", 1, [note])
    assert settled_among_all(ledger, asked, said, now, may_create=False, note=note, cosine=0.8).result == "merged"
    assert [each.text for each in ledger.live_memories()] == [text]
