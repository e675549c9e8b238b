"""A worker with batches: real PostgreSQL, the real SDK, and a local Messages server."""

import asyncio
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import anthropic
import pytest
from msgspec.structs import replace

from agents.budgets.budget_guard import OVERALL, LedgerBudgetGuard
from agents.budgets.prices import Price, Prices
from agents.extraction.batches.agent import BatchAgent
from agents.extraction.extractor import Extractor
from agents.extraction.outcomes import RequestOutcomes
from agents.extraction.parked_requests import ParkedRequestAgent
from agents.models.claude.provider import ClaudeProvider
from schemas import codec, ids
from schemas.budgets.budgets import Amount, Budget
from schemas.conversations.messages import Scope
from schemas.errors import Deferred
from schemas.extraction.candidates import CandidateBatch
from schemas.extraction.requests import ExtractionRequest
from schemas.kafka import topics
from schemas.policies.policies import Policies, Policy
from sinks.budgets.ledger import Ledger
from sinks.extraction.answers import Extractions
from sinks.extraction.batches import Batches, Bounds
from sinks.extraction.parked import Parking
from sinks.memories.reader import Memories
from sinks.postgres.connection import Pool
from tests.builders.slices import slice_of
from tests.fakes.batches import record
from tests.fakes.provider import FakeRelated
from tests.fakes.publisher import FakePublisher
from tests.servers.messages import KEY, MODELS, MessagesServer

POLICY = Policy(name="nightly", batch=True)

AT_ONCE = Bounds(requests=100, bytes=1_000_000, wait_s=0.0)

DAY_S = 86_400.0

PLENTY = Budget(tokens_per_hour=10_000_000)

PRICE = Price(
    model=MODELS[0], input=Decimal(1), output=Decimal(5), cache_write=Decimal("1.25"), cache_read=Decimal("0.1")
)

PRICES = Prices(as_of=date(2026, 11, 1), source="made up", models=(PRICE,))


def now() -> datetime:
    return datetime.now(UTC)


def numbered_request(number: int, text: str = "I live in Town{}.") -> ExtractionRequest:
    request_id, scope = ids.derive("batched", number), Scope(conversation_id=f"c{number}")
    return replace(
        slice_of(text.format(number)), request_id=request_id, scope=scope, policy=POLICY.name, lane="background"
    )


class Worker:
    """The batch parts of a worker; several share a database and a server."""

    def __init__(
        self,
        pool: Pool,
        server: MessagesServer,
        name: str = "one",
        policy: Policy = POLICY,
        client: anthropic.AsyncAnthropic | None = None,
        overall: Budget | None = None,
    ) -> None:
        self.pool = pool
        self.client = client or anthropic.AsyncAnthropic(api_key=KEY, base_url=server.url, max_retries=0, timeout=5.0)
        self.ledger = Ledger(pool)
        self.energy = LedgerBudgetGuard(self.ledger, PRICES, overall or PLENTY, now)
        self.provider = ClaudeProvider(MODELS[0], client=self.client, budget_guard=self.energy)
        self.batches = Batches(pool)
        self.parking, self.publisher, self.related = Parking(pool), FakePublisher(), FakeRelated()
        extractions, policies, self.memories = Extractions(pool), Policies((policy,)), Memories(pool)
        extractor = Extractor(extractions, self.provider, self.related, self.publisher, policies, now)
        outcomes = RequestOutcomes(extractions, self.publisher, now, extractor.without_erased)
        self.resuming = ParkedRequestAgent(self.parking, extractor, outcomes, name, {"live": 4, "background": 4})
        self.agent = BatchAgent(
            *(self.batches, self.provider.batches(), extractor, outcomes, self.memories, policies, name, now),
            bounds=AT_ONCE,
            poll_s=3_600.0,
        )

    async def park(self, *requests: ExtractionRequest, deadline_s: float = DAY_S) -> None:
        for request in requests:
            sent = record(topics.REQUESTS, request.first, codec.encode(request), key=b"c")
            await self.parking.park(sent, request, Deferred(now(), "batch"), deadline_s, batched=True)

    async def resume(self) -> None:
        """Answers the requests outside of batches until none is left."""
        await self.resuming.tick()
        while any(self.resuming._running.values()):
            await asyncio.sleep(0.01)
            await self.resuming.tick()

    async def look(self) -> None:
        """Makes every batch due and checks it."""
        await self.pool.execute("UPDATE batches SET look_at = now()")
        await self.agent.tick()

    async def booked(self) -> list[dict[str, Any]]:
        """Returns one usage record per call."""
        return [dict(row) for row in await self.pool.fetch("SELECT * FROM model_usage ORDER BY at")]

    async def reserved(self) -> Amount:
        """Returns the part of the overall budget that is reserved for batches."""
        return (await self.ledger.levels([OVERALL]))[OVERALL].reserved

    async def count(self, table: str, where: str = "true") -> int:
        return int(await self.pool.fetchval(f"SELECT count(*) FROM {table} WHERE {where}"))

    @property
    def remembered(self) -> list[str]:
        """Texts of the candidates that were published."""
        published = [codec.decode(each.value, CandidateBatch) for each in self.publisher.on(topics.CANDIDATES)]
        return sorted(candidate.text for batch in published for candidate in batch.candidates)


def lives_in(*numbers: int) -> list[str]:
    return [f"User lives in Town{number}." for number in numbers]


async def dies_once_it_was_taken(worker: Worker) -> None:
    async def submitted(*_: Any) -> None:
        raise asyncio.CancelledError

    worker.batches.submitted = submitted  # type: ignore[method-assign]
    with pytest.raises(asyncio.CancelledError):
        await worker.agent.tick()


async def aged(worker: Worker, seconds: float) -> None:
    await worker.pool.execute(
        "UPDATE batches SET lease_until = now(), sent_at = sent_at - $1 * interval '1 second'", seconds
    )
