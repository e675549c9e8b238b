import asyncio
from datetime import UTC, datetime
from uuid import uuid4

import pytest

from schemas.conversations.messages import Scope
from schemas.errors import Rejected
from schemas.extraction.requests import ExtractionRequest
from sinks.extraction.answers import Answered, Extractions, Held, Leased
from sinks.postgres.connection import Pool

LONG_S, OVER_S = 60.0, 0.0


@pytest.fixture
def request_() -> ExtractionRequest:
    return ExtractionRequest(
        request_id=uuid4().hex,
        scope=Scope(conversation_id="c"),
        partition=1,
        first=3,
        last=9,
        policy="default",
        policy_version=1,
        namespaces=("n",),
        messages=(),
        requested_at=datetime(2026, 3, 1, tzinfo=UTC),
    )


@pytest.fixture
def extractions(pool: Pool) -> Extractions:
    return Extractions(pool)


async def store(extractions: Extractions, request: ExtractionRequest, owner: str, answer: bytes) -> bytes:
    return await extractions.store_answer(
        request.request_id, owner, answer, provider="p", model="m", usage={"input_tokens": 1}, parts=1
    )


async def test_the_first_owner_gets_the_lease_and_the_second_gets_its_expiry_time(
    extractions: Extractions, request_: ExtractionRequest
) -> None:
    first = await extractions.lease(request_, "one", LONG_S)
    assert isinstance(first, Leased)
    assert await extractions.lease(request_, "two", LONG_S) == Held(first.until)


async def test_only_one_of_many_concurrent_owners_gets_the_lease(
    extractions: Extractions, request_: ExtractionRequest
) -> None:
    leases = await asyncio.gather(*(extractions.lease(request_, f"owner {n}", LONG_S) for n in range(20)))
    assert sum(isinstance(lease, Leased) for lease in leases) == 1


async def test_a_lease_that_ran_out_passes_to_the_next(extractions: Extractions, request_: ExtractionRequest) -> None:
    await extractions.lease(request_, "one", OVER_S)
    assert isinstance(await extractions.lease(request_, "two", LONG_S), Leased)
    assert not await extractions.renew(request_.request_id, "one", LONG_S)


async def test_a_renewed_lease_is_held_longer(extractions: Extractions, request_: ExtractionRequest) -> None:
    await extractions.lease(request_, "one", OVER_S)
    assert await extractions.renew(request_.request_id, "one", LONG_S)
    assert isinstance(await extractions.lease(request_, "two", LONG_S), Held)


async def test_the_owner_of_a_lease_can_acquire_it_again(extractions: Extractions, request_: ExtractionRequest) -> None:
    await extractions.lease(request_, "one", LONG_S)
    assert isinstance(await extractions.lease(request_, "one", LONG_S), Leased)


async def test_a_released_lease_is_free_and_only_its_owner_releases_it(
    extractions: Extractions, request_: ExtractionRequest
) -> None:
    await extractions.lease(request_, "one", LONG_S)
    await extractions.release(request_.request_id, "two")
    assert isinstance(await extractions.lease(request_, "two", LONG_S), Held)
    await extractions.release(request_.request_id, "one")
    assert isinstance(await extractions.lease(request_, "two", LONG_S), Leased)


async def test_leasing_an_answered_request_returns_its_answer(
    extractions: Extractions, request_: ExtractionRequest
) -> None:
    await extractions.lease(request_, "one", LONG_S)
    await store(extractions, request_, "one", b'{"a": 1}')
    assert await extractions.lease(request_, "one", LONG_S) == Answered(b'{"a": 1}')
    assert await extractions.lease(request_, "two", LONG_S) == Answered(b'{"a": 1}')


async def test_the_first_stored_answer_wins(extractions: Extractions, request_: ExtractionRequest) -> None:
    await extractions.lease(request_, "one", OVER_S)
    await extractions.lease(request_, "two", LONG_S)
    assert await store(extractions, request_, "one", b'{"by": "one"}') == b'{"by": "one"}'
    assert await store(extractions, request_, "two", b'{"by": "two"}') == b'{"by": "one"}'
    assert await extractions.answer(request_.request_id) == b'{"by": "one"}'


async def test_an_answer_to_an_unknown_request_is_rejected(
    extractions: Extractions, request_: ExtractionRequest
) -> None:
    with pytest.raises(Rejected, match="unknown_request"):
        await store(extractions, request_, "one", b"{}")


async def test_an_answer_with_a_nul_is_stored(extractions: Extractions, request_: ExtractionRequest) -> None:
    await extractions.lease(request_, "one", LONG_S)
    assert await store(extractions, request_, "one", b'{"a": "\\u0000"}') == '{"a": "\ufffd"}'.encode()


async def failed(extractions: Extractions, request_: ExtractionRequest) -> None:
    await extractions.lease(request_, "one", LONG_S)
    await extractions.release(request_.request_id, "one")
    await extractions.fail(request_.request_id, Rejected("refused", "no: never"))


async def test_a_failure_of_a_former_owner_does_not_end_the_lease_of_the_next_one(
    extractions: Extractions, request_: ExtractionRequest
) -> None:
    await extractions.lease(request_, "two", LONG_S)
    await extractions.fail(request_.request_id, Rejected("refused", "no"))
    assert await extractions.renew(request_.request_id, "two", LONG_S)
    assert isinstance(await extractions.lease(request_, "three", LONG_S), Held)


async def test_a_failed_request_can_be_leased_again_once_reported_and_a_failure_keeps_an_existing_answer(
    extractions: Extractions, request_: ExtractionRequest, pool: Pool
) -> None:
    await failed(extractions, request_)
    assert await pool.fetchval("SELECT failed_reason FROM extractions") == "refused: no: never"
    with pytest.raises(Rejected) as rejected:
        await extractions.lease(request_, "two", LONG_S)
    assert (rejected.value.reason, rejected.value.detail) == ("refused", "no: never")
    await extractions.mark_failure_reported(request_.request_id)
    kept = await pool.fetchval("SELECT failed_reason FROM extractions")
    assert kept == "refused", "the detail may quote what was said, and is in the dead letter"
    assert isinstance(await extractions.lease(request_, "two", LONG_S), Leased)
    await store(extractions, request_, "two", b"{}")
    await extractions.fail(request_.request_id, Rejected("refused", "too late"))
    assert await extractions.lease(request_, "one", LONG_S) == Answered(b"{}")
    assert await pool.fetchval("SELECT failed_reason FROM extractions") is None
