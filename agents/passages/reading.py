"""Reads passages: the text of each, without what privacy takes out, and the namespaces that its message feeds."""

from collections.abc import Collection
from typing import Protocol

from msgspec.structs import replace

from agents.passages.building import pieces, searchable_text
from schemas.conversations.messages import Scope
from schemas.passages.passages import Passage, ReadPassage
from schemas.policies.policies import Choosing
from sinks.passages.store import PassageText


class PassageStore(Protocol):
    """sinks.passages.store.Passages."""

    async def texts(self, passage_ids: Collection[str]) -> dict[str, PassageText]: ...

    async def of_messages(
        self, messages: Collection[tuple[str, str]], namespaces: Collection[str], *, limit: int = 20
    ) -> list[str]: ...


class PassageReader:
    """Every method raises Retryable."""

    def __init__(self, passages: PassageStore, policies: Choosing) -> None:
        self._passages = passages
        self._policies = policies

    async def by_ids(self, passage_ids: Collection[str]) -> dict[str, ReadPassage]:
        """Those that exist, of any namespace."""
        found = await self._passages.texts(passage_ids)
        return {
            passage_id: ReadPassage(passage=readable(each, self._policies), feeds=feeds(each.scope, self._policies))
            for passage_id, each in found.items()
        }

    async def of_messages(
        self, messages: Collection[tuple[str, str]], namespaces: Collection[str], *, limit: int = 20
    ) -> list[ReadPassage]:
        """The passages of these (conversation, message), in the order they were said."""
        passage_ids = await self._passages.of_messages(messages, namespaces, limit=limit)
        found = await self.by_ids(passage_ids)
        return [found[passage_id] for passage_id in passage_ids if passage_id in found]


def readable(found: PassageText, policies: Choosing) -> Passage:
    """The piece of the message that the passage stands for, without what privacy takes out now."""
    privacy = policies.match(found.scope).privacy
    parts = pieces(searchable_text(found.passage.text, privacy)) or [""]
    return replace(found.passage, text=parts[min(found.passage.piece, len(parts) - 1)])


def feeds(scope: Scope, policies: Choosing) -> tuple[str, ...]:
    """The namespaces that a message feeds, by the policies as they are now."""
    return policies.match(scope).namespaces_of(scope)
