"""Memories of several clauses, one of which a candidate ends."""

from collections.abc import Callable
from datetime import UTC, datetime

import numpy as np
import pytest

from agents.curation.rules.decisions.clauses import cuts_of
from agents.curation.rules.decisions.comparing import missing_pairs, pair_of
from agents.curation.rules.decisions.settle import settle
from agents.curation.rules.decisions.thresholds import Thresholds
from agents.curation.rules.ledger.change import without_clause
from agents.curation.rules.ledger.ledger import Ledger
from agents.curation.rules.ledger.outcomes import Ruling
from schemas.extraction.candidates import Candidate, CandidateBatch
from schemas.extraction.relations import HOLDS, Pair, Relation
from schemas.memories.memories import Memory
from schemas.policies.policies import DEFAULT_POLICY
from sinks.vectors.port import Neighbour

MakeCandidate = Callable[..., Candidate]
MakeMemory = Callable[..., Memory]
MakeBatch = Callable[..., CandidateBatch]

EAST = np.array((1, 0), np.float32)
SOUTH = np.array((0, -1), np.float32)
ENDS = Relation(ends=0.9, holds=0.1, same=0.0)
IN_PART = Relation(ends=0.1, holds=0.1, same=0.0, ends_in_part=0.8)
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


def settled(
    ledger: Ledger, batch: CandidateBatch, said: Candidate, relations: dict[Pair, Relation], now: datetime
) -> Ruling:
    found = tuple(Neighbour(each.memory_id, 0.6) for each in ledger.live_memories())
    return settle(
        ledger,
        batch,
        said,
        EAST,
        found,
        DEFAULT_POLICY,
        Thresholds(),
        now,
        vector_of=lambda _: SOUTH,
        relations=relations,
    )


def relations_of(memory: Memory, said: Candidate, whole: Relation, ended: str) -> dict[Pair, Relation]:
    """Those of a model by which the clause `ended` ends, and no other one."""
    pair = pair_of(memory.text, said.text)
    known = {pair: whole}
    return known | {each: ENDS if each.earlier == ended else HOLDS for each in missing_pairs([pair], known)}


@pytest.mark.parametrize("whole", [ENDS, IN_PART])
def test_a_memory_loses_the_clause_that_a_candidate_ends_and_keeps_the_others(
    candidate: MakeCandidate, memory: MakeMemory, batch: MakeBatch, now: datetime, whole: Relation
) -> None:
    week, said = memory(WEEK), candidate(VAN_SOLD)
    ledger = Ledger("n", 1, [week])
    ruling = settled(ledger, batch(), said, relations_of(week, said, whole, "has the van till Friday"), now)
    assert ruling.result == "created"
    assert {each.text for each in ledger.live_memories()} == {"User teaches judo on Mondays.", VAN_SOLD}
    _, updated = ledger.entries
    assert (updated.change, updated.after.memory_id, updated.before) == ("updated", week.memory_id, week)
    assert updated.vector is SOUTH
    assert updated.cause.reason == "a part of it ended: the candidate replaces it"


def test_a_quotation_may_lose_its_first_clause_but_a_statement_keeps_its_subject(
    candidate: MakeCandidate, memory: MakeMemory, batch: MakeBatch, now: datetime
) -> None:
    said = candidate("User's physio is on Thursday now.")
    quoted = memory('User said: "Physio Tuesday 10:00 and the tax guy Wednesday".')
    stated = memory("User has physio on Tuesday and meets the tax guy on Wednesday.")
    for each, ended, expected in (
        (quoted, "Physio Tuesday 10:00", 'User said: "the tax guy Wednesday".'),
        (stated, "User has physio on Tuesday", stated.text),
    ):
        ledger = Ledger("n", 1, [each])
        settled(ledger, batch(), said, relations_of(each, said, IN_PART, ended), now)
        assert {each.text for each in ledger.live_memories()} == {expected, said.text}


def test_a_memory_whose_remaining_text_would_not_hold_ends_as_a_whole(
    candidate: MakeCandidate, memory: MakeMemory, batch: MakeBatch, now: datetime
) -> None:
    week, said = memory(WEEK), candidate("User has neither a class nor a van these days.")
    pair = pair_of(week.text, said.text)
    relations = {pair: ENDS} | dict.fromkeys(missing_pairs([pair], {pair: ENDS}), ENDS)
    ledger = Ledger("n", 1, [week])
    assert settled(ledger, batch(), said, relations, now).result == "superseded"
    assert [each.text for each in ledger.live_memories()] == [said.text]


def test_a_memory_of_which_two_clauses_end_stays_unless_it_ends_as_a_whole(
    candidate: MakeCandidate, memory: MakeMemory, batch: MakeBatch, now: datetime
) -> None:
    week, said = memory("User teaches judo on Mondays, has the van till Friday, has the car then."), candidate(VAN_SOLD)
    pair = pair_of(week.text, said.text)
    relations = {pair: IN_PART} | {
        each: ENDS if each.earlier.startswith("has") else HOLDS for each in missing_pairs([pair], {pair: IN_PART})
    }
    ledger = Ledger("n", 1, [week])
    settled(ledger, batch(), said, relations, now)
    assert {each.text for each in ledger.live_memories()} == {week.text, VAN_SOLD}


@pytest.mark.parametrize(
    ("whole", "until"), [(ENDS, datetime(2026, 6, 1, tzinfo=UTC)), (IN_PART, None)], ids=["as a whole", "in part"]
)
def test_no_clause_leaves_before_the_day_on_which_it_ends(
    candidate: MakeCandidate,
    memory: MakeMemory,
    batch: MakeBatch,
    now: datetime,
    whole: Relation,
    until: datetime | None,
) -> None:
    week, said = memory(WEEK), candidate(VAN_SOLD, valid_from=datetime(2026, 6, 1, tzinfo=UTC))
    ledger = Ledger("n", 1, [week])
    settled(ledger, batch(), said, relations_of(week, said, whole, "has the van till Friday"), now)
    assert {each.text: each.valid_until for each in ledger.live_memories()} == {WEEK: until, VAN_SOLD: None}


def test_a_memory_with_a_full_text_or_an_end_loses_no_clause(
    candidate: MakeCandidate, memory: MakeMemory, batch: MakeBatch, now: datetime
) -> None:
    for fields in (
        {"full_text": "The whole week: judo on Mondays, the van till Friday."},
        {"valid_until": datetime(2027, 1, 1, tzinfo=UTC)},
    ):
        week, said = memory(WEEK, **fields), candidate(VAN_SOLD)
        ledger = Ledger("n", 1, [week])
        settled(ledger, batch(), said, relations_of(week, said, IN_PART, "has the van till Friday"), now)
        assert {each.text for each in ledger.live_memories()} == {WEEK, VAN_SOLD}


def test_no_clause_leaves_if_another_memory_has_the_text_that_would_remain(
    candidate: MakeCandidate, memory: MakeMemory, batch: MakeBatch, now: datetime
) -> None:
    week, judo, said = memory(WEEK), memory("User teaches judo on Mondays."), candidate(VAN_SOLD)
    ledger = Ledger("n", 2, [week, judo])
    settled(ledger, batch(), said, relations_of(week, said, IN_PART, "has the van till Friday"), now)
    assert {each.text for each in ledger.live_memories()} == {WEEK, judo.text, VAN_SOLD}


def test_an_event_leaves_with_the_clause_that_names_its_day(memory: MakeMemory, now: datetime) -> None:
    dated = memory(
        "User has physio on 2026-04-04, a dentist on 2026-03-03.", event_time=datetime(2026, 3, 3, tzinfo=UTC)
    )
    assert without_clause(dated, "User has physio on 2026-04-04.", now).event_time is None
    assert without_clause(dated, "User has a dentist on 2026-03-03.", now).event_time == dated.event_time


def test_clauses_are_compared_only_if_the_memory_may_end() -> None:
    pair = pair_of(WEEK, VAN_SOLD)
    assert missing_pairs([pair], {}) == [pair]
    assert missing_pairs([pair], {pair: HOLDS}) == []
    assert {each.earlier for each in missing_pairs([pair], {pair: IN_PART})} == {
        *("has the van till Friday", "User teaches judo on Mondays."),
        *("User teaches judo on Mondays", "has the van till Friday."),
    }
