"""Which statements end which: by whom they are about, and by what they tell of it."""

import pytest

from agents.curation.rules.conflicts import conflict
from tests.labelled_pairs import held_out, pairs

LEAST_PRECISION, LEAST_RECALL = 0.95, 0.60


@pytest.mark.parametrize(
    ("said", "known"),
    [
        ("User has moved to Tampere.", "User lives in Turku."),
        ("Der Nutzer wohnt jetzt in Graz.", "User lives in Linz."),
        ("User joined Nokia.", "User works at Kone in Espoo."),
        ("User no longer works at Kone.", "User works at Kone in Espoo."),
        ("User eats meat again.", "User is a vegetarian."),
        ("User eats meat again.", "User avoids meat."),
        ("User got married.", "User is engaged."),
        ("User's favourite colour is green.", "User's favourite colour is blue."),
        ("User's rabbit's name is Otto.", "User's rabbit is called Emil."),
        ("User's swimming lesson was moved to Monday.", "User's swimming lesson is on Friday."),
        ("User sold the canoe.", "User owns a canoe."),
        ("User prefers buses to trams.", "User prefers trams to buses."),
        ("User has four hens.", "User has three hens."),
        ("User stopped rowing because of a sore shoulder.", "User rows."),
        ("User leads 9 people after a merger.", "User leads 5 people."),
        ("User's eye test is on Monday 9 March.", "User has an eye test on Friday 6 March."),
        ("User's choir practice is on Mondays.", "User's choir practice is on Fridays."),
        ("Der Nutzer ist nach Linz gezogen.", "Der Nutzer wohnt in Graz."),
        ("Der Nutzer zieht am 1. Mai nach Linz.", "Der Nutzer wohnt in Graz."),
    ],
)
def test_a_statement_ends_what_the_same_one_had_before(said: str, known: str) -> None:
    assert conflict(said, known) is not None


@pytest.mark.parametrize(
    ("said", "known"),
    [
        ("User's husband works at Nokia too.", "User works at Nokia in Espoo."),
        ("User's son moved to Oulu.", "User lives in Turku."),
        ("User's cat's name is Olga.", "User's rabbit's name is Otto."),
        ("User's aunt's address is 4 Elm Street.", "User's address is 7 Oak Street."),
        ("User wants to move to Oulu.", "User lives in Turku."),
        ("User does not live in Oulu.", "User lives in Turku."),
        ("User lives in Turku.", "User lives in Finland."),
        ("Der Nutzer wohnt in Turku.", "User lives in Turku."),
        ("User is vegan.", "User avoids meat."),
        ("User does not like horror films.", "User likes films."),
        ("User is allergic to nuts.", "User is allergic to shellfish."),
        ("User visited Oulu in 2024.", "User visited Oulu in 2022."),
        ("User has a meeting with Olga on Friday.", "User has a meeting with Olga on Monday."),
        ("User plays chess on Mondays.", "User plays chess on Fridays."),
        ("User works as a nurse.", "User works at Kone."),
        ("User has read chapter 4 of the manual.", "User has read chapter 3 of the manual."),
        ("Ticket 12 is open.", "Ticket 13 is open."),
        ("Der Nutzer ist nach Linz gefahren.", "Der Nutzer wohnt in Graz."),
        ("User does not row, except on Sundays.", "User rows on Sundays."),
        ("User owns thing number 4", "User owns thing number 3"),
    ],
)
def test_a_statement_leaves_what_may_hold_beside_it(said: str, known: str) -> None:
    assert conflict(said, known) is None


def test_of_the_labelled_pairs_that_nothing_was_tuned_on_the_rules_end_what_is_contradicted() -> None:
    judged = [(pair.label, conflict(pair.candidate, pair.memory) is not None) for pair in held_out(pairs())]
    ended = [label for label, is_ended in judged if is_ended]
    contradictions = [is_ended for label, is_ended in judged if label == "contradiction"]
    assert ended.count("contradiction") >= LEAST_PRECISION * len(ended)
    assert sum(contradictions) >= LEAST_RECALL * len(contradictions)
