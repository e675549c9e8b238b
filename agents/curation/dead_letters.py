"""Dead letters of curation: none for erased data, and one without contents if some of the data may be erased."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from agents.curation.rules.decisions.incoming import is_before_erasure, is_erased
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
    """The namespace of a record (by its part, otherwise its key), and its conversation, empty if unknown."""
    try:
        part = codec.decode_untrusted(record.value, Part)
    except Rejected:
        return (record.key or b"").decode(errors="replace"), ""
    return part.namespace, part.conversation_id


def dead_letter_unless_erased(
    record: Any, rejected: Rejected, fences: Sequence[ConversationFence], at: datetime
) -> Outgoing | None:
    """The dead letter of a record; None if all of its data is erased, and one without contents if some may be. An erasure
    may have searched the dead-letter topic already."""
    older = predates_erasure(record, fences) if fences else []
    if not any(older):
        return dead_letter(record, STAGE, rejected, at)
    without_contents = Rejected(rejected.reason, "some of its data was erased meanwhile")
    return None if all(older) else dead_letter(record, STAGE, without_contents, at, by_reference=True)


def predates_erasure(record: Any, fences: Sequence[ConversationFence]) -> list[bool]:
    """Whether each candidate and each wish of a record is older than an erasure. A record that does not decode counts as
    partly older if it was sent before one."""
    try:
        batch = codec.decode_untrusted(record.value, CandidateBatch)
    except Rejected:
        moment = sent_at(record)
        return [any(moment <= each.fence.at for each in fences), False]
    wishes = [is_before_erasure(wish.sources, batch, fences) for wish in batch.wishes]
    return [*(is_erased(candidate, batch, fences) for candidate in batch.candidates), *wishes]


def sent_at(record: Any) -> datetime:
    """The time in the command; for other records Kafka's timestamp."""
    try:
        return codec.decode_untrusted(record.value, Command).at
    except Rejected:
        return written_at(record)
