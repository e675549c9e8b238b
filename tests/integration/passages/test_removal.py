"""What retention or an erasure takes from the archive leaves the passage index, and erased messages do not return to it."""

from datetime import timedelta

import pytest

from agents.erasure.begin import ErasureService
from agents.retention.sweeper import RecordRetention, Sweeper
from schemas.erasure.erasures import ErasureKind
from schemas.policies.policies import Policy
from sinks.archive.retention import Sweeps
from sinks.erasure.erasures import Erasures
from sinks.windows.projection import Windows
from tests.fakes.windows import a_state
from tests.integration.passages.conftest import MONDAY, Said
from tests.integration.passages.test_backfill import backfill
from tests.integration.passages.test_late_stage import handled, sent

NEXT_YEAR = MONDAY + timedelta(days=365)


async def test_messages_deleted_by_retention_are_not_found_and_leave_qdrant(said: Said) -> None:
    said.follow(Policy(name="kitchen", retention_days=30, extract=False))
    old, kept = said.message("The plums are ripe."), said.message("The plums are sweet.", conversation="c2")
    await said.said(old, kept)
    await said.pool.execute("UPDATE messages SET archived_at = $1", MONDAY)
    await said.pool.execute("UPDATE messages SET archived_at = $1 WHERE conversation_id = 'c2'", NEXT_YEAR)
    windows = [a_state(each.message.conversation_id, partition=0, phase="forgotten") for each in (old, kept)]
    await Windows(said.pool).project(windows)
    records = RecordRetention(usage_days=0, pruning_days=0)
    sweeper = Sweeper(Sweeps(said.pool), said.policies, records, lambda: NEXT_YEAR)
    for _ in range(10):
        await sweeper.tick()

    assert await said.found("plums") == ["The plums are sweet."]
    assert await said.passages.drop_removed(said.vectors) == 1
    assert await said.rows() == await said.points() and len(await said.rows()) == 1


async def message_ends() -> dict[int, int]:
    """The erased messages are below the end of their partition, whatever their senders' clocks said."""
    return {0: 3}


@pytest.mark.parametrize(
    ("kind", "subject"),
    [
        ("user", {"user_id": "ada"}),
        ("conversation", {"conversation_id": "c1"}),
        ("namespace", {"namespace": "kitchen/ada"}),
    ],
)
async def test_messages_from_before_an_erasure_are_indexed_by_no_stage_and_no_command(
    said: Said, kind: ErasureKind, subject: dict[str, str]
) -> None:
    indexed, ahead = said.message("Old plums."), said.message("Plums by a fast clock.", at=NEXT_YEAR)
    await said.said(indexed)
    await said.archive.store(await said.with_namespaces([ahead]))
    erasure = ErasureService(Erasures(said.pool), message_ends, lambda: NEXT_YEAR - timedelta(hours=1))
    await erasure.begin("e", kind, "ops", **subject)  # nothing is deleted yet
    await said.pool.execute("DELETE FROM passages")
    later = said.message("New plums.", at=NEXT_YEAR)

    await handled(said, [sent(each, NEXT_YEAR) for each in (indexed, ahead, later)], NEXT_YEAR)
    await backfill(said).run()
    await said.passages.drop_removed(said.vectors)
    await said.reindexed()

    assert await said.found("plums") == ["New plums."]
    assert await said.rows() == await said.points() and len(await said.rows()) == 1
