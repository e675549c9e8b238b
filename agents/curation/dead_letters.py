"""Dead letters of curation: what was erased since becomes none, and what may say some of it becomes one without contents."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from agents.curation.rules.incoming import comes_before, is_older
from agents.dead_letters.writer import dead_letter, written_at
from schemas import codec
from schemas.erasure.erasures import ConversationFence
from schemas.errors import Rejected
from schemas.extraction.candidates import CandidateBatch
from schemas.kafka.records import Outgoing
from schemas.memories.commands import Command
from sinks.memories.settlements import Part

STAGE: Final = "curation"


def namespace_and_conversation(record: Any) -> tuple[str, str]:
    """The namespace that a record is about, which is its key in any case, and the conversation, as far as it can be told."""
    try:
        part = codec.decode_untrusted(record.value, Part)
    except Rejected:
        return (record.key or b"").decode(errors="replace"), ""
    return part.namespace, part.conversation_id


def dead_letter_unless_erased(
    record: Any, rejected: Rejected, fences: Sequence[ConversationFence], at: datetime
) -> Outgoing | None:
    """Dead letters may have been searched for what was erased already: none comes that still says it."""
    older = said_before(record, fences) if fences else []
    if not any(older):
        return dead_letter(record, STAGE, rejected, at)
    quiet = Rejected(rejected.reason, "some of what it says was erased meanwhile")
    return None if all(older) else dead_letter(record, STAGE, quiet, at, by_reference=True)


def said_before(record: Any, fences: Sequence[ConversationFence]) -> list[bool]:
    """Of each candidate and each wish whether it is older than an erasure. Of what cannot be told apart, and is older, some may
    be, and what does not say when it was sent is older."""
    try:
        batch = codec.decode_untrusted(record.value, CandidateBatch)
    except Rejected:
        moment = sent_at(record)
        return [any(moment <= each.fence.at for each in fences), False]
    wishes = [comes_before((wish.message,), batch, fences) for wish in batch.wishes]
    return [*(is_older(candidate, batch, fences) for candidate in batch.candidates), *wishes]


def sent_at(record: Any) -> datetime:
    """By a command's own word, if it says so; else by Kafka's."""
    try:
        return codec.decode_untrusted(record.value, Command).at
    except Rejected:
        return written_at(record)
