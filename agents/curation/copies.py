"""Copies of a memory: a policy may feed several namespaces with one statement, and a model names the copy that it was shown."""

import re
from collections.abc import Mapping
from typing import Final

from msgspec.structs import replace

from agents.curation.rules.decisions.incoming import contradicted_ids
from agents.curation.rules.statements.normalise import normalise
from agents.models.answers.speakers import MAX_NAME, with_name
from schemas.extraction.candidates import MAX_NAMED, Candidate, CandidateBatch, Wish
from schemas.memories.memories import Memory
from sinks.memories.reader import Memories
from sinks.postgres.connection import Connection

MAX_OF_MESSAGE: Final = 200  # memories from one message
MARK: Final = "\N{OBJECT REPLACEMENT CHARACTER}"


async def naming_copies(connection: Connection, batch: CandidateBatch) -> CandidateBatch:
    """The batch whose candidates also contradict the live copies, in its namespace, of memories of other namespaces that they
    contradict."""
    named = {each for candidate in batch.candidates for each in contradicted_ids(candidate)}
    if batch.parts == 1 or not named:
        return batch
    memories = Memories(connection)
    elsewhere = [each for each in (await memories.by_ids(named)).values() if each.namespace != batch.namespace]
    copies = {each.memory_id: await copies_of(memories, each, batch) for each in elsewhere}
    return replace(batch, candidates=tuple(with_copies(each, copies) for each in batch.candidates))


async def wish_naming_copies(connection: Connection, batch: CandidateBatch, wish: Wish) -> Wish:
    """The wish, which also names the live copies, in the batch's namespace, of memories of other namespaces that it names."""
    if batch.parts == 1 or not wish.memory_ids:
        return wish
    memories = Memories(connection)
    named = (await memories.by_ids(wish.memory_ids)).values()
    copies = [
        copy for each in named if each.namespace != batch.namespace for copy in await copies_of(memories, each, batch)
    ]
    return replace(wish, memory_ids=tuple(dict.fromkeys((*wish.memory_ids, *copies))))


async def copies_of(memories: Memories, memory: Memory, batch: CandidateBatch) -> list[str]:
    """The ids of the memories of the batch's namespace with the memory's statement from one of its messages. The part of this
    request for the memory's own namespace may have changed its text already, or deleted it."""
    latest, states = await memories.version(memory.memory_id), [memory]
    if latest is not None and latest.before is not None and latest.cause.request_id == batch.request_id:
        states.append(latest.before)
    messages = {(source.conversation_id, source.message_id) for state in states for source in state.sources}
    found = await memories.from_messages(messages, [batch.namespace], MAX_OF_MESSAGE)
    known = await memories.by_ids({each for of_message in found.values() for each in of_message})
    texts = {state.text for state in states if state.text}
    return [each.memory_id for each in known.values() if any(is_copy(each.text, text) for text in texts)]


def is_copy(text: str, other: str) -> bool:
    """Whether both have the same text, or one has a person's name where the other has "the user"."""
    return normalise(text) == normalise(other) or is_named_copy(text, other) or is_named_copy(other, text)


def is_named_copy(named: str, text: str) -> bool:
    first, *rest = map(re.escape, with_name(text, MARK).split(MARK))
    same_name = r"\1"
    pattern = f"{first}(.{{1,{MAX_NAME}}}?){same_name.join(rest)}"
    return bool(rest) and re.fullmatch(pattern, named) is not None


def with_copies(candidate: Candidate, copies: Mapping[str, list[str]]) -> Candidate:
    further = [copy for each in contradicted_ids(candidate) for copy in copies.get(each, ())]
    if not further:
        return candidate
    return replace(candidate, supersedes=tuple(dict.fromkeys((*candidate.supersedes, *further)))[:MAX_NAMED])
