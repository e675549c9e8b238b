"""The note of a continued conversation contains the new content and the old content that fits."""

from agents.curation.rules.ledger.notes import with_missing_sentences

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
