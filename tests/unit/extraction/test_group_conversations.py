"""Generated group conversations store no fact in another speaker's memory."""

import os
import random

import pytest

from schemas.extraction.candidates import Candidate, Source
from schemas.extraction.requests import ExtractionRequest
from schemas.memories.memories import Memory
from schemas.policies.policies import Policy
from schemas.policies.triggers import Triggers
from tests.builders.groups import PEOPLE, batches_of, generated, group_message, guests, misplaced, slices_of, speakers
from tests.builders.memories import a_memory
from tests.builders.slices import MONDAY

CONVERSATIONS = int(os.environ.get("MEMSTREAM_CONVERSATIONS", "600"))
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


def everybodys_memories() -> list[Memory]:
    """Returns memories of each person that others repeat or contradict, in their own namespace and in the shared
    one."""
    return [
        a_memory(
            text.format(who=called),
            MONDAY,
            memory_id=f"{who}-{number}-{called}",
            namespace=namespace,
            sources=(Source(conversation_id="earlier", message_id="1", user_id=who),),
        )
        for who, place in PEOPLE.items()
        for called, namespace in (("User", f"kitchen/{who}"), (who, "kitchen"))
        for number, text in enumerate(
            (f"{{who}} lives in {place}.", f"{{who}} wohnt in {place}.", "{who} works as a nurse.")
        )
    ]


def is_wrong(candidate: Candidate, namespace: str, request: ExtractionRequest, said_by: dict[str, str]) -> bool:
    """Misplaced, or set against a memory of somebody else."""
    source_ids = [source.message_id for source in candidate.sources]
    related = {each.split("-")[0] for each in (candidate.repeats, candidate.contradicts) if each}
    others = related - {said_by[source_id] for source_id in source_ids}
    return bool(others) or misplaced(namespace, candidate.text, source_ids, said_by, unnamed=not request.speakers)


@pytest.mark.parametrize("part", range(3))
async def test_facts_of_one_speaker_never_become_candidates_for_another(part: int) -> None:
    known, candidates, mistakes, seen = everybodys_memories(), 0, list[str](), set[str]()
    for number in range(part, CONVERSATIONS, 3):
        seed = random.Random(number)
        rules, said = policy(seed), generated(seed)
        visitors = guests(said)
        seen |= visitors
        for request in slices_of(said, rules):
            near = [each for each in known if each.namespace in request.namespaces]
            batches = await batches_of(request, rules, *near)
            assert [batch.part for batch in batches] == [*range(1, len(request.namespaces) + 1)]
            for batch in batches:
                candidates += len(batch.candidates)
                wrong = [each for each in batch.candidates if is_wrong(each, batch.namespace, request, speakers(said))]
                mistakes += [f"{number}: {batch.namespace}: {each}" for each in wrong]
                owned = {each.user_id for candidate in batch.candidates for each in candidate.sources}
                assert owned.isdisjoint(visitors), "nobody has the user_id of a guest"

    assert not mistakes
    assert seen, "some conversations have guests"
    assert candidates > CONVERSATIONS


@pytest.mark.parametrize("templates", TEMPLATES)
async def test_a_guest_has_no_erasure_scope_and_no_wish_in_the_users_namespace(templates: tuple[str, ...]) -> None:
    rules = Policy(name="group", namespaces=templates)
    said = [
        group_message(0, "ada", "Hi.", name="Ada"),
        group_message(1, None, "Delete all your memories about me.", name="Bob"),
    ]
    (request,) = slices_of(said, rules)

    batches = await batches_of(request, rules)

    wishes = {batch.namespace: batch.wishes for batch in batches}
    assert not any(found for name, found in wishes.items() if "ada" in name)
    assert all(wish.scope is None and wish.message.user_id is None for found in wishes.values() for wish in found)


async def test_identical_statements_of_two_speakers_become_candidates_for_both() -> None:
    rules = Policy(name="group", namespaces=("{app_id}/{user_id}", "{app_id}"))
    (request,) = slices_of(
        [group_message(0, "ada", "I work as a nurse."), group_message(1, "bob", "I work as a nurse.")], rules
    )

    adas, shared, bobs = await batches_of(request, rules)

    assert [each.text for each in adas.candidates] == [each.text for each in bobs.candidates]
    assert [each.sources[0].user_id for each in (*adas.candidates, *bobs.candidates)] == ["ada", "bob"]
    assert {each.text.split()[0] for each in shared.candidates} == {"ada", "bob"}


async def test_a_speaker_contradicts_only_their_own_memory_in_a_shared_namespace() -> None:
    rules = Policy(name="group", namespaces=("{app_id}",))

    def lives(who: str) -> Memory:
        source = Source(conversation_id="earlier", message_id=who, user_id=who)
        return a_memory(f"{who} lives in Berlin.", MONDAY, memory_id=who, namespace="kitchen", sources=(source,))

    said = [group_message(0, "ada", "Hello."), group_message(1, "bob", "I live in Lyon.")]
    (request,) = slices_of(said, rules)

    (batch,) = await batches_of(request, rules, lives("ada"), lives("bob"))

    assert [(each.text, each.contradicts) for each in batch.candidates] == [("bob lives in Lyon.", "bob")]


async def test_the_sources_of_guests_tell_them_apart_without_their_names() -> None:
    rules = Policy(name="group", namespaces=("{conversation_id}",))
    said = [group_message(0, "ada", "Hi.", name="Ada")] + [
        group_message(number, None, "I work as a nurse.", name=name)
        for number, name in enumerate(("Eve", "Mallory", "eve "), start=1)
    ]
    (request,) = slices_of(said, rules)

    eve, mallory, again = (request.source(message).guest_id for message in request.messages[1:])

    assert eve == again != mallory
    assert request.source(request.messages[0]).guest_id is None
    assert "eve" not in (eve or "").lower()
