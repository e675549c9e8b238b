"""Test pairs of the comparer, from blocks of changing statements."""

import pytest

from tests.benchmarks.classification.pairs import ENDS, HOLDS, SAME, of_changes_block

PETS, RENT, SPORT = "Ada has a dog, Rex, and a cat", "The rent is 900", "Ada swims on Mondays"


def relations(later: str) -> list[tuple[str, int]]:
    block = [f"{number} {text}" for number, text in enumerate((PETS, RENT, SPORT), 1)]
    return [(each.earlier, each.relation) for each in of_changes_block("en", "Ada", [*block, later])]


def test_a_later_statement_ends_the_named_ones_and_one_other_holds() -> None:
    assert relations("> 2,3 Ada dances on Mondays now, and pays 950") == [(RENT, ENDS), (SPORT, ENDS), (PETS, HOLDS)]


def test_a_statement_that_is_over_in_part_holds() -> None:
    assert relations("> ~1,2 Rex died, and the rent is 950") == [(PETS, HOLDS), (RENT, ENDS), (SPORT, HOLDS)]


def test_a_later_statement_says_the_same_as_an_earlier_one() -> None:
    assert relations("> =3 She is in the pool each Monday")[0] == (SPORT, SAME)


def test_a_later_statement_beside_which_all_hold_ends_none() -> None:
    assert [relation for _, relation in relations("> 0 The dog next door is called Rex")] == [HOLDS]


@pytest.mark.parametrize("line", ["> Rex died", "> =~1 Rex died"])
def test_a_line_of_another_form_is_rejected_and_the_error_names_its_block(line: str) -> None:
    with pytest.raises(ValueError, match="en, Ada: neither"):
        relations(line)
