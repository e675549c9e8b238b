"""Imports applied together have the same result as one by one."""

from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from msgspec.structs import replace
from numpy.typing import NDArray

from agents.curation.imports import IMPORTS_PER_TRANSACTION
from schemas import ids
from schemas.errors import Retryable
from schemas.memories.commands import Command
from schemas.policies.matching import Match
from schemas.policies.policies import Policies, Policy
from sinks.memories.settlements import Settlements
from tests.fakes.embedder import FakeEmbedder
from tests.fakes.sinks import Fuse
from tests.integration.curation_bench import NOON, Bench

if TYPE_CHECKING:
    from agents.curation.curator import Curator

FULL = Policy(name="full", match=Match(app_id="full"), namespaces=("{app_id}",), max_memories=3)


def imported(namespace: str, number: int, text: str, **fields: Any) -> Command:
    defaults: dict[str, Any] = {"memory_id": ids.derive("imported", namespace, text), "at": NOON, "actor": "anna"}
    given = defaults | fields
    return Command(command_id=f"import:run:{number}", kind="import", namespace=namespace, text=text, **given)


def arrivals(namespace: str, known: str) -> list[Command]:
    """New ones, one that is there by its text, by its id, twice in the same run, deleted before, secret, old, without a text."""
    said = [f"User owns thing number {number}" for number in range(6)]
    return [
        *(imported(namespace, number, text, importance=number / 10) for number, text in enumerate(said)),
        imported(namespace, 10, "USER OWNS THING NUMBER 3."),
        imported(namespace, 11, "User sold it", memory_id=ids.derive("imported", namespace, said[0])),
        imported(namespace, 12, "User skis"),
        imported(namespace, 12, "User does not ski"),
        imported(namespace, 13, "User has a dog", memory_id=known),
        imported(namespace, 14, "the password is EXAMPLE-pw1"),
        imported(namespace, 15, "User was in Rome", at=NOON - timedelta(days=1)),
        imported(namespace, 16, "   "),
    ]


async def prepared(bench: Bench, namespace: str) -> str:
    """A memory that was deleted, and a fence."""
    made = await bench.curator.apply_command(
        Command(command_id="made", kind="create", namespace=namespace, at=NOON, text="User has a dog")
    )
    await bench.curator.apply_command(
        Command(command_id="gone", kind="delete", namespace=namespace, at=NOON, memory_id=made.memory_id)
    )
    fence = "INSERT INTO purges (namespace, purged_at, positions) VALUES ($1, $2, '{}')"
    await bench.pool.execute(fence, namespace, NOON - timedelta(hours=1))
    return made.memory_id or ""


async def visible_state(bench: Bench, namespace: str) -> dict[str, Any]:
    """Returns the visible state of a namespace without generated ids."""
    memories = await bench.memories.in_namespace(namespace, statuses=("active", "deleted"), limit=1_000)
    rows = await bench.pool.fetch("SELECT command_id, outcome FROM commands WHERE namespace = $1", namespace)
    return {
        "memories": sorted((m.text, m.status, m.version, m.sequence, m.importance, m.created_by) for m in memories),
        "events": [
            (event.data.change, event.data.sequence, event.data.memory.text) for event in bench.events(namespace)
        ],
        "outcomes": {
            row["command_id"]: [row["outcome"].get(name) for name in ("status", "sequence", "change", "reason")]
            for row in rows
        },
        "activity": [(a.type, a.data["command_id"]) for a in bench.activity() if a.subject == namespace],
        "vectors": sorted(point.text for point in bench.vectors.points.values() if point.namespace == namespace),
    }


async def test_a_batch_of_imports_has_the_same_result_as_single_imports(bench: Bench) -> None:
    for command in arrivals("alone", await prepared(bench, "alone")):
        await bench.curator.apply_command(command)
    await bench.curator.apply_imports(arrivals("together", await prepared(bench, "together")))
    assert await visible_state(bench, "together") == await visible_state(bench, "alone")
    assert await bench.pending() == 0


async def test_imports_over_several_transactions_are_numbered_in_order(bench: Bench) -> None:
    number = 2 * IMPORTS_PER_TRANSACTION + 1
    await bench.curator.apply_imports([imported("n", each, f"User knows number {each}") for each in range(number)])
    events = bench.events()
    assert [event.data.sequence for event in events] == list(range(1, number + 1))
    assert [event.data.memory.text for event in events] == [f"User knows number {each}" for each in range(number)]


class Counting(FakeEmbedder):
    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.texts += texts
        return await super().embed(texts)


async def test_a_repeated_import_changes_nothing_and_embeds_nothing(bench: Bench, monkeypatch: Any) -> None:
    embedder = Counting()
    monkeypatch.setattr(bench.curator._importer, "_embedder", embedder)
    run = [imported("n", each, f"User knows number {each}") for each in range(5)]
    await bench.curator.apply_imports(run)
    assert len(embedder.texts) == 5
    before = await visible_state(bench, "n")
    await bench.curator.apply_imports(run)
    assert await visible_state(bench, "n") == before
    await bench.curator.apply_imports([replace(each, command_id=f"again:{each.command_id}") for each in run])
    assert len(embedder.texts) == 5
    assert (await visible_state(bench, "n"))["memories"] == before["memories"]
    assert (await visible_state(bench, "n"))["events"] == before["events"]


async def test_imports_into_a_full_namespace_remove_the_same_memories_as_single_imports(bench: Bench) -> None:
    def run(curator: "Curator", namespace: str) -> list[Command]:
        return [imported(namespace, each, f"User knows number {each}", importance=(each % 4) / 10) for each in range(8)]

    policies = Policies((replace(FULL, name="other", match=Match(app_id="alone")), FULL))
    curator = bench.curator_under(policies)
    for command in run(curator, "alone"):
        await curator.apply_command(command)
    await curator.apply_imports(run(curator, "full"))
    assert await visible_state(bench, "full") == await visible_state(bench, "alone")
    assert await bench.memories.count_live("full") == 3


@pytest.mark.parametrize("step", [1, 2, 3])
@pytest.mark.parametrize("after", [False, True])
async def test_interrupted_imports_are_completed_when_repeated(bench: Bench, step: int, after: bool) -> None:
    bench = Bench(bench.pool, Fuse(step, after=after))
    run = [imported("n", each, f"User knows number {each}") for each in range(3)]
    with pytest.raises(Retryable):
        await bench.curator.apply_imports(run)
    await bench.curator.apply_imports(run)
    assert [event.data.sequence for event in bench.events()] == [1, 2, 3]
    assert await bench.pending() == 0


async def test_a_known_text_deleted_during_the_import_is_embedded_again(bench: Bench, monkeypatch: Any) -> None:
    """Between the look at what is new and the decision somebody deletes it."""
    there = await bench.curator.apply_command(
        Command(command_id="made", kind="create", namespace="n", at=NOON, text="User has a dog")
    )
    of_commands, looks = Settlements.of_commands, 0

    async def delete_first(self: Settlements, *arguments: Any) -> set[str]:
        nonlocal looks
        looks += 1
        if looks == 2:
            await self._connection.execute(
                "UPDATE memories SET status = 'expired' WHERE memory_id = $1", there.memory_id
            )
        return await of_commands(self, *arguments)

    monkeypatch.setattr(Settlements, "of_commands", delete_first)
    await bench.curator.apply_imports([imported("n", 1, "User has a dog")])
    assert {point.text for point in bench.vectors.points.values()} == {"User has a dog"}
    assert len(bench.vectors.points) == 2
