"""Adds missing importances and short texts, by a model and outside of any transaction."""

import asyncio
import logging
from collections.abc import Awaitable, Iterable
from typing import Final, TypeVar

from msgspec.structs import replace

from agents.curation.rules.change import DEFAULT_KIND
from agents.models.offline.provider import OfflineProvider
from agents.models.port import Provider, Subject
from schemas.errors import MemstreamError, Rejected
from schemas.extraction.candidates import Candidate
from schemas.memories.commands import Command
from schemas.policies.policies import Fraction, Policy

T = TypeVar("T")
log = logging.getLogger(__name__)

PATIENCE_S: Final = 15.0  # for each answer; those of a part are asked for side by side


class Editor:
    """`provider` rates and shortens, within `patience_s`, where the policy has it asked. Where it does not, or does not answer,
    what has no importance stays so, which counts as the default, and short texts are made by rules."""

    def __init__(self, provider: Provider, patience_s: float = PATIENCE_S) -> None:
        self._provider = provider
        self._patience_s = patience_s
        self._rules = OfflineProvider()

    async def rate(self, candidates: Iterable[Candidate], namespace: str, policy: Policy) -> dict[str, Fraction]:
        """Importances by candidate id; candidates without a rating are missing."""
        asked = {each.candidate_id: subject_of(each, namespace) for each in candidates}
        found = await asyncio.gather(*(self._importance(subject, policy) for subject in asked.values()))
        return {name: rating for name, rating in zip(asked, found, strict=True) if rating is not None}

    async def complete(self, command: Command, policy: Policy, references: int = 0) -> Command:
        """The command with a short text of its full one, if it has none, and an importance, if it has none and creates a memory
        or brings another full text. `references` is how often its memory was said again or read.

        Without a text still, where the full one has nothing that may be kept.
        """
        short = self._short_text(command, policy)
        is_new = command.kind == "create" or bool(command.full_text)
        if command.importance is not None or not is_new:
            return replace(command, text=await short)
        subject = Subject(
            text=command.full_text or command.text or "",
            kind=command.memory_kind or DEFAULT_KIND,
            kinds=command.kinds or (),
            context=command.context,
            references=references,
            namespace=command.namespace,
        )
        text, importance = await asyncio.gather(short, self._importance(subject, policy))
        return replace(command, text=text, importance=importance)

    async def _importance(self, subject: Subject, policy: Policy) -> Fraction | None:
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
            log.warning("of the full text in command %s no short one is made: %s", command.command_id, rejected)
            return None

    async def _in_time(self, what: str, answer: Awaitable[T], policy: Policy) -> T | None:
        try:
            async with asyncio.timeout(self._patience_s):
                return await answer
        except (MemstreamError, TimeoutError) as exc:
            why = exc if str(exc) else "no answer in time"
            log.warning("a memory of policy %s is not %s by the model: %s", policy.name, what, why)
            return None


def subject_of(candidate: Candidate, namespace: str) -> Subject:
    return Subject(
        text=candidate.full_text or candidate.text,
        kind=candidate.kind,
        kinds=candidate.kinds,
        context=candidate.context,
        references=max(0, len({source.message_id for source in candidate.sources}) - 1),
        namespace=namespace,
    )
