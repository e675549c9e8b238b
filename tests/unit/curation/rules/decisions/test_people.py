"""In a namespace of several people, what one says of themselves neither ends nor repeats what another told."""

import pytest
from msgspec.structs import replace

from agents.curation.rules.decisions.contradictions import concern_of, is_of_another
from agents.curation.rules.ledger.ledger import Ledger
from agents.models.answers.speakers import has_user_as_subject
from schemas.extraction.candidates import Candidate, CandidateBatch, Source
from schemas.policies.policies import Policy
from tests.builders.memories import NOON, a_memory
from tests.builders.settled import settled_among_all


def source(user_id: str | None, message_id: str = "m", at=NOON) -> Source:
    return Source(conversation_id=f"c-{user_id}", message_id=message_id, user_id=user_id, timestamp=at)


def candidate(text: str, user_id: str | None, about_speaker: bool = True, **fields: object) -> Candidate:
    return Candidate(
        candidate_id="0" * 32,
        kind="fact",
        text=text,
        sources=(source(user_id, "later"),),
        confidence=0.9,
        importance=0.5,
        language="en",
        about_speaker=about_speaker,
        **fields,
    )


def told(text: str, user_id: str):
    return a_memory(text, memory_id="m", language="en", sources=(source(user_id),), told_by=(user_id,))


def ruling(known, said: Candidate, namespace: str = "n", **options: object):
    ledger = Ledger(namespace, 1, [replace(known, namespace=namespace)])
    batch = CandidateBatch(
        request_id="r",
        conversation_id="c",
        partition=0,
        namespace=namespace,
        part=1,
        parts=1,
        policy="p",
        policy_version=1,
        provider="offline",
        candidates=(said,),
        extracted_at=NOON,
    )
    return settled_among_all(ledger, batch, said, NOON, cosine=0.95, **options).result


CASES = (
    ("User lives in Berlin.", "User lives in Lyon."),
    ("Alex lives in Berlin.", "Alex lives in Lyon."),
    ("Alex is allergic to peanuts.", "Alex is allergic to peanuts."),
    ("Bob is allergic to peanuts.", "Ada says that Bob is not allergic to peanuts."),
)


@pytest.mark.parametrize("named", [{}, {"supersedes": ("m",)}, {"repeats": "m"}, {"refines": "m"}])
@pytest.mark.parametrize(("known", "said"), CASES)
def test_a_statement_about_its_speaker_leaves_what_another_person_told(known, said, named):
    assert ruling(told(known, "u1"), candidate(said, "u2", **named)) == "created"


def test_a_guests_statement_about_themselves_leaves_what_a_user_told():
    assert ruling(told("Bob lives in Berlin.", "u1"), candidate("Bob lives in Lyon.", None)) == "created"


@pytest.mark.parametrize(("known", "said"), CASES[:2])
def test_a_statement_about_its_speaker_ends_what_the_speaker_told(known, said):
    assert ruling(told(known, "u1"), candidate(said, "u1")) == "superseded"


def test_ones_own_repetition_is_found_beside_the_same_words_of_another_person():
    others, own = told("User lives in Lyon.", "u1"), replace(told("User lives in Lyon.", "u2"), memory_id="own")
    ledger = Ledger("n", 1, [replace(each, namespace="n") for each in (others, own)])
    said = candidate("User lives in Lyon.", "u2")
    concerns = concern_of(said, "n", Policy(name="p", namespaces=("n",)))
    assert ledger.exact(said.text) is not None and ledger.exact(said.text, concerns).memory_id == "own"
    assert not ledger.is_new(said, concerns)
    assert Ledger("n", 1, [replace(others, namespace="n")]).is_new(said, concerns)


@pytest.mark.parametrize(("namespace", "concerned"), [("app/u1", True), ("team", False)])
def test_a_statement_of_an_unknown_speaker_concerns_all_memories_of_a_personal_namespace(namespace, concerned):
    policy = Policy(name="p", namespaces=("{app_id}/{user_id}", "team"))
    said = candidate("User lives in Lyon.", None)
    assert concern_of(said, namespace, policy)(told("User lives in Berlin.", "u1")) is concerned


def test_statements_about_the_matter_of_several_people_end_and_repeat_each_other():
    deadline = told("The deadline of the project is on 2026-05-01.", "u1")
    later = candidate("The deadline of the project is on 2026-06-01.", "u2", about_speaker=False)
    same = candidate("The deadline of the project is on 2026-05-01.", "u2", about_speaker=False)
    assert (ruling(deadline, later), ruling(deadline, same)) == ("superseded", "reinforced")


def test_a_statement_about_software_of_several_people_ends_what_another_told():
    service = told("User authentication runs on port 80.", "u1")
    moved = candidate("User authentication runs on port 443.", "u2", about_speaker=False)
    assert not is_of_another(moved, service)
    assert ruling(service, replace(moved, supersedes=("m",))) == "superseded"


@pytest.mark.parametrize("told_by", [(), ("u1", "u2")])
def test_a_memory_of_unknown_tellers_or_of_both_is_not_anothers(told_by):
    memory = replace(told("User lives in Berlin.", "u1"), told_by=told_by)
    assert not is_of_another(candidate("User lives in Lyon.", "u2"), memory)


@pytest.mark.parametrize(
    ("text", "about"),
    [
        ("User lives in Lyon.", True),
        ("Since 2019 User works at Siemens.", True),
        ("Is allergic to peanuts.", True),
        ("Ada lives in Lyon.", True),
        ("Adana is a city.", False),
        ("The deadline is on 2026-05-01.", False),
        ("The team lead is the user.", False),
    ],
)
def test_a_text_is_about_its_speaker_if_the_speaker_is_the_subject(text, about):
    assert has_user_as_subject(text, "Ada") is about
