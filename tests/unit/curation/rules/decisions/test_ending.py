"""Memories superseded by a candidate: selection, dates, and checks of the model's verdict."""

from datetime import UTC, datetime, timedelta

import pytest

from agents.curation.rules.decisions.comparing import clauses_to_compare
from agents.curation.rules.decisions.endings import at_its_end, ending
from agents.curation.rules.ledger import change
from agents.curation.rules.ledger.ledger import Ledger
from sinks.vectors.port import Vector
from tests.builders.settled import SOUTH, settled_among_all
from tests.unit.curation.rules.conftest import MakeBatch, MakeCandidate, MakeMemory

JUNE = datetime(2026, 6, 1, tzinfo=UTC)


def test_one_statement_ends_every_memory_that_it_contradicts(
    candidate: MakeCandidate, memory: MakeMemory, batch: MakeBatch, now: datetime
) -> None:
    ledger = Ledger("n", 2, [memory("User is vegetarian."), memory("User avoids meat."), memory("User likes tofu.")])
    ruling = settled_among_all(ledger, batch(), candidate("User eats meat again."), now)
    assert ruling.result == "superseded"
    assert {each.text for each in ledger.live_memories()} == {"User likes tofu.", "User eats meat again."}


def test_the_second_of_two_candidates_of_a_slice_corrects_the_first(
    candidate: MakeCandidate, batch: MakeBatch, now: datetime
) -> None:
    ledger = Ledger("n", 0)
    settled_among_all(ledger, batch(), candidate("User's dentist is called Frey."), now)
    settled_among_all(ledger, batch(), candidate("User's dentist is called Fried.", at=11), now)
    assert [each.text for each in ledger.live_memories()] == ["User's dentist is called Fried."]


def test_a_planned_move_ends_the_current_home_on_the_move_date_and_not_before(
    candidate: MakeCandidate, memory: MakeMemory, batch: MakeBatch, now: datetime
) -> None:
    ledger = Ledger("n", 1, [home := memory("User lives in Turku.")])
    ruling = settled_among_all(
        ledger, batch(), candidate("User is moving to Oulu on 2026-06-01.", event_time=JUNE), now
    )
    live = {each.text: each for each in ledger.live_memories()}
    assert (live[home.text].valid_until, live[home.text].superseded_by) == (JUNE, ruling.memory_id)
    assert live["User is moving to Oulu on 2026-06-01."].valid_from == JUNE
    assert [entry.change for entry in ledger.entries] == ["created", "updated"]
    successor = ledger.find_live(ruling.memory_id)
    kind, after = at_its_end(live[home.text], successor, JUNE)
    assert (kind, after.status, after.valid_until) == ("superseded", "superseded", JUNE)


def test_a_memory_stays_active_when_its_planned_successor_is_withdrawn_before_the_start_date(
    memory: MakeMemory, now: datetime
) -> None:
    plan = memory("User is moving to Oulu.", valid_from=JUNE)
    home = ending(memory("User lives in Turku."), plan, JUNE, now)
    withdrawn = change.superseded(plan, memory("User stays in Turku."), now, now)
    for successor in (None, change.deleted(plan, now), withdrawn):
        kind, after = at_its_end(home, successor, JUNE + timedelta(days=1))
        assert (kind, after.status, after.valid_until, after.superseded_by) == ("updated", "active", None, None)


def test_a_temporary_statement_does_not_end_a_permanent_memory(
    candidate: MakeCandidate, memory: MakeMemory, batch: MakeBatch, now: datetime
) -> None:
    ledger = Ledger("n", 1, [memory("User lives in Turku.")])
    settled_among_all(ledger, batch(), candidate("User lives in Porto until June.", valid_until=JUNE), now)
    ends = {each.text: each.valid_until for each in ledger.live_memories()}
    assert ends == {"User lives in Turku.": None, "User lives in Porto until June.": JUNE}
    porto = ledger.live_memories()[-1]
    assert at_its_end(porto, None, JUNE)[1].status == "expired"


def test_a_correction_of_a_future_event_supersedes_the_memory_immediately(
    candidate: MakeCandidate, memory: MakeMemory, batch: MakeBatch, now: datetime
) -> None:
    ledger = Ledger("n", 1, [memory("The exam is on Tuesday.")])
    settled_among_all(ledger, batch(), candidate("The exam is on Monday.", event_time=JUNE), now)
    assert [each.text for each in ledger.live_memories()] == ["The exam is on Monday."]


def test_a_refinement_with_additional_content_is_appended_to_the_text_and_embedded_again(
    candidate: MakeCandidate, memory: MakeMemory, batch: MakeBatch, now: datetime
) -> None:
    known = memory("User has a dog called Rex.")
    ledger = Ledger("n", 1, [known])
    said = candidate("User's dog Rex is a labrador.", refines=known.memory_id)
    ruling = settled_among_all(ledger, batch(), said, now, cosine=0.8)
    (after,) = ledger.live_memories()
    assert ruling.result == "merged"
    assert after.text == "User has a dog called Rex. User's dog Rex is a labrador."
    written: Vector | None = ledger.entries[-1].vector
    assert written is SOUTH


def test_a_refinement_too_long_to_append_becomes_a_new_memory_with_a_refines_link(
    candidate: MakeCandidate, memory: MakeMemory, batch: MakeBatch, now: datetime
) -> None:
    known = memory("User has a dog called Rex, " + "which they found on a long walk through the woods, " * 3)
    ledger = Ledger("n", 1, [known])
    said = candidate("User's dog Rex is a labrador with a limp.", refines=known.memory_id)
    settled_among_all(ledger, batch(), said, now, cosine=0.8)
    beside = ledger.live_memories()[-1]
    assert beside.text == said.text
    assert [(each.type, each.memory_id) for each in beside.links] == [("refines", known.memory_id)]


def test_a_model_contradicts_verdict_is_ignored_for_another_person_or_an_unrelated_memory(
    candidate: MakeCandidate, memory: MakeMemory, batch: MakeBatch, now: datetime
) -> None:
    wife, tea = memory("User's wife plays the cello."), memory("User likes tea.")
    for known, cosine in ((wife, 0.8), (tea, 0.1)):
        ledger = Ledger("n", 1, [known])
        settled_among_all(ledger, batch(), candidate("User plays the viola.", contradicts=known.memory_id), now, cosine)
        assert len(ledger.live_memories()) == 2


@pytest.mark.parametrize(
    ("known", "said"),
    [
        ("User's three children live at home.", "User's child Nils moved out."),
        ("User's child Mateo is allergic to peanuts.", "Mateo passed the test and eats peanuts."),
        ("User's sister has her birthday on 5 July.", "The birthday of the user's sister is 3 July."),
        ("User has two children, Jayden, 7.", "User's son Jayden turned 8."),
    ],
)
def test_a_model_contradicts_verdict_ends_a_memory_that_names_the_same_person(
    candidate: MakeCandidate, memory: MakeMemory, batch: MakeBatch, now: datetime, known: str, said: str
) -> None:
    before = memory(known)
    ledger = Ledger("n", 1, [before])
    settled_among_all(ledger, batch(), candidate(said, contradicts=before.memory_id), now, 0.5)
    assert ledger.find_live(before.memory_id) is None


@pytest.mark.parametrize(
    ("known", "said", "ends"),
    [
        ("User's brother Tariq is a soldier.", "He is out of the army.", True),
        ("Le mari de l'utilisatrice travaille de nuit.", "Il travaille de jour.", True),
        ("User works at Siemens.", "User's wife works at Bosch.", False),
        ("User's mother is a teacher.", "User's father is a retired teacher.", False),
    ],
)
def test_a_model_contradicts_verdict_counts_if_the_subject_of_a_statement_is_unknown(
    candidate: MakeCandidate, memory: MakeMemory, batch: MakeBatch, now: datetime, known: str, said: str, ends: bool
) -> None:
    before = memory(known)
    ledger = Ledger("n", 1, [before])
    settled_among_all(ledger, batch(), candidate(said, contradicts=before.memory_id), now, 0.5)
    assert (ledger.find_live(before.memory_id) is None) == ends


def test_model_contradicts_verdicts_apply_across_languages_and_to_several_memories(
    candidate: MakeCandidate, memory: MakeMemory, batch: MakeBatch, now: datetime
) -> None:
    first, second = memory("User plays the cello.", language="en"), memory("User owns a cello.", language="en")
    ledger = Ledger("n", 2, [first, second])
    said = candidate(
        "Der Nutzer hat die Musik aufgegeben.",
        language="de",
        contradicts=first.memory_id,
        supersedes=(second.memory_id,),
    )
    settled_among_all(ledger, batch(), said, now, cosine=0.1)
    assert [each.text for each in ledger.live_memories()] == [said.text]


@pytest.mark.parametrize(
    ("confidence", "pinned", "spared"),
    [(0.3, False, True), (0.3, True, True), (0.9, False, False), (0.9, True, False), (0.5, False, False)],
)
def test_a_hedged_statement_ends_no_memory(
    confidence: float,
    pinned: bool,
    spared: bool,
    candidate: MakeCandidate,
    memory: MakeMemory,
    batch: MakeBatch,
    now: datetime,
) -> None:
    allergy = memory("User is allergic to peanuts.", confidence=0.95, pinned=pinned)
    ledger = Ledger("n", 1, [allergy])
    said = candidate("User's peanut allergy is gone.", supersedes=(allergy.memory_id,), confidence=confidence)
    ruling = settled_among_all(ledger, batch(), said, now)
    made = ledger.find_live(ruling.memory_id)
    assert made is not None
    assert (ledger.find_live(allergy.memory_id) is not None) is spared
    assert [each.type for each in made.links] == ["relates" if spared else "supersedes"]


def test_a_hedged_statement_ends_another_hedged_one(
    candidate: MakeCandidate, memory: MakeMemory, batch: MakeBatch, now: datetime
) -> None:
    ledger = Ledger("n", 1, [memory("User may live in Turku.", confidence=0.4, memory_id="home")])
    settled_among_all(ledger, batch(), candidate("User may live in Oulu.", supersedes=("home",), confidence=0.4), now)
    assert [each.text for each in ledger.live_memories()] == ["User may live in Oulu."]


def test_a_hedged_statement_that_was_said_before_a_surer_memory_is_outdated(
    candidate: MakeCandidate, memory: MakeMemory, batch: MakeBatch, now: datetime
) -> None:
    home = memory("User lives in Lyon.", at=20)
    ledger = Ledger("n", 1, [home])
    late = candidate("User lives in Berlin.", at=10, confidence=0.4, supersedes=(home.memory_id,))
    assert settled_among_all(ledger, batch(), late, now).result == "dropped"


def test_a_late_statement_takes_no_clause_out_of_a_memory_that_was_said_later(
    candidate: MakeCandidate, memory: MakeMemory
) -> None:
    known = memory("User works at Kone and lives in Lyon.", at=20)
    late = candidate("User lives in Berlin.", at=10, supersedes=(known.memory_id,))
    cuts = dict.fromkeys(clauses_to_compare(Ledger("n", 1, [known]), [late], [lambda memory: True]))
    assert not cuts
    newer = candidate("User lives in Berlin.", at=30, supersedes=(known.memory_id,))
    assert dict.fromkeys(clauses_to_compare(Ledger("n", 1, [known]), [newer], [lambda memory: True]))
