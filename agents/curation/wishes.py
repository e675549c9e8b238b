"""Applies the wishes of a part, after its candidates, within the deciding transaction."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final, Protocol

from agents.curation.copies import wish_naming_copies
from agents.curation.part_inputs import fences_of
from agents.curation.rules.commands.apply_command import ERASED
from agents.curation.rules.commands.wishes import forget, memories_meant
from agents.curation.rules.decisions.decision_inputs import DecisionInputs
from agents.curation.rules.decisions.incoming import is_before_erasure
from agents.curation.rules.decisions.thresholds import thresholds
from agents.curation.rules.ledger.ledger import Ledger
from agents.curation.rules.ledger.outcomes import Ruling, WishOutcome
from agents.curation.rules.ledger.personal_namespaces import is_personal
from schemas.extraction.candidates import CandidateBatch, Wish
from schemas.memories.events import MessageId
from schemas.memories.memories import Memory
from schemas.policies.policies import Policy
from schemas.retrieval.searches import Filters
from sinks.memories.hidden_messages import HiddenMessages
from sinks.memories.lexical import FullText
from sinks.memories.reader import Memories
from sinks.postgres.connection import Connection
from sinks.vectors.port import VectorIndex

NONE: Final[Mapping[str, str]] = {}
MAX_HITS: Final = 50  # of a search by vectors, and of one by words, for the text of a wish
MAX_COMPARED: Final = 200  # the most important memories: all of most namespaces
MAX_OF_MESSAGE: Final = 200  # memories from one message
MAX_REPETITION_SEARCHES: Final = 20  # memories, earlier ones included, for which repeating messages are searched
MAX_HIDDEN: Final = 200  # messages hidden with one memory, besides its sources


class BeginErasures(Protocol):
    """Implemented by agents.erasure.wishes.ErasureWishes."""

    async def begin(self, batch: CandidateBatch, policy: Policy) -> Mapping[str, str]: ...


class FindRepetitions(Protocol):
    """agents.passages.repeated_messages.RepeatedMessages: finds the messages of the user that repeat a memory, or that name the
    topic of the wish."""

    async def of(self, connection: Connection, namespace: str, wish: Wish, memory: Memory) -> tuple[MessageId, ...]: ...

    async def naming_topic(self, connection: Connection, namespace: str, wish: Wish) -> tuple[MessageId, ...]: ...


async def apply_wishes(
    connection: Connection,
    vectors: VectorIndex,
    batch: CandidateBatch,
    prepared: DecisionInputs,
    policy: Policy,
    ledger: Ledger,
    now: datetime,
    erasures: Mapping[str, str] = NONE,
    said_again: FindRepetitions | None = None,
) -> tuple[WishOutcome, ...]:
    """Enters the changes of each wish into the ledger and returns the results in order; writes nothing.

    `erasures` has the ids of erasures that wishes began, by wish id. `said_again` finds other messages with the content of a
    forgotten memory. Raises NeedsInput.
    """
    if not batch.wishes:
        return ()
    fenced = await fences_of(connection, batch.namespace, batch.conversation_id)
    outcomes: list[WishOutcome] = []
    for wish in batch.wishes:
        if (erasure_id := erasures.get(wish.wish_id)) is not None:  # its fence also covers the message with the wish
            outcomes.append(WishOutcome(wish_id=wish.wish_id, result="erasure_begun", erasure_id=erasure_id))
        elif is_before_erasure(wish.sources, batch, fenced):
            outcomes.append(WishOutcome(wish_id=wish.wish_id, result="dropped", reason=ERASED))
        elif wish.everything:
            outcomes.append(WishOutcome(wish_id=wish.wish_id, result="erasure_reported"))
        else:
            wish = await wish_naming_copies(connection, batch, wish)
            personal = is_personal(batch.namespace, policy, wish.message.user_id)
            near = await load_related(connection, vectors, batch, prepared, policy, ledger, wish)
            found = memories_meant(wish, ledger.live_memories(), near, personal)
            repetitions = await repeating_messages(connection, said_again, batch.namespace, wish, found, personal)
            naming = await said_again.naming_topic(connection, batch.namespace, wish) if said_again is not None else ()
            outcomes.append(forget(ledger, batch, wish, found, policy, now, repetitions, naming))
    return tuple(outcomes)


async def repeating_messages(
    connection: Connection,
    said_again: FindRepetitions | None,
    namespace: str,
    wish: Wish,
    found: Sequence[Memory],
    personal: bool,
) -> dict[str, tuple[MessageId, ...]]:
    """By forgotten memory the messages to hide besides its sources: those that repeat it, and the sources of earlier
    memories that were merged into it, or that it superseded if the wish means these too."""
    messages: dict[str, tuple[MessageId, ...]] = {}
    searches_left = MAX_REPETITION_SEARCHES
    for memory in found[:MAX_REPETITION_SEARCHES]:
        before = await Memories(connection).before(namespace, [memory.memory_id])
        earlier = [each for each in before if each.status == "deleted" or memories_meant(wish, [each], (), personal)]
        sources = (source for each in earlier for source in each.sources)
        ids = [MessageId(conversation_id=each.conversation_id, message_id=each.message_id) for each in sources]
        if said_again is not None:
            searched = (memory, *earlier)[:searches_left]
            searches_left -= len(searched)
            for each in searched:
                ids += await said_again.of(connection, namespace, wish, each)
        messages[memory.memory_id] = tuple(dict.fromkeys(ids))[:MAX_HIDDEN]
    return messages


async def load_related(
    connection: Connection,
    vectors: VectorIndex,
    batch: CandidateBatch,
    prepared: DecisionInputs,
    policy: Policy,
    ledger: Ledger,
    wish: Wish,
) -> frozenset[str]:
    """Loads the memories that a wish may mean into the ledger. Returns the ids of those whose vectors are as near as a
    repetition's."""
    memories = Memories(connection)
    named = list(wish.memory_ids)
    if meant := [(each.conversation_id, each.message_id) for each in wish.messages_meant]:
        found = await memories.from_messages(meant, [batch.namespace], limit=MAX_OF_MESSAGE)
        named += [memory_id for each in found.values() for memory_id in each]
    if named:
        ledger.learn((await memories.by_ids(named)).values())
    if (text := named_text(wish)) is None:
        return frozenset()
    limits, vector = thresholds(vectors.embedding_model, policy), prepared.vector(text)
    neighbours = await vectors.neighbours(batch.namespace, vector, min_score=limits.comparable, limit=MAX_HITS)
    words = await FullText(connection).search(text, namespaces=(batch.namespace,), filters=Filters(), limit=MAX_HITS)
    ids = [*(each.memory_id for each in neighbours), *(each.memory_id for each in words)]
    ledger.learn((await memories.by_ids(ids)).values())
    ledger.learn(await memories.in_namespace(batch.namespace, limit=MAX_COMPARED))
    return frozenset(each.memory.memory_id for each in ledger.neighbours(vector, neighbours, limits.merge))


def named_text(wish: Wish) -> str | None:
    """The text that a wish names."""
    return wish.statement or wish.topic


def texts_of(batch: CandidateBatch) -> list[str]:
    """The texts of a batch to embed before deciding."""
    named = filter(None, map(named_text, batch.wishes))
    return list(dict.fromkeys((*(candidate.text for candidate in batch.candidates), *named)))


async def hide_messages(
    connection: Connection,
    batch: CandidateBatch,
    wishes: Sequence[Wish],
    rulings: Sequence[Ruling],
    outcomes: Sequence[WishOutcome] = (),
) -> None:
    """Hides messages from search: those with the stored wishes, those that the wishes refer to, those of their outcomes, and
    the sources of candidates that a wish dropped."""
    hidden = HiddenMessages(connection)
    for wish in wishes:
        await hidden.hide(batch.namespace, wish.wish_id, wish.sources)
    for outcome in outcomes:
        await hidden.hide(batch.namespace, outcome.wish_id, outcome.messages)
    sources = {each.candidate_id: each.sources for each in batch.candidates}
    for ruling in rulings:
        if ruling.wish_id is not None:
            await hidden.hide(batch.namespace, ruling.wish_id, sources[ruling.candidate_id])


def wishes_to_store(batch: CandidateBatch, outcomes: Sequence[WishOutcome]) -> list[Wish]:
    """The wishes to store, for candidates of earlier messages that are decided later."""
    stored = {each.wish_id for each in outcomes if each.result in ("forgotten", "unknown")}
    return [wish for wish in batch.wishes if wish.wish_id in stored]
