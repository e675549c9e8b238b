"""A curator on a real database with fakes of Qdrant and Kafka."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

from agents.curation.compactor import Compactor
from agents.curation.curator import Curator
from agents.curation.editor import Editor
from agents.curation.wishes import BeginErasures, FindRepetitions
from schemas.codec import decode
from schemas.extraction.candidates import Candidate, CandidateBatch, Source
from schemas.extraction.requests import ExtractionRequest
from schemas.kafka import topics
from schemas.memories.events import ActivityEvent, MemoryEvent
from schemas.memories.memories import Memory, Status
from schemas.policies.policies import DEFAULT_POLICY, Policies
from schemas.windows.window_controls import WindowControl
from sinks.memories.reader import Memories
from sinks.outbox.projector import Projector
from sinks.postgres.connection import Pool
from tests.builders.groups import batches_of
from tests.builders.memories import NOON
from tests.fakes.embedder import FakeEmbedder
from tests.fakes.provider import FakeProvider
from tests.fakes.sinks import FakePublisher, FakeVectors, Fuse


class Bench:
    """A curator on a real database with fakes of Qdrant and Kafka, and builders of its input."""

    def __init__(self, pool: Pool, fuse: Fuse | None = None) -> None:
        self.pool = pool
        self.vectors = FakeVectors(fuse=fuse)
        self.publisher = FakePublisher(fuse)
        self.projector = Projector(pool, self.vectors, self.publisher, stale_s=0)
        self.memories = Memories(pool)
        self.provider = FakeProvider(takes_s=0.0)
        self.curator = self.curator_under(Policies())
        self._said = 0

    def curator_under(
        self,
        policies: Policies,
        erasures: BeginErasures | None = None,
        clock: Callable[[], datetime] = lambda: NOON,
        said_again: FindRepetitions | None = None,
        embedder: FakeEmbedder | None = None,
    ) -> Curator:
        embedder = embedder or FakeEmbedder()
        compactor = Compactor(self.provider, embedder)
        return Curator(
            self.pool,
            self.vectors,
            embedder,
            self.projector,
            policies,
            clock,
            compactor,
            Editor(self.provider),
            erasures=erasures,
            said_again=said_again,
        )

    def now(self) -> datetime:
        return NOON

    def candidate(self, text: str, candidate_id: str | None = None, **fields: Any) -> Candidate:
        """A candidate from the next message, a minute after the previous one."""
        self._said += 1
        said = Source(conversation_id="c", message_id=f"m{self._said}", timestamp=NOON + timedelta(minutes=self._said))
        defaults: dict[str, Any] = {"kind": "fact", "confidence": 0.9, "importance": 0.5, "sources": (said,)}
        return Candidate(candidate_id=candidate_id or uuid4().hex, text=text, **(defaults | fields))

    def batch(self, *said: Candidate | str, **fields: Any) -> CandidateBatch:
        defaults: dict[str, Any] = {
            "request_id": uuid4().hex,
            "conversation_id": "c",
            "partition": 3,
            "namespace": "n",
            "part": 1,
            "parts": 1,
            "policy": "default",
            "policy_version": 1,
            "provider": "offline",
            "extracted_at": NOON,
        }
        candidates = tuple(self.candidate(each) if isinstance(each, str) else each for each in said)
        return CandidateBatch(candidates=candidates, **(defaults | fields))

    async def remember(self, text: str, **fields: Any) -> Memory:
        """Curates one candidate and returns the memory that now says it."""
        outcome = await self.curator.curate(self.batch(self.candidate(text, **fields)))
        memory = await self.memories.get(outcome.rulings[0].memory_id or "")
        assert memory is not None
        return memory

    async def extract_and_curate(self, request: ExtractionRequest) -> CandidateBatch:
        """Takes a request of one namespace through the offline provider and the curator."""
        (batch,) = await batches_of(request, DEFAULT_POLICY)
        await self.curator.curate(batch)
        return batch

    async def live_texts(self, namespace: str) -> list[str]:
        return sorted(memory.text for memory in await self.memories.in_namespace(namespace))

    async def only_memory(self, namespace: str, status: Status) -> Memory:
        """The namespace's only memory of a status."""
        (memory,) = await self.memories.in_namespace(namespace, statuses=(status,))
        return memory

    async def pending(self) -> int:
        """Rows in the outbox."""
        return int(await self.pool.fetchval("SELECT count(*) FROM outbox"))

    def events(self, namespace: str = "n") -> list[MemoryEvent]:
        """Memory events of a namespace as a consumer keeps them: each id once, in order of first arrival."""
        records = [record for record in self.publisher.on(topics.EVENTS) if record.key == namespace.encode()]
        first = {(event := decode(record.value, MemoryEvent)).id: event for record in reversed(records)}
        return list(reversed(first.values()))

    def controls(self) -> list[WindowControl]:
        return [decode(record.value, WindowControl) for record in self.publisher.on(topics.WINDOW_CONTROL)]

    def activity(self) -> list[ActivityEvent]:
        return [decode(record.value, ActivityEvent) for record in self.publisher.on(topics.ACTIVITY)]

    def wish_events(self) -> list[ActivityEvent]:
        return [event for event in self.activity() if event.type.startswith("memstream.wish.")]
