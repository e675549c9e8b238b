"""What was said and is not extracted yet: as the archive, the windows' rows and the completed slices tell it together."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest

from sinks.archive.messages import Archive, ArchivedMessage
from sinks.postgres.connection import Pool
from sinks.windows.projection import Windows
from tests.archived import archived_message
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


async def test_all_of_a_conversation_waits_of_which_no_window_is_known_yet(archived: Pool) -> None:
    assert await waiting(archived) == [f"3-{position}" for position in range(1, 7)]
    assert await Archive(archived).unextracted("another", SETTLED) == ()


async def test_what_users_and_assistants_said_waits_and_nothing_else(pool: Pool) -> None:
    roles = ("system", "user", "assistant", "tool", "assistant")
    contents = ("Be kind.", "Hi.", "", "{}", "Hello!")
    await Archive(pool).store(
        [said(n, 3, role, text) for n, (role, text) in enumerate(zip(roles, contents, strict=True))]
    )
    assert await waiting(pool) == ["3-1", "3-4"]


async def test_what_the_window_says_is_extracted_does_not_wait_though_no_slice_of_it_was_completed(
    archived: Pool,
) -> None:
    await Windows(archived).project([a_state("c", extracted_to=5)])
    assert await waiting(archived) == ["3-5", "3-6"]


async def test_what_was_said_before_the_window_opened_does_not_wait(archived: Pool) -> None:
    await Windows(archived).project([a_state("c", opened=5, extracted_to=0)])
    assert await waiting(archived) == ["3-5", "3-6"]


async def test_a_slice_that_was_completed_does_not_wait_though_the_window_was_not_told_of_it_yet(
    archived: Pool,
) -> None:
    await Windows(archived).project([a_state("c", extracted_to=0)])
    await completed(archived, 2, 3, LONG_AGO)
    await completed(archived, 5, 6, None)
    assert await waiting(archived) == ["3-1", "3-4", "3-5", "3-6"]


@pytest.mark.parametrize("extracted_to", [0, 4])
async def test_a_slice_that_was_completed_just_now_waits_until_every_search_finds_it(
    archived: Pool, extracted_to: int
) -> None:
    await Windows(archived).project([a_state("c", extracted_to=extracted_to)])
    await completed(archived, 1, 1, LONG_AGO)
    await completed(archived, 2, 3, JUST_NOW)
    assert await waiting(archived) == ["3-2", "3-3", *(["3-4"] if extracted_to <= 4 else []), "3-5", "3-6"]


async def test_a_summary_of_what_left_the_context_extracts_nothing(archived: Pool) -> None:
    await completed(archived, 1, 6, LONG_AGO, namespaces=())
    assert len(await waiting(archived)) == 6


async def test_a_slice_that_ends_before_it_begins_settles_nothing_and_hides_nothing(archived: Pool) -> None:
    await completed(archived, 6, 1, LONG_AGO)
    await completed(archived, 1, 2, LONG_AGO)
    assert await waiting(archived) == ["3-3", "3-4", "3-5", "3-6"]


async def test_each_partition_has_its_own_account_and_their_messages_are_in_the_order_of_their_times(
    pool: Pool,
) -> None:
    await Archive(pool).store([said(position, 3, second=2 * position) for position in range(1, 5)])
    await Archive(pool).store([said(position, 7, second=2 * position - 1) for position in range(1, 5)])
    await Windows(pool).project([a_state("c", partition=3, extracted_to=3)])
    await completed(pool, 1, 1, LONG_AGO, partition=7)
    assert await waiting(pool) == ["7-2", "7-3", "3-3", "7-4", "3-4"]


async def test_of_one_partition_the_order_is_that_of_arrival_whatever_clocks_say(pool: Pool) -> None:
    await Archive(pool).store([said(1, second=9), said(2, second=1)])
    assert await waiting(pool) == ["3-1", "3-2"]


async def test_only_the_latest_are_read(archived: Pool) -> None:
    assert await waiting(archived, limit=2) == ["3-5", "3-6"]
    assert await waiting(archived, most_bytes=11) == ["3-4", "3-5", "3-6"]
    assert await waiting(archived, most_bytes=1) == ["3-6"]


async def test_the_archive_tells_where_messages_were_archived_that_were_extracted(pool: Pool) -> None:
    archive = Archive(pool)
    await archive.store([said(0), said(1), said(2), said(5)])
    await completed(pool, 0, 1, LONG_AGO)
    await completed(pool, 2, 2, None)
    await completed(pool, 5, 5, LONG_AGO, namespaces=())
    asked = [("c", f"3-{position}") for position in (0, 1, 2, 5, 9)] + [("d", "3-0")]
    assert await archive.extracted(asked) == {("c", "3-0"): (3, 0), ("c", "3-1"): (3, 1)}
