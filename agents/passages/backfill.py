"""Indexes archived messages that the stage never saw: after an upgrade, or after a policy recalls more."""

import logging
from collections.abc import Callable, Sequence
from hashlib import blake2b
from typing import Final

from msgspec import Struct

from agents.passages.indexer import PassageIndexer
from agents.policies.audience import Audience
from schemas import codec
from schemas.errors import Rejected
from schemas.policies.policies import Policies
from sinks.archive.messages import Archive, ArchivedMessage
from sinks.passages.backfill import BackfillProgress, ConversationCounts

log = logging.getLogger(__name__)

CONVERSATIONS: Final = 50  # conversations between two progress records
MESSAGES: Final = 200

Progress = Callable[[ConversationCounts, int], object]


class Backfilled(Struct, frozen=True, kw_only=True):
    """The numbers of conversations processed and of new passages."""

    conversations: int
    passages: int


class Backfill:
    """Safe while the stage runs, and repeatable: indexed messages are skipped. Processes each conversation from its end to
    its beginning, so that ordinals of indexed messages need not move."""

    def __init__(
        self,
        archive: Archive,
        kept: BackfillProgress,
        audience: Audience,
        indexer: PassageIndexer,
        progress: Progress = lambda counts, passages: None,
    ) -> None:
        self._archive = archive
        self._store = kept
        self._audience = audience
        self._indexer = indexer
        self._progress = progress

    async def run(self) -> Backfilled:
        """Runs, or resumes after an interruption under the same policies. Raises Retryable."""
        place, done, stored = await self._store.place(), 0, 0
        while conversations := await self._store.conversations(place, CONVERSATIONS):
            for conversation_id in conversations:
                stored += await self._conversation(conversation_id)
            done, place = done + len(conversations), conversations[-1]
            await self._store.advance(place)
            self._progress(await self._store.counts(place), stored)
        await self._store.end()
        return Backfilled(conversations=done, passages=stored)

    async def _conversation(self, conversation_id: str) -> int:
        stored, beyond = 0, None
        while page := await self._archive.page(conversation_id, beyond=beyond, limit=MESSAGES, backwards=True):
            stored += await self._index(await self._audience.with_namespaces(page))
            beyond = (page[-1].partition, page[-1].position)
        return stored

    async def _index(self, messages: Sequence[ArchivedMessage]) -> int:
        try:
            return await self._indexer.index(messages)
        except Rejected as rejected:
            if len(messages) == 1:
                log.warning("message %s is not indexed: %s", messages[0].message.message_id, rejected)
                return 0
            return sum([await self._index([each]) for each in messages])


def recall_digest(policies: Policies) -> str:
    """A hash of the settings that decide which messages can be searched, and in which namespaces."""
    settings = [(each.match, each.namespaces, each.recall, each.recall_since) for each in policies.listed]
    return blake2b(codec.encode(settings), digest_size=16).hexdigest()
