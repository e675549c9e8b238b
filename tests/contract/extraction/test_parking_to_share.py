"""Parked requests that wait to share a model call, in memory and on PostgreSQL."""

from sinks.extraction.parked import Parked
from tests.contract.extraction.parking import EARLIER, LONG_S, AnyParking, claimed, share


async def companions(parking: AnyParking, first: Parked, max_tokens: int = 1_000, limit: int = 10) -> set[str]:
    found = await parking.claim_companions(first, "shared", max_tokens, limit, "owner", LONG_S)
    return {each.request_id for each in found}


async def test_claim_companions_returns_waiting_requests_with_the_same_sharing_key(parking: AnyParking) -> None:
    await share(parking, "first", wait=EARLIER)
    await share(parking, "second")
    await share(parking, "of another", key="other")
    await share(parking, "put off", reason="budget")
    (first,) = await parking.claim("live", 10, "owner", LONG_S)
    assert (first.request_id, first.shares, first.tokens) == ("first", "k", 100)
    assert await companions(parking, first) == {"second"}
    assert await companions(parking, first) == set()


async def test_claim_companions_returns_no_more_tokens_than_one_call_holds(parking: AnyParking) -> None:
    await share(parking, "first", wait=EARLIER)
    for number in range(4):
        await share(parking, f"r{number}", tokens=300, enough=10_000)
    (first,) = await parking.claim("live", 10, "owner", LONG_S)
    assert len(await companions(parking, first, max_tokens=700)) == 2


async def test_claim_companions_returns_at_most_the_limit_and_leaves_the_others_waiting(parking: AnyParking) -> None:
    await share(parking, "first", wait=EARLIER)
    for number in range(5):
        await share(parking, f"r{number}", tokens=1)
    (first,) = await parking.claim("live", 10, "owner", LONG_S)
    assert await companions(parking, first, limit=3) == {"r0", "r1", "r2"}
    assert await companions(parking, first, limit=3) == {"r3", "r4"}


async def test_claim_companions_excludes_requests_that_failed_before(parking: AnyParking) -> None:
    await share(parking, "failed", wait=EARLIER)
    await claimed(parking, "live")
    await parking.try_again("failed", "owner", LONG_S)
    await share(parking, "first", wait=EARLIER)
    (first,) = await parking.claim("live", 10, "owner", LONG_S)
    assert await companions(parking, first) == set()


async def test_requests_that_share_enough_tokens_can_be_claimed_early(parking: AnyParking) -> None:
    await share(parking, "first", tokens=600)
    assert await claimed(parking, "live") == []
    await share(parking, "of another", tokens=600, key="other")
    assert await claimed(parking, "live") == []
    await share(parking, "second", tokens=600)
    assert sorted(await claimed(parking, "live")) == ["first", "second"]
