"""The note of a conversation that went on tells the new, and of the old what fits and is not told anew."""

from agents.curation.rules.notes import with_missing_sentences

OLD = "User plans a trip to Porto in May. The hotel is booked."


def test_what_fits_stays_before_the_new() -> None:
    assert with_missing_sentences(OLD, "User cancelled the flight.", 200) == f"{OLD} User cancelled the flight."


def test_what_the_new_note_tells_is_not_told_twice() -> None:
    new = "User plans a trip to Porto in May, and the hotel is booked. The flight is cancelled."
    assert with_missing_sentences(OLD, new, 200) == new


def test_what_does_not_fit_goes_before_the_new_does() -> None:
    new = "User cancelled the flight because the strike goes on until June."
    assert with_missing_sentences(OLD, new, 100) == f"User plans a trip to Porto in May. {new}"
    assert with_missing_sentences(OLD, new, 70) == new


def test_other_numbers_are_news() -> None:
    assert with_missing_sentences("The rent is 900 euros.", "The rent is 950 euros.", 200) == "The rent is 950 euros."
    assert with_missing_sentences("The rent is 900 euros and due on the 3rd.", "The flat has 2 rooms.", 200).startswith(
        "The rent"
    )
