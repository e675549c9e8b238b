"""The API in this process, over fakes or real ports; requests go directly into the ASGI app, without a socket.

async def test_x(api: Api):
    api.memories.put(a_memory(namespace="app/ada"))
    answer = await api.client(read="app/*").get("/v1/memories", params={"namespace": "app/ada"})
"""

from copy import copy
from datetime import UTC, datetime
from functools import cache
from typing import Any

import httpx
from fastapi import FastAPI
from msgspec.structs import replace
from starlette.datastructures import State

from agents.api.access.authentication import KeyAuthentication
from agents.api.access.rate_limits import RateLimiter
from agents.api.app import create_app
from agents.api.budgets.usage_report import UsageReport
from agents.api.live.change_notifier import ChangeNotifier
from agents.api.memories.access_counter import AccessCounter
from agents.api.memories.retrieval_counter import RetrievalCounter
from agents.api.pipeline.status import PipelineStatus
from agents.api.policies.policy_preview import PolicyPreview
from agents.api.policies.policy_service import PolicyService
from agents.api.ports import Ports
from agents.api.trails.trail import MessageTrails
from agents.conversations.contexts import Contexts
from agents.conversations.control import WindowControlSender
from agents.conversations.listing import ConversationList
from agents.conversations.lookup import Conversations
from agents.conversations.token_count_cache import TokenCountCache
from agents.conversations.user_settings import UserSettingsService
from agents.dead_letters.dead_letter_queue import DeadLetterQueue
from agents.erasure.begin import ErasureService
from agents.profile.profile_reader import Profiles
from agents.retrieval.passage_ranking import UNMEASURED
from agents.retrieval.recall import Recall
from agents.retrieval.search import MemorySearch
from agents.retrieval.tiers import Tiers
from agents.windows.terms import WindowTerms
from schemas.budgets.budgets import Budget
from schemas.conversations.window_settings import WindowSettings
from schemas.memories.memories import Memory
from schemas.policies.matching import Match
from schemas.policies.policies import Policies, Policy
from streams.windows.tokens.model_limits import ModelLimits
from tests.fakes.access import FakeAudit, FakeKeys
from tests.fakes.accesses import FakeAccesses, FakeRetrievalCounts
from tests.fakes.archive import FakeArchive
from tests.fakes.curation import FakeCuration
from tests.fakes.embedder import FakeEmbedder
from tests.fakes.erasures import FakeErasures
from tests.fakes.event_history import FakeEventHistory
from tests.fakes.exports import FakeExports, FakeInsights, FakeKinds, FakeNamespaces, FakeStatistics
from tests.fakes.letter_topic import FakeLetterTopic
from tests.fakes.live import FakeLive
from tests.fakes.memories import FakeMemories
from tests.fakes.memory_index import FakeMemoryIndex
from tests.fakes.owners import FakeOwners
from tests.fakes.passage_search import FakePassageSearch
from tests.fakes.pipeline import FakePipeline
from tests.fakes.policy_records import FakePolicyRecords
from tests.fakes.publisher import FakePublisher
from tests.fakes.replays import FakeReplays
from tests.fakes.runs import FakeRuns, FakeSweeps
from tests.fakes.search import FakeSearch
from tests.fakes.sinks import FakeVectors
from tests.fakes.trails import FakeTrails
from tests.fakes.usage import FakeUsage
from tests.fakes.user_settings import FakeUserSettings
from tests.fakes.windows import FakeWindows

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
BUDGET = Budget(tokens_per_day=1_000)
POLICIES = Policies(
    (
        Policy(
            name="app",
            match=Match(app_id="app"),
            budget=BUDGET,
            namespaces=("{app_id}/{user_id}",),
            window=WindowSettings(min_recent=2, strategy="rolling_window"),
        ),
    )
)


class Api:
    """An app over fakes; `ports` replaces some of them. `now` and `seconds` are its clocks."""

    def __init__(self, **ports: Any) -> None:
        self.now = NOON
        self.seconds = 0.0
        self.keys = FakeKeys()
        self.memories = FakeMemories()
        self.live = FakeLive(self.memories)
        self.vectors = FakeVectors()
        self.remembered = FakeMemoryIndex()  # searched memories
        self.said = FakePassageSearch()  # the passages
        self.accesses = FakeAccesses()
        self.counted = FakeRetrievalCounts()
        self.retrieval_counts = RetrievalCounter(self.counted, lambda: self.now)
        self.event_history = FakeEventHistory()
        self.change_notifier = ChangeNotifier()
        self.archive, self.windows, self.searched = FakeArchive(), FakeWindows(), FakeSearch()
        self.published, self.user_settings = FakePublisher(), FakeUserSettings()
        self.authentication = KeyAuthentication(self.keys, lambda: self.now, lambda: self.seconds)
        self.curation = FakeCuration(self.memories, lambda: self.now)
        self.audit = FakeAudit()
        self.owners = FakeOwners(self.memories)
        self.erasures = FakeErasures(self.audit)
        self.exports = FakeExports(self.memories)
        self.kinds = FakeKinds(self.memories)
        self.statistics = FakeStatistics(self.memories)
        self.insights = FakeInsights(self.memories)
        self.usage = FakeUsage()
        self.consumption = UsageReport(self.usage, self.usage, POLICIES, BUDGET, lambda: self.now)
        self.policy_records = FakePolicyRecords()
        self.runs, self.sweeps = FakeRuns(), FakeSweeps()
        self.replays = FakeReplays()
        self.letter_topic, self.pipeline = FakeLetterTopic(), FakePipeline()
        self.trails = FakeTrails()
        self.dead_letters = DeadLetterQueue(self.letter_topic, self.letter_topic, "", lambda: self.now)
        presets = {"app-notes": Policy(name="app-notes")}
        self.policy_service = PolicyService(
            self.policy_records.opened, self.policy_records, POLICIES, presets, self.policy_records.writing
        )
        self.ports = Ports(**(self._fakes() | ports))
        self.app = app_over(self.ports)

    def _fakes(self) -> dict[str, Any]:
        return {
            "authentication": self.authentication,
            "rate_limiter": RateLimiter(1_000, 1_000, lambda: self.seconds),
            "memories": self.memories,
            "stored": self.memories,
            "retrieval": Tiers(
                MemorySearch(FakeEmbedder(), self.vectors, self.remembered, self.remembered, clock=lambda: self.now),
                self.said,
                lambda: self.now,
                UNMEASURED,
            ),
            "passages": self.said,
            "accesses": AccessCounter(self.accesses, lambda: self.now),
            "retrieval_counts": self.retrieval_counts,
            "event_history": self.event_history,
            "change_notifier": self.change_notifier,
            "commands": self.curation,
            "vectors": self.vectors,
            "audit": self.audit,
            "owners": self.owners,
            "erasures": ErasureService(self.erasures, self.message_ends, lambda: self.now),
            "erasure_wait_s": 0.0,
            "window_wait_s": 0.0,
            "exports": self.exports,
            "statistics": self.statistics,
            "insights": self.insights,
            "namespaces": FakeNamespaces(self.memories),
            "kinds": self.kinds,
            "usage": self.consumption,
            "policy_service": self.policy_service,
            "runs": self.runs,
            "sweeps": self.sweeps,
            "dead_letters": self.dead_letters,
            "keys": self.keys,
            "policy_preview": PolicyPreview(self.windows),
            "trails": MessageTrails(self.trails, self.letter_topic, self.dead_letters, ""),
            "pipeline": PipelineStatus(
                self.pipeline,
                self.pipeline,
                self.consumption,
                self.dead_letters,
                lambda: self.now,
                lambda: self.seconds,
            ),
            "replays": self.replays,
            "clock": lambda: self.now,
            **self._conversations(),
            "ready": self.ready,
        }

    def _conversations(self) -> dict[str, Any]:
        """Conversations under POLICIES, with a model of 1,000 tokens; one word is one token."""
        terms = WindowTerms(POLICIES, ModelLimits(1_000, {}))
        profiles = Profiles(self.live, words, lambda: self.now)
        control = WindowControlSender(self.published, lambda: self.now, wait_s=0.1)
        return {
            "policies": POLICIES,
            "recall": Recall(self.searched, self.archive, POLICIES, words, lambda: self.now, profiles),
            "profiles": profiles,
            "conversations": Conversations(self.windows, self.archive, POLICIES),
            "archive": self.archive,
            "conversation_list": ConversationList(self.windows, self.archive, POLICIES),
            "contexts": Contexts(self.archive, terms, TokenCountCache(words), lambda: self.now),
            "window_control": control,
            "user_settings": UserSettingsService(self.user_settings, self.windows, control, lambda: self.now),
        }

    async def message_ends(self) -> dict[int, int]:
        return {0: 7}

    async def ready(self) -> None:
        await self.memories.get("")

    def client(self, **patterns: str) -> httpx.AsyncClient:
        """A client with a key that has these rights (`read="app/*"`), or without a key."""
        headers = {"Authorization": f"Bearer {self.keys.add(**patterns)}"} if patterns else {}
        transport = httpx.ASGITransport(self.app, raise_app_exceptions=False)
        return httpx.AsyncClient(transport=transport, base_url="http://api", headers=headers)


def app_over(ports: Ports) -> FastAPI:
    """An app as `create_app` makes it, except that all apps share their routes: FastAPI builds each with its first request."""
    app = copy(first_app())
    app.state = State({**app.state._state, "ports": ports})
    app.middleware_stack = None  # resets the middleware, which otherwise refers to the other app
    return app


@cache
def first_app() -> FastAPI:
    nothing: Any = None
    return create_app(nothing)


def words(text: str) -> int:
    return len(text.split())


def a_memory(memory_id: str = "m1", **fields: Any) -> Memory:
    defaults = Memory(
        memory_id=memory_id,
        namespace="app/ada",
        kind="fact",
        text="User lives in Ghent.",
        importance=0.5,
        confidence=0.9,
        version=1,
        sequence=1,
        status="active",
        created_at=NOON,
        updated_at=NOON,
        created_by="offline",
    )
    return replace(defaults, **fields)
