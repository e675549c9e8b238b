"""Relations that the offline provider finds to known memories: contradictions and repetitions."""

import pytest

from tests.unit.models.offline.proposing import proposals


@pytest.mark.parametrize(
    ("sentence", "old"),
    [
        ("I switched from coffee to tea.", "User drinks coffee every morning."),
        ("I no longer use Vim, I use Helix now.", "User uses Vim for everything."),
        ("I moved from Berlin to Lyon.", "User lives in Berlin."),
        ("I moved to Lyon.", "User lives in Berlin."),
        ("I live in Lyon.", "User lives in Berlin."),
        ("I don't like jazz any more.", "User likes jazz."),
        ("I prefer light mode now.", "User prefers dark mode in every editor."),
        ("I prefer coffee over tea.", "User prefers tea over coffee."),
        ("The webhook port should be 8443, not 8080.", "The webhook port is 8080."),
        ("My favourite colour is green.", "User's favourite colour is not green."),
        ("Ich bin von Kaffee auf Tee umgestiegen.", "Der Nutzer trinkt viel Kaffee."),
        ("The design meeting moved to 3pm.", "The design meeting is at 2pm."),
        ("Call me Robin.", "User wants to be called Rob."),
        ("I work at Globex now.", "User works at Initech."),
    ],
)
async def test_a_change_contradicts_the_memory_of_the_previous_state(sentence: str, old: str) -> None:
    found = await proposals(sentence, related=("User plays chess.", old))
    assert [item.contradicts for item in found] == [old]
    assert found[0].repeats is None


@pytest.mark.parametrize(
    ("sentence", "other"),
    [
        ("I moved from Berlin to Lyon.", "User loves the bakeries of Berlin."),
        ("I like green tea.", "User likes black tea."),
        ("I switched from coffee to tea.", "User switched from coffee to tea."),
        ("I prefer tea.", "User prefers dark mode."),
        ("I have two cats.", "User's daughter is 12 years old."),
        ("I work at Globex.", "User lives in Berlin."),
        ("My wife works at Siemens too.", "User works at Siemens in Munich."),
        ("My cat's name is Mia.", "User's dog's name is Rex."),
        ("My mom's address is 4 Rue Haute.", "User's address is 9 High Street."),
        ("My wife hates coriander.", "User loves coriander."),
    ],
)
async def test_unrelated_memory_is_not_contradicted(sentence: str, other: str) -> None:
    found = await proposals(sentence, related=(other,))
    assert [item.contradicts for item in found] == [None]


@pytest.mark.parametrize(
    ("sentence", "same"),
    [
        ("I have a peanut allergy.", "User is allergic to peanuts."),
        ("I live in Turin.", "User lives in Turin."),
        ("I really love hiking.", "User loves hiking."),
    ],
)
async def test_statement_that_is_known_repeats_its_memory(sentence: str, same: str) -> None:
    found = await proposals(sentence, related=("User plays chess.", same))
    assert [(item.repeats, item.contradicts) for item in found] == [(same, None)]


async def test_the_same_statement_with_another_number_contradicts_instead_of_repeating_the_memory() -> None:
    (found,) = await proposals("I have two cats and 3 dogs.", related=("User has two cats and 4 dogs.",))
    assert found.repeats is None and found.contradicts == "User has two cats and 4 dogs."
