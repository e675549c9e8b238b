"""Thousands of conversations of several people: never a fact of one in another's memory."""

import random
from collections.abc import Iterator

import pytest

from schemas.conversations.messages import Message
from schemas.extraction.requests import CandidateBatch, ExtractionRequest
from schemas.memories.memories import Memory
from schemas.policies.policies import Policy, Triggers
from tests.groups import batches_of, says, slices_of
from tests.memories import a_memory
from tests.slices import MONDAY

CONVERSATIONS = 3_000
PEOPLE = ("ada", "bob", "cem", "dee")
# Each says what nobody else says, so that every text tells whose it is.
PLACES = {"ada": "Berlin", "bob": "Lyon", "cem": "Izmir", "dee": "Quito"}
FOODS = {"ada": "peanuts", "bob": "shellfish", "cem": "gluten", "dee": "celery"}
DRINKS = {"ada": "espresso", "bob": "cider", "cem": "ayran", "dee": "mate"}
FACTS = (
    "I live in {place}.",
    "I'm allergic to {food}.",
    "I love {drink}.",
    "Ich wohne in {place}.",
    "I moved to {place}.",
)
ASIDES = ("Hello!", "Really?", "Where do you live?", "Thanks, that helps a lot.", "What about you?")
# What everybody says in the same words, about themselves.
COMMON = ("I work as a nurse.", "I have two kids.", "I don't eat meat.")
TRIGGERS = (Triggers(), Triggers(on_exchange=True), Triggers(after_tokens=60))
TEMPLATES = (
    ("{app_id}/{user_id}",),
    ("{app_id}/{user_id}", "{app_id}"),
    ("{app_id}", "{app_id}/{user_id}/{conversation_id}"),
    ("{conversation_id}",),
)


def policy(seed: random.Random) -> Policy:
    return Policy(
        name="group",
        namespaces=seed.choice(TEMPLATES),
        triggers=seed.choice(TRIGGERS),
        overlap_messages=seed.choice((0, 2)),
        slice_tokens=seed.choice((100, 8_000)),
    )


def conversation(seed: random.Random) -> list[Message]:
    """The first person may leave their id out: a chat service's own user."""
    present = seed.sample(PEOPLE, seed.randint(2, len(PEOPLE)))
    silent, named = seed.random() < 0.3, seed.random() < 0.5
    said = [says(0, present[0], "Hello!")]
    for number in range(1, seed.randint(4, 16)):
        who = seed.choice(present)
        if seed.random() < 0.25:
            said.append(says(number, seed.choice((None, who)), f"{PLACES[who]} it is, {who}.", role="assistant"))
            continue
        told = seed.choice((*FACTS, *ASIDES, *COMMON)).format(place=PLACES[who], food=FOODS[who], drink=DRINKS[who])
        user_id = None if silent and who == present[0] else who
        said.append(says(number, user_id, told, name=who.title() if named else None))
    return said


def sayers(said: list[Message]) -> dict[str, str]:
    return {each.message_id: each.user_id or said[0].user_id or "" for each in said if each.role == "user"}


def related() -> Iterator[Memory]:
    """Of everybody something that others say too, or contradict."""
    for who in PEOPLE:
        for number, text in enumerate((f"User lives in {PLACES[who]}.", "User works as a nurse.")):
            yield a_memory(text, MONDAY, memory_id=f"{who}-{number}", namespace=f"kitchen/{who}")


def wrong(batch: CandidateBatch, request: ExtractionRequest, who_said: dict[str, str]) -> list[str]:
    """What of a batch is in the wrong memory, or does not say whose it is."""
    found = []
    owner = batch.namespace.split("/")[1] if "/" in batch.namespace else None
    for each in batch.candidates:
        people = {who_said[source.message_id] for source in each.sources}
        told = f"{batch.namespace}: {each.text} of {people}"
        if owner is not None and people != {owner}:
            found.append(told)
        if owner is None and request.speakers and not any(who in each.text.casefold() for who in people):
            found.append(told)
        others = [who for who in PEOPLE if who not in people]
        if any(words[who] in each.text for who in others for words in (PLACES, FOODS, DRINKS)):
            found.append(told)
        relations = [relation for relation in (each.repeats, each.contradicts) if relation]
        if any(relation.split("-")[0] not in people for relation in relations):
            found.append(f"{told} relates to {relations}")
    return found


@pytest.mark.parametrize("part", range(3))
async def test_no_fact_of_one_person_is_in_the_memory_of_another(part: int) -> None:
    known, candidates, mistakes = tuple(related()), 0, list[str]()
    for number in range(part, CONVERSATIONS, 3):
        seed = random.Random(number)
        rules, said = policy(seed), conversation(seed)
        for request in slices_of(said, rules):
            near = [each for each in known if each.namespace in request.namespaces]
            batches = await batches_of(request, rules, *near)
            assert [batch.part for batch in batches] == [*range(1, len(request.namespaces) + 1)]
            for batch in batches:
                candidates += len(batch.candidates)
                mistakes += wrong(batch, request, sayers(said))

    assert not mistakes
    assert candidates > CONVERSATIONS  # two a conversation and more: the rules found something to mistake


async def test_what_everybody_says_in_the_same_words_is_remembered_for_each() -> None:
    rules = Policy(name="group", namespaces=("{app_id}/{user_id}", "{app_id}"))
    (request,) = slices_of([says(0, "ada", "I work as a nurse."), says(1, "bob", "I work as a nurse.")], rules)

    adas, shared, bobs = await batches_of(request, rules)

    assert [each.text for each in adas.candidates] == [each.text for each in bobs.candidates]
    assert [each.sources[0].user_id for each in (*adas.candidates, *bobs.candidates)] == ["ada", "bob"]
    assert {each.text.split()[0] for each in shared.candidates} == {"ada", "bob"}
