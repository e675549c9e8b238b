"""Memories of several clauses, one of which a candidate ends."""

from datetime import UTC, datetime

import pytest

from agents.curation.rules.decisions.clauses import cut_of_named_item, cuts_of
from agents.curation.rules.decisions.comparing import missing_pairs, pair_of
from agents.curation.rules.ledger.ledger import Ledger
from schemas.extraction.candidates import Candidate
from schemas.memories.memories import Memory
from sinks.classification.port import HOLDS, Pair, Relation
from tests.builders.settled import SOUTH, settled_among_all
from tests.unit.curation.rules.conftest import MakeBatch, MakeCandidate, MakeMemory

ENDS = Relation(ends=0.9, holds=0.1, same=0.0)
UNSURE = Relation(ends=0.6, holds=0.4, same=0.0)
WEEK = "User teaches judo on Mondays, has the van till Friday."
VAN_SOLD = "User sold the van to a cousin."


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            WEEK,
            [
                ("User teaches judo on Mondays", "has the van till Friday."),
                ("has the van till Friday", "User teaches judo on Mondays."),
            ],
        ),
        (
            "User works in Ulm. The firm of Dr. Ott pays well, says user.",
            [
                ("User works in Ulm", "The firm of Dr. Ott pays well, says user."),
                ("The firm of Dr. Ott pays well", "User works in Ulm. says user."),
                ("says user", "User works in Ulm. The firm of Dr. Ott pays well."),
            ],
        ),
        (
            "Der Nutzer wohnt in Ulm und arbeitet bei Zeiss.",
            [
                ("Der Nutzer wohnt in Ulm", "arbeitet bei Zeiss."),
                ("arbeitet bei Zeiss", "Der Nutzer wohnt in Ulm."),
            ],
        ),
        ("User was born on May 5, 1990.", []),
        ("User lives between the river and the old mill.", []),
        ("User works at Smith and Sons in Ulm.", []),
        ("Der Nutzer baut Mais und Kartoffeln an.", []),
        ("The user said 'I hate tea and coffee' of late.", []),
        ("User is free between 5 and 7.", []),
        ("User is a baker, Lindau.", []),
        ("User is ill, tired.", []),
        (
            "User eats no meat from here, raw fish or old eggs.",
            [("raw fish or old eggs", "User eats no meat from here.")],
        ),
        ("User has physio (the one in Ulm, not here) then.", []),
        ("User has physio on 2026-03-03 and meets Bob (said: tomorrow).", []),
        ('User said: "She is old and she is deaf" (about: My cat is called Pepper).', []),
        ("a b c, d e, f g, h i, j k, l m, n o", []),
    ],
)
def test_a_text_is_divided_at_sentences_commas_and_conjunctions(text: str, expected: list[tuple[str, str]]) -> None:
    assert [(each.clause, each.rest) for each in cuts_of(text)] == expected


def relations_of(memory: Memory, said: Candidate, *ended: str) -> dict[Pair, Relation]:
    """Those of a model by which the memory and these of its clauses end, and no other one."""
    pair = pair_of(memory.text, said.text)
    known = {pair: ENDS}
    return known | {each: ENDS if each.earlier in ended else HOLDS for each in missing_pairs([pair], known)}


def test_a_memory_loses_the_clause_that_a_candidate_ends_and_keeps_the_others(
    candidate: MakeCandidate, memory: MakeMemory, batch: MakeBatch, now: datetime
) -> None:
    week, said = memory(WEEK), candidate(VAN_SOLD)
    ledger = Ledger("n", 1, [week])
    ruling = settled_among_all(
        ledger, batch(), said, now, relations=relations_of(week, said, "has the van till Friday")
    )
    assert ruling.result == "created"
    assert {each.text for each in ledger.live_memories()} == {"User teaches judo on Mondays.", VAN_SOLD}
    _, updated = ledger.entries
    assert (updated.change, updated.after.memory_id, updated.before) == ("updated", week.memory_id, week)
    assert updated.vector is SOUTH
    assert updated.cause.reason == "a part of it ended: the candidate replaces it"


def test_a_memory_that_a_language_model_names_loses_only_the_clause_that_ends(
    candidate: MakeCandidate, memory: MakeMemory, batch: MakeBatch, now: datetime
) -> None:
    week = memory(WEEK)
    said = candidate(VAN_SOLD, supersedes=(week.memory_id,))
    relations = relations_of(week, said, "has the van till Friday")
    for known, texts in ((relations, {"User teaches judo on Mondays.", VAN_SOLD}), ({}, {VAN_SOLD})):
        ledger = Ledger("n", 1, [week])
        settled_among_all(ledger, batch(), said, now, relations=known)
        assert live_texts(ledger) == texts


def live_texts(ledger: Ledger) -> set[str]:
    return {each.text for each in ledger.live_memories()}


def test_a_quotation_may_lose_its_first_clause(
    candidate: MakeCandidate, memory: MakeMemory, batch: MakeBatch, now: datetime
) -> None:
    said = candidate("User's physio is on Thursday now.")
    quoted = memory('User said: "Physio Tuesday 10:00 and the tax guy Wednesday".')
    ledger = Ledger("n", 1, [quoted])
    settled_among_all(ledger, batch(), said, now, relations=relations_of(quoted, said, "Physio Tuesday 10:00"))
    assert live_texts(ledger) == {'User said: "the tax guy Wednesday".', said.text}


@pytest.mark.parametrize(
    ("ended", "fields", "others"),
    [
        (["User teaches judo on Mondays"], {}, []),
        (["User teaches judo on Mondays", "has the van till Friday"], {}, []),
        (["has the van till Friday", "User teaches judo on Mondays."], {}, []),
        (["has the van till Friday"], {"full_text": "The whole week: judo on Mondays, the van till Friday."}, []),
        (["has the van till Friday"], {}, ["User teaches judo on Mondays."]),
    ],
    ids=["the subject", "both clauses", "the rest too", "a full text", "the rest is another memory"],
)
def test_a_memory_ends_as_a_whole_if_no_sound_text_would_remain(
    candidate: MakeCandidate,
    memory: MakeMemory,
    batch: MakeBatch,
    now: datetime,
    ended: list[str],
    fields: dict[str, str],
    others: list[str],
) -> None:
    week, said = memory(WEEK, **fields), candidate(VAN_SOLD)
    ledger = Ledger("n", 2, [week, *map(memory, others)])
    assert (
        settled_among_all(ledger, batch(), said, now, relations=relations_of(week, said, *ended)).result == "superseded"
    )
    assert live_texts(ledger) == {*others, VAN_SOLD}


def test_a_statement_keeps_the_sentence_that_names_its_subject(
    candidate: MakeCandidate, memory: MakeMemory, batch: MakeBatch, now: datetime
) -> None:
    moved, said = memory("User moved to Ulm in May. He works at Zeiss."), candidate("User's flat is in Jena.")
    ledger = Ledger("n", 1, [moved])
    settled_among_all(ledger, batch(), said, now, relations=relations_of(moved, said, "User moved to Ulm in May"))
    assert "He works at Zeiss." not in live_texts(ledger)


def test_a_memory_ends_as_a_whole_if_it_ends_in_the_future(
    candidate: MakeCandidate, memory: MakeMemory, batch: MakeBatch, now: datetime
) -> None:
    june = datetime(2026, 6, 1, tzinfo=UTC)
    week, said = memory(WEEK), candidate(VAN_SOLD, valid_from=june)
    ledger = Ledger("n", 1, [week])
    settled_among_all(ledger, batch(), said, now, relations=relations_of(week, said, "has the van till Friday"))
    assert {each.text: each.valid_until for each in ledger.live_memories()} == {WEEK: june, VAN_SOLD: None}


def test_the_note_of_a_conversation_that_tells_the_candidate_keeps_its_text(
    candidate: MakeCandidate, memory: MakeMemory, batch: MakeBatch, now: datetime
) -> None:
    week, said = memory(WEEK), candidate(VAN_SOLD)
    ledger = Ledger("n", 1, [week])
    relations = relations_of(week, said, "has the van till Friday")
    settled_among_all(ledger, batch(), said, now, relations=relations, may_create=False, note=week)
    assert live_texts(ledger) == {f"{WEEK} {VAN_SOLD}"}


@pytest.mark.parametrize(
    ("text", "later", "clause", "rest"),
    [
        (
            "User is allergic to penicillin, shellfish and tree nuts.",
            "User is no longer allergic to penicillin.",
            "User is allergic to penicillin",
            "User is allergic to shellfish and tree nuts.",
        ),
        (
            "User avoids gluten, dairy, and eggs.",
            "User eats dairy again.",
            "User avoids dairy",
            "User avoids gluten, and eggs.",
        ),
        (
            "Der Nutzer ist allergisch gegen Nüsse, Soja und Milch.",
            "Der Nutzer verträgt Soja wieder.",
            "Der Nutzer ist allergisch gegen Soja",
            "Der Nutzer ist allergisch gegen Nüsse und Milch.",
        ),
        (
            "El usuario es alérgico al marisco, a la leche y a las nueces.",
            "El usuario ya tolera la leche.",
            "El usuario es alérgico al a la leche",
            "El usuario es alérgico al marisco y a las nueces.",
        ),
    ],
)
def test_the_only_item_of_a_limit_that_a_later_statement_names_can_leave(
    text: str, later: str, clause: str, rest: str
) -> None:
    cut = cut_of_named_item(text, later)

    assert cut is not None
    assert (cut.clause, cut.rest) == (clause, rest)


@pytest.mark.parametrize(
    ("text", "later"),
    [
        ("User is allergic to peanuts and soy.", "User has no allergies any more."),
        ("User is allergic to peanuts and soy.", "User is allergic to neither peanuts nor soy."),
        ("User is allergic to two things, nuts and soy.", "User eats soy again."),
        ("User works in sales, lives in Leeds and runs.", "User no longer works in sales."),
        ("User is allergic to seafood, shrimps.", "User eats shrimps again."),
        ("User is allergic to nuts.", "User eats nuts again."),
    ],
)
def test_no_item_leaves_if_several_or_none_are_named_or_the_text_is_no_list_of_limits(text: str, later: str) -> None:
    assert cut_of_named_item(text, later) is None


def test_a_limit_loses_the_item_that_a_candidate_ends_and_keeps_the_others(
    candidate: MakeCandidate, memory: MakeMemory, batch: MakeBatch, now: datetime
) -> None:
    allergies = memory("User is allergic to penicillin, shellfish and nuts.")
    said = candidate("User is no longer allergic to penicillin.", contradicts=allergies.memory_id)
    ledger = Ledger("n", 1, [allergies])
    relations = relations_of(allergies, said, "User is allergic to penicillin")
    settled_among_all(ledger, batch(), said, now, relations=relations)
    assert live_texts(ledger) == {"User is allergic to shellfish and nuts.", said.text}
