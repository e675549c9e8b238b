"""A namespace stays within its memory limit under concurrent changes, by model and by rule."""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest
from msgspec.structs import replace

from agents.curation.curator import Curator
from agents.models.port import Compaction
from schemas.errors import Deferred, Rejected, Retryable
from schemas.extraction.candidates import Source
from schemas.kafka import topics
from schemas.memories.commands import Command
from schemas.policies.matching import Match
from schemas.policies.policies import Policies, Policy
from tests.integration.curation_bench import NOON

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schemas.memories.memories import Memory
    from tests.integration.curation_bench import Bench

NOTES = Policy(name="notes", match=Match(app_id="n"), namespaces=("{app_id}",), max_memories=3)
FACTS = ("User has a dog", "User speaks Danish", "User works in Lyon", "User plays the oboe", "User owns a boat")


@pytest.fixture
def curator(bench: "Bench") -> Curator:
    return bench.curator_under(Policies((NOTES,)))


async def remember(bench: "Bench", curator: Curator, *texts: str) -> None:
    for text in texts:
        await curator.curate(bench.batch(text, policy="notes"))


async def texts(bench: "Bench") -> set[str]:
    return {memory.text for memory in await bench.memories.in_namespace("n")}


async def test_a_memory_beyond_the_limit_is_created_and_another_removed_in_one_decision(
    bench: "Bench", curator: Curator
) -> None:
    await remember(bench, curator, *FACTS[:4])
    assert await texts(bench) == set(FACTS[1:4])
    assert bench.provider.call_counts["compact"] == 1
    events = bench.events()
    assert [event.data.change for event in events] == ["created"] * 4 + ["compacted"]
    assert (events[-1].data.cause.actor, events[-1].data.memory.status) == ("fake", "deleted")
    (tombstone,) = [record for record in bench.publisher.on(topics.STATE) if record.value is None]
    assert tombstone.key == events[-1].data.memory.memory_id.encode()
    versions = await bench.memories.versions(events[-1].data.memory.memory_id)
    assert [version.change for version in versions] == ["created", "compacted"]
    assert versions[-1].before is not None
    assert versions[-1].before.text == FACTS[0], "what went stays readable as a version"


@pytest.mark.parametrize(
    "failure", [Retryable("away"), Rejected("unreadable", "no JSON"), Deferred(NOON, "budget"), TimeoutError()]
)
async def test_without_a_model_decision_the_oldest_memory_of_least_importance_is_removed(
    bench: "Bench", curator: Curator, failure: Exception
) -> None:
    await remember(bench, curator, *FACTS[:3])
    bench.provider.failures.append(failure)
    await remember(bench, curator, FACTS[3])
    assert await texts(bench) == set(FACTS[1:4])
    assert bench.events()[-1].data.cause.actor == "memstream"


async def test_two_merged_memories_are_found_by_their_new_text(
    bench: "Bench", curator: Curator, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def merge(memories: "Sequence[Memory]", policy: Policy) -> Compaction:
        one, *_, newest = memories
        return Compaction(
            provider="fake",
            model="fake-1",
            action="edit",
            memory_id=one.memory_id,
            reason="both about home",
            text=f"{one.text} and {newest.text}",
            absorbs=newest.memory_id,
        )

    monkeypatch.setattr(bench.provider, "compact", merge)
    await remember(bench, curator, *FACTS[:4])
    both = f"{FACTS[0]} and {FACTS[3]}"
    assert await texts(bench) == {both, *FACTS[1:3]}
    edited, absorbed = bench.events()[-2:]
    assert (edited.data.change, edited.data.memory.text) == ("compacted", both)
    assert edited.data.before is not None
    assert edited.data.before.text == FACTS[0]
    assert absorbed.data.memory.superseded_by == edited.data.memory.memory_id
    assert len(edited.data.memory.sources) == 2
    points = await bench.memories.points([edited.data.memory.memory_id], bench.vectors.embedding_model)
    assert bench.vectors.points[edited.data.memory.memory_id].vector == pytest.approx(points[0].vector)


async def test_concurrent_candidates_on_several_workers_stay_within_the_limit(
    bench: "Bench", make_bench: Callable[[], "Bench"]
) -> None:
    benches = [bench, make_bench(), make_bench()]
    said = [f"User knows fact number {number} of {'abcdefghijkl'[number]}" for number in range(12)]
    deciding = [
        benches[number % 3].curator_under(Policies((NOTES,))).curate(bench.batch(text, policy="notes"))
        for number, text in enumerate(said)
    ]
    await asyncio.gather(*deciding)
    assert await bench.memories.count_live("n") == 3
    changes = await bench.pool.fetch(
        "SELECT change, count(*) FROM memory_versions WHERE change <> 'updated' GROUP BY 1"
    )
    assert dict(changes) == {"created": 12, "compacted": 9}


async def test_a_batch_larger_than_the_limit_is_reduced_to_the_limit(bench: "Bench", curator: Curator) -> None:
    await curator.curate(bench.batch(*FACTS, policy="notes"))
    assert await bench.memories.count_live("n") == 3


async def test_memories_pinned_by_a_person_count_towards_the_limit_and_are_never_removed(
    bench: "Bench", curator: Curator
) -> None:
    def command(text: str) -> Command:
        return Command(command_id=uuid4().hex, kind="create", namespace="n", at=NOON, text=text, pinned=True)

    await remember(bench, curator, *FACTS[:3])
    outcome = await curator.apply_command(command(FACTS[3]))
    assert outcome.sequence == 5
    assert await texts(bench) == set(FACTS[1:4])
    for text in (FACTS[4], "User paints", "User sings"):
        await curator.apply_command(command(text))
    await remember(bench, curator, "User skis")
    assert await texts(bench) == {FACTS[3], FACTS[4], "User paints", "User sings"}, "pinned ones are never taken"


async def test_a_redelivered_batch_triggers_no_second_compaction(bench: "Bench", curator: Curator) -> None:
    await remember(bench, curator, *FACTS[:3])
    batch = bench.batch(FACTS[3], policy="notes")
    first = await curator.curate(batch)
    again = await curator.curate(batch)
    assert again.repeated
    assert again.sequence == first.sequence
    assert bench.provider.call_counts["compact"] == 1


async def test_a_namespace_far_above_its_limit_is_reduced_in_several_decisions(
    bench: "Bench", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agents.curation.rules.commands.limits.MAX_REMOVALS", 2)
    await remember(bench, bench.curator_under(Policies((replace(NOTES, max_memories=None),))), *FACTS)
    await bench.curator_under(Policies((replace(NOTES, max_memories=2),))).curate(
        bench.batch("User is left-handed", policy="notes")
    )
    assert len(await texts(bench)) == 4
    for text in ("User sings", "User paints"):
        await bench.curator_under(Policies((replace(NOTES, max_memories=2),))).curate(bench.batch(text, policy="notes"))
    assert len(await texts(bench)) == 2


async def test_the_note_of_a_continuing_conversation_is_rewritten_and_its_old_text_stays_a_version(
    bench: "Bench",
) -> None:
    policy = Policy(name="default", note=True, max_per_conversation=1)
    curator = bench.curator_under(Policies((policy,)))
    await curator.curate(bench.batch("User plans a trip to Porto."))
    await curator.curate(bench.batch("The hotel is booked for May."))
    await curator.curate(
        bench.batch(bench.candidate("Another conversation.", sources=(elsewhere(),)), conversation_id="d")
    )

    note, other = sorted(await bench.memories.in_namespace("n"), key=lambda each: -len(each.text))
    assert note.text == "User plans a trip to Porto. The hotel is booked for May."
    assert len(note.sources) == 2
    assert other.text == "Another conversation."
    versions = await bench.memories.versions(note.memory_id)
    assert [(each.change, each.after.text) for each in versions] == [
        ("created", "User plans a trip to Porto."),
        ("merged", note.text),
    ]


def elsewhere() -> Source:
    return Source(conversation_id="d", message_id="elsewhere", timestamp=NOON)
