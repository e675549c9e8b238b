"""Ports for operations and administration. `agents/api/ports.py` has the others and the `Ports` value of all."""

from collections.abc import AsyncIterator, Collection
from datetime import datetime
from typing import Any, Protocol

from agents.api.pipeline.status import Pipeline
from agents.dead_letters.dead_letter_queue import ALL_DEAD_LETTERS, DeadLetterStatus
from agents.dead_letters.reader import DeadLetter, DeadLetterFilter, Outcome
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
    """The audit log of administrators' actions (sinks.access.audit.Audit)."""

    async def record(self, done: Audited) -> None:
        """Records an action. Await this before the action itself. Raises Retryable."""

    async def page(
        self, limit: int, *, before: int | None = None, action: str | None = None, subject: str | None = None
    ) -> tuple[AuditEntry, ...]:
        """Returns entries, latest first. Raises Retryable."""


class KeyAdministration(Protocol):
    """Creates and revokes API keys, and records both in the audit log (sinks.access.keys.Keys). Every method raises
    Retryable."""

    async def all(self) -> tuple[Key, ...]:
        """Returns all keys, oldest first, including revoked and expired ones."""

    async def create(
        self, name: str, grants: tuple[Grant, ...], at: datetime, actor: str, expires_at: datetime | None = None
    ) -> tuple[str, Key]:
        """Returns the token and the key. Raises Rejected `taken` if an active key has the name."""

    async def revoke(self, named: str, at: datetime, actor: str) -> Key:
        """Revokes a key by id or name. Raises Rejected `unknown`."""


class ConsolidationRuns(Protocol):
    """Consolidation runs (sinks.consolidation.runs.Runs). Every method raises Retryable."""

    async def add(self, run: ConsolidationRun, max_pending: int | None = None, audited: Audited | None = None) -> bool:
        """Stores a run with its audit entry; a scheduler starts it within seconds. Returns False and stores neither if the
        same caller already has `max_pending` pending runs."""

    async def of(self, run_id: str) -> ConsolidationRun | None:
        """Returns the current state of a run; None if there is no such run."""

    async def page(self, run_filter: RunFilter) -> tuple[ConsolidationRun, ...]:
        """Returns runs, newest first."""

    async def last_scheduled(self, policies: Collection[str]) -> dict[str, ConsolidationRun]: ...

    async def schedules(self) -> tuple[Scheduled, ...]:
        """Returns the time of the next run of each policy with a schedule."""

    async def findings(
        self, run_id: str, *, after: int = 0, limit: int = 100, namespace: str | None = None
    ) -> tuple[Finding, ...]:
        """Returns the findings of a dry run with numbers above `after`."""


class RetentionSweeps(Protocol):
    """Retention sweeps of the archive (sinks.archive.retention.Sweeps). Every method raises Retryable."""

    async def add(self, sweep: Sweep) -> None:
        """Stores a sweep, which starts within seconds."""

    async def of(self, sweep_id: str) -> Sweep | None:
        """Returns the current state of a sweep; None if there is no such sweep."""

    async def page(self, limit: int, behind: SweepPlace | None = None) -> tuple[Sweep, ...]:
        """Returns sweeps, newest first."""


class ReplayService(Protocol):
    """Generations of replays (agents.replay.replays.ReplayGenerations). Every method raises Retryable; `cut_over` and `undo`
    also raise Misconfigured if the generation is in another state."""

    async def latest(self, limit: int) -> tuple[Generation, ...]:
        """Returns generations, newest first."""

    async def get(self, generation_id: str) -> Generation | None:
        """Returns a generation; None if there is no such generation."""

    async def progress(self, generation_id: str) -> Progress:
        """Returns the progress of the replay."""

    async def differences(self, generation: Generation, namespace: str) -> list[Difference]:
        """Compares a namespace of the generation with the live namespace."""

    async def cut_over(self, generation_id: str) -> CutoverResult:
        """Replaces live memories by the generation's memories."""

    async def undo(self, generation_id: str) -> CutoverResult:
        """Reverts the cutover."""


class DeadLetters(Protocol):
    """The dead-letter queue (agents.dead_letters.dead_letter_queue.DeadLetterQueue). Every method raises Retryable."""

    async def statuses(self, selection: DeadLetterFilter = ALL_DEAD_LETTERS) -> list[DeadLetterStatus]:
        """Returns the selected dead letters with their status, oldest first."""

    def contents(self, dead_letters: Collection[DeadLetter]) -> AsyncIterator[tuple[DeadLetter, Any]]:
        """Yields each dead letter that the topic still has, with its record."""

    async def settle(self, letter: DeadLetter, record: Any, how: Outcome) -> None:
        """Replays or discards a dead letter. Raises Rejected if it cannot be replayed."""


class PipelineReader(Protocol):
    """The state of the pipeline (agents.api.pipeline.status.PipelineStatus)."""

    async def read(self) -> Pipeline:
        """Returns the state, at most some seconds old."""
