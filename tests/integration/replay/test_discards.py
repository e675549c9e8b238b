"""Generations are discarded alone, after an interruption, and during a cutover."""

import asyncio
from collections.abc import Sequence

import pytest

from agents.replay.cutover import CutoverResult
from deploy.wiring import replay
from schemas.errors import Misconfigured, Retryable
from schemas.policies.shadows import shadow_of
from schemas.replay.generations import Generation, GenerationStatus
from sinks.postgres.connection import Connection
from sinks.replay.shadows import SwitchedNamespace
from tests.integration.replay.replaying import (
    ADA,
    GENERATION,
    PEANUTS,
    PREFERENCES,
    SHORT,
    Town,
    after_each_page,
)


@pytest.mark.parametrize("status", ["ready", "undone", "cutover"])
async def test_an_interrupted_discard_prevents_a_cutover_and_is_completed_by_another_discard(
    town: Town, status: GenerationStatus
):
    await town.replay_of("ada", "bob")
    if status != "ready":
        await town.cutover.cut_over(GENERATION)
    if status == "undone":
        await town.cutover.undo(GENERATION)
    before, published = (await town.live(), await town.live("kitchen/bob")), len(town.publisher.records)
    dying = town.cutover_of()
    forget = dying.forget

    async def dies(shadow: str) -> None:
        await forget(shadow)
        raise Retryable("killed")

    dying.forget = dies  # type: ignore[method-assign]
    with pytest.raises(Retryable, match="killed"):
        await dying.discard(GENERATION)
    assert await town.live(shadow_of(GENERATION, ADA)) == set()
    for switch in (town.cutover.cut_over, town.cutover.undo):
        with pytest.raises(Misconfigured, match=f"is being discarded.* `memstream generations discard {GENERATION}`"):
            await switch(GENERATION)
    with pytest.raises(Misconfigured, match="is discarding: it can no longer be replayed"):
        await replay.resumable_generation(town.generations, GENERATION)
    assert await town.cutover.discard(GENERATION) == 2
    assert await town.live(shadow_of(GENERATION, "kitchen/bob")) == set()
    assert await town.generations.get(GENERATION) is None
    assert (await town.live(), await town.live("kitchen/bob")) == before
    assert len(town.publisher.records) == published


async def test_a_cutover_that_begins_beside_a_discard_switches_nothing(town: Town):
    await town.say("breakfast", PEANUTS, SHORT)
    await town.replay(GENERATION, PREFERENCES)
    forget = town.cutover.forget

    async def cut_over_beside(shadow: str) -> None:
        await forget(shadow)
        with pytest.raises(Misconfigured, match="is being discarded"):
            await town.cutover_of().cut_over(GENERATION)

    town.cutover.forget = cut_over_beside  # type: ignore[method-assign]
    assert await town.cutover.discard(GENERATION) == 1
    assert await town.live() == {"User is allergic to peanuts."}


async def test_a_discard_waits_for_a_cutover_transaction_and_is_rejected_if_the_cutover_is_incomplete(town: Town):
    await town.replay_of("ada", "bob")
    few, discards = town.cutover_of(at_once=1), list[asyncio.Task[int]]()
    switched, projected = few._namespace, few._project

    async def discard_begins(connection: Connection, generation: Generation, namespace: str) -> CutoverResult:
        if not discards:
            discards.append(asyncio.create_task(town.cutover.discard(GENERATION)))
            await town.waiting_for_a_row(discards[0])
        return await switched(connection, generation, namespace)

    async def discard_ends(page: Sequence[SwitchedNamespace]) -> None:
        await projected(page)
        with pytest.raises(Misconfigured, match="is switched in part"):
            await discards[0]

    few._namespace, few._project = discard_begins, discard_ends  # type: ignore[method-assign]
    assert (await few.cut_over(GENERATION)).namespaces == 2
    assert await town.live() == await town.live("kitchen/bob") == {"User prefers short recipes."}


async def test_a_partially_switched_generation_is_not_discarded(town: Town):
    await town.replay_of("ada", "bob")
    few, refused = town.cutover_of(at_once=1), list[str]()

    async def discarded_amid(page: Sequence[SwitchedNamespace]) -> None:
        if [each.namespace for each in page] == [ADA]:
            with pytest.raises(Misconfigured, match="is switched in part") as refusal:
                await town.cutover.discard(GENERATION)
            refused.append(str(refusal.value))

    after_each_page(few, discarded_amid)
    await few.cut_over(GENERATION)
    assert await town.live() == await town.live("kitchen/bob") == {"User prefers short recipes."}
    await few.undo(GENERATION)
    assert await town.live() == await town.live("kitchen/bob") == {"User is allergic to peanuts."}
    assert len(refused) == 2


async def test_a_discarded_generation_leaves_nothing_and_cannot_be_switched(town: Town):
    await town.say("breakfast", PEANUTS, SHORT)
    before = await town.live()
    await town.replay(GENERATION, PREFERENCES)
    shadow = shadow_of(GENERATION, ADA)
    assert await town.cutover.discard(GENERATION) == 1
    tables = ("memories", "memory_versions", "namespaces")
    counts = [await town.pool.fetchval(f"SELECT count(*) FROM {each} WHERE namespace = $1", shadow) for each in tables]
    answers = await town.pool.fetchval("SELECT count(*) FROM extractions WHERE namespaces && ARRAY[$1]", shadow)
    assert (*counts, answers) == (0, 0, 0, 0)
    assert await town.found(shadow, "User prefers short recipes.") == []
    assert await town.live() == before
    with pytest.raises(Misconfigured, match="no generation"):
        await town.cutover.cut_over(GENERATION)
