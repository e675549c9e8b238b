"""When a candidate ends memories: temporary statements, events and plans that lie ahead, and plans that change."""

from datetime import UTC, datetime, timedelta

import pytest

from agents.curation.rules.decisions.endings import at_its_end, successor_at_end
from agents.curation.rules.ledger import change
from agents.curation.rules.ledger.ledger import Ledger
from schemas.extraction.candidates import Candidate, CandidateBatch
from schemas.ids import memory_id
from schemas.memories.memories import Memory
from tests.builders.settled import settled_among_all
from tests.unit.curation.rules.conftest import MakeBatch, MakeCandidate, MakeMemory

MAY, JUNE, JULY = (datetime(2026, month, 1, tzinfo=UTC) for month in (5, 6, 7))


@pytest.mark.parametrize(
    ("known", "said"),
    [
        ("User lives in Berlin.", "User lives in Porto until 2026-06-01."),
        ("User works at the office in Munich.", "User works from home until 2026-06-01."),
        ("User eats meat.", "User eats no meat until 2026-06-01."),
        ("User's manager is Eva.", "User's manager is Tom until 2026-06-01."),
    ],
)
def test_a_temporary_statement_ends_no_permanent_memory_that_a_model_names(
    known: str, said: str, candidate: MakeCandidate, memory: MakeMemory, batch: MakeBatch, now: datetime
) -> None:
    before = memory(known)
    ledger = Ledger("n", 1, [before])
    settled_among_all(ledger, batch(), candidate(said, valid_until=JUNE, supersedes=(before.memory_id,)), now)
    assert {each.text: each.valid_until for each in ledger.live_memories()} == {known: None, said: JUNE}


@pytest.mark.parametrize(
    ("said", "until"),
    [
        ("User works at Kone until 2026-06-01.", JUNE),
        ("User worked at Kone until last week.", datetime(2026, 2, 20, tzinfo=UTC)),
    ],
)
def test_a_statement_about_the_end_of_a_memory_ends_it_if_a_model_names_it(
    said: str, until: datetime, candidate: MakeCandidate, memory: MakeMemory, batch: MakeBatch, now: datetime
) -> None:
    before = memory("User works at Kone.")
    ledger = Ledger("n", 1, [before])
    settled_among_all(ledger, batch(), candidate(said, valid_until=until, supersedes=(before.memory_id,)), now)
    assert [each.text for each in ledger.live_memories()] == [said]


@pytest.mark.parametrize(
    ("known", "said"),
    [
        ("User works at Siemens.", "User will quit Siemens on 2026-06-01."),
        ("User owns a VW Golf.", "User is selling the VW Golf on 2026-06-01."),
        ("User leads a choir.", "User hands the choir over to Ines on 2026-06-01."),
    ],
)
def test_a_future_event_ends_a_memory_on_its_day(
    known: str, said: str, candidate: MakeCandidate, memory: MakeMemory, batch: MakeBatch, now: datetime
) -> None:
    before = memory(known)
    ledger = Ledger("n", 1, [before])
    ruling = settled_among_all(ledger, batch(), candidate(said, event_time=JUNE, supersedes=(before.memory_id,)), now)
    after = ledger.find_live(before.memory_id)
    assert after is not None and (after.valid_until, after.superseded_by) == (JUNE, ruling.memory_id)
    announcement = ledger.find_live(ruling.memory_id)
    assert announcement is not None and announcement.valid_from == candidate(said).sources[0].timestamp


def test_a_future_event_replaces_an_earlier_date_and_a_wish_immediately(
    candidate: MakeCandidate, memory: MakeMemory, batch: MakeBatch, now: datetime
) -> None:
    exam = memory("User's exam takes place on 2026-05-20.", event_time=datetime(2026, 5, 20, 12, tzinfo=UTC))
    wish = memory("User wants to take the exam in summer.")
    ledger = Ledger("n", 2, [exam, wish])
    said = candidate("The exam was moved to 2026-06-01.", event_time=JUNE, supersedes=(exam.memory_id, wish.memory_id))
    settled_among_all(ledger, batch(), said, now)
    assert [each.text for each in ledger.live_memories()] == [said.text]


def planned(ledger: Ledger, batch: CandidateBatch, said: Candidate, now: datetime) -> Memory:
    """The live memory of a plan."""
    made = ledger.find_live(settled_among_all(ledger, batch, said, now).memory_id)
    assert made is not None
    return made


def test_a_postponed_plan_ends_the_present_on_the_new_day(
    candidate: MakeCandidate, memory: MakeMemory, batch: MakeBatch, now: datetime
) -> None:
    home = memory("User lives in Berlin.")
    ledger = Ledger("n", 1, [home])
    plan = planned(ledger, batch(), candidate("User will move to Lyon on 2026-06-01.", valid_from=JUNE), now)
    said = candidate(
        "User's move to Lyon is put off to 2026-07-01.", at=20, valid_from=JULY, supersedes=(plan.memory_id,)
    )
    later = planned(ledger, batch(), said, now)
    after = ledger.find_live(home.memory_id)
    assert after is not None and (after.valid_until, after.superseded_by) == (JULY, later.memory_id)
    assert ledger.find_live(plan.memory_id) is None


def test_a_cancelled_plan_ends_nothing(
    candidate: MakeCandidate, memory: MakeMemory, batch: MakeBatch, now: datetime
) -> None:
    for text, event in (
        ("User stays in Berlin after all.", None),
        ("User is not moving to Lyon on 2026-06-01.", JUNE),
        ("User's move to Lyon on 2026-06-01 was cancelled.", JUNE),
    ):
        home = memory("User lives in Berlin.")
        ledger = Ledger("n", 1, [home])
        plan = planned(ledger, batch(), candidate("User will move to Lyon on 2026-06-01.", valid_from=JUNE), now)
        said = candidate(text, at=20, event_time=event, supersedes=(plan.memory_id,))
        settled_among_all(ledger, batch(), said, now)
        after = ledger.find_live(home.memory_id)
        assert after is not None and (after.valid_until, after.superseded_by) == (None, None)
        assert ledger.find_live(plan.memory_id) is None


def test_two_plans_one_after_the_other_both_hold_in_their_time(
    candidate: MakeCandidate, memory: MakeMemory, batch: MakeBatch, now: datetime
) -> None:
    ledger = Ledger("n", 1, [memory("User lives in Berlin.")])
    settled_among_all(ledger, batch(), candidate("User will move to Lyon on 2026-06-01.", valid_from=JUNE), now)
    settled_among_all(ledger, batch(), candidate("User will move to Oulu on 2026-07-01.", at=11, valid_from=JULY), now)
    times = {each.text.split()[-3]: (each.valid_from, each.valid_until) for each in ledger.live_memories()[1:]}
    assert times == {"Lyon": (JUNE, JULY), "Oulu": (JULY, None)}


def test_a_memory_keeps_its_earlier_end_if_a_model_names_two_plans_one_after_the_other(
    candidate: MakeCandidate, memory: MakeMemory, batch: MakeBatch, now: datetime
) -> None:
    home, lyon = memory("User lives in Berlin."), candidate("User will move to Lyon on 2026-06-01.", valid_from=JUNE)
    ledger = Ledger("n", 1, [home])
    settled_among_all(ledger, batch(), lyon, now)
    named = (home.memory_id, memory_id(lyon.candidate_id))
    oulu = candidate("User will move to Oulu on 2026-07-01.", at=11, valid_from=JULY, supersedes=named)
    settled_among_all(ledger, batch(), oulu, now)
    ends = {each.text.split()[-3]: each.valid_until for each in ledger.live_memories()}
    assert ends == {"lives": JUNE, "Lyon": JULY, "Oulu": None}


def test_a_plan_that_is_repeated_without_its_date_keeps_it(
    candidate: MakeCandidate, memory: MakeMemory, batch: MakeBatch, now: datetime
) -> None:
    home = memory("User lives in Berlin.")
    ledger = Ledger("n", 1, [home])
    settled_among_all(
        ledger, batch(), candidate("User will move to Lyon.", valid_from=JUNE, supersedes=(home.memory_id,)), now
    )
    again = candidate("User will move to Lyon.", at=20, candidate_id="again", supersedes=(home.memory_id,))
    settled_among_all(ledger, batch(), again, now)
    assert {each.text: (each.valid_from, each.valid_until) for each in ledger.live_memories()} == {
        "User lives in Berlin.": (home.valid_from, JUNE),
        "User will move to Lyon.": (JUNE, None),
    }


def test_a_plan_that_began_early_holds_from_the_earlier_day(
    candidate: MakeCandidate, memory: MakeMemory, batch: MakeBatch, now: datetime
) -> None:
    job = memory("User works at Siemens.")
    ledger = Ledger("n", 1, [job])
    settled_among_all(
        ledger, batch(), candidate("User works at Kone.", valid_from=JUNE, supersedes=(job.memory_id,)), now
    )
    late = candidate("User works at Kone.", at=20, candidate_id="late", valid_from=MAY, supersedes=(job.memory_id,))
    settled_among_all(ledger, batch(), late, MAY + timedelta(days=9))
    assert [(each.text, each.valid_from) for each in ledger.live_memories()] == [("User works at Kone.", MAY)]
    after = ledger.find(job.memory_id)
    assert after is not None and (after.status, after.valid_until) == ("superseded", MAY)


def test_a_memory_is_superseded_by_the_memory_into_which_compaction_merged_its_successor(
    memory: MakeMemory, now: datetime
) -> None:
    merged = memory("User will move to Lyon with Tom.")
    plan = change.deleted(memory("plan", valid_from=JUNE, superseded_by=merged.memory_id), now)
    home = memory("User lives in Berlin.", valid_until=JUNE, superseded_by=plan.memory_id)
    successor = successor_at_end(home, {each.memory_id: each for each in (plan, merged)})
    kind, after = at_its_end(home, successor, JUNE)
    assert (kind, after.superseded_by, after.valid_until) == ("superseded", merged.memory_id, JUNE)


def test_a_memory_holds_until_a_later_plan_that_replaced_its_successor_begins(
    memory: MakeMemory, now: datetime
) -> None:
    later = memory("User will move to Lyon on 2026-07-01.", valid_from=JULY)
    plan = change.superseded(memory("plan", valid_from=JUNE), later, now, now)
    home = memory("User lives in Berlin.", valid_until=JUNE, superseded_by=plan.memory_id)
    successor = successor_at_end(home, {each.memory_id: each for each in (plan, later)})
    kind, after = at_its_end(home, successor, JUNE)
    assert (kind, after.status, after.valid_until, after.superseded_by) == ("updated", "active", JULY, later.memory_id)
    assert at_its_end(after, later, JULY)[1].status == "superseded"


def test_a_nightly_run_or_replay_dates_memories_by_when_they_were_said(
    candidate: MakeCandidate, memory: MakeMemory, batch: MakeBatch, now: datetime
) -> None:
    known = memory("User lives in Turku.")
    moved = candidate("User moved to Oulu.", at=90)
    ledger = Ledger("n", 1, [known])
    settled_among_all(ledger, batch(), moved, now + timedelta(days=200))
    before, after = (ledger.find(each) for each in (known.memory_id, memory_id(moved.candidate_id)))
    assert before is not None and after is not None
    assert before.valid_until == after.valid_from == after.said_at == moved.sources[0].timestamp


def test_a_plan_that_is_read_after_its_day_ends_the_memory_as_of_that_day(
    candidate: MakeCandidate, memory: MakeMemory, batch: MakeBatch
) -> None:
    known = memory("User lives in Turku.")
    ledger = Ledger("n", 1, [known])
    settled_among_all(ledger, batch(), candidate("User is moving to Oulu.", valid_from=JUNE), JULY)
    ended = ledger.find(known.memory_id)
    assert ended is not None
    assert (ended.status, ended.valid_until) == ("superseded", JUNE)
