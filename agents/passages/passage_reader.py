"""Reads passages: their redacted texts, and the namespaces whose readers may read them."""

import asyncio
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Final, NamedTuple, Protocol, TypeAlias

from msgspec.structs import replace

from agents.passages.chunking import digest, piece_id, pieces, privacy_mark
from agents.passages.passage_policy import ConversationPolicies, MessageFields, conversation_policies
from agents.passages.redacted_messages import RedactedMessages
from schemas.passages.passages import Passage, ReadPassage
from schemas.policies.policies import Policy, PolicySelector
from sinks.archive.participants import Participant
from sinks.passages.store import PassageText

MessageKey: TypeAlias = tuple[str, str]  # conversation_id, message_id

MAX_LOOP_CHARS: Final = 50_000  # of messages that are split on the event loop: about 3 ms


class TextStore(Protocol):
    """sinks.passages.store.Passages."""

    async def texts(self, passage_ids: Collection[str], *, with_content: bool = True) -> dict[str, PassageText]: ...

    async def participants(self, conversations: Collection[str]) -> list[Participant]: ...


class PassageStore(TextStore, Protocol):
    """sinks.passages.store.Passages."""

    async def of_messages(
        self, messages: Collection[tuple[str, str]], namespaces: Collection[str], *, limit: int = 20
    ) -> list[str]: ...


class ReadablePassage(NamedTuple):
    """A passage that its policy recalls and the caller may read; its text is the whole message."""

    found: PassageText
    policy: Policy
    owners: tuple[str, ...]


class RecalledPassage(NamedTuple):
    """A readable passage before redaction. `text` is that of its piece."""

    found: PassageText
    text: str
    policy: Policy
    owners: tuple[str, ...]


class PassageReader:
    """Reads passages. Every method raises Retryable."""

    def __init__(self, passages: PassageStore, policies: PolicySelector) -> None:
        self._passages = passages
        self._policies = policies
        self._redacted = RedactedMessages()

    async def by_ids(self, passage_ids: Collection[str]) -> dict[str, ReadPassage]:
        """The existing passages that may be shown, of any namespace."""
        return await PassageReading(self._passages, self._policies, self._redacted).by_ids(passage_ids)

    async def of_messages(
        self, messages: Collection[tuple[str, str]], namespaces: Collection[str], *, limit: int = 20
    ) -> list[ReadPassage]:
        """The passages of these (conversation, message) keys, in order of time."""
        passage_ids = await self._passages.of_messages(messages, namespaces, limit=limit)
        found = await self.by_ids(passage_ids)
        return [found[passage_id] for passage_id in passage_ids if passage_id in found]


class PassageReading:
    """Reads passages for one answer: participants of a conversation are read once. `namespaces` are those that are searched:
    a message that lies in several of them is shown if the policy of any of them shows it. Every method raises Retryable."""

    def __init__(
        self,
        passages: TextStore,
        policies: PolicySelector,
        redacted: RedactedMessages,
        namespaces: Collection[str] = (),
    ) -> None:
        self._passages = passages
        self._policies = policies
        self._redacted = redacted
        self._namespaces = namespaces
        self._named = ConversationPolicies((), policies)  # of messages that name their user: others change nothing
        self._conversations: dict[str, ConversationPolicies] = {}

    async def by_ids(self, passage_ids: Collection[str]) -> dict[str, ReadPassage]:
        """The existing passages that may be shown, of any namespace."""
        recalled = await self.recalled(passage_ids)
        shown = {passage_id: (await self.shown(each), each.owners) for passage_id, each in recalled.items()}
        return {
            passage_id: ReadPassage(passage=passage, owners=its_owners)
            for passage_id, (passage, its_owners) in shown.items()
            if passage is not None
        }

    async def recalled(
        self, passage_ids: Collection[str], may_read: Callable[[str], bool] = lambda namespace: True
    ) -> dict[str, RecalledPassage]:
        """The existing passages that the current policies recall and the caller may read; texts of others are not split. The
        passage of another searched namespace takes the place of one that its policy does not recall."""
        readable = await self._readable(passage_ids, may_read)
        texts = await parts_of([each.found for each in readable.values()])
        return {
            passage_id: RecalledPassage(each.found, text, each.policy, each.owners)
            for (passage_id, each), text in zip(readable.items(), texts, strict=True)
        }

    async def readable(self, passage_ids: Collection[str], may_read: Callable[[str], bool]) -> Collection[str]:
        """The ids of those that `recalled` would return. Reads no texts."""
        return await self._readable(passage_ids, may_read, with_content=False)

    async def _readable(
        self, passage_ids: Collection[str], may_read: Callable[[str], bool], *, with_content: bool = True
    ) -> dict[str, ReadablePassage]:
        found = await self._found(passage_ids, with_content=with_content)
        readable = self._readable_of(found, may_read)
        hidden = [each for passage_id, each in found.items() if passage_id not in readable]
        others = {other: each.passage.passage_id for each in hidden for other in self._elsewhere(each)}
        readable_there = self._readable_of(await self._found(others, with_content=with_content), may_read)
        for other, passage_id in others.items():
            if other in readable_there:
                readable.setdefault(passage_id, readable_there[other])
        return readable

    async def shown(self, recalled: RecalledPassage) -> Passage | None:
        """The passage under the current privacy setting; if that hides it, the one of another searched namespace."""
        passage = await self._redacted_passage(recalled)
        if passage is not None:
            return passage
        for other in (await self.recalled(self._elsewhere(recalled.found))).values():
            if (passage := await self._redacted_passage(other)) is not None:
                return passage
        return None

    async def _redacted_passage(self, recalled: RecalledPassage) -> Passage | None:
        """None if the privacy setting removes more than when the passage was indexed: removed text must not be found either."""
        found, privacy = recalled.found, recalled.policy.privacy
        if found.clean_under == privacy_mark(privacy):  # redaction takes milliseconds per 1,000 characters
            return replace(found.passage, text=recalled.text)
        redacted = await self._redacted.of(found.passage, privacy)
        text = part(redacted.pieces, found.passage.piece)
        # Version 1 did not split long texts without spaces.
        if redacted.changed and found.digest not in (digest(text), redacted.whole):
            return None
        return replace(found.passage, text=text, name=redacted.name)

    def _elsewhere(self, found: PassageText) -> list[str]:
        """The ids of the passage in the other searched namespaces."""
        passage = found.passage
        return [
            piece_id(namespace, passage.conversation_id, passage.message_id, passage.piece)
            for namespace in self._namespaces
            if namespace != passage.namespace and namespace in found.namespaces
        ]

    async def _found(self, passage_ids: Collection[str], *, with_content: bool) -> dict[str, PassageText]:
        if not passage_ids:
            return {}
        found = await self._passages.texts(passage_ids, with_content=with_content)
        await self._read_conversations(
            {each.passage.conversation_id for each in found.values() if each.scope.user_id is None}
        )
        return found

    async def _read_conversations(self, conversations: Collection[str]) -> None:
        if unknown := [each for each in conversations if each not in self._conversations]:
            people = await self._passages.participants(unknown)
            self._conversations |= conversation_policies(unknown, people, self._policies)

    def _readable_of(
        self, found: Mapping[str, PassageText], may_read: Callable[[str], bool]
    ) -> dict[str, ReadablePassage]:
        readable = {passage_id: self._with_policy(each) for passage_id, each in found.items()}
        return {
            passage_id: each
            for passage_id, each in readable.items()
            if each is not None and any(map(may_read, each.owners))
        }

    def _with_policy(self, found: PassageText) -> ReadablePassage | None:
        is_named = found.scope.user_id is not None
        conversation = self._named if is_named else self._conversations[found.passage.conversation_id]
        applied = conversation.of(fields_of(found))
        policy = applied.known_of(found.passage.namespace)
        if policy is None or not policy.recalls(found.passage.role, found.passage.said_at):
            return None
        return ReadablePassage(found, policy, applied.owners(found.namespaces))


def fields_of(found: PassageText) -> MessageFields:
    return MessageFields(found.scope, (found.partition, found.position, found.passage.said_at), found.window)


async def parts_of(found: Collection[PassageText]) -> list[str]:
    """The texts of the passages' pieces; many characters are split on a thread."""
    if sum(len(each.passage.text) for each in found) > MAX_LOOP_CHARS:
        return await asyncio.to_thread(split, found)
    return split(found)


def split(found: Iterable[PassageText]) -> list[str]:
    by_message: dict[MessageKey, list[str]] = {}
    for each in found:
        key = message_key(each.passage)
        if key not in by_message:
            by_message[key] = pieces(each.passage.text)
    return [part(by_message[message_key(each.passage)], each.passage.piece) for each in found]


def part(parts: list[str], number: int) -> str:
    return parts[min(number, len(parts) - 1)] if parts else ""


def message_key(passage: Passage) -> MessageKey:
    return passage.conversation_id, passage.message_id
