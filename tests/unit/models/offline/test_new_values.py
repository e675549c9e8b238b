"""Corrections that begin like a wish to forget ("scratch that, it's Friday") are no wishes."""

import pytest

from agents.models.offline.provider import OfflineProvider
from agents.models.offline.wishes import ForgetWish, wishes_in
from agents.models.port import Context
from schemas.policies.policies import Policy
from tests.builders.slices import said, slice_of
from tests.cases.hostile_text import assert_grows_linearly

CORRECTIONS = (
    "scratch that, it's 40 people, not 30",
    "Scratch that, make it Friday",
    "scratch that, we decided on the beach house",
    "scratch that, let's go with the blue one",
    "Scratch that - she's a nurse, not a doctor.",
    "scratch that, better Wednesday",
    "strike that, the wedding is in June",
    "Scratch that. It's 40 people, not 30.",
    "Scratch that. Make it Friday.",
    "forget that, I meant Tuesday",
    "Forget that, it's on Saturday",
    "Forget that. I meant Tuesday.",
    "forget that, the train leaves at 7:12",
    "forget that, his name is Balu, not Bello",
    "forget that, it's the left knee instead of the right",
    "Please forget that, it's 40 people, not 30",
    "Ignore that, it should be 3.5, not 5.3",
    "Disregard my last message, the meeting is at 5, not 4",
    "Forget what I said, it's 40 people",
    "I take that back, it's Friday",
    "never mind, the meeting is at 5, not 4",
    "never mind what I said, it's 40 people, not 30",
    "Vergiss das, ich meinte Dienstag",
    "Vergiss das, es sind 40 Leute, nicht 30",
    "Das nehme ich zurück, es ist Freitag",
    "Oublie ça, je voulais dire mardi",
    "Oublie ce que j'ai dit, c'est le 13, pas le 12",
    "Olvida eso, quise decir martes",
    "Olvida eso, son 40 personas, no 30",
)
WISHES = (
    "scratch that, I am HIV positive",
    "scratch that, my husband checks my phone",
    "Scratch that, I'd rather not say",
    "strike that, this chat isn't encrypted",
    "scratch that, I changed my mind",
    "scratch that, sorry",
    "forget that, I'm 15",
    "forget that, she is 16",
    "forget that, there are 3 other users on this account",
    "forget that, it's a surprise for June",
    "Forget that, it was for Paul, not Claude",
    "Forget that, I mean all of it",
    "Forget that, I meant my last message",
    "forget that, let's focus on work instead of my divorce",
    "Vergiss das, es ist 3 Uhr nachts",
    "Vergiss das, das war für Paul, nicht für dich",
    "Vergiss das, ich meine alles",
    "Oublie ça, c'était mon frère, pas moi",
    "Olvida eso, era mi hermano, no yo",
    "Olvida eso, son las 3 de la mañana",
    "scratch that.",
    "scratch that, I don't want you to remember it",
    "Scratch that, it's private",
    "Scratch that, my boss must never know",
    "scratch that, it could get me fired",
    "scratch that, plain paragraphs are better",
    "Scratch that. I need a recipe for dinner.",
    "please forget that, it's private",
    "Forget that, it's over anyway",
    "forget that, it's my business, not yours",
    "forget that, see you on Monday",
    "Forget that, I met her 2 years ago",
    "Forget that, it's been ten years",
    "Forget that, it's something that may hurt me",
    "Forget that, it's 3am and I'm rambling",
    "Forget that. I'm 34 and looking for a job.",
    "please forget that, I promised Anna to keep quiet",
    "Forget that, I mean it",
    "Please remove that from your memory, it's Friday anyway",
    "Don't save that, it's 40 euros of debts",
    "Delete what I just said, it's 40 people reading this",
    "Vergiss das, das ist privat",
    "Vergiss das bitte, mein Chef könnte das erfahren",
    "Speicher das nicht, es sind 40 Euro Schulden",
    "Oublie ça, c'est privé",
    "Olvida eso, es un secreto",
)


@pytest.mark.parametrize("content", CORRECTIONS)
def test_a_phrase_that_takes_the_previous_message_back_for_another_value_is_no_wish(content: str) -> None:
    assert wishes_in(said(content)).wishes == ()


@pytest.mark.parametrize("content", WISHES)
def test_a_reason_behind_such_a_phrase_or_another_topic_leaves_it_a_wish(content: str) -> None:
    assert wishes_in(said(content)).wishes == (ForgetWish(),)


def test_a_statement_of_the_same_message_is_still_taken_back_by_the_correction_behind_it() -> None:
    found = wishes_in(said("My party is for 30 people. Scratch that, it's 40 people, not 30."))
    assert found.wishes == (ForgetWish(stated_before="My party is for 30 people."),)


async def test_a_correction_is_read_without_the_phrase_before_it() -> None:
    context = Context(policy=Policy(name="test"))
    answer = await OfflineProvider().extract(slice_of("Scratch that, our deadline is 5 May"), context)
    assert [each.text for each in answer.proposals] == ["The team's deadline is on 2026-05-05."]


@pytest.mark.parametrize("unit", ["it's ", "a-", "'", "it's 4, not ", "my train my ", "the is not 4 "])
def test_detection_of_another_value_takes_linear_time(unit: str) -> None:
    assert_grows_linearly(lambda text: wishes_in(said(f"scratch that, {text}")), unit)
