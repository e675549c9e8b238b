"""Response shapes of dead letters: the metadata of their headers, and the record with credentials removed."""

from typing import Any, Literal

from msgspec import Struct

from agents.dead_letters.dead_letter_queue import DeadLetterStatus
from agents.dead_letters.reader import LetterSource
from agents.privacy.scrub import scrub
from schemas.conversations.messages import Moment
from schemas.kafka.dead_letters import PREFIX

MAX_CHARACTERS = 100_000  # of a value in a response

LetterStatus = Literal["waiting", "replayed", "discarded"]


class LetterView(Struct, frozen=True, kw_only=True):
    """A dead letter. `letter` is its position, partition:offset. A letter without a `source` cannot be replayed. If
    `by_reference` is true, the value was too large to copy and remains at the source. `bytes` is the size of the value."""

    letter: str
    at: Moment
    stage: str
    reason: str
    detail: str
    status: LetterStatus
    source: LetterSource | None
    bytes: int
    by_reference: bool


class LetterContentView(LetterView, frozen=True, kw_only=True):
    """A dead letter with its record. Credentials and card numbers are removed; `scrubbed` is their number. Bytes that are
    not UTF-8 are escaped. `cut` is true if the value was truncated."""

    key: str | None
    headers: dict[str, str | None]
    value: str | None
    scrubbed: int
    cut: bool


def letter_fields(status: DeadLetterStatus) -> dict[str, Any]:
    letter = status.letter
    return {
        "letter": letter.place,
        "at": letter.at,
        "stage": letter.stage,
        "reason": letter.reason,
        "detail": scrub(letter.detail).text,
        "status": status.outcome or "waiting",
        "source": letter.source,
        "bytes": letter.bytes,
        "by_reference": letter.by_reference,
    }


def letter_view(status: DeadLetterStatus) -> LetterView:
    return LetterView(**letter_fields(status))


def content_view(status: DeadLetterStatus, record: Any) -> LetterContentView:
    """Builds the view. `record` is the aiokafka ConsumerRecord of the dead letter."""
    scrubbed = 0

    def scrubbed_text(value: bytes | None) -> str | None:
        nonlocal scrubbed
        if value is None:
            return None
        clean = scrub(value.decode("utf-8", "backslashreplace")[:MAX_CHARACTERS])
        scrubbed += sum(clean.found.values())
        return clean.text

    key, value = scrubbed_text(record.key), scrubbed_text(record.value)
    headers = {name: scrubbed_text(each) for name, each in record.headers if not name.startswith(PREFIX)}
    return LetterContentView(
        **letter_fields(status),
        key=key,
        headers=headers,
        value=value,
        scrubbed=scrubbed,
        cut=len(record.value or b"") > MAX_CHARACTERS,
    )
