"""Adds missing importances and short texts with a model, outside of any transaction."""

import asyncio
import logging
from collections.abc import Awaitable, Iterable
from typing import Final, TypeVar

from msgspec.structs import replace

from agents.curation.rules.ledger.change import DEFAULT_KIND
from agents.models.offline.provider import OfflineProvider
from agents.models.port import MemoryToRate, Provider
from schemas.errors import MemstreamError, Rejected
from schemas.extraction.candidates import Candidate
from schemas.memories.commands import Command
from schemas.policies.policies import Fraction, Policy

T = TypeVar("T")
log = logging.getLogger(__name__)

TIMEOUT_S: Final = 15.0  # for each answer; the candidates of a part are rated concurrently


class Editor:
    """`provider` rates and shortens within `timeout_s` seconds, if the policy wants it. Without an answer, memories get the
    default importance and rules shorten texts."""

    def __init__(self, provider: Provider, timeout_s: float = TIMEOUT_S) -> None:
        self._provider = provider
        self._timeout_s = timeout_s
        self._rules = OfflineProvider()

    async def rate(self, candidates: Iterable[Candidate], namespace: str, policy: Policy) -> dict[str, Fraction]:
        """Importances (0 to 1) by candidate id. Candidates without a rating are missing."""
        subjects = {each.candidate_id: subject_of(each, namespace) for each in candidates}
        found = await asyncio.gather(*(self._importance(subject, policy) for subject in subjects.values()))
        return {name: rating for name, rating in zip(subjects, found, strict=True) if rating is not None}

    async def complete(self, command: Command, policy: Policy, references: int = 0) -> Command:
        """The command with its missing short text and importance. `references` is how often the memory was repeated or read.

        The text stays missing if no part of the full text may be stored.
        """
        short = self._short_text(command, policy)
        is_new = command.kind == "create" or bool(command.full_text)
        if command.importance is not None or not is_new:
            return replace(command, text=await short)
        subject = MemoryToRate(
            text=command.full_text or command.text or "",
            kind=command.memory_kind or DEFAULT_KIND,
            kinds=command.kinds or (),
            context=command.context,
            references=references,
            namespace=command.namespace,
        )
        text, importance = await asyncio.gather(short, self._importance(subject, policy))
        return replace(command, text=text, importance=importance)

    async def _importance(self, subject: MemoryToRate, policy: Policy) -> Fraction | None:
        if not policy.complete:
            return None
        rating = await self._in_time("rated", self._provider.score(subject, policy), policy)
        return None if rating is None else rating.importance

    async def _short_text(self, command: Command, policy: Policy) -> str | None:
        if (command.text and command.text.strip()) or not command.full_text:
            return command.text
        if policy.complete:
            asking = self._provider.shorten(command.full_text, policy, command.namespace)
            if (short := await self._in_time("shortened", asking, policy)) is not None:
                return short.text
        try:
            return (await self._rules.shorten(command.full_text, policy)).text
        except Rejected as rejected:
            log.warning("command %s: its full text gives no short text: %s", command.command_id, rejected)
            return None

    async def _in_time(self, what: str, answer: Awaitable[T], policy: Policy) -> T | None:
        try:
            async with asyncio.timeout(self._timeout_s):
                return await answer
        except (MemstreamError, TimeoutError) as exc:
            why = exc if str(exc) else "no answer in time"
            log.warning("policy %s: a memory is not %s by the model: %s", policy.name, what, why)
            return None


def subject_of(candidate: Candidate, namespace: str) -> MemoryToRate:
    return MemoryToRate(
        text=candidate.full_text or candidate.text,
        kind=candidate.kind,
        kinds=candidate.kinds,
        context=candidate.context,
        references=max(0, len({source.message_id for source in candidate.sources}) - 1),
        namespace=namespace,
    )
