"""The API in this process, over fakes or over real ports: requests go straight into the app, without a socket.

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
from msgspec import to_builtins
from msgspec.structs import replace
from starlette.datastructures import State

from agents.api.access.authentication import KeyAuthentication
from agents.api.access.rate_limits import RateLimiter
from agents.api.app import create_app
from agents.api.budgets.consumption import Consumption
from agents.api.live.change_notifier import ChangeNotifier
from agents.api.memories.access_counter import AccessCounter
from agents.api.pipeline.status import PipelineStatus
from agents.api.policies.policy_book import PolicyBook
from agents.api.policies.reach import PolicyReach
from agents.api.ports import Ports
from agents.api.trails.trail import MessageTrails
from agents.conversations.contexts import Contexts
from agents.conversations.control import WindowControlSender
from agents.conversations.kept_counts import KeptCounts
from agents.conversations.lookup import Conversations
from agents.dead_letters.letters import Letters
from agents.erasure.begin import ErasureService
from agents.profile.reading import Profiles
from agents.retrieval.recall import Recall
from agents.retrieval.said_ranking import UNMEASURED
from agents.retrieval.search import Retrieval
from agents.retrieval.tiers import Tiers
from agents.windows.terms import WindowTerms
from schemas.access.keys import Grant, Key
from schemas.budgets.budgets import Budget
from schemas.conversations.window_settings import WindowSettings
from schemas.errors import Rejected, Retryable
from schemas.memories.memories import Memory
from schemas.policies.policies import Match, Policies, Policy
from sinks.access.audit import Audited, AuditEntry
from sinks.embeddings.fake import FakeEmbedder
from streams.windows.tokens.model_limits import ModelLimits
from tests.fakes.accesses import FakeAccesses
from tests.fakes.archive import FakeArchive
from tests.fakes.curation import FakeCuration
from tests.fakes.erasures import FakeErasures
from tests.fakes.event_history import FakeEventHistory
from tests.fakes.exports import FakeExports, FakeInsights, FakeKinds, FakeNamespaces, FakeStatistics
from tests.fakes.letter_topic import FakeLetterTopic
from tests.fakes.live import FakeLive
from tests.fakes.memories import FakeMemories
from tests.fakes.owners import FakeOwners
from tests.fakes.pipeline import FakePipeline
from tests.fakes.policy_records import FakePolicyRecords
from tests.fakes.publisher import FakePublisher
from tests.fakes.remembered import FakeRemembered
from tests.fakes.replays import FakeReplays
from tests.fakes.runs import FakeRuns, FakeSweeps
from tests.fakes.said import FakeSaid
from tests.fakes.searched import Searched
from tests.fakes.sinks import FakeVectors
from tests.fakes.trails import FakeTrails
from tests.fakes.usage import FakeUsage
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


class FakeKeys:
    """Keys by their tokens."""

    def __init__(self) -> None:
        self.by_token: dict[str, Key] = {}
        self.asked = 0

    def add(self, **patterns: str) -> str:
        """A token that may `read`, `write` or `admin` what the patterns cover."""
        number = len(self.by_token) + 1
        grants = tuple(Grant(right, pattern) for right, pattern in patterns.items())  # type: ignore[arg-type]
        self.by_token[token := f"EXAMPLE-{number}"] = Key(
            key_id=f"key{number}", name=f"key {number}", grants=grants, created_at=NOON
        )
        return token

    async def find(self, token: str) -> Key | None:
        self.asked += 1
        return self.by_token.get(token)

    async def all(self) -> tuple[Key, ...]:
        return tuple(self.by_token.values())

    async def create(
        self, name: str, grants: tuple[Grant, ...], at: datetime, actor: str, expires_at: datetime | None = None
    ) -> tuple[str, Key]:
        if any(key.name == name and key.revoked_at is None for key in self.by_token.values()):
            raise Rejected("taken", f"there is a key {name!r} already: choose another name, or revoke it first")
        token = f"EXAMPLE-{len(self.by_token) + 1}"
        made = Key(
            key_id=f"key{len(self.by_token) + 1}", name=name, grants=grants, created_at=at, expires_at=expires_at
        )
        self.by_token[token] = made
        return token, made

    async def revoke(self, named: str, at: datetime, actor: str) -> Key:
        for token, key in self.by_token.items():
            if named in (key.key_id, key.name) and key.revoked_at is None:
                self.by_token[token] = replace(key, revoked_at=at)
                return self.by_token[token]
        raise Rejected("unknown", f"no key {named!r} holds")


class FakeAudit:
    """What was told; `down` raises Retryable."""

    def __init__(self) -> None:
        self.rows: list[Audited] = []
        self.down = False

    async def record(self, done: Audited) -> None:
        if self.down:
            raise Retryable("Postgres failed while writing the audit: it is down")
        self.rows.append(done)

    async def page(
        self, limit: int, *, before: int | None = None, action: str | None = None, subject: str | None = None
    ) -> tuple[AuditEntry, ...]:
        entries = [
            AuditEntry(
                id=number,
                at=row.at,
                actor=row.actor,
                action=row.action,
                subject=row.subject,
                details=to_builtins(row.details),
            )
            for number, row in enumerate(self.rows, 1)
        ]
        found = [
            each
            for each in reversed(entries)
            if (before is None or each.id < before)
            and action in (None, each.action)
            and subject in (None, each.subject)
        ]
        return tuple(found[:limit])


class Api:
    """An app over fakes; `ports` replaces some of them. `now` and `seconds` are its clocks."""

    def __init__(self, **ports: Any) -> None:
        self.now = NOON
        self.seconds = 0.0
        self.keys = FakeKeys()
        self.memories = FakeMemories()
        self.live = FakeLive(self.memories)
        self.vectors = FakeVectors()
        self.remembered = FakeRemembered()  # the memories that are searched
        self.said = FakeSaid()  # the passages
        self.accesses = FakeAccesses()
        self.event_history = FakeEventHistory()
        self.change_notifier = ChangeNotifier()
        self.archive, self.windows, self.searched = FakeArchive(), FakeWindows(), Searched()
        self.published = FakePublisher()
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
        self.consumption = Consumption(self.usage, self.usage, POLICIES, BUDGET, lambda: self.now)
        self.policy_records = FakePolicyRecords()
        self.runs, self.sweeps = FakeRuns(), FakeSweeps()
        self.replays = FakeReplays()
        self.letter_topic, self.pipeline = FakeLetterTopic(), FakePipeline()
        self.trails = FakeTrails()
        self.letters = Letters(self.letter_topic, self.letter_topic, "", lambda: self.now)
        presets = {"app-notes": Policy(name="app-notes")}
        self.policy_book = PolicyBook(
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
                Retrieval(FakeEmbedder(), self.vectors, self.remembered, self.remembered, clock=lambda: self.now),
                self.said,
                lambda: self.now,
                UNMEASURED,
            ),
            "passages": self.said,
            "accesses": AccessCounter(self.accesses, lambda: self.now),
            "event_history": self.event_history,
            "change_notifier": self.change_notifier,
            "commands": self.curation,
            "vectors": self.vectors,
            "audit": self.audit,
            "owners": self.owners,
            "erasures": ErasureService(self.erasures, self.message_ends, lambda: self.now),
            "erasure_wait_s": 0.0,
            "exports": self.exports,
            "statistics": self.statistics,
            "insights": self.insights,
            "namespaces": FakeNamespaces(self.memories),
            "kinds": self.kinds,
            "usage": self.consumption,
            "policy_book": self.policy_book,
            "runs": self.runs,
            "sweeps": self.sweeps,
            "dead_letters": self.letters,
            "keys": self.keys,
            "reach": PolicyReach(self.windows),
            "trails": MessageTrails(self.trails, self.letter_topic, self.letters, ""),
            "pipeline": PipelineStatus(
                self.pipeline, self.pipeline, self.consumption, self.letters, lambda: self.now, lambda: self.seconds
            ),
            "replays": self.replays,
            "clock": lambda: self.now,
            **self._conversations(),
            "ready": self.ready,
        }

    def _conversations(self) -> dict[str, Any]:
        """Under POLICIES, with a model of 1,000 tokens; a token is a word."""
        terms = WindowTerms(POLICIES, ModelLimits(1_000, {}))
        profiles = Profiles(self.live, words, lambda: self.now)
        return {
            "policies": POLICIES,
            "recall": Recall(self.searched, self.archive, POLICIES, words, lambda: self.now, profiles),
            "profiles": profiles,
            "conversations": Conversations(self.windows, self.archive, POLICIES),
            "contexts": Contexts(self.archive, terms, KeptCounts(words), lambda: self.now),
            "window_control": WindowControlSender(self.published, lambda: self.now, wait_s=0.1),
        }

    async def message_ends(self) -> dict[int, int]:
        return {0: 7}

    async def ready(self) -> None:
        await self.memories.get("")

    def client(self, **patterns: str) -> httpx.AsyncClient:
        """A client with a key of these rights (`read="app/*"`); without any, one that has no key."""
        headers = {"Authorization": f"Bearer {self.keys.add(**patterns)}"} if patterns else {}
        transport = httpx.ASGITransport(self.app, raise_app_exceptions=False)
        return httpx.AsyncClient(transport=transport, base_url="http://api", headers=headers)


def app_over(ports: Ports) -> FastAPI:
    """As `create_app` makes it, but for its routes, which all share: each is built by the first request that passes it."""
    app = copy(first_app())
    app.state = State({**app.state._state, "ports": ports})
    app.middleware_stack = None  # as before the first request: it would lead to the other app
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
