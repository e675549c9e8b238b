"""Finds the memories that a user's wish to forget means, and removes them. In doubt a memory stays."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final

from msgspec.structs import replace

from agents.curation.rules.attributes.attribute_values import owners
from agents.curation.rules.attributes.readings import readings
from agents.curation.rules.commands.topics import is_about, theme_named
from agents.curation.rules.ledger import change
from agents.curation.rules.ledger.ledger import Ledger
from agents.curation.rules.ledger.outcomes import WishOutcome
from agents.curation.rules.ledger.personal_namespaces import is_personal
from agents.curation.rules.statements.guards import objection
from agents.curation.rules.statements.normalise import normalise
from agents.curation.rules.statements.statement import Statement, statement
from agents.models.offline.named_persons import is_subject
from agents.models.offline.rules.engine.languages import is_another_language
from schemas.extraction.candidates import Candidate, CandidateBatch, Source, Wish
from schemas.memories.events import Cause, MessageId
from schemas.memories.memories import Change, Memory
from schemas.policies.policies import Policy

MAX_MEMORIES: Final = 5  # memories that a wish for one thing may remove
MAX_OF_THEME: Final = 100  # a wish for a theme ("everything about my health") may remove more
MIN_COVERED: Final = 0.5  # of a memory's content words must occur in the words that the wish refers to
MIN_SHARED_LETTERS: Final = 4  # letters of a word that two languages share
FORGOTTEN: Final = "a user asked to have it forgotten"
UNCLEAR: Final = "nothing tells what it means"
DELETION_REASON: Final = "the user asked to have it forgotten, in message {message_id}"


def is_theirs(memory: Memory, wish: Wish, personal: bool) -> bool:
    """Whether a memory is based only on the words of the wish's user, or is in a personal namespace."""
    if personal:
        return True
    return bool(memory.sources) and all(is_by(source, wish.message) for source in memory.sources)


def is_told_about_them(memory: Memory, wish: Wish) -> bool:
    """Whether a memory is based only on the message of another person that the wish means, and begins with the wish's user."""
    if wish.named_as is None or wish.means is None:
        return False
    meant = (wish.means.conversation_id, wish.means.message_id)
    sources = {(each.conversation_id, each.message_id) for each in memory.sources}
    return sources == {meant} and is_subject(memory.text, wish.named_as)


def is_by(source: Source, wish: Source) -> bool:
    """Whether both messages are of the same person. A conversation without user ids is one person's, and its guests'."""
    if source.attributed_to is not None or (source.user_id, source.guest_id) != (wish.user_id, wish.guest_id):
        return False
    return wish.user_id is not None or source.conversation_id == wish.conversation_id


def memories_meant(wish: Wish, memories: Iterable[Memory], near: Collection[str], personal: bool) -> list[Memory]:
    """The memories that a wish means. `near` are the ids of memories whose vectors are as near to the wish's text as a
    repetition's."""
    return [
        each
        for each in memories
        if (is_theirs(each, wish, personal) or is_told_about_them(each, wish))
        and not is_newer_than_wish(each, wish)
        and (is_identified(each, wish) or is_described(each, wish, near))
    ]


def is_identified(memory: Memory, wish: Wish) -> bool:
    """Whether a wish refers to this memory itself, or to the words that it is based on."""
    return memory.memory_id in wish.memory_ids or comes_from_message(memory, wish)


def is_described(memory: Memory, wish: Wish, near: Collection[str]) -> bool:
    """Whether a wish has the statement or the topic of this memory."""
    if wish.statement is not None:
        stated = wish.statement
        return says(memory.text, stated) or (memory.memory_id in near and agree(memory.text, stated))
    return wish.topic is not None and is_about(memory, wish.topic)


def covering_wish(candidate: Candidate, memory: Memory, wishes: Iterable[Wish], policy: Policy) -> Wish | None:
    """The first of these earlier wishes that covers a candidate from an earlier message; None if none does. The candidate's
    answer may arrive after that of a later message. `memory` is the memory that the candidate would create."""
    for wish in wishes:
        personal = is_personal(memory.namespace, policy, wish.message.user_id)
        late = all(is_before(source, wish.message) for source in candidate.sources)
        if late and memories_meant(wish, [memory], (), personal):
            return wish
    return None


def is_newer_than_wish(memory: Memory, wish: Wish) -> bool:
    """Whether the memory's message was sent after the wish: conversations may be processed in another order."""
    asked_at, said_at = wish.message.timestamp, memory.said_at
    return asked_at is not None and said_at is not None and said_at > asked_at


def is_before(source: Source, wish: Source) -> bool:
    """Whether a message was sent before the one with the wish."""
    if source.timestamp is None or wish.timestamp is None:
        return False
    return source.timestamp <= wish.timestamp


def comes_from_message(memory: Memory, wish: Wish) -> bool:
    """Whether a memory is based on a message that the wish refers to, and on the words that it refers to."""
    meant = {(each.conversation_id, each.message_id) for each in wish.messages_meant}
    if meant.isdisjoint((each.conversation_id, each.message_id) for each in memory.sources):
        return False
    return wish.said is None or is_stated_by(memory.text, wish.said)


def is_stated_by(text: str, said: str) -> bool:
    """Whether these words state the memory: all of its names, numbers and times, and at least MIN_COVERED of its content
    words."""
    if is_another_language(text, said):
        return is_stated_in_other_language(statement(text), statement(said))
    of_text, of_said = statement(text), statement(f"User: {said}")
    if not (set(of_text.names) <= set(of_said.tokens) and of_text.quantities <= of_said.quantities):
        return False
    shared = set(of_text.content) & set(of_said.content)
    return len(shared) >= MIN_COVERED * len(set(of_text.content))


def is_stated_in_other_language(of_text: Statement, of_said: Statement) -> bool:
    """The same across languages, by numbers, names and some longer words."""
    shared = {each for each in set(of_text.tokens) & set(of_said.tokens) if len(each) >= MIN_SHARED_LETTERS}
    return bool(shared) and of_text.quantities <= of_said.quantities


def says(text: str, stated: str) -> bool:
    """Whether a memory has the wish's statement, possibly among others."""
    if normalise(text) == normalise(stated):
        return True
    mine = {(each.owner, each.attribute, each.value) for each in readings(text)}
    if any((each.owner, each.attribute, each.value) in mine for each in readings(stated)):
        return True
    content = set(statement(stated).content)
    return bool(content) and content <= set(statement(text).content) and agree(text, stated)


def agree(text: str, stated: str) -> bool:
    """Whether the memory neither denies the statement nor says it about somebody else."""
    return owners(text) == owners(stated) and objection(stated, text) is None


def forget(
    ledger: Ledger,
    batch: CandidateBatch,
    wish: Wish,
    found: Sequence[Memory],
    policy: Policy,
    now: datetime,
    said_again: Mapping[str, tuple[MessageId, ...]],
    naming: Sequence[MessageId] = (),
) -> WishOutcome:
    """Removes the memories that a wish means, each by its own change, which can be undone. `said_again` has by memory
    further messages with its content; `naming` are messages that name the wish's topic, hidden with the first memory, or
    without one. The messages that the wish means are hidden with each memory. In doubt, the limit applies to those that a
    model names and those that only the wish's words describe together; a model's names alone decide if they keep to it."""
    if not found and wish.is_unclear:
        return WishOutcome(wish_id=wish.wish_id, result="unclear", reason=UNCLEAR)
    if not found:
        messages = () if policy.on_forget_wish == "report" else tuple(naming)
        nothing = "no memory has this content"
        return WishOutcome(wish_id=wish.wish_id, result="unknown", reason=nothing, messages=messages)
    reason: str | None = None
    most = MAX_MEMORIES if wish.topic is None or theme_named(wish.topic) is None else MAX_OF_THEME
    if sum(not is_pointed_at(memory, wish) for memory in found) > most:
        reason = f"it may mean {len(found)} memories, more than {most}"
        certain = certainly_meant(wish, found, most)
        if not certain:
            memory_ids = tuple(memory.memory_id for memory in found)
            return WishOutcome(wish_id=wish.wish_id, result="unclear", memory_ids=memory_ids, reason=reason)
        found = certain
    memory_ids = tuple(memory.memory_id for memory in found)
    if policy.on_forget_wish == "report":
        return WishOutcome(wish_id=wish.wish_id, result="reported", memory_ids=memory_ids, reason=reason)
    cause = Cause(
        actor=batch.provider,
        wish_id=wish.wish_id,
        request_id=batch.request_id,
        reason=DELETION_REASON.format(message_id=wish.message.message_id),
        conversation_id=wish.message.conversation_id,
        message_id=wish.message.message_id,
    )
    meant = [
        MessageId(conversation_id=each.conversation_id, message_id=each.message_id) for each in wish.messages_meant
    ]
    kind: Change = "deleted" if policy.on_forget_wish == "delete" else "expired"
    for memory in found:
        after = change.deleted(memory, now) if kind == "deleted" else change.retracted(memory, now)
        again = (*meant, *said_again.get(memory.memory_id, ()), *(naming if memory is found[0] else ()))
        ledger.enter(kind, after, replace(cause, said_again=tuple(dict.fromkeys(again))), now)
    return WishOutcome(wish_id=wish.wish_id, result="forgotten", memory_ids=memory_ids, reason=reason)


def certainly_meant(wish: Wish, found: Sequence[Memory], most: int) -> list[Memory]:
    """Of too many memories those that "that" points at, and those that a model names, unless these are too many themselves: a
    misreading must not remove more than any other wish."""
    pointed_at = [memory for memory in found if is_pointed_at(memory, wish)]
    identified = [memory for memory in found if is_identified(memory, wish)]
    return identified if len(identified) - len(pointed_at) <= most else pointed_at


def is_pointed_at(memory: Memory, wish: Wish) -> bool:
    """Whether "that" points at the memory's message, by rules. A wish has the messages that a model names only where no rule
    reads it."""
    return wish.means is not None and comes_from_message(memory, wish)
