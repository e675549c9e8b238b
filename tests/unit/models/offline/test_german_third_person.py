"""German words of the first person become the third."""

import pytest

from agents.models.offline.rules.tables.german_third_person import reword


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("ich mach jeden Tag Yoga", "er macht jeden Tag Yoga"),
        ("ich lern Dänisch", "er lernt Dänisch"),
        ("ich nehm Loratadin", "er nimmt Loratadin"),
        ("ich arbeit bei Siemens", "er arbeitet bei Siemens"),
        ("ich muss los", "er muss los"),
    ],
)
def test_spoken_forms_without_their_last_letter_are_conjugated(said: str, told: str) -> None:
    assert reword(said) == told


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("ich lerne Dänisch, weil ich sie besuchen will", "er lernt Dänisch, weil er sie besuchen will"),
        ("weil ich eine Katze habe", "weil er eine Katze hat"),
        ("wenn ich alleine bin", "wenn er alleine ist"),
        ("ich weiß, dass ich zu viel rauche, leider", "er weiß, dass er zu viel raucht, leider"),
        ("und ich sie mag", "und er sie mag"),
    ],
)
def test_in_a_subordinate_clause_the_last_word_is_conjugated_and_no_pronoun(said: str, told: str) -> None:
    assert reword(said) == told


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("sie hat mir den Urlaub gestrichen", "sie hat ihm den Urlaub gestrichen"),
        ("das ist mir egal", "das ist ihm egal"),
        ("mich nervt mein Chef", "ihn nervt sein Chef"),
        ("ich will, dass mein Sohn mich besucht", "er will, dass sein Sohn ihn besucht"),
        (
            "ich esse das nicht, aber wenn ihr das kocht, ist mir egal",
            "er isst das nicht, aber wenn ihr das kocht, ist ihm egal",
        ),
    ],
)
def test_the_speaker_as_the_object_of_others_is_not_reflexive(said: str, told: str) -> None:
    assert reword(said) == told


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("ich habe mir ein Rad gekauft", "er hat sich ein Rad gekauft"),
        ("ich freue mich auf den Urlaub", "er freut sich auf den Urlaub"),
        ("mir den Fuß verstaucht", "sich den Fuß verstaucht"),
    ],
)
def test_what_the_speaker_does_to_themselves_is_reflexive(said: str, told: str) -> None:
    assert reword(said) == told


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("ich esse kein Fleisch, seit März bin ich Vegetarier", "er isst kein Fleisch, seit März ist er Vegetarier"),
        ("im Januar ziehe ich nach Linz", "im Januar zieht er nach Linz"),
        ("dienstags habe ich meine Chorprobe", "dienstags hat er seine Chorprobe"),
        ("solange ich Fieber habe, bleibe ich zu Hause", "solange er Fieber hat, bleibt er zu Hause"),
        ("gestern war ich krank", "gestern war er krank"),
    ],
)
def test_a_verb_before_its_subject_is_conjugated_and_the_noun_behind_keeps_its_capital(said: str, told: str) -> None:
    assert reword(said) == told


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("im Mai würde ich umziehen", "im Mai würde er umziehen"),
        ("am liebsten wäre ich Koch", "am liebsten wäre er Koch"),
        ("dann ginge ich nach Ulm", "dann ginge er nach Ulm"),
        ("dann käme ich mit", "dann käme er mit"),
        ("dann bliebe ich hier", "dann bliebe er hier"),
        ("ich bekäme gern mehr Zeit", "er bekäme gern mehr Zeit"),
    ],
)
def test_a_subjunctive_is_the_same_in_the_third_person(said: str, told: str) -> None:
    assert reword(said) == told


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("ehe ich nach Ulm zog", "ehe er nach Ulm zog"),
        ("ehe ich nach Ulm ziehe", "ehe er nach Ulm zieht"),
        ("er ist so alt wie ich", "er ist so alt wie er"),
        ("gerade ich mag das", "gerade er mag das"),
    ],
)
def test_a_word_before_the_speaker_that_ends_as_a_verb_does_is_not_conjugated(said: str, told: str) -> None:
    assert reword(said) == told
