"""Conversations of several users on PostgreSQL and the vector server: archived, extracted, replayed and cut over."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from agents.curation.compactor import Compactor
from agents.curation.curator import Curator
from agents.curation.editor import Editor
from agents.extraction.extractor import Extractor
from agents.extraction.records import candidate_batches
from agents.extraction.related import RelatedMemories
from agents.models.offline.provider import OfflineProvider
from agents.models.port import Answer, Context
from agents.replay.comparison import Difference
from agents.replay.conversations import plan_conversations, replay_archive
from agents.replay.cutover import Cutover
from agents.replay.namespace_comparison import differences
from agents.replay.replayer import Replayer
from agents.replay.slices import slices
from agents.windows.terms import WindowTerms
from schemas.extraction.requests import ExtractionRequest
from schemas.memories.commands import Command
from schemas.policies.policies import Policies, Policy
from schemas.replay.generations import Generation, Plan
from sinks.archive.messages import Archive, ArchivedMessage
from sinks.extraction.answers import Extractions
from sinks.memories.reader import Memories
from sinks.outbox.projector import Projector
from sinks.postgres.connection import Pool
from sinks.replay.generations import Generations
from sinks.replay.shadows import SwitchedNamespace
from sinks.vectors.qdrant import Vectors
from streams.windows.tokens.model_limits import ModelLimits
from tests.builders.archived_messages import archived_message
from tests.deployment import eventually
from tests.fakes.embedder import FakeEmbedder
from tests.fakes.sinks import FakePublisher

SAID_FROM = datetime(2026, 3, 1, 9, tzinfo=UTC)


def kitchen(**fields: Any) -> Policies:
    return Policies((Policy(**{"name": "kitchen", "namespaces": ("kitchen/{user_id}",)} | fields),))


IMPORTANT = kitchen(taxonomy=("fact", "preference"), min_importance=0.8)
PREFERENCES = kitchen(taxonomy=("preference",))
BOTH = kitchen(taxonomy=("fact", "preference"))
SHORTER = kitchen(taxonomy=("fact", "preference"), min_importance=0.8, max_text_chars=20)
LIMITS = ModelLimits(default=200_000, context_tokens={})
ADA = "kitchen/ada"
PEANUTS, SHORT, SHELLFISH = "I'm allergic to peanuts.", "I prefer short recipes.", "I'm allergic to shellfish."
GENERATION = "0a1b2c3d"


class Asked(OfflineProvider):
    """Counts its questions, and fails at the `dies_at`-th one, from 1."""

    def __init__(self, dies_at: int = 0) -> None:
        super().__init__()
        self.requests: list[str] = []
        self.dies_at = dies_at

    async def extract(self, request: ExtractionRequest, context: Context) -> Answer:
        if len(self.requests) + 1 == self.dies_at:
            raise RuntimeError("killed")
        self.requests.append(request.request_id)
        return await super().extract(request, context)


class Town:
    """`policies` are those of live messages. Each message is said a minute after the one before."""

    def __init__(self, pool: Pool, vectors: Vectors, policies: Policies = IMPORTANT) -> None:
        self.pool, self.vectors, self.policies = pool, vectors, policies
        self.publisher, self.embedder = FakePublisher(), FakeEmbedder()
        self.projector = Projector(pool, vectors, self.publisher, stale_s=0)
        self.archive, self.generations, self.memories = Archive(pool), Generations(pool), Memories(pool)
        self.cutover = self.cutover_of()
        self._said = 0

    def cutover_of(self, **bounds: int) -> Cutover:
        return Cutover(self.pool, self.projector, self.embedder, self.vectors.embedding_model, self.now, **bounds)

    def now(self) -> datetime:
        return datetime.now(UTC)

    def curator(self, policies: Policies) -> Curator:
        provider = OfflineProvider()
        compactor = Compactor(provider, self.embedder)
        return Curator(
            self.pool, self.vectors, self.embedder, self.projector, policies, self.now, compactor, Editor(provider)
        )

    async def say(self, conversation: str, *texts: str, user: str = "ada") -> None:
        """Plays a finished conversation of a user: archives and extracts it as a live one."""
        said = [self._message(conversation, text, user) for text in texts]
        await self.archive.store(said)
        for request in slices(said, WindowTerms(self.policies, LIMITS), len):
            answer = await OfflineProvider().extract(request, Context(policy=self.policies.listed[0]))
            for batch in candidate_batches(request, answer, self.now()):
                await self.curator(self.policies).curate(batch)

    async def talk(self, conversation: str, *turns: tuple[str, str]) -> None:
        """Archives a conversation of several users, by (user, text), without extraction."""
        await self.archive.store([self._message(conversation, text, user) for user, text in turns])

    def _message(self, conversation: str, text: str, user: str) -> ArchivedMessage:
        self._said += 1
        at = SAID_FROM + timedelta(minutes=self._said)
        named = {"message_id": f"m{self._said}", "app_id": "kitchen", "user_id": user}
        return archived_message(conversation, self._said, timestamp=at, content=text, **named)

    async def command(self, kind: Any, namespace: str = ADA, **fields: Any) -> str | None:
        self._said += 1
        command = Command(
            command_id=f"command-{self._said}", kind=kind, namespace=namespace, at=self.now(), actor="ada", **fields
        )
        return (await self.curator(self.policies).apply_command(command)).memory_id

    def generation(self, name: str, policies: Policies, **plan: Any) -> Generation:
        now = self.now() + timedelta(seconds=1)  # the archive goes by PostgreSQL's clock
        fields = {"until": now, "policies": policies} | plan
        return Generation(generation_id=name, plan=Plan(**fields), status="building", created_at=now, changed_at=now)

    def replayer(self, generation: Generation, provider: Asked) -> Replayer:
        policies = generation.plan.policies
        related = RelatedMemories(self.embedder, self.vectors, self.memories)
        extractor = Extractor(Extractions(self.pool), provider, related, self.publisher, policies, self.now)
        terms = WindowTerms(policies, LIMITS)
        return Replayer(
            generation, self.generations, extractor, self.curator(policies), terms, self.policies, len, self.now, "test"
        )

    async def replay(self, name: str, policies: Policies, **plan: Any) -> Generation:
        generation = self.generation(name, policies, **plan)
        replayer = self.replayer(generation, Asked())
        await self.generations.begin(generation, await plan_conversations(self.generations, generation, replayer))
        await self.replay_rest(generation, replayer)
        return generation

    async def replay_of(self, *users: str) -> None:
        """Plays one statement of each user and replays it under another policy."""
        for user in users:
            await self.say(f"talk-{user}", PEANUTS, SHORT, user=user)
        await self.replay(GENERATION, PREFERENCES)

    async def replay_rest(self, generation: Generation, replayer: Replayer) -> None:
        try:
            await replay_archive(self.generations, generation, replayer, lambda: None)
        finally:
            await replayer.close()
        await self.generations.ready(generation.generation_id, self.now())

    async def diff(self, generation: Generation, namespace: str = ADA) -> list[Difference]:
        return await differences(self.pool, generation, namespace, self.vectors.embedding_model)

    async def waiting_for_a_row(self, task: asyncio.Task[Any]) -> None:
        """Returns when somebody, who should be the task, waits for a row that another transaction holds."""
        waits = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"

        async def waiting() -> bool:
            assert not task.done(), "it did not wait"
            return bool(await self.pool.fetchval(waits))

        await eventually(waiting, "waiting for a row", within_s=30)

    async def live(self, namespace: str = ADA) -> set[str]:
        return {memory.text for memory in await self.memories.in_namespace(namespace)}

    async def found(self, namespace: str, text: str) -> list[str]:
        """Returns the texts of the memories in a namespace whose points in Qdrant are nearest to a text."""
        (vector,) = await self.embedder.embed([text])
        near = await self.vectors.neighbours(namespace, vector, min_score=0.9, limit=3)
        known = await self.memories.by_ids([each.memory_id for each in near])
        return [known[each.memory_id].text for each in near]


def after_each_page(cutover: Cutover, happens: Callable[[Sequence[SwitchedNamespace]], Awaitable[None]]) -> None:
    """Something happens whenever a transaction of the cutover is over and projected."""
    projected = cutover._project

    async def project(page: Sequence[SwitchedNamespace]) -> None:
        await projected(page)
        await happens(page)

    cutover._project = project  # type: ignore[method-assign]


def fates(found: Sequence[Difference]) -> set[tuple[str, str]]:
    """Returns fate and text of each difference."""
    return {(each.fate, memory.text) for each in found if (memory := each.before or each.after) is not None}
