"""Dead letters as answers: what headers say, and the record without credentials."""

from typing import Any, Literal

from msgspec import Struct

from agents.dead_letters.letters import LetterStatus
from agents.dead_letters.reader import LetterSource
from agents.dead_letters.writer import PREFIX
from agents.privacy.scrub import scrub
from schemas.conversations.messages import Moment

MOST_CHARACTERS = 100_000  # of a value that is shown

Became = Literal["waiting", "replayed", "discarded"]


class LetterView(Struct, frozen=True, kw_only=True):
    """A dead letter. `letter` is its place, partition:offset. Without a `source` it cannot be replayed. `by_reference`: the value
    was too large to keep and is where it came from. `bytes` is the value's size."""

    letter: str
    at: Moment
    stage: str
    reason: str
    detail: str
    status: Became
    source: LetterSource | None
    bytes: int
    by_reference: bool


class LetterContentView(LetterView, frozen=True, kw_only=True):
    """With the record. What looks like a credential or a card number is taken out (`scrubbed` of them); bytes that are no UTF-8
    are escaped. A long value is cut (`cut`)."""

    key: str | None
    headers: dict[str, str | None]
    value: str | None
    scrubbed: int
    cut: bool


def letter_fields(found: LetterStatus) -> dict[str, Any]:
    letter = found.letter
    return {
        "letter": letter.place,
        "at": letter.at,
        "stage": letter.stage,
        "reason": letter.reason,
        "detail": scrub(letter.detail).text,
        "status": found.became or "waiting",
        "source": letter.source,
        "bytes": letter.bytes,
        "by_reference": letter.by_reference,
    }


def letter_view(found: LetterStatus) -> LetterView:
    return LetterView(**letter_fields(found))


def content_view(found: LetterStatus, record: Any) -> LetterContentView:
    """`record` is the letter's aiokafka ConsumerRecord."""
    scrubbed = 0

    def shown(value: bytes | None) -> str | None:
        nonlocal scrubbed
        if value is None:
            return None
        clean = scrub(value.decode("utf-8", "backslashreplace")[:MOST_CHARACTERS])
        scrubbed += sum(clean.found.values())
        return clean.text

    key, value = shown(record.key), shown(record.value)
    headers = {name: shown(each) for name, each in record.headers if not name.startswith(PREFIX)}
    return LetterContentView(
        **letter_fields(found),
        key=key,
        headers=headers,
        value=value,
        scrubbed=scrubbed,
        cut=len(record.value or b"") > MOST_CHARACTERS,
    )
