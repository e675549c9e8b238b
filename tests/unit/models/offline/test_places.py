"""Moves to places end a home; moves to products, jobs, drinks and ways of working do not."""

import pytest

from agents.models.offline.rules.findings.places import is_place
from tests.cases.hostile_text import assert_grows_linearly
from tests.unit.models.offline.proposing import proposals

HOME = "User lives in Leeds."
MOVES = (
    "I moved to Lyon last week",
    "we've moved to a bigger flat in Graz",
    "I live in Kiel now",
    "i moved to lyon",
    "i moved to new york",
    "i moved to cape town with my sister",
    "I just moved to LaGrange",
    "I'm moving to Vienna in May",
    "I've relocated to Austin, Texas",
    "I moved to the Netherlands",
    "i moved to the uk",
    "I moved to the countryside",
    "I moved to St. Gallen",
    "I moved to 12 Mill Lane",
    "I moved to SE15",
    "I moved to a penthouse in Dubai",
    "I moved to my aunt's",
    "I moved to my parents' place",
    "I moved to Oslo alone",
    "I moved to the north of Spain",
    "I live with my wife in Graz",
)
OTHERS = (
    "I moved to a MacBook.",
    "I moved to a standing desk",
    "I moved to Slack",
    "we moved to weekly meetings",
    "I moved to decaf",
    "i moved to oat milk",
    "i moved to a macbook",
    "I moved to LibreOffice",
    "I moved to GitHub Actions for my builds",
    "I moved to a new job in Berlin",
    "I moved to the Berlin office",
    "I moved to Sales in January",
    "I moved to a gluten-free diet",
    "I moved to the Kindle app",
    "I moved to 20 mg",
    "I moved to swimming instead of running",
    "I moved to Tuesdays for yoga",
    "I'm moving to Kubernetes this quarter",
    "I relocated to the second monitor",
    "I live with ADHD",
    "I live for music",
    "I live alone now",
)


@pytest.mark.parametrize("sentence", MOVES)
async def test_a_move_to_a_place_contradicts_the_home(sentence: str) -> None:
    assert [each.contradicts for each in await proposals(sentence, related=(HOME,))] == [HOME]


@pytest.mark.parametrize("sentence", OTHERS)
async def test_a_move_to_something_else_contradicts_no_home(sentence: str) -> None:
    assert not any(each.contradicts for each in await proposals(sentence, related=(HOME,)))


@pytest.mark.parametrize(
    ("sentence", "home", "is_move"),
    [
        ("J'ai déménagé à Lille", "L'utilisateur habite à Lyon.", True),
        ("J'ai déménagé sur Slack", "L'utilisateur habite à Lyon.", False),
        ("Me mudé a Bilbao", "El usuario vive en Sevilla.", True),
        ("Me mudé a Linux", "El usuario vive en Sevilla.", False),
    ],
)
async def test_products_are_no_homes_in_french_and_spanish(sentence: str, home: str, is_move: bool) -> None:
    (found,) = await proposals(sentence, related=(home,))
    assert (found.contradicts == home) == is_move


async def test_a_move_to_a_product_is_not_ended_by_a_home() -> None:
    (found,) = await proposals("I live in Lyon", related=("User moved to a MacBook.",))
    assert found.contradicts is None


@pytest.mark.parametrize("unit", ["a ", "in ", "house", "the A ", ". ", "x", "no "])
def test_places_are_told_in_linear_time(unit: str) -> None:
    assert_grows_linearly(is_place, unit)
