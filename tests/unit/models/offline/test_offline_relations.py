"""Relations that the offline provider finds to known memories: contradictions and repetitions."""

import pytest

from agents.models.offline.rules.findings.relations import owners
from tests.cases.hostile_text import assert_grows_linearly
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
        ("My rent is 950 euros, not 900.", "User pays 900 euros of rent."),
        ("My brother's rent is 950 euros, not 900.", "User's brother's rent is 900 euros."),
        ("My wife's birthday is 12 May, not 11 May.", "The birthday of User's wife is 11 May."),
        ("My age is 34, not 33.", "User is 33."),
        ("My sister lives in Graz, not Linz.", "User's sister Anna lives in Linz with her husband."),
        ("The deadline is 5 June, not 3 June.", "The project's deadline is 3 June."),
        ("The webhook port should be 8443, not 8080.", "The webhook's port is 8080."),
        ("The stand-up was moved from 9:00 to 9:30.", "The daily stand-up starts at 9:00."),
        ("I switched from coffee to tea.", "User's favourite drink is coffee."),
        ("I switched from coffee to tea.", "User drinks coffee with his wife at Anna's café."),
        ("We switched from Jenkins to GitHub Actions.", "Deploys run on Jenkins."),
        ("I gave up coffee.", 'User said: "I need three cups of coffee a day".'),
        ("Je ne mange plus de viande.", "L'utilisateur mange de la viande avec sa femme."),
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
        ("My brother's rent is 950 euros, not 900.", "User's rent is 900 euros."),
        ("My rent is 950 euros, not 900.", "User's brother's rent is 900 euros."),
        ("My rent is 950 euros.", "User's brother's rent is 900 euros."),
        ("My shift is at 6, not 7.", "Anna's shift is at 7."),
        ("Our cat is 7, not 6.", "User's son is 6."),
        ("Our cat is 7, not 6.", 'User said: "My son is 6 and loves trains".'),
        ("The mail server runs on 8081, not 8080.", "The web server runs on 8080."),
        ("The deadline is 5 June, not 3 June.", "User's wedding is on 3 June."),
        ("My sister's wedding moved from May to June.", "User's wedding is in May."),
        ("The stand-up was moved from 9:00 to 9:30.", "User's swimming lesson is at 9:00."),
        ("I switched from coffee to tea.", "User's wife drinks coffee every morning."),
        ("I don't eat meat any more.", "User's dog eats meat."),
        ("I no longer use Vim.", 'User said: "My brother swears by Vim".'),
        ("Ich trinke keinen Kaffee mehr.", "Die Frau des Nutzers trinkt viel Kaffee."),
        ("Je ne mange plus de viande.", "Le mari de l'utilisateur mange de la viande."),
        ("Ya no bebo café.", "La mujer del usuario bebe café."),
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


@pytest.mark.parametrize("unit", ["User's ", "a-", "brother ", "'s ", "my mother's "])
def test_owners_are_found_in_linear_time(unit: str) -> None:
    assert_grows_linearly(owners, unit)
