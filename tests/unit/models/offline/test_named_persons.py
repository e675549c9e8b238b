"""Texts that speak of a person by name, and those that name somebody or something else."""

import pytest

from agents.models.offline.named_persons import is_subject, speaks_of


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Marta", "Marta told me that she is pregnant."),
        ("Marta Gómez", "Yes, I heard that Marta Gómez is pregnant."),
        ("Marta van Dijk", "Marta van Dijk is pregnant."),
        ("Marta Gómez", "I told my boss that Marta is pregnant."),
        ("Marta", "Marta's sister Eva is pregnant."),
        ("Марта", "Я слышал, что Марта беременна."),
        ("Will", "I heard that Will is moving to Lyon."),
        ("Rose", "Yesterday I saw Rose's new flat."),
    ],
)
def test_a_text_speaks_of_the_person_whom_it_names(name: str, text: str) -> None:
    assert speaks_of(text, name)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Marta Gómez", "Marta Álvarez told me that she is pregnant."),
        ("Marta Gómez", "I saw Marta van Dijk, she is pregnant."),
        ("Марта", "Марта Иванова беременна."),
        ("Marta", "Marta-Luise is pregnant."),
        ("Marta", "My sister Marta is pregnant."),
        ("Marta", "My sister Marta is pregnant. Marta is well."),
        ("Marta", "Meine Kollegin Marta ist schwanger."),
        ("Marta", "Ma sœur Marta est enceinte."),
        ("Marta", "Mi hermana Marta está embarazada."),
        ("Marta", "Aunt Marta is pregnant."),
        ("Marta", "The other Marta is pregnant."),
        ("Marta", "Eva's big sister Marta is pregnant."),
        ("Marta", "I saw Marta, my sister, who is pregnant."),
        ("Marta", "Thanks, Marta! I live in Lyon."),
        ("Marta", "A marta is an animal."),
    ],
)
def test_a_text_does_not_speak_of_somebody_else_with_the_name(name: str, text: str) -> None:
    assert not speaks_of(text, name)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Will", "Will be in Rome next week. Tom will too."),
        ("Mark", "Mark my words."),
        ("Rose", "Rose prices rose."),
        ("Joy", "Joy is what I feel."),
        ("Max", "Max two coffees a day."),
        ("May", "We meet in May again."),
        ("Summer", "Last year in Summer it was hot."),
        ("A", "A friend told me."),
        ("Dr. Jones", "The Dr. said so."),
        ("admin", "Admin rights are missing."),
        ("7", "7 people came."),
        ("", "Nobody came."),
    ],
)
def test_a_text_with_a_word_that_is_also_a_name_speaks_of_nobody(name: str, text: str) -> None:
    assert not speaks_of(text, name)


@pytest.mark.parametrize(
    "text",
    [
        "Marta is pregnant.",
        "Marta Gómez is pregnant.",
        "Marta's mother is in hospital.",
        "Martas Mutter liegt im Krankenhaus.",
        "Tom said that Marta is pregnant.",
        "Tom sagt, dass Marta schwanger ist.",
    ],
)
def test_a_text_that_begins_with_a_person_has_the_person_as_its_subject(text: str) -> None:
    assert is_subject(text, "Marta Gómez")


@pytest.mark.parametrize(
    "text",
    [
        "Tom works with Marta at Siemens.",
        "Tom told Marta that he is ill.",
        "Tom and Marta are moving to Lyon.",
        "Marta and Tom are moving to Lyon.",
        "Marta, Eva and Tom are moving to Lyon.",
        "Marta Álvarez is pregnant.",
        "Tom's sister Marta is pregnant.",
        "Marta.",
        "Tom will move to Lyon.",
    ],
)
def test_a_text_about_another_person_or_several_has_another_subject(text: str) -> None:
    assert not is_subject(text, "Marta Gómez")
