"""Messages without extraction, derived from the archive, the rows of windows and the completed slices."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest

from sinks.archive.messages import Archive, ArchivedMessage
from sinks.postgres.connection import Pool
from sinks.windows.projection import Windows
from tests.builders.archived_messages import archived_message
from tests.fakes.windows import a_state

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
SETTLED = NOW - timedelta(seconds=5)
LONG_AGO, JUST_NOW = NOW - timedelta(hours=1), NOW - timedelta(seconds=1)


def said(
    position: int, partition: int = 3, role: str = "user", content: str = "hello", **fields: Any
) -> ArchivedMessage:
    at = NOW + timedelta(seconds=fields.pop("second", position))
    given = {"message_id": f"{partition}-{position}", "role": role, "timestamp": at, "content": content} | fields
    return archived_message("c", position, partition=partition, **given)


async def completed(
    pool: Pool, first: int, last: int, at: datetime | None, partition: int = 3, namespaces: tuple[str, ...] = ("n",)
) -> None:
    await pool.execute(
        "INSERT INTO extractions (request_id, conversation_id, partition, first_position, last_position, policy,"
        " policy_version, namespaces, completed_at) VALUES ($1, 'c', $2, $3, $4, 'default', 1, $5, $6)",
        *(uuid4().hex, partition, first, last, list(namespaces), at),
    )


async def waiting(pool: Pool, **bounds: int) -> list[str]:
    return [message.message_id for message in await Archive(pool).unextracted("c", SETTLED, **bounds)]


@pytest.fixture
async def archived(pool: Pool) -> Pool:
    await Archive(pool).store([said(position) for position in range(1, 7)])
    return pool


async def test_all_messages_are_unextracted_without_a_known_window(archived: Pool) -> None:
    assert await waiting(archived) == [f"3-{position}" for position in range(1, 7)]
    assert await Archive(archived).unextracted("another", SETTLED) == ()


async def test_only_nonempty_user_and_assistant_messages_are_unextracted(pool: Pool) -> None:
    roles = ("system", "user", "assistant", "tool", "assistant")
    contents = ("Be kind.", "Hi.", "", "{}", "Hello!")
    await Archive(pool).store(
        [said(n, 3, role, text) for n, (role, text) in enumerate(zip(roles, contents, strict=True))]
    )
    assert await waiting(pool) == ["3-1", "3-4"]


async def test_messages_before_the_extracted_position_of_the_window_are_not_unextracted(
    archived: Pool,
) -> None:
    await Windows(archived).project([a_state("c", extracted_to=5)])
    assert await waiting(archived) == ["3-5", "3-6"]


async def test_messages_before_the_opening_of_the_window_are_not_unextracted(archived: Pool) -> None:
    await Windows(archived).project([a_state("c", opened=5, extracted_to=0)])
    assert await waiting(archived) == ["3-5", "3-6"]


async def test_messages_of_a_completed_slice_are_not_unextracted_before_the_window_row_is_updated(
    archived: Pool,
) -> None:
    await Windows(archived).project([a_state("c", extracted_to=0)])
    await completed(archived, 2, 3, LONG_AGO)
    await completed(archived, 5, 6, None)
    assert await waiting(archived) == ["3-1", "3-4", "3-5", "3-6"]


@pytest.mark.parametrize("extracted_to", [0, 4])
async def test_messages_of_a_just_completed_slice_stay_unextracted_until_search_sees_its_memories(
    archived: Pool, extracted_to: int
) -> None:
    await Windows(archived).project([a_state("c", extracted_to=extracted_to)])
    await completed(archived, 1, 1, LONG_AGO)
    await completed(archived, 2, 3, JUST_NOW)
    assert await waiting(archived) == ["3-2", "3-3", *(["3-4"] if extracted_to <= 4 else []), "3-5", "3-6"]


async def test_a_summary_of_pruned_messages_extracts_nothing(archived: Pool) -> None:
    await completed(archived, 1, 6, LONG_AGO, namespaces=())
    assert len(await waiting(archived)) == 6


async def test_a_slice_with_reversed_positions_is_ignored(archived: Pool) -> None:
    await completed(archived, 6, 1, LONG_AGO)
    await completed(archived, 1, 2, LONG_AGO)
    assert await waiting(archived) == ["3-3", "3-4", "3-5", "3-6"]


async def test_each_partition_has_its_own_extracted_position_and_messages_are_ordered_by_timestamp(
    pool: Pool,
) -> None:
    await Archive(pool).store([said(position, 3, second=2 * position) for position in range(1, 5)])
    await Archive(pool).store([said(position, 7, second=2 * position - 1) for position in range(1, 5)])
    await Windows(pool).project([a_state("c", partition=3, extracted_to=3)])
    await completed(pool, 1, 1, LONG_AGO, partition=7)
    assert await waiting(pool) == ["7-2", "7-3", "3-3", "7-4", "3-4"]


async def test_messages_of_one_partition_keep_arrival_order_regardless_of_timestamps(pool: Pool) -> None:
    await Archive(pool).store([said(1, second=9), said(2, second=1)])
    assert await waiting(pool) == ["3-1", "3-2"]


async def test_only_the_latest_unextracted_messages_within_the_limits_are_read(archived: Pool) -> None:
    assert await waiting(archived, limit=2) == ["3-5", "3-6"]
    assert await waiting(archived, max_bytes=11) == ["3-4", "3-5", "3-6"]
    assert await waiting(archived, max_bytes=1) == ["3-6"]


async def test_the_archive_returns_partition_and_position_of_extracted_messages(pool: Pool) -> None:
    archive = Archive(pool)
    await archive.store([said(0), said(1), said(2), said(5)])
    await completed(pool, 0, 1, LONG_AGO)
    await completed(pool, 2, 2, None)
    await completed(pool, 5, 5, LONG_AGO, namespaces=())
    messages = [("c", f"3-{position}") for position in (0, 1, 2, 5, 9)] + [("d", "3-0")]
    assert await archive.extracted(messages) == {("c", "3-0"): (3, 0), ("c", "3-1"): (3, 1)}
