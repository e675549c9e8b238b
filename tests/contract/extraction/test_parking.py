"""Parked requests in memory and on PostgreSQL wait, are claimed and leave alike."""

import asyncio
from datetime import timedelta

import pytest
from msgspec.structs import replace

from schemas import codec
from schemas.errors import Deferred
from schemas.extraction.requests import ExtractionRequest
from sinks.extraction.parked import Parked, Parking
from sinks.postgres.connection import connect
from tests.contract.extraction.parking import (
    EARLIER,
    LATER,
    LONG_S,
    OVER_S,
    AnyParking,
    asked,
    claimed,
    now,
    park,
    sent,
)


async def test_a_request_comes_back_whole_as_it_came(parking: AnyParking) -> None:
    headers = (("request-id", b"r"), ("trace", b"\x00\xff"), ("trace", b""), ("bare", None))
    came = sent(asked(), key=b"\x00key", headers=headers, partition=3)
    await parking.park(came, asked(), Deferred(now() + EARLIER, "budget"), LONG_S)
    (parked,) = await parking.claim("background", 10, "owner", LONG_S)
    assert parked == Parked(
        request_id="r",
        lane="background",
        reason="budget",
        topic=came.topic,
        partition=3,
        offset=came.offset,
        timestamp=came.timestamp,
        key=b"\x00key",
        value=came.value,
        headers=headers,
    )


async def test_a_request_that_is_hastened_waits_for_its_reason_no_longer(parking: AnyParking) -> None:
    for each, reason in (("a", "shared"), ("b", "shared"), ("c", "budget")):
        await parking.park(sent(asked(each)), asked(each), Deferred(now() + LATER, reason), LONG_S)
    for each in ("a", "a", "c", "gone"):
        await parking.hasten(each, "shared")
    assert await claimed(parking) == ["a"]
    await parking.hasten("a", "shared")
    assert await claimed(parking) == [], "somebody has it"


async def test_a_request_that_failed_keeps_its_pause_when_it_is_hastened(parking: AnyParking) -> None:
    await parking.park(sent(asked()), asked(), Deferred(now() + EARLIER, "shared"), LONG_S)
    assert await claimed(parking) == ["r"]
    await parking.try_again("r", "owner", LONG_S)
    await parking.hasten("r", "shared")
    assert await claimed(parking) == []


async def test_a_record_without_a_key_is_parked_too(parking: AnyParking) -> None:
    await parking.park(sent(asked(), key=None), asked(), Deferred(now() + EARLIER, "budget"), LONG_S)
    (parked,) = await parking.claim("background", 10, "owner", LONG_S)
    assert parked.key is None


async def test_texts_that_postgres_would_not_take_are_parked(parking: AnyParking) -> None:
    odd = replace(asked(), namespaces=("a\x00b",), scope=replace(asked().scope, conversation_id="c\x00"))
    await park(parking, odd)
    (parked,) = await parking.claim("background", 10, "owner", LONG_S)
    assert codec.decode(parked.value, ExtractionRequest) == odd


async def test_a_request_is_parked_once_and_stays_as_it_was(parking: AnyParking) -> None:
    assert not await parking.holds("r")
    await park(parking, asked())
    await park(parking, asked(), LATER)
    assert await parking.holds("r")
    assert await parking.waiting() == {"background": 1}
    assert await claimed(parking) == ["r"]


async def test_a_request_is_claimed_once_its_time_has_come(parking: AnyParking) -> None:
    await park(parking, asked("soon"), LATER)
    await park(parking, asked("now"))
    assert await claimed(parking) == ["now"]


async def test_a_lane_is_claimed_without_the_other(parking: AnyParking) -> None:
    await park(parking, asked("background"))
    await park(parking, asked("live", "live"))
    assert await claimed(parking, "live") == ["live"]
    assert await claimed(parking, "background") == ["background"]


async def test_no_more_are_claimed_than_there_is_room_for_the_longest_due_first(parking: AnyParking) -> None:
    for minutes in (1, 3, 2):
        await park(parking, asked(f"{minutes}"), timedelta(minutes=-minutes))
    assert set(await claimed(parking, limit=2)) == {"3", "2"}


async def test_what_one_has_claimed_nobody_else_gets_until_the_lease_is_over(parking: AnyParking) -> None:
    await park(parking, asked())
    assert await claimed(parking, lease_s=LONG_S) == ["r"]
    assert await claimed(parking) == []
    assert await parking.renew("r", "owner", OVER_S)
    assert [each.request_id for each in await parking.claim("background", 10, "another", LONG_S)] == ["r"]


async def test_of_many_that_claim_at_once_each_gets_other_requests(parking: AnyParking) -> None:
    for number in range(12):
        await park(parking, asked(f"{number}"))
    shares = await asyncio.gather(*(parking.claim("background", 4, f"owner {n}", LONG_S) for n in range(4)))
    assert sorted(each.request_id for share in shares for each in share) == sorted(f"{n}" for n in range(12))


async def test_a_lease_that_passed_to_another_is_not_renewed_and_its_old_owner_changes_nothing(
    parking: AnyParking,
) -> None:
    await park(parking, asked())
    await parking.claim("background", 1, "first", OVER_S)
    await parking.claim("background", 1, "second", LONG_S)
    assert not await parking.renew("r", "first", LONG_S)
    await parking.put_off("r", "first", Deferred(now() + LATER, "budget"))
    await parking.try_again("r", "first", 0.0)
    await parking.release("r", "first")
    await parking.remove("r", "first")
    assert await claimed(parking) == []
    assert await parking.renew("r", "second", LONG_S)


async def test_what_is_put_off_again_waits_as_long_as_it_is_told(parking: AnyParking) -> None:
    await park(parking, asked())
    await parking.claim("background", 1, "owner", LONG_S)
    await parking.put_off("r", "owner", Deferred(now() + LATER, "budget"))
    assert await claimed(parking) == []
    assert await parking.holds("r")


async def test_what_is_put_off_to_a_moment_that_is_over_waits_a_little_all_the_same(parking: AnyParking) -> None:
    await park(parking, asked())
    await parking.claim("background", 1, "owner", LONG_S)
    await parking.put_off("r", "owner", Deferred(now() + EARLIER, "busy"))
    assert await claimed(parking) == []


async def test_what_failed_is_claimed_again_after_its_pause_and_tells_how_often(parking: AnyParking) -> None:
    await park(parking, asked("soon"))
    await park(parking, asked("later"))
    await parking.claim("background", 2, "owner", LONG_S)
    await parking.try_again("soon", "owner", 0.0)
    await parking.try_again("later", "owner", LONG_S)
    (parked,) = await parking.claim("background", 10, "owner", LONG_S)
    assert (parked.request_id, parked.tries) == ("soon", 1)


async def test_what_is_released_is_claimed_again_at_once_and_counts_no_failure(parking: AnyParking) -> None:
    await park(parking, asked())
    await parking.claim("background", 1, "owner", LONG_S)
    await parking.release("r", "owner")
    (parked,) = await parking.claim("background", 10, "another", LONG_S)
    assert parked.tries == 0


async def test_what_came_to_its_outcome_is_gone(parking: AnyParking) -> None:
    await park(parking, asked())
    await parking.claim("background", 1, "owner", LONG_S)
    await parking.remove("r", "owner")
    assert not await parking.holds("r")
    assert await parking.waiting() == {}


@pytest.mark.parametrize("batched", [False, True])
async def test_past_its_deadline_background_work_is_live(parking: AnyParking, batched: bool) -> None:
    await park(parking, asked(), LATER, deadline_s=OVER_S, batched=batched)
    (parked,) = await parking.claim("live", 10, "owner", OVER_S)
    assert (parked.request_id, parked.lane) == ("r", "live")
    await parking.put_off("r", "owner", Deferred(now() + LATER, "budget"))
    assert await claimed(parking, "live") == [], "live work is put off like any other"
    assert await parking.waiting() == {"live": 1}


async def test_what_waits_for_a_batch_is_not_claimed(parking: AnyParking) -> None:
    await park(parking, asked(), batched=True)
    assert await claimed(parking) == await claimed(parking, "live") == []


async def test_a_row_that_is_no_request_is_set_aside_with_its_reason_and_holds_up_no_other(dsn: str) -> None:
    pool = await connect(dsn, max_size=2)
    parking = Parking(pool)
    for name in ("odd", "sound"):
        await park(parking, asked(name), deadline_s=OVER_S)
    await pool.execute("""UPDATE parked SET headers = '{"no": "list"}'::jsonb WHERE request_id = 'odd'""")
    assert await claimed(parking, "live") == ["sound"]
    assert await claimed(parking, "live") == await claimed(parking) == []
    (row,) = await pool.fetch("SELECT * FROM parked WHERE request_id = 'odd'")
    assert "headers" in row["reason"]
    assert codec.decode(row["value"], ExtractionRequest) == asked("odd"), "what was asked is kept"
    await pool.execute("TRUNCATE parked CASCADE")
    await pool.close()
