"""Plays a scenario through windows, a provider and the curator; each session is a conversation."""

import asyncio
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, closing
from datetime import datetime
from pathlib import Path
from typing import Final, get_args

from msgspec import Struct
from msgspec.structs import replace

from agents.curation.compactor import Compactor
from agents.curation.curator import Curator
from agents.curation.editor import Editor
from agents.curation.resolver import Resolver
from agents.extraction.records import candidate_batches
from agents.extraction.related import RelatedMemories
from agents.models.port import Answer, Context, Provider, Usage
from agents.profile.profile_reader import Profiles
from agents.retrieval.read_rights import MayRead, allow_all
from agents.retrieval.recall import Recall
from agents.retrieval.search import MemorySearch
from deploy.embedded.postgres.server import EmbeddedPostgres
from deploy.policies.files import shipped as presets
from schemas.conversations.messages import Message
from schemas.errors import Retryable
from schemas.extraction.requests import ExtractionRequest
from schemas.memories.memories import Memory, Status
from schemas.policies.policies import Policies, Policy
from schemas.retrieval.blocks import BlockQuery
from schemas.retrieval.searches import Found, Query
from schemas.windows.window_controls import WindowControl
from sinks.classification.comparer import OnnxComparer
from sinks.embeddings.onnx import OnnxEmbedder
from sinks.memories.lexical import FullText
from sinks.memories.live import LiveMemories
from sinks.memories.reader import Memories
from sinks.memories.resolutions import Resolutions
from sinks.outbox.projector import Projector
from sinks.postgres.connection import Pool, connect
from sinks.postgres.migrate import migrate
from streams.windows.window import Window
from tests.benchmarks.curate_steps import Discarding
from tests.benchmarks.understanding.measures import Played
from tests.benchmarks.understanding.scenarios import Scenario
from tests.embedders import packaged_embedder
from tests.fakes.archive import FakeArchive
from tests.fakes.chats import always, requests_among, terms
from tests.fakes.sinks import FakeVectors

NAMESPACES: Final = ("{app_id}/{user_id}",)  # an app a scenario
MOST: Final = 100  # memories of one person
PAUSES_S: Final = (1.0, 5.0, 15.0, 40.0)


class Stage(Struct, frozen=True):
    """Resources that all scenarios share: a database, an index, an embedder, and the comparer, or None for rules
    alone."""

    pool: Pool
    vectors: FakeVectors
    embedder: OnnxEmbedder
    comparer: OnnxComparer | None

    async def known(self, app: str, people: Sequence[str]) -> dict[str, tuple[Memory, ...]]:
        """The memories of each person, of any status."""
        memories = Memories(self.pool)
        every = get_args(Status)
        return {who: await memories.in_namespace(f"{app}/{who}", statuses=every, limit=MOST) for who in people}

    def curator(self, policy: Policy, clock: "Clock", provider: Provider) -> Curator:
        return Curator(
            self.pool,
            self.vectors,
            self.embedder,
            Projector(self.pool, self.vectors, Discarding(), stale_s=0),
            Policies((policy,)),
            clock.now,
            Compactor(provider, self.embedder),
            Editor(provider),
            resolver=Resolver(provider, Resolutions(self.pool), clock.now),
            comparer=self.comparer,
        )

    def recall(self, policy: Policy, clock: "Clock") -> Recall:
        memories = Memories(self.pool)
        found = MemorySearch(
            self.embedder, self.vectors, FullText(self.pool), memories, clock=clock.now, timeout_s=60.0
        )
        profiles = Profiles(LiveMemories(self.pool), tokens, clock.now)
        return Recall(MemoriesAlone(found), FakeArchive(), Policies((policy,)), tokens, clock.now, profiles)


class MemoriesAlone:
    """A search without passages: what was said is no proof that anything was understood."""

    def __init__(self, retrieval: MemorySearch) -> None:
        self._retrieval = retrieval

    async def search(self, query: Query, may_read: MayRead = allow_all) -> Found:
        return Found() if query.tier == "said" else await self._retrieval.search(query)


class Clock:
    """A clock at the time of the latest message."""

    def __init__(self, at: datetime) -> None:
        self.at = at

    def now(self) -> datetime:
        return self.at


async def play(scenario: Scenario, stage: Stage, provider: Provider, *, resolve: bool = False) -> Played:
    """To the end of its last session. With `resolve` a model compares candidates with the memories near them."""
    policy, clock = replace(policy_of(scenario), resolve=resolve), Clock(scenario.sessions[0][0].timestamp)
    curator, seen, sent = stage.curator(policy, clock, provider), [], Counter[str]()
    related = RelatedMemories(stage.embedder, stage.vectors, Memories(stage.pool))
    for session in scenario.sessions:
        clock.at = session[-1].timestamp
        for request in requests(session, policy):
            known = Context(policy=policy, related=await related.of(request, policy))
            answer = await answered(provider, request, known)
            sent.update(billed(answer.usage))
            for batch in candidate_batches(request, answer, clock.at):
                await curator.curate(batch)
        seen.append(await stage.known(scenario.id, scenario.people))
    return Played(scenario, tuple(seen), tokens=sent)


async def after(played: Played, stage: Stage, provider: Provider) -> Played:
    """An hour later, when what is over has ended. That ends memories of all scenarios: those that are over first come first."""
    scenario, policy = played.scenario, policy_of(played.scenario)
    clock = Clock(scenario.over)
    await stage.curator(policy, clock, provider).expire()
    seen = (*played.seen, await stage.known(scenario.id, scenario.people))
    return replace(played, seen=seen, block=await block(scenario, stage.recall(policy, clock)))


async def answered(provider: Provider, request: ExtractionRequest, known: Context) -> Answer:
    """Asked again where the model is down or busy, as the stage does. Raises Retryable in the end, and Rejected."""
    for pause_s in PAUSES_S:
        try:
            return await provider.extract(request, known)
        except Retryable:
            await asyncio.sleep(pause_s)
    return await provider.extract(request, known)


def billed(usage: Usage) -> dict[str, int]:
    sent = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens
    return {"calls": 1, "tokens_sent": sent, "tokens_answered": usage.output_tokens}


def policy_of(scenario: Scenario) -> Policy:
    chosen = Policy(name="default") if scenario.policy == "default" else presets()[scenario.policy]
    return replace(chosen, namespaces=NAMESPACES)


def requests(session: Sequence[Message], policy: Policy) -> list[ExtractionRequest]:
    """Returns the requests of a session's window until its end."""
    conversation, now = session[0].conversation_id, session[-1].timestamp
    window, known = Window.opened(conversation, 0), terms(policy)
    effects = [
        each
        for at, said in enumerate(session)
        for each in window.add(said, at, 1 + len(said.content) // 4, always(known), said.timestamp.timestamp())
    ]
    flush = WindowControl(conversation_id=conversation, kind="flush", at=now)
    effects += window.control(flush, len(session), known, now.timestamp())
    return requests_among(effects)


async def block(scenario: Scenario, recall: Recall) -> str:
    """Returns profile and context block for the scenario's question; empty without a question."""
    if scenario.ask is None:
        return ""
    namespaces = (f"{scenario.id}/{scenario.people[0]}",)
    made = await recall.block(BlockQuery(namespaces=namespaces, text=scenario.ask, profile=True), None)
    return "\n".join(part for part in (made.profile.text if made.profile else "", made.text) if part)


def tokens(text: str) -> int:
    return len(text) // 4


@asynccontextmanager
async def stage(*, compare: bool = True) -> AsyncIterator[Stage]:
    with (
        tempfile.TemporaryDirectory(prefix="bench-understanding-") as directory,
        closing(packaged_embedder()) as embedder,
        closing(OnnxComparer()) as comparer,
    ):
        postgres = EmbeddedPostgres(Path(directory) / "postgres")
        await postgres.start()
        try:
            await migrate(postgres.dsn)
            pool = await connect(postgres.dsn)
            try:
                yield Stage(pool, FakeVectors(embedding_model=embedder.model), embedder, comparer if compare else None)
            finally:
                await pool.close()
        finally:
            await postgres.stop()
