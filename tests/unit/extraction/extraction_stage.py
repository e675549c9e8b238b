"""An extraction stage with a fake store, parking, provider and publisher, in virtual time."""

import asyncio

from msgspec import structs

from agents.extraction.agent import ExtractionAgent
from agents.extraction.extractor import Extractor
from agents.extraction.outcomes import RequestOutcomes
from agents.extraction.parked_requests import ParkedRequestAgent
from agents.models.batches import ModelBatches
from agents.models.port import MeasuredCall
from schemas import codec, ids
from schemas.conversations.messages import Scope
from schemas.extraction.candidates import CandidateBatch
from schemas.extraction.requests import ExtractionRequest
from schemas.kafka import topics
from schemas.policies.policies import Policies, Policy
from schemas.windows.window_controls import WindowControl
from streams.windows.extraction.slices import request
from tests.fakes.app import StubApp
from tests.fakes.batches import batch_of
from tests.fakes.calibrations import FakeCalibrations
from tests.fakes.chats import sliced
from tests.fakes.clock import START_S, utc
from tests.fakes.extractions import FakeExtractions
from tests.fakes.parking import FakeParking
from tests.fakes.provider import FakeProvider, FakeRelated
from tests.fakes.publisher import FakePublisher

POLICY = Policy(name="two", namespaces=("{app_id}", "{app_id}/{user_id}"))
NIGHTLY = Policy(name="nightly", namespaces=POLICY.namespaces, batch=True)
PARTITION = 3
CALL = MeasuredCall(counted_tokens=1_000, billed_tokens=1_200)


def numbered_request(number: int = 1) -> ExtractionRequest:
    scope = Scope(conversation_id=f"conversation-{number}", app_id="app", user_id="user")
    return request([sliced(10 * number), sliced(10 * number + 1)], scope, PARTITION, POLICY, START_S)


def left(number: int = 1, summary: str = "") -> ExtractionRequest:
    """Messages of the same conversation that left its context."""
    request_id = ids.derive("summary", number)
    return structs.replace(
        numbered_request(number), request_id=request_id, namespaces=(), purpose="summarise", summary=summary, first=3
    )


class Worker:
    """One worker; several share a store."""

    def __init__(
        self,
        extractions: FakeExtractions | None = None,
        name: str = "worker-1",
        parking: FakeParking | None = None,
        batches: ModelBatches | None = None,
        **limits: int,
    ) -> None:
        self.app = StubApp()
        self.app.fence.open()
        self.extractions = extractions or FakeExtractions(utc)
        self.provider, self.related, self.publisher = FakeProvider(), FakeRelated(), FakePublisher()
        self.calibrations = FakeCalibrations()
        concurrency = limits.pop("concurrency", 8)
        self.extractor = Extractor(
            self.extractions,
            self.provider,
            self.related,
            self.publisher,
            Policies((POLICY, NIGHTLY)),
            utc,
            concurrency=concurrency,
            background_concurrency=limits.pop("background_concurrency", 4),
            calibrations=self.calibrations,
            monotonic_s=asyncio.get_running_loop().time,
        )
        self.parking = parking or FakeParking(utc, self.extractions.fences_of)
        outcomes, policies = (
            RequestOutcomes(self.extractions, self.publisher, utc, self.extractor.without_erased),
            Policies((POLICY, NIGHTLY)),
        )
        self.agent = ExtractionAgent(
            self.app, self.extractor, outcomes, self.parking, policies, name, utc, batches=batches, **limits
        )
        self.resuming = ParkedRequestAgent(
            self.parking, self.extractor, outcomes, name, {"live": 2, "background": 2}, asyncio.get_running_loop().time
        )
        self.offset = 0

    async def take(self, *requests):
        """Delivers a batch, and returns it without waiting for its end."""
        values = [codec.encode(r) if isinstance(r, ExtractionRequest) else r for r in requests]
        given = batch_of(self.app.fence, topics.REQUESTS, self.offset, values, partition=PARTITION)
        self.offset = given.end
        await self.agent.handle(given)
        return given

    @property
    def candidates(self) -> list[CandidateBatch]:
        return [codec.decode(record.value, CandidateBatch) for record in self.publisher.on(topics.CANDIDATES)]

    @property
    def controls(self) -> list[WindowControl]:
        return [codec.decode(record.value, WindowControl) for record in self.publisher.on(topics.WINDOW_CONTROL)]


def patient(number: int, **changed: object) -> ExtractionRequest:
    """A request that may wait for its answer, and therefore share a call."""
    return structs.replace(numbered_request(number), may_wait=True, **changed)
