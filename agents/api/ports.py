"""Ports: everything that routes need besides HTTP. The composition root or a test supplies them."""

from collections.abc import Awaitable, Callable, Collection, Sequence
from datetime import datetime
from typing import Annotated, Protocol

from fastapi import Depends, Request
from msgspec import Struct

from agents.api.access.callers import Caller
from agents.api.access.erasure import OwnerStore
from agents.api.access.rate_limits import RateLimiter
from agents.api.budgets.consumption import Consumption
from agents.api.live.change_notifier import ChangeNotifier
from agents.api.live.event_stream import EventSource
from agents.api.memories.access_counter import AccessCounter
from agents.api.memories.exports import Pages
from agents.api.operator_ports import (
    AuditLog,
    ConsolidationRuns,
    DeadLetters,
    KeyAdministration,
    PipelineReader,
    ReplayService,
    RetentionSweeps,
)
from agents.api.policies.policy_book import PolicyBook
from agents.api.policies.reach import PolicyReach
from agents.api.trails.trail import MessageTrails
from agents.conversations.contexts import Contexts
from agents.conversations.control import WindowControlSender
from agents.conversations.lookup import Conversations
from agents.curation.rules.outcome import Outcome
from agents.erasure.begin import ErasureService
from agents.profile.reading import Profiles
from agents.retrieval.recall import Recall
from schemas.memories.commands import Command
from schemas.memories.memories import Memory
from schemas.passages.passages import ReadPassage
from schemas.policies.policies import PolicySelector
from schemas.retrieval.searches import Found, Query
from sinks.memories.insights import NamespaceDay
from sinks.memories.kinds import KindDirectory
from sinks.memories.listing import Listing
from sinks.memories.namespaces import NamespaceDirectory
from sinks.memories.reader import MemoryVersion
from sinks.memories.statistics import MemoryCost, Statistics
from sinks.vectors.port import Point, VectorIndex


class Authentication(Protocol):
    """Decides who may send requests."""

    async def authenticate(self, token: str | None) -> Caller | None:
        """The caller of the token; None for an invalid one. Raises Retryable."""


class MemoryReader(Protocol):
    """Reads memories, up to a second old. Every method raises Retryable."""

    async def get(self, memory_id: str) -> Memory | None:
        """The memory, of any status and namespace."""

    async def by_ids(self, memory_ids: Collection[str]) -> dict[str, Memory]:
        """Those that exist, of any status and namespace."""

    async def list_page(self, asked: Listing) -> tuple[Memory, ...]:
        """A page of a namespace's memories."""

    async def versions_after(self, memory_id: str, version: int, limit: int) -> tuple[MemoryVersion, ...]:
        """Versions above one, oldest first."""


class StoredMemories(MemoryReader, Protocol):
    """Reads current memories (sinks.memories.reader.Memories), for decisions and right after a change."""

    async def linking(
        self, namespace: str, memory_ids: Collection[str], limit: int | None = None
    ) -> tuple[Memory, ...]:
        """Memories of a namespace with links to any of these: all, or the first by id."""

    async def from_messages(
        self, messages: Collection[tuple[str, str]], namespaces: Collection[str], limit: int = 20
    ) -> dict[tuple[str, str], tuple[str, ...]]:
        """Ids of live memories by the (conversation, message) that they come from."""

    async def points(self, memory_ids: Collection[str], embedding_model: str) -> list[Point]:
        """What the vector index should hold of these memories."""


class CommandSender(Protocol):
    """Sends commands to the curator (agents.api.memories.commands.Commands)."""

    async def send_and_wait(self, command: Command) -> Outcome | None:
        """The outcome; None if it is not known in time: the curator still applies the command. Raises Retryable, Rejected."""

    async def send_all_and_wait(self, commands: Sequence[Command]) -> list[Outcome | None]:
        """The outcomes in order, all within one time limit. Raises Retryable, Rejected."""

    async def send(self, commands: Sequence[Command]) -> None:
        """Returns once Kafka has confirmed the commands; does not wait for outcomes. Raises Retryable, Rejected."""

    async def outcome(self, namespace: str, command_id: str) -> Outcome | None:
        """The outcome of an earlier command; None while it is pending. Raises Retryable."""

    async def settled(self, namespace: str, command_ids: Sequence[str]) -> Collection[str]:
        """Those of a namespace's commands whose outcome is known. Raises Retryable."""


class SearchService(Protocol):
    """Search (agents.retrieval.tiers.Tiers)."""

    async def search(self, asked: Query) -> Found:
        """The best first. Raises Retryable."""


class ReadingPassages(Protocol):
    """Passages of what was said (agents.passages.reading.PassageReader). Every method raises Retryable."""

    async def by_ids(self, passage_ids: Collection[str]) -> dict[str, ReadPassage]:
        """Those that exist, of any namespace."""

    async def of_messages(
        self, messages: Collection[tuple[str, str]], namespaces: Collection[str], *, limit: int = 20
    ) -> list[ReadPassage]:
        """The passages of these (conversation, message), in the order they were said."""


class NamespaceStatistics(Protocol):
    """Counts of a namespace's contents (sinks.memories.statistics.NamespaceStatistics)."""

    async def of(self, namespace: str) -> Statistics:
        """Raises Retryable."""

    async def cost_of(self, memory_id: str, namespace: str) -> MemoryCost:
        """Of a memory of this namespace. Raises Retryable."""


class NamespaceInsights(Protocol):
    """Days and costs of a namespace (sinks.memories.insights.Insights). Every method raises Retryable."""

    async def days(self, namespace: str, since: datetime, until: datetime) -> tuple[NamespaceDay, ...]:
        """The earliest first, without those on which nothing happened."""

    async def costliest(self, namespace: str, limit: int) -> tuple[MemoryCost, ...]:
        """The costliest memories first."""


class Ports(Struct, frozen=True, kw_only=True):
    """One value a process. A new port is a new field here, in `deploy/wiring/api.py` and in `tests/api.py`."""

    authentication: Authentication
    rate_limiter: RateLimiter
    memories: MemoryReader
    stored: StoredMemories
    retrieval: SearchService
    passages: ReadingPassages
    accesses: AccessCounter
    event_history: EventSource
    change_notifier: ChangeNotifier
    commands: CommandSender
    vectors: VectorIndex
    audit: AuditLog
    policies: PolicySelector
    recall: Recall
    profiles: Profiles
    conversations: Conversations
    contexts: Contexts
    window_control: WindowControlSender
    owners: OwnerStore
    erasures: ErasureService
    erasure_wait_s: float  # how long the answer to an erasure waits for its end
    exports: Pages
    statistics: NamespaceStatistics
    insights: NamespaceInsights
    namespaces: NamespaceDirectory
    kinds: KindDirectory
    usage: Consumption
    policy_book: PolicyBook
    replays: ReplayService
    runs: ConsolidationRuns
    sweeps: RetentionSweeps
    dead_letters: DeadLetters
    pipeline: PipelineReader
    keys: KeyAdministration
    reach: PolicyReach
    trails: MessageTrails
    clock: Callable[[], datetime]
    ready: Callable[[], Awaitable[None]]  # raises Retryable while requests cannot be answered


async def ports_of(request: Request) -> Ports:
    """Not a plain function: those are called on a thread, which takes longer than most answers."""
    ports: Ports = request.app.state.ports
    return ports


PortsOf = Annotated[Ports, Depends(ports_of)]
