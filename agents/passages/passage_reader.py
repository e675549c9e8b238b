"""Reads passages: their redacted texts, and the namespaces whose readers may read them."""

import re
from collections.abc import Collection
from typing import Final, Protocol

from msgspec.structs import replace

from agents.passages.chunking import digest, pieces, privacy_mark, searchable_text
from schemas.conversations.messages import Scope
from schemas.passages.passages import Passage, ReadPassage
from schemas.policies.namespaces import parse_name, render, shortened
from schemas.policies.policies import Policy, PolicySelector, Privacy
from sinks.passages.store import PassageText

PERSONAL: Final = re.compile(r"\{(user_id|conversation_id)\}")


class PassageStore(Protocol):
    """sinks.passages.store.Passages."""

    async def texts(self, passage_ids: Collection[str]) -> dict[str, PassageText]: ...

    async def of_messages(
        self, messages: Collection[tuple[str, str]], namespaces: Collection[str], *, limit: int = 20
    ) -> list[str]: ...


class PassageReader:
    """Reads passages. Every method raises Retryable."""

    def __init__(self, passages: PassageStore, policies: PolicySelector) -> None:
        self._passages = passages
        self._policies = policies

    async def by_ids(self, passage_ids: Collection[str]) -> dict[str, ReadPassage]:
        """The existing passages that may be shown, of any namespace."""
        found = await self._passages.texts(passage_ids)
        return {
            passage_id: ReadPassage(passage=passage, owners=owners(each, self._policies))
            for passage_id, each in found.items()
            if (passage := readable(each, self._policies)) is not None
        }

    async def of_messages(
        self, messages: Collection[tuple[str, str]], namespaces: Collection[str], *, limit: int = 20
    ) -> list[ReadPassage]:
        """The passages of these (conversation, message) keys, in order of time."""
        passage_ids = await self._passages.of_messages(messages, namespaces, limit=limit)
        found = await self.by_ids(passage_ids)
        return [found[passage_id] for passage_id in passage_ids if passage_id in found]


def readable(found: PassageText, policies: PolicySelector) -> Passage | None:
    """The passage's text under the current privacy setting. None if the policy no longer recalls it, or redacts more than
    when it was indexed: redacted text must not be found either."""
    policy = policies.match(found.scope)
    if not policy.recalls(found.passage.role, found.passage.said_at):
        return None
    if found.clean_under == privacy_mark(policy.privacy):  # redaction takes milliseconds per 1,000 characters
        return replace(found.passage, text=part_of(found.passage.text, found.passage.piece))
    return scrubbed(found, policy.privacy)


def scrubbed(found: PassageText, privacy: Privacy) -> Passage | None:
    """The redacted text; None if it is not what was indexed."""
    content, name = found.passage.text, found.passage.name
    shown = searchable_text(content, privacy)
    text = part_of(shown, found.passage.piece)
    if shown != content and digest(text) != found.digest:
        return None
    return replace(found.passage, text=text, name=name and searchable_text(name, privacy))


def part_of(text: str, number: int) -> str:
    parts = pieces(text) or [""]
    return parts[min(number, len(parts) - 1)]


def owners(found: PassageText, policies: PolicySelector) -> tuple[str, ...]:
    """The namespaces whose readers may read a message verbatim: those of a person or a conversation. Shared ones, such as an
    app's, have readers who took no part; they count only where the message is in no other."""
    policy = policies.match(found.scope)
    personal = [name for name in found.namespaces if not is_shared(name, found.scope, policy)]
    return tuple(personal or found.namespaces)


def is_shared(namespace: str, scope: Scope, policy: Policy) -> bool:
    """Whether the namespace comes from a template that names neither a user nor a conversation."""
    shared = [template for template in policy.namespaces if not PERSONAL.search(template)]
    if namespace in {shortened(name) for template in shared if (name := render(template, scope))}:
        return True
    personal = [template for template in policy.namespaces if template not in shared]
    return comes_from(shared, namespace) and not comes_from(personal, namespace)


def comes_from(templates: Collection[str], namespace: str) -> bool:
    return any(parse_name(template, namespace) is not None for template in templates)
