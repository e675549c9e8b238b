"""Ports of what operators and administrators do; agents/api/ports.py has those of memories, and all of them together."""

from collections.abc import AsyncIterator, Collection
from datetime import datetime
from typing import Any, Protocol

from agents.api.pipeline.status import Pipeline
from agents.dead_letters.letters import EVERY, LetterStatus
from agents.dead_letters.reader import How, Letter, LetterFilter
from agents.replay.comparison import Difference
from agents.replay.cutover import CutoverResult
from schemas.access.keys import Grant, Key
from schemas.consolidation.retention import Sweep
from schemas.consolidation.runs import ConsolidationRun, Finding, Scheduled
from schemas.replay.generations import Generation, Progress
from sinks.access.audit import Audited, AuditEntry
from sinks.archive.retention import SweepPlace
from sinks.consolidation.runs import RunFilter


class AuditLog(Protocol):
    """Records administrators' actions (sinks.access.audit.Audit)."""

    async def record(self, done: Audited) -> None:
        """Await this before the action that it records. Raises Retryable."""

    async def page(
        self, limit: int, *, before: int | None = None, action: str | None = None, subject: str | None = None
    ) -> tuple[AuditEntry, ...]:
        """The latest first. Raises Retryable."""


class KeyAdministration(Protocol):
    """Makes and revokes keys, and tells the audit of it (sinks.access.keys.Keys). Every method raises Retryable."""

    async def all(self) -> tuple[Key, ...]:
        """Revoked and expired ones too, oldest first."""

    async def create(
        self, name: str, grants: tuple[Grant, ...], at: datetime, actor: str, expires_at: datetime | None = None
    ) -> tuple[str, Key]:
        """The token and the key. Raises Rejected `taken`."""

    async def revoke(self, named: str, at: datetime, actor: str) -> Key:
        """Raises Rejected `unknown`."""


class ConsolidationRuns(Protocol):
    """Consolidation runs (sinks.consolidation.runs.Runs). Every method raises Retryable."""

    async def add(self, run: ConsolidationRun, most_pending: int | None = None, audited: Audited | None = None) -> bool:
        """Stores a run, which begins within seconds, with its audit entry. Returns False and stores neither if the same caller
        already has `most_pending` pending runs."""

    async def of(self, run_id: str) -> ConsolidationRun | None:
        """The current state of a run."""

    async def page(self, asked: RunFilter) -> tuple[ConsolidationRun, ...]:
        """Runs, the newest first."""

    async def schedules(self) -> tuple[Scheduled, ...]:
        """When each policy with a schedule has its next run."""

    async def findings(
        self, run_id: str, *, after: int = 0, limit: int = 100, namespace: str | None = None
    ) -> tuple[Finding, ...]:
        """The findings of a dry run after a number."""


class RetentionSweeps(Protocol):
    """Sweeps of the archive (sinks.archive.retention.Sweeps). Every method raises Retryable."""

    async def add(self, sweep: Sweep) -> None:
        """Stores a sweep, which begins within seconds."""

    async def of(self, sweep_id: str) -> Sweep | None:
        """The current state of a sweep."""

    async def page(self, limit: int, behind: SweepPlace | None = None) -> tuple[Sweep, ...]:
        """Sweeps, the newest first."""


class ReplayService(Protocol):
    """agents.replay.replays.ReplayGenerations. Every method raises Retryable; the last two also Misconfigured, for a generation
    in another state."""

    async def latest(self, limit: int) -> tuple[Generation, ...]:
        """The youngest first."""

    async def get(self, generation_id: str) -> Generation | None:
        """One of them."""

    async def progress(self, generation_id: str) -> Progress:
        """How far the replay is."""

    async def differences(self, generation: Generation, namespace: str) -> list[Difference]:
        """What the generation would change in a namespace now."""

    async def cut_over(self, generation_id: str) -> CutoverResult:
        """Replaces live memories by the generation's."""

    async def undo(self, generation_id: str) -> CutoverResult:
        """Undoes the cutover."""


class DeadLetters(Protocol):
    """agents.dead_letters.letters.Letters. Every method raises Retryable."""

    async def statuses(self, wanted: LetterFilter = EVERY) -> list[LetterStatus]:
        """Those that are meant, oldest first."""

    def contents(self, letters: Collection[Letter]) -> AsyncIterator[tuple[Letter, Any]]:
        """Each that is still there, with its record."""

    async def settle(self, letter: Letter, record: Any, how: How) -> None:
        """Replays or discards one. Raises Rejected when there is no way back."""


class PipelineReader(Protocol):
    """agents.api.pipeline.status.PipelineStatus."""

    async def read(self) -> Pipeline:
        """As it is now, some seconds old at most."""
