"""The note of a whole conversation without a model: its most telling statements, in their order, as one text."""

from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import Final

from msgspec import structs

from agents.models.answers.candidates import Draft
from agents.models.answers.speakers import told_of
from agents.models.offline.experience import OUTCOME, outcome, own_sentences
from agents.models.offline.statements import tongue_of
from schemas.extraction.requests import ExtractionRequest, SliceMessage
from streams.windows.detectors.detect import detect
from streams.windows.detectors.traits import CASUAL

MOST_SENTENCES: Final = 4
ASKED_IMPORTANCE, OUTCOME_IMPORTANCE = 0.55, 0.6
FEWEST_WORDS: Final = 4
# Who says what is not about a user, in the languages that the rules read.
SAYERS: Final = {
    "en": ("User", "Assistant"),
    "de": ("Nutzer", "Assistent"),
    "fr": ("Utilisateur", "Assistant"),
    "es": ("Usuario", "Asistente"),
}


def note(
    drafts: Sequence[Draft], request: ExtractionRequest, names: Mapping[str | None, str], most_chars: int
) -> list[Draft]:
    """One draft, or none where nothing lasts. `drafts` are what the rules found, `names` what several speakers are called."""
    parts = [named(draft, request, names) for draft in drafts]
    parts += course(request.messages, {number for draft in drafts for number in draft.messages})
    chosen: list[Draft] = []
    for each in sorted(parts, key=lambda each: -(each.importance or 0.0)):
        fits = len(chosen) < MOST_SENTENCES and len(text_of([*chosen, each])) <= most_chars
        if fits and each.text not in {part.text for part in chosen}:
            chosen.append(each)
    chosen = chosen or sorted(parts, key=attrgetter("importance"))[-1:]
    return [as_one(chosen)] if chosen else []


def named(draft: Draft, request: ExtractionRequest, names: Mapping[str | None, str]) -> Draft:
    """With the speaker's name where several speak, and the assistant's word as the assistant's."""
    messages = [request.messages[number - 1] for number in draft.messages]
    if not any(message.role == "user" for message in messages):
        return structs.replace(draft, text=f"{sayer(messages[0])}: {draft.text}")
    name = names.get(request.speaker(messages[0]))
    return structs.replace(draft, text=told_of(draft.text, name)) if name else draft


def course(messages: Sequence[SliceMessage], known: set[int]) -> list[Draft]:
    """What the conversation began with and what came of it, in their speakers' words; nothing unless something came of it."""
    numbered = list(enumerate(messages, start=1))
    asked = next(((number, told) for number, each in numbered if (told := opening(each)) is not None), None)
    ended = next(((number, told) for number, each in reversed(numbered) if (told := result(each)) is not None), None)
    if asked is None or ended is None or ended[0] in known:
        return []
    found = [(*ended, OUTCOME_IMPORTANCE)]
    if asked[0] not in known:
        found.append((*asked, ASKED_IMPORTANCE))
    if messages[ended[0] - 1].role == "user":
        found += [(*advice, ASKED_IMPORTANCE) for advice in advices(numbered[asked[0] : ended[0] - 1])[-1:]]
    return [
        Draft(
            kind="insight",
            text=f"{sayer(messages[number - 1])}: {told}",
            messages=[number],
            confidence=0.7,
            importance=importance,
            language=language_of(messages[number - 1]),
        )
        for number, told, importance in found
    ]


def advices(answers: Sequence[tuple[int, SliceMessage]]) -> list[tuple[int, str]]:
    """The first sentence of each answer of the assistant."""
    told = ((number, next(own_sentences(each), None)) for number, each in answers if each.role == "assistant")
    return [(number, text) for number, text in told if text is not None and len(text.split()) >= FEWEST_WORDS]


def opening(message: SliceMessage) -> str | None:
    if message.role != "user":
        return None
    own = (each for each in own_sentences(message) if not detect("user", each).traits & CASUAL)
    return next((each for each in own if len(each.split()) >= FEWEST_WORDS), None)


def result(message: SliceMessage) -> str | None:
    if message.role == "assistant":
        return outcome([message])
    return (
        next((each for each in own_sentences(message) if OUTCOME.search(each)), None)
        if message.role == "user"
        else None
    )


def sayer(message: SliceMessage) -> str:
    return SAYERS[language_of(message)][0 if message.role == "user" else 1]


def language_of(message: SliceMessage) -> str:
    tongue = tongue_of(message.content, message.language)
    return tongue.code if tongue else "en"


def text_of(parts: Sequence[Draft]) -> str:
    return " ".join(each.text for each in sorted(parts, key=lambda each: min(each.messages)))


def as_one(parts: Sequence[Draft]) -> Draft:
    """The most important one gives the kind; a note of one statement is that statement."""
    if len(parts) == 1:
        return parts[0]
    best = max(parts, key=lambda each: each.importance or 0.0)
    numbers = sorted({number for each in parts for number in each.messages})
    tags = list(dict.fromkeys(tag for each in parts for tag in each.tags))
    return Draft(
        kind=best.kind,
        text=text_of(parts),
        messages=numbers,
        confidence=min(map(attrgetter("confidence"), parts)),
        importance=best.importance,
        tags=tags,
        language=best.language,
    )
