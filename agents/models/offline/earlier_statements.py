"""Finds the earlier statement of a person that a correction ("Thursday, not Tuesday") means, and corrects it. Pure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from msgspec import structs

from agents.models.answers.drafts import Draft
from agents.models.dates.dates import dates_in, event_time, local
from agents.models.dates.validity import validity
from agents.models.offline.contrasts import REMARK, Contrast, corrected
from schemas.extraction.requests import ExtractionRequest
from schemas.memories.memories import Memory


class Earlier(NamedTuple):
    """An earlier statement: its draft, when it was said, and the number of its memory if it is one. `is_recent`: in the same
    message, or in the person's message before."""

    draft: Draft
    said_at: datetime
    is_recent: bool = False
    known_as: int | None = None


def earlier_statements(request: ExtractionRequest, number: int, drafts: Sequence[Draft]) -> Iterator[Earlier]:
    """The statements of the speaker of message `number` up to that message, the latest first."""
    speaker = request.speaker(request.messages[number - 1])
    own = [
        at
        for at, each in enumerate(request.messages[:number], start=1)
        if each.role == "user" and request.speaker(each) == speaker
    ]
    for each in reversed(drafts):
        if len(each.messages) == 1 and each.messages[0] in own:
            said = request.messages[each.messages[0] - 1]
            yield Earlier(each, local(said.timestamp, said.time_zone), is_recent=each.messages[0] in own[-2:])


def remembered(memories: Mapping[int, Memory], number: int) -> Iterator[Earlier]:
    """The memories, as drafts of message `number`."""
    for known_as, memory in memories.items():
        draft = Draft(
            kind=memory.kind,
            text=memory.text,
            messages=[number],
            confidence=memory.confidence,
            importance=memory.importance,
            kinds=list(memory.kinds),
            tags=list(memory.tags),
            event_time=iso_or_none(memory.event_time),
            valid_until=iso_or_none(memory.valid_until),
            language=memory.language,
        )
        yield Earlier(draft, memory.said_at or memory.created_at, known_as=known_as)


def statement_meant(
    values: Contrast, earlier: Iterable[Earlier], *, takes_back: bool = False
) -> tuple[Earlier, str] | None:
    """The earlier statement with the wrong value that is about the subject of the correction; of several the one with most of
    its words, the first of equals. A correction that names
    no subject means a recent statement, or with words that take something back ("sorry") the only one. Also the corrected
    text."""
    having = [
        (each, fixed)
        for each in earlier
        if (fixed := corrected(each.draft.text, values, each.said_at, each.draft.language or "en")) is not None
    ]
    if values.subject:
        about = [each for each in having if values.is_about(each[0].draft.text)]
        return max(about, key=lambda each: values.shared(each[0].draft.text), default=None)
    recent = next((each for each in having if each[0].is_recent), None)
    return recent or (having[0] if takes_back and len(having) == 1 else None)


def corrected_draft(earlier: Earlier, text: str, number: int) -> Draft:
    """The statement with the corrected text and the times that this names, as said in message `number`."""
    draft, language = earlier.draft, earlier.draft.language or "en"
    plain = REMARK.sub("", text)
    holds = validity(plain, earlier.said_at, language)
    days = dates_in(plain, earlier.said_at, language)
    happens = event_time(days[-1].day, plain, earlier.said_at, language) if days else None
    return structs.replace(
        draft,
        text=text,
        messages=[number],
        event_time=draft.event_time and (iso_or_none(happens) or draft.event_time),
        valid_from=draft.valid_from and (iso_or_none(holds.valid_from) or draft.valid_from),
        valid_until=draft.valid_until and (iso_or_none(holds.valid_until) or draft.valid_until),
        repeats=None,
        contradicts=earlier.known_as,
    )


def iso_or_none(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment else None
