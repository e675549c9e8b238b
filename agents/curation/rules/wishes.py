"""Which memories a user's wish to have something forgotten means, and what becomes of them. Careful in one direction: what is not
plainly meant stays."""

import re
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Final

import msgspec

from agents.curation.rules import change, words
from agents.curation.rules.attributes import owners, readings
from agents.curation.rules.guards import objection
from agents.curation.rules.ledger import Ledger
from agents.curation.rules.meaning import meaning
from agents.curation.rules.normalise import normalise
from agents.curation.rules.outcome import Granted
from agents.curation.rules.statement import statement
from schemas.extraction.candidates import Candidate, CandidateBatch, Source, Wish
from schemas.memories.events import Cause
from schemas.memories.memories import Change, Memory
from schemas.policies.namespaces import read_back
from schemas.policies.policies import Policy
from schemas.replay.shadows import live_namespace_of

TOPICS: Final = Path(__file__).with_name("topics.json")
MOST: Final = 5  # memories that a named thing may mean
SAID_SHARE: Final = 0.5  # of a memory's words are among those that are meant
FORGOTTEN: Final = "its user asked to have it forgotten"
ASKED: Final = "the user asked to have it forgotten, in message {message_id}"
# Words of a topic that name nothing: `my old job`, `all the details of my job`.
EMPTY: Final = words.words(
    "old new current previous last own everything anything all details thing things fact facts part alte neue aktuelle alles"
    " ancien nouveau actuel tout détails viejo nuevo actual todo detalles where how who when which what wo wie wer was wann où"
    " comment qui quand dónde cómo cuándo meinen meinem meiner meines unsere unseren unserem unserer"
)
POSSESSIVE: Final = re.compile(r"['’]s(?= )")


def is_personal(namespace: str, policy: Policy) -> bool:
    """Whether a namespace is one person's, by the templates of its policy."""
    live = live_namespace_of(namespace)
    return any("{user_id}" in each and read_back(each, live) is not None for each in policy.namespaces)


def is_theirs(memory: Memory, wish: Wish, personal: bool) -> bool:
    """Whether a memory is of the person alone who wishes: where others feed the namespace, it must rest on their words alone."""
    if personal:
        return True
    return bool(memory.sources) and all(is_by(source, wish.message) for source in memory.sources)


def is_by(source: Source, wish: Source) -> bool:
    """Whether the same person says both. A conversation that names nobody is one person's."""
    if source.attributed_to is not None or source.user_id != wish.user_id:
        return False
    return wish.user_id is not None or source.conversation_id == wish.conversation_id


def meant(wish: Wish, memories: Iterable[Memory], near: Collection[str], personal: bool) -> list[Memory]:
    """The memories that a wish means; `near` are ids of those whose vectors are as near to what it names as those of statements
    that say the same."""
    theirs = [each for each in memories if is_theirs(each, wish, personal) and not said_again(each, wish)]
    if wish.statement is not None:
        stated = wish.statement
        return [
            each for each in theirs if says(each.text, stated) or (each.memory_id in near and agree(each.text, stated))
        ]
    if wish.topic is not None:
        topic = wish.topic
        return [each for each in theirs if is_about(each, topic)]
    return [each for each in theirs if comes_of(each, wish)]


def asked_before(candidate: Candidate, memory: Memory, wishes: Iterable[Wish], personal: bool) -> Wish | None:
    """The first of these wishes, which were decided about earlier, that means what a candidate says that was said before it: an
    answer may take longer than the one to what was said next. `memory` is what the candidate would be."""
    for wish in wishes:
        late = all(is_before(source, wish.message) for source in candidate.sources)
        if late and meant(wish, [memory], (), personal):
            return wish
    return None


def said_again(memory: Memory, wish: Wish) -> bool:
    """Whether it was said after the wish: conversations are not read in the order in which they were led."""
    asked_at, said_at = wish.message.timestamp, memory.said_at
    return asked_at is not None and said_at is not None and said_at > asked_at


def is_before(source: Source, wish: Source) -> bool:
    """Whether a message was said before the one with the wish."""
    if source.timestamp is None or wish.timestamp is None:
        return False
    return source.timestamp <= wish.timestamp


def comes_of(memory: Memory, wish: Wish) -> bool:
    """Whether a memory rests on the message that is meant, and on the words of it that are."""
    means = wish.means
    if means is None or not any(
        (each.conversation_id, each.message_id) == (means.conversation_id, means.message_id) for each in memory.sources
    ):
        return False
    return wish.said is None or is_said(memory.text, wish.said)


def is_said(text: str, said: str) -> bool:
    """Whether these words say what a memory says: all of its names, numbers and times, and as much else as a paraphrase keeps."""
    of_text, of_said = statement(text), statement(f"User: {said}")
    if not (set(of_text.names) <= set(of_said.tokens) and of_text.quantities <= of_said.quantities):
        return False
    shared = set(of_text.content) & set(of_said.content)
    return len(shared) >= SAID_SHARE * len(set(of_text.content))


def says(text: str, stated: str) -> bool:
    """Whether a memory says what is stated, perhaps among other things."""
    if normalise(text) == normalise(stated):
        return True
    mine = {(each.owner, each.attribute, each.value) for each in readings(text)}
    if any((each.owner, each.attribute, each.value) in mine for each in readings(stated)):
        return True
    content = set(statement(stated).content)
    return bool(content) and content <= set(statement(text).content) and agree(text, stated)


def agree(text: str, stated: str) -> bool:
    """Whether nothing that is stated is denied by a memory, or told of somebody else."""
    return owners(text) == owners(stated) and objection(stated, text) is None


def is_about(memory: Memory, topic: str) -> bool:
    """Whether a memory is about what is named: about the user's own, where it does not name whose."""
    topic = POSSESSIVE.sub(" ", topic)
    of_topic = statement(f"about {topic}")
    named, whose, said = set(of_topic.names), relations(of_topic.tokens), statement(memory.text)
    if named and named <= set(said.tokens) and whose <= set(said.content):
        return True
    if not owners(memory.text) <= whose:
        return False
    if {each.attribute for each in readings(memory.text)} & attributes(topic):
        return True
    content = {each for each in of_topic.content if each not in EMPTY} - {meaning("about")}
    tagged = {meaning(word) for tag in (*memory.tags, memory.kind) for word in normalise(tag).split()}
    return bool(content) and content <= {*said.content, *tagged}


def relations(tokens: Sequence[str]) -> frozenset[str]:
    """The people and animals of the user that are named."""
    return frozenset(meaning(each) for each in tokens if each in words.RELATIONS)


def attributes(topic: str) -> frozenset[str]:
    """What a topic names, if it is nothing but that: the user's `job`, `where I live`; not their wife's job."""
    said = normalise(topic)
    plain = " ".join(each for each in said.split() if each not in EMPTY | words.GENERIC_SUBJECTS)
    return frozenset(name for name, phrases in topics().items() if said in phrases or plain in phrases)


def forget(
    ledger: Ledger, batch: CandidateBatch, wish: Wish, found: Sequence[Memory], policy: Policy, now: datetime
) -> Granted:
    """Enters what becomes of the memories that a wish means, each by a change of its own that can be undone."""
    if not found:
        return Granted(wish_id=wish.wish_id, result="unknown", reason="nothing that is remembered says it")
    memory_ids = tuple(memory.memory_id for memory in found)
    if wish.means is None and len(found) > MOST:
        reason = f"it may mean {len(found)} memories, more than {MOST}"
        return Granted(wish_id=wish.wish_id, result="unclear", memory_ids=memory_ids, reason=reason)
    if policy.on_forget_wish == "report":
        return Granted(wish_id=wish.wish_id, result="reported", memory_ids=memory_ids)
    cause = Cause(
        actor=batch.provider,
        wish_id=wish.wish_id,
        request_id=batch.request_id,
        reason=ASKED.format(message_id=wish.message.message_id),
        conversation_id=wish.message.conversation_id,
        message_id=wish.message.message_id,
    )
    kind: Change = "deleted" if policy.on_forget_wish == "delete" else "expired"
    for memory in found:
        after = change.deleted(memory, now) if kind == "deleted" else change.retracted(memory, now)
        ledger.enter(kind, after, cause, now)
    return Granted(wish_id=wish.wish_id, result="forgotten", memory_ids=memory_ids)


@cache
def topics() -> dict[str, frozenset[str]]:
    """By attribute the words for it, normalised."""
    listed = msgspec.json.decode(TOPICS.read_bytes(), type=dict[str, tuple[str, ...]])
    return {name: frozenset(map(normalise, phrases)) for name, phrases in listed.items()}
