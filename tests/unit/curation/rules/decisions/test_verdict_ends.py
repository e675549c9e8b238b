"""When memories end that a model's verdict names: on a day, or as never true."""

from datetime import UTC, datetime
from typing import Any

import pytest

from agents.curation.rules.decisions.contradictions import MODEL, UNTRUE
from agents.curation.rules.ledger.ledger import Ledger
from agents.models.port import Verdict
from schemas.extraction.candidates import Source
from tests.builders.settled import settled_among_all
from tests.unit.curation.rules.conftest import MakeBatch, MakeCandidate, MakeMemory

JUNE, JULY = (datetime(2026, month, 1, tzinfo=UTC) for month in (6, 7))


@pytest.mark.parametrize("until", [JUNE, datetime(2026, 2, 1, tzinfo=UTC)])
def test_a_memory_ends_on_the_day_that_a_verdict_names(
    until: datetime, candidate: MakeCandidate, memory: MakeMemory, batch: MakeBatch, now: datetime
) -> None:
    gym = memory("User trains at FitPoint.", valid_from=datetime(2025, 1, 1, tzinfo=UTC))
    said = candidate("User's contract with FitPoint runs out.", supersedes=(gym.memory_id,))
    verdict = Verdict(candidate_id=said.candidate_id, ends=(gym.memory_id,), until=until)
    ledger = Ledger("n", 1, [gym])
    ruling = settled_among_all(ledger, batch(), said, now, verdict=verdict)
    after = ledger.find(gym.memory_id)
    assert after is not None and (after.valid_until, after.superseded_by) == (until, ruling.memory_id)
    assert after.status == ("active" if until > now else "superseded")


def test_a_day_before_the_beginning_of_a_memory_does_not_count(
    candidate: MakeCandidate, memory: MakeMemory, batch: MakeBatch, now: datetime
) -> None:
    gym = memory("User trains at FitPoint.")
    said = candidate("User leaves FitPoint on 2026-06-01.", event_time=JUNE, supersedes=(gym.memory_id,))
    verdict = Verdict(
        candidate_id=said.candidate_id, ends=(gym.memory_id,), until=datetime(2025, 6, 1, tzinfo=UTC)
    )  # a year too early
    ledger = Ledger("n", 1, [gym])
    settled_among_all(ledger, batch(), said, now, verdict=verdict)
    after = ledger.find_live(gym.memory_id)
    assert after is not None and after.valid_until == JUNE


@pytest.mark.parametrize(
    ("known", "said"),
    [
        ("User is moving to Lyon on 2026-06-01.", "User is moving to Lyon on 2026-07-01 instead."),
        ("User's exam takes place on 2026-06-01.", "User's exam takes place on 2026-07-01."),
    ],
)
def test_a_plan_with_another_date_is_replaced_at_once_whatever_day_a_verdict_names(
    known: str, said: str, candidate: MakeCandidate, memory: MakeMemory, batch: MakeBatch, now: datetime
) -> None:
    plan = memory(known, valid_from=JUNE if "moving" in known else None)
    later = candidate(said, event_time=JULY, supersedes=(plan.memory_id,))
    verdict = Verdict(candidate_id=later.candidate_id, ends=(plan.memory_id,), until=JULY)
    ledger = Ledger("n", 1, [plan])
    settled_among_all(ledger, batch(), later, now, verdict=verdict)
    assert ledger.find_live(plan.memory_id) is None


@pytest.mark.parametrize(
    ("known", "said", "ends"),
    [
        ("User has a parking permit for zone 3.", "User's parking permit expires on 2026-05-31.", JUNE),
        ("User lives in Berlin.", "User lives in Porto until 2026-05-31.", None),
    ],
)
def test_a_temporary_statement_ends_a_permanent_memory_at_a_named_day_only_if_it_says_that_something_runs_out(
    known: str,
    said: str,
    ends: datetime | None,
    candidate: MakeCandidate,
    memory: MakeMemory,
    batch: MakeBatch,
    now: datetime,
) -> None:
    before = memory(known)
    temporary = candidate(said, valid_until=JUNE, supersedes=(before.memory_id,))
    verdict = Verdict(candidate_id=temporary.candidate_id, ends=(before.memory_id,), until=JUNE)
    ledger = Ledger("n", 1, [before])
    settled_among_all(ledger, batch(), temporary, now, verdict=verdict)
    after = ledger.find_live(before.memory_id)
    assert after is not None and after.valid_until == ends


def test_a_memory_that_was_never_true_held_at_no_time(
    candidate: MakeCandidate, memory: MakeMemory, batch: MakeBatch, now: datetime
) -> None:
    joke, old = memory("User has a pet crocodile."), memory("User's aunt is called Ida.")
    said = candidate("User has no crocodile.", supersedes=(joke.memory_id, old.memory_id))
    verdict = Verdict(candidate_id=said.candidate_id, ends=(old.memory_id,), untrue=(joke.memory_id,))
    ledger = Ledger("n", 1, [joke, old])
    settled_among_all(ledger, batch(), said, now, verdict=verdict)
    after = ledger.find(joke.memory_id)
    assert after is not None and (after.status, after.valid_until) == ("superseded", joke.valid_from)
    reasons = {each.after.text: each.cause.reason for each in ledger.entries if each.change == "superseded"}
    assert reasons == {joke.text: UNTRUE, old.text: MODEL}


@pytest.mark.parametrize(
    "fields",
    [
        {"confidence": 0.3},
        {"at": -10},
        {"text": "User's sister has no crocodile."},
        {"sources": (Source(conversation_id="c", message_id="m", attributed_to="assistant"),)},
    ],
)
def test_the_guards_protect_a_memory_that_a_verdict_takes_back(
    fields: dict[str, Any], candidate: MakeCandidate, memory: MakeMemory, batch: MakeBatch, now: datetime
) -> None:
    known = memory("User has a pet crocodile.")
    said = candidate(**{"text": "User was joking about the crocodile.", "supersedes": (known.memory_id,), **fields})
    verdict = Verdict(candidate_id=said.candidate_id, untrue=(known.memory_id,))
    ledger = Ledger("n", 1, [known])
    settled_among_all(ledger, batch(), said, now, verdict=verdict)
    assert ledger.find_live(known.memory_id) == known
