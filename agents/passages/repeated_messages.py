"""Finds other messages in which a user said what they asked to have forgotten: a bounded search by words, then the rules for
repeats and for names."""

import asyncio
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Final, TypeAlias

from agents.curation.rules.commands.repeats import repeats
from agents.curation.rules.commands.topics import named_by, names_topic
from agents.models.offline.findings import findings
from agents.models.offline.rules.engine.injection import is_injection
from agents.models.offline.rules.engine.languages import language_of
from agents.models.offline.rules.engine.sentences import sentences
from agents.models.offline.rules.framing.framing import own_part
from agents.models.offline.statements import readable_beginning
from agents.models.one_language import WORDS_FOR_USER
from agents.passages.terms import question_words, stems, term
from schemas.conversations.messages import Role
from schemas.extraction.candidates import Source, Wish
from schemas.extraction.requests import SliceMessage
from schemas.memories.events import MessageId
from schemas.memories.memories import Memory
from schemas.policies.shadows import live_namespace_of
from sinks.passages.user_messages import UserMessage, UserMessages
from sinks.postgres.connection import Connection

USER: Final[Role] = "user"
MAX_WORDS: Final = 32  # looked up, of a memory and its source sentences
MAX_SOURCES: Final = 10  # source messages of a memory that are read
MIN_SHARED: Final = 0.5  # share of a statement's words; sentences with fewer are not compared
MAX_COMPARED_CHARS: Final = 10_000  # characters of messages compared with one memory, about 6 us of CPU time each
# characters of sentences analysed by rules for one memory, about 20 us each; also per source
MAX_ANALYSED_CHARS: Final = 2_000

Words: TypeAlias = frozenset[str]


class RepeatedMessages:
    """Searches the passage index. Messages outside of it, as under a policy without `recall`, cannot be found by users
    either."""

    async def of(self, connection: Connection, namespace: str, wish: Wish, memory: Memory) -> tuple[MessageId, ...]:
        """The user's messages up to the time of the wish that say the same as a memory, except for its sources. None of a
        guest: nothing but a name, in any spelling, tells them from those of others."""
        if wish.message.guest_id is not None:
            return ()
        user_messages, live = UserMessages(connection), live_namespace_of(namespace)
        own = [each for each in memory.sources if is_of(each, wish.message)]
        contents = await user_messages.contents(own[:MAX_SOURCES])
        source_texts = source_sentences([each for each in contents if len(each) <= MAX_ANALYSED_CHARS], memory.text)
        words = question_words(" ".join((memory.text, *source_texts)))[:MAX_WORDS]
        until = wish.message.timestamp or datetime.now(UTC)
        found = await user_messages.with_words(live, [term(live, word) for word in words], wish.message, until)
        known = {(each.conversation_id, each.message_id) for each in own}
        again, comparing = list[MessageId](), RepeatComparison(memory.text, source_texts)
        for each in found:
            if (each.conversation_id, each.message_id) not in known and comparing.repeats_memory(each):
                again.append(MessageId(conversation_id=each.conversation_id, message_id=each.message_id))
            await asyncio.sleep(0)  # lets other tasks run while the transaction is open
        return tuple(again)

    async def naming_topic(self, connection: Connection, namespace: str, wish: Wish) -> tuple[MessageId, ...]:
        """The user's messages up to the time of the wish that have all names of its topic ("forget what I told you about
        Yasmin"); none of a guest, and none for a topic without a name."""
        if wish.topic is None or wish.message.guest_id is not None or not named_by(wish.topic):
            return ()
        live, until = live_namespace_of(namespace), wish.message.timestamp or datetime.now(UTC)
        words = [term(live, word) for word in question_words(wish.topic)[:MAX_WORDS]]
        found = await UserMessages(connection).with_words(live, words, wish.message, until)
        return tuple(
            MessageId(conversation_id=each.conversation_id, message_id=each.message_id)
            for each in found
            if names_topic(readable_beginning(each.content), wish.topic)
        )


class RepeatComparison:
    """Compares messages with one memory and its source sentences, up to bounds. A message beyond them counts as no repeat."""

    def __init__(self, text: str, source_texts: Sequence[str]) -> None:
        self._text, self._source_sentences = text, source_texts
        self._words = [known for each in (text, *source_texts) if (known := content_stems(each))]
        self._comparable_chars, self._analysable_chars = MAX_COMPARED_CHARS, MAX_ANALYSED_CHARS

    def repeats_memory(self, message: UserMessage) -> bool:
        content = readable_beginning(message.content)
        if len(content) > self._comparable_chars or not self._similar(sentences(content)) or is_injection(content):
            return False
        self._comparable_chars -= len(content)
        own = self._similar(own_sentences(content))
        return repeats(own, (), self._text, self._source_sentences) or repeats(
            (), self._rule_findings(own, message), self._text
        )

    def _similar(self, candidates: Iterable[str]) -> list[str]:
        """The sentences that share enough words with the memory or one of its source sentences."""
        return [each for each in candidates if self._shares(content_stems(each))]

    def _shares(self, words: Words) -> bool:
        return any(len(words & known) >= MIN_SHARED * len(known) for known in self._words)

    def _rule_findings(self, own: Sequence[str], message: UserMessage) -> list[str]:
        """The statements that the offline rules extract from the sentences."""
        content = " ".join(own)
        if not content or len(content) > self._analysable_chars:
            return []
        self._analysable_chars -= len(content)
        slice_message = SliceMessage(
            message_id=message.message_id,
            role=USER,
            timestamp=datetime.now(UTC),  # unused: dates are not compared
            content=content,
            position=0,
            language=message.language or language_of(readable_beginning(message.content), None),
        )
        return [finding.text for _, finding in findings(slice_message)]


def is_of(source: Source, wish: Source) -> bool:
    return source.attributed_to is None and source.user_id == wish.user_id


def source_sentences(contents: Sequence[str], text: str) -> list[str]:
    """The sentences that a memory comes from. Of a message with several sentences, only those that clearly say the same."""
    found: list[str] = []
    for content in contents:
        own = own_sentences(content)
        found += own if len(own) == 1 else [each for each in own if repeats([each], (), text)]
    return found


def content_stems(text: str) -> Words:
    """The stems, without words that stand for the user."""
    return frozenset(stems(text)) - WORDS_FOR_USER.keys() - {"user"}


def own_sentences(content: str) -> list[str]:
    """The sentences of a text, without quotations and fiction."""
    return sentences(own_part(readable_beginning(content)))
