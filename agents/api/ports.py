"""Ports: the dependencies of the routes. The composition root or a test supplies them."""

from collections.abc import Awaitable, Callable, Collection, Sequence
from datetime import datetime
from typing import Annotated, Protocol

from fastapi import Depends, Request
from msgspec import Struct

from agents.api.access.callers import Caller
from agents.api.access.erasure import OwnerStore
from agents.api.access.rate_limits import RateLimiter
from agents.api.access.user_export import ArchivePages
from agents.api.budgets.usage_report import UsageReport
from agents.api.live.change_notifier import ChangeNotifier
from agents.api.live.event_stream import EventSource
from agents.api.memories.access_counter import AccessCounter
from agents.api.memories.exports import MemoryPages
from agents.api.memories.retrieval_counter import RetrievalCounter
from agents.api.operator_ports import (
    AuditLog,
    ConsolidationRuns,
    DeadLetters,
    KeyAdministration,
    PipelineReader,
    ReplayService,
    RetentionSweeps,
)
from agents.api.policies.policy_preview import PolicyPreview
from agents.api.policies.policy_service import PolicyService
from agents.api.trails.trail import MessageTrails
from agents.conversations.contexts import Contexts
from agents.conversations.control import WindowControlSender
from agents.conversations.listing import ConversationList
from agents.conversations.lookup import Conversations
from agents.conversations.user_settings import UserSettingsService
from agents.curation.rules.ledger.outcomes import Outcome
from agents.erasure.begin import ErasureService
from agents.profile.profile_reader import Profiles
from agents.retrieval.ports import SearchService
from agents.retrieval.recall import Recall
from schemas.memories.commands import Command
from schemas.memories.memories import Memory
from schemas.passages.passages import ReadPassage
from schemas.policies.policies import PolicySelector
from sinks.memories.insights import NamespaceDay
from sinks.memories.kinds import KindDirectory
from sinks.memories.listing import Listing
from sinks.memories.namespaces import NamespaceDirectory
from sinks.memories.reader import MemoryVersion
from sinks.memories.statistics import MemoryCost, Statistics
from sinks.vectors.port import Point, VectorIndex


class Authentication(Protocol):
    """Authenticates tokens."""

    async def authenticate(self, token: str | None) -> Caller | None:
        """Returns the caller of the token; None for an invalid token. Raises Retryable."""


class MemoryReader(Protocol):
    """Reads memories, at most one second old. Every method raises Retryable."""

    async def get(self, memory_id: str) -> Memory | None:
        """Returns the memory, of any status and namespace; None if there is no such memory."""

    async def by_ids(self, memory_ids: Collection[str]) -> dict[str, Memory]:
        """Returns the existing memories by id, of any status and namespace."""

    async def list_page(self, listing: Listing) -> tuple[Memory, ...]:
        """Returns a page of a namespace's memories."""

    async def versions_after(self, memory_id: str, version: int, limit: int) -> tuple[MemoryVersion, ...]:
        """Returns up to `limit` versions after `version`, oldest first."""


class StoredMemories(MemoryReader, Protocol):
    """Reads memories in their current state (sinks.memories.reader.Memories), for decisions and right after a change."""

    async def linking(
        self, namespace: str, memory_ids: Collection[str], limit: int | None = None
    ) -> tuple[Memory, ...]:
        """Returns memories of a namespace that link to any of these: all, or the first `limit` by id."""

    async def from_messages(
        self, messages: Collection[tuple[str, str]], namespaces: Collection[str], limit: int = 20
    ) -> dict[tuple[str, str], tuple[str, ...]]:
        """Returns ids of live memories by source message, given as (conversation id, message id)."""

    async def points(self, memory_ids: Collection[str], embedding_model: str) -> list[Point]:
        """Returns the vector points of these memories."""

    async def erased_from(self, memory_id: str) -> str | None:
        """Returns the namespace from which the memory was erased; None if it was not erased alone."""


class CommandSender(Protocol):
    """Sends commands to the curator (agents.api.memories.commands.Commands)."""

    async def send_and_wait(self, command: Command) -> Outcome | None:
        """Returns the outcome; None if it is unknown after the time limit. The curator applies the command in either case.
        Raises Retryable and Rejected."""

    async def send_all_and_wait(self, commands: Sequence[Command]) -> list[Outcome | None]:
        """Returns the outcomes in order, within one time limit for all. Raises Retryable and Rejected."""

    async def send(self, commands: Sequence[Command]) -> None:
        """Returns once Kafka has confirmed the commands. Does not wait for outcomes. Raises Retryable and Rejected."""

    async def outcome(self, namespace: str, command_id: str) -> Outcome | None:
        """Returns the outcome of an earlier command; None while it is pending. Raises Retryable."""

    async def settled(self, namespace: str, command_ids: Sequence[str]) -> Collection[str]:
        """Returns those of a namespace's command ids that have an outcome. Raises Retryable."""


class PassageReader(Protocol):
    """Reads passages of archived messages (agents.passages.passage_reader.PassageReader). Every method raises Retryable."""

    async def by_ids(self, passage_ids: Collection[str]) -> dict[str, ReadPassage]:
        """Returns the existing passages by id, of any namespace."""

    async def of_messages(
        self, messages: Collection[tuple[str, str]], namespaces: Collection[str], *, limit: int = 20
    ) -> list[ReadPassage]:
        """Returns the passages of messages, given as (conversation id, message id), in the order they were said."""


class NamespaceStatistics(Protocol):
    """Counts the contents of a namespace (sinks.memories.statistics.NamespaceStatistics)."""

    async def of(self, namespace: str) -> Statistics:
        """Returns the counts of a namespace. Raises Retryable."""

    async def cost_of(self, memory_id: str, namespace: str) -> MemoryCost:
        """Returns the cost of a memory of this namespace. Raises Retryable."""


class NamespaceInsights(Protocol):
    """Daily activity and costs of a namespace (sinks.memories.insights.Insights). Every method raises Retryable."""

    async def days(self, namespace: str, since: datetime, until: datetime) -> tuple[NamespaceDay, ...]:
        """Returns the days with activity, earliest first."""

    async def costliest(self, namespace: str, limit: int) -> tuple[MemoryCost, ...]:
        """Returns the most expensive memories, most expensive first."""


class Ports(Struct, frozen=True, kw_only=True):
    """One value per process. A new port is a new field here, in `deploy/wiring/api.py` and in `tests/api.py`."""

    authentication: Authentication
    rate_limiter: RateLimiter
    memories: MemoryReader
    stored: StoredMemories
    retrieval: SearchService
    passages: PassageReader
    accesses: AccessCounter
    retrieval_counts: RetrievalCounter
    event_history: EventSource
    change_notifier: ChangeNotifier
    commands: CommandSender
    vectors: VectorIndex
    audit: AuditLog
    policies: PolicySelector
    recall: Recall
    profiles: Profiles
    conversations: Conversations
    archive: ArchivePages
    conversation_list: ConversationList
    contexts: Contexts
    window_control: WindowControlSender
    user_settings: UserSettingsService
    owners: OwnerStore
    erasures: ErasureService
    erasure_wait_s: float  # time limit of the response to an erasure
    window_wait_s: float  # time limit for the first projection of a window that a request changes
    exports: MemoryPages
    statistics: NamespaceStatistics
    insights: NamespaceInsights
    namespaces: NamespaceDirectory
    kinds: KindDirectory
    usage: UsageReport
    policy_service: PolicyService
    replays: ReplayService
    runs: ConsolidationRuns
    sweeps: RetentionSweeps
    dead_letters: DeadLetters
    pipeline: PipelineReader
    keys: KeyAdministration
    policy_preview: PolicyPreview
    trails: MessageTrails
    clock: Callable[[], datetime]
    ready: Callable[[], Awaitable[None]]  # raises Retryable while the process cannot serve requests


async def ports_of(request: Request) -> Ports:
    """Returns the ports. It is async because FastAPI runs plain functions on a thread, which would take longer than most
    requests."""
    ports: Ports = request.app.state.ports
    return ports


PortsOf = Annotated[Ports, Depends(ports_of)]
