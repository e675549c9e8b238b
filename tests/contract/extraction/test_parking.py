"""Parked requests in memory and on PostgreSQL wait, are claimed and are removed in the same way."""

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
    a_request,
    claimed,
    now,
    park,
    sent,
)


async def test_a_claimed_request_equals_the_parked_record_with_all_its_headers(parking: AnyParking) -> None:
    headers = (("request-id", b"r"), ("trace", b"\x00\xff"), ("trace", b""), ("bare", None))
    came = sent(a_request(), key=b"\x00key", headers=headers, partition=3)
    await parking.park(came, a_request(), Deferred(now() + EARLIER, "budget"), LONG_S)
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


async def test_a_hastened_request_can_be_claimed_at_once_if_it_was_parked_for_that_reason(parking: AnyParking) -> None:
    for each, reason in (("a", "shared"), ("b", "shared"), ("c", "budget")):
        await parking.park(sent(a_request(each)), a_request(each), Deferred(now() + LATER, reason), LONG_S)
    for each in ("a", "a", "c", "gone"):
        await parking.hasten(each, "shared")
    assert await claimed(parking) == ["a"]
    await parking.hasten("a", "shared")
    assert await claimed(parking) == [], "somebody has it"


async def test_a_request_that_failed_keeps_its_pause_when_it_is_hastened(parking: AnyParking) -> None:
    await parking.park(sent(a_request()), a_request(), Deferred(now() + EARLIER, "shared"), LONG_S)
    assert await claimed(parking) == ["r"]
    await parking.try_again("r", "owner", LONG_S)
    await parking.hasten("r", "shared")
    assert await claimed(parking) == []


async def test_a_record_without_a_key_can_be_parked(parking: AnyParking) -> None:
    await parking.park(sent(a_request(), key=None), a_request(), Deferred(now() + EARLIER, "budget"), LONG_S)
    (parked,) = await parking.claim("background", 10, "owner", LONG_S)
    assert parked.key is None


async def test_requests_with_text_that_postgresql_rejects_can_be_parked(parking: AnyParking) -> None:
    odd = replace(a_request(), namespaces=("a\x00b",), scope=replace(a_request().scope, conversation_id="c\x00"))
    await park(parking, odd)
    (parked,) = await parking.claim("background", 10, "owner", LONG_S)
    assert codec.decode(parked.value, ExtractionRequest) == odd


async def test_parking_a_request_again_changes_nothing(parking: AnyParking) -> None:
    assert not await parking.holds("r")
    await park(parking, a_request())
    await park(parking, a_request(), LATER)
    assert await parking.holds("r")
    assert await parking.waiting() == {"background": 1}
    assert await claimed(parking) == ["r"]


async def test_a_request_can_be_claimed_only_when_it_is_due(parking: AnyParking) -> None:
    await park(parking, a_request("soon"), LATER)
    await park(parking, a_request("now"))
    assert await claimed(parking) == ["now"]


async def test_claim_returns_requests_of_one_lane_only(parking: AnyParking) -> None:
    await park(parking, a_request("background"))
    await park(parking, a_request("live", "live"))
    assert await claimed(parking, "live") == ["live"]
    assert await claimed(parking, "background") == ["background"]


async def test_claim_returns_at_most_the_limit_and_the_longest_due_first(parking: AnyParking) -> None:
    for minutes in (1, 3, 2):
        await park(parking, a_request(f"{minutes}"), timedelta(minutes=-minutes))
    assert set(await claimed(parking, limit=2)) == {"3", "2"}


async def test_a_claimed_request_cannot_be_claimed_again_until_its_lease_expires(parking: AnyParking) -> None:
    await park(parking, a_request())
    assert await claimed(parking, lease_s=LONG_S) == ["r"]
    assert await claimed(parking) == []
    assert await parking.renew("r", "owner", OVER_S)
    assert [each.request_id for each in await parking.claim("background", 10, "another", LONG_S)] == ["r"]


async def test_concurrent_claims_return_disjoint_requests(parking: AnyParking) -> None:
    for number in range(12):
        await park(parking, a_request(f"{number}"))
    shares = await asyncio.gather(*(parking.claim("background", 4, f"owner {n}", LONG_S) for n in range(4)))
    assert sorted(each.request_id for share in shares for each in share) == sorted(f"{n}" for n in range(12))


async def test_the_old_owner_of_a_lost_lease_can_neither_renew_it_nor_change_the_request(
    parking: AnyParking,
) -> None:
    await park(parking, a_request())
    await parking.claim("background", 1, "first", OVER_S)
    await parking.claim("background", 1, "second", LONG_S)
    assert not await parking.renew("r", "first", LONG_S)
    await parking.put_off("r", "first", Deferred(now() + LATER, "budget"))
    await parking.try_again("r", "first", 0.0)
    await parking.release("r", "first")
    await parking.remove("r", "first")
    assert await claimed(parking) == []
    assert await parking.renew("r", "second", LONG_S)


async def test_a_request_put_off_again_waits_until_the_new_time(parking: AnyParking) -> None:
    await park(parking, a_request())
    await parking.claim("background", 1, "owner", LONG_S)
    await parking.put_off("r", "owner", Deferred(now() + LATER, "budget"))
    assert await claimed(parking) == []
    assert await parking.holds("r")


async def test_a_request_put_off_to_a_past_time_still_waits_a_short_pause(parking: AnyParking) -> None:
    await park(parking, a_request())
    await parking.claim("background", 1, "owner", LONG_S)
    await parking.put_off("r", "owner", Deferred(now() + EARLIER, "busy"))
    assert await claimed(parking) == []


async def test_a_failed_request_is_claimed_again_after_its_pause_with_its_number_of_tries(parking: AnyParking) -> None:
    await park(parking, a_request("soon"))
    await park(parking, a_request("later"))
    await parking.claim("background", 2, "owner", LONG_S)
    await parking.try_again("soon", "owner", 0.0)
    await parking.try_again("later", "owner", LONG_S)
    (parked,) = await parking.claim("background", 10, "owner", LONG_S)
    assert (parked.request_id, parked.tries) == ("soon", 1)


async def test_a_released_request_can_be_claimed_at_once_without_counting_a_try(parking: AnyParking) -> None:
    await park(parking, a_request())
    await parking.claim("background", 1, "owner", LONG_S)
    await parking.release("r", "owner")
    (parked,) = await parking.claim("background", 10, "another", LONG_S)
    assert parked.tries == 0


async def test_a_removed_request_is_no_longer_parked(parking: AnyParking) -> None:
    await park(parking, a_request())
    await parking.claim("background", 1, "owner", LONG_S)
    await parking.remove("r", "owner")
    assert not await parking.holds("r")
    assert await parking.waiting() == {}


@pytest.mark.parametrize("batched", [False, True])
async def test_a_background_request_past_its_deadline_is_claimed_in_the_live_lane(
    parking: AnyParking, batched: bool
) -> None:
    await park(parking, a_request(), LATER, deadline_s=OVER_S, batched=batched)
    (parked,) = await parking.claim("live", 10, "owner", OVER_S)
    assert (parked.request_id, parked.lane) == ("r", "live")
    await parking.put_off("r", "owner", Deferred(now() + LATER, "budget"))
    assert await claimed(parking, "live") == [], "live work is put off like any other"
    assert await parking.waiting() == {"live": 1}


async def test_a_request_that_waits_for_a_batch_is_not_claimed(parking: AnyParking) -> None:
    await park(parking, a_request(), batched=True)
    assert await claimed(parking) == await claimed(parking, "live") == []


async def test_a_malformed_row_is_set_aside_with_its_reason_and_blocks_no_other(dsn: str) -> None:
    pool = await connect(dsn, max_size=2)
    parking = Parking(pool)
    for name in ("odd", "sound"):
        await park(parking, a_request(name), deadline_s=OVER_S)
    await pool.execute("""UPDATE parked SET headers = '{"no": "list"}'::jsonb WHERE request_id = 'odd'""")
    assert await claimed(parking, "live") == ["sound"]
    assert await claimed(parking, "live") == await claimed(parking) == []
    (row,) = await pool.fetch("SELECT * FROM parked WHERE request_id = 'odd'")
    assert "headers" in row["reason"]
    assert codec.decode(row["value"], ExtractionRequest) == a_request("odd"), "what was asked is kept"
    await pool.execute("TRUNCATE parked CASCADE")
    await pool.close()
