"""Applies the wishes of a part, after its candidates, within the deciding transaction."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final, Protocol

from agents.curation.parts import fences_of
from agents.curation.rules.apply_command import ERASED
from agents.curation.rules.decision_inputs import DecisionInputs
from agents.curation.rules.incoming import comes_before
from agents.curation.rules.ledger import Ledger
from agents.curation.rules.outcome import Granted, Ruling
from agents.curation.rules.thresholds import thresholds
from agents.curation.rules.wishes import forget, is_personal, meant
from schemas.extraction.candidates import CandidateBatch, Wish
from schemas.policies.policies import Policy
from schemas.retrieval.searches import Filters
from sinks.memories.hidden_messages import HiddenMessages
from sinks.memories.lexical import FullText
from sinks.memories.reader import Memories
from sinks.postgres.connection import Connection
from sinks.vectors.port import VectorIndex

NONE: Final[Mapping[str, str]] = {}
LOOKED_AT: Final = 50  # memories that a search finds for what is named
LOOKED_THROUGH: Final = 200  # the most important ones: of most namespaces these are all
MOST_OF_MESSAGE: Final = 200


class BeginErasures(Protocol):
    """agents.erasure.wishes.ErasureWishes."""

    async def begin(self, batch: CandidateBatch, policy: Policy) -> Mapping[str, str]: ...


async def apply_wishes(
    connection: Connection,
    vectors: VectorIndex,
    batch: CandidateBatch,
    prepared: DecisionInputs,
    policy: Policy,
    ledger: Ledger,
    now: datetime,
    erasures: Mapping[str, str] = NONE,
) -> tuple[Granted, ...]:
    """What comes of each wish, entered into the ledger; writes nothing. `erasures` are those that were begun for wishes, by the
    ids of these. Raises NeedsInput."""
    if not batch.wishes:
        return ()
    fenced = await fences_of(connection, batch.namespace, batch.conversation_id)
    personal, granted = is_personal(batch.namespace, policy), list[Granted]()
    for wish in batch.wishes:
        if (erasure_id := erasures.get(wish.wish_id)) is not None:  # its fence stands, before its own message too
            granted.append(Granted(wish_id=wish.wish_id, result="erasure_begun", erasure_id=erasure_id))
        elif comes_before((wish.message,), batch, fenced):
            granted.append(Granted(wish_id=wish.wish_id, result="dropped", reason=ERASED))
        elif wish.everything:
            granted.append(Granted(wish_id=wish.wish_id, result="erasure_reported"))
        else:
            near = await learn_related(connection, vectors, batch, prepared, policy, ledger, wish)
            found = meant(wish, ledger.live_memories(), near, personal)
            granted.append(forget(ledger, batch, wish, found, policy, now))
    return tuple(granted)


async def learn_related(
    connection: Connection,
    vectors: VectorIndex,
    batch: CandidateBatch,
    prepared: DecisionInputs,
    policy: Policy,
    ledger: Ledger,
    wish: Wish,
) -> frozenset[str]:
    """Has the ledger know the memories that a wish may mean; which of them say the same by their vectors."""
    memories = Memories(connection)
    if wish.means is not None:
        message = (wish.means.conversation_id, wish.means.message_id)
        found = await memories.from_messages([message], [batch.namespace], limit=MOST_OF_MESSAGE)
        ledger.learn((await memories.by_ids(found.get(message, ()))).values())
    if (text := named_text(wish)) is None:
        return frozenset()
    limits, vector = thresholds(vectors.embedding_model, policy), prepared.vector(text)
    neighbours = await vectors.neighbours(batch.namespace, vector, min_score=limits.akin, limit=LOOKED_AT)
    words = await FullText(connection).search(text, namespaces=(batch.namespace,), filters=Filters(), limit=LOOKED_AT)
    ids = [*(each.memory_id for each in neighbours), *(each.memory_id for each in words)]
    ledger.learn((await memories.by_ids(ids)).values())
    ledger.learn(await memories.in_namespace(batch.namespace, limit=LOOKED_THROUGH))
    return frozenset(each.memory.memory_id for each in ledger.neighbours(vector, neighbours, limits.merge))


def named_text(wish: Wish) -> str | None:
    """What a wish names, which is embedded."""
    return wish.statement or wish.topic


def texts_of(batch: CandidateBatch) -> list[str]:
    """What of a batch is embedded before it is decided about."""
    named = filter(None, map(named_text, batch.wishes))
    return list(dict.fromkeys((*(candidate.text for candidate in batch.candidates), *named)))


async def hide_what_was_said(
    connection: Connection, batch: CandidateBatch, wishes: Sequence[Wish], rulings: Sequence[Ruling]
) -> None:
    """Takes out of search, besides what forgotten memories come from: the wishes that are heeded, the messages that they point
    to, and what is answered only after its wish."""
    hidden = HiddenMessages(connection)
    for wish in wishes:
        await hidden.hide(batch.namespace, wish.wish_id, filter(None, (wish.message, wish.means)))
    sources = {each.candidate_id: each.sources for each in batch.candidates}
    for ruling in rulings:
        if ruling.wish_id is not None:
            await hidden.hide(batch.namespace, ruling.wish_id, sources[ruling.candidate_id])


def kept_wishes(batch: CandidateBatch, granted: Sequence[Granted]) -> list[Wish]:
    """Those that count for what comes later of what was said before."""
    heeded = {each.wish_id for each in granted if each.result in ("forgotten", "unknown")}
    return [wish for wish in batch.wishes if wish.wish_id in heeded]
