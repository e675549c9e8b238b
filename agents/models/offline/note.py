"""The note of a whole conversation without a model: its most important statements, in order, as one text."""

from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import Final

from msgspec import structs

from agents.models.answers.drafts import Draft
from agents.models.answers.speakers import with_name
from agents.models.offline.experience import OUTCOME, outcome, trusted_sentences
from agents.models.offline.statements import language_rules
from schemas.extraction.requests import ExtractionRequest, SliceMessage
from streams.windows.detectors.detect import detect
from streams.windows.detectors.traits import CASUAL

MAX_SENTENCES: Final = 4
OPENING_IMPORTANCE, OUTCOME_IMPORTANCE = 0.55, 0.6
MIN_WORDS: Final = 4
# Labels of speakers, in the languages with rules. A text that begins with "Assistant:" would count as an injection.
SPEAKER_LABELS: Final = {
    "en": ("User", "The assistant"),
    "de": ("Nutzer", "Der Assistent"),
    "fr": ("Utilisateur", "L'assistant"),
    "es": ("Usuario", "El asistente"),
}


def note(
    drafts: Sequence[Draft], request: ExtractionRequest, names: Mapping[str | None, str], max_chars: int
) -> list[Draft]:
    """One draft; none if nothing is worth storing. `drafts` are the rules' findings, `names` the display names of several
    speakers."""
    parts = [with_speaker(draft, request, names) for draft in drafts]
    parts += opening_and_outcome(request.messages, {number for draft in drafts for number in draft.messages})
    chosen: list[Draft] = []
    for each in sorted(parts, key=lambda each: -(each.importance or 0.0)):
        fits = len(chosen) < MAX_SENTENCES and len(text_of([*chosen, each])) <= max_chars
        if fits and each.text not in {part.text for part in chosen}:
            chosen.append(each)
    chosen = chosen or sorted(parts, key=attrgetter("importance"))[-1:]
    return [combined(chosen)] if chosen else []


def with_speaker(draft: Draft, request: ExtractionRequest, names: Mapping[str | None, str]) -> Draft:
    """The draft with the speaker's name where several speak, and with the assistant's statements marked as such."""
    messages = [request.messages[number - 1] for number in draft.messages]
    if not any(message.role == "user" for message in messages):
        return structs.replace(draft, text=f"{speaker_label(messages[0])}: {draft.text}")
    name = names.get(request.speaker(messages[0]))
    return structs.replace(draft, text=with_name(draft.text, name)) if name else draft


def opening_and_outcome(messages: Sequence[SliceMessage], known: set[int]) -> list[Draft]:
    """The conversation's first request and its outcome in their speakers' words; empty without an outcome."""
    numbered = list(enumerate(messages, start=1))
    first = next(((number, text) for number, each in numbered if (text := first_request(each)) is not None), None)
    ended = next(
        ((number, text) for number, each in reversed(numbered) if (text := outcome_sentence(each)) is not None), None
    )
    if first is None or ended is None or ended[0] in known:
        return []
    found = [(*ended, OUTCOME_IMPORTANCE)]
    if first[0] not in known:
        found.append((*first, OPENING_IMPORTANCE))
    if messages[ended[0] - 1].role == "user":
        found += [
            (*advice, OPENING_IMPORTANCE) for advice in first_advice_sentences(numbered[first[0] : ended[0] - 1])[-1:]
        ]
    return [
        Draft(
            kind="insight",
            text=f"{speaker_label(messages[number - 1])}: {text}",
            messages=[number],
            confidence=0.7,
            importance=importance,
            language=language_of(messages[number - 1]),
        )
        for number, text, importance in found
    ]


def first_advice_sentences(answers: Sequence[tuple[int, SliceMessage]]) -> list[tuple[int, str]]:
    """The first sentence of each answer of the assistant."""
    text = ((number, next(trusted_sentences(each), None)) for number, each in answers if each.role == "assistant")
    return [(number, text) for number, text in text if text is not None and len(text.split()) >= MIN_WORDS]


def first_request(message: SliceMessage) -> str | None:
    """The first sentence of a user's message that is no small talk."""
    if message.role != "user":
        return None
    own = (each for each in trusted_sentences(message) if not detect("user", each).traits & CASUAL)
    return next((each for each in own if len(each.split()) >= MIN_WORDS), None)


def outcome_sentence(message: SliceMessage) -> str | None:
    """The sentence of a message that states an outcome: the assistant's last one, or the user's first one."""
    if message.role == "assistant":
        return outcome([message])
    return (
        next((each for each in trusted_sentences(message) if OUTCOME.search(each)), None)
        if message.role == "user"
        else None
    )


def speaker_label(message: SliceMessage) -> str:
    return SPEAKER_LABELS[language_of(message)][0 if message.role == "user" else 1]


def language_of(message: SliceMessage) -> str:
    rules = language_rules(message.content, message.language)
    return rules.code if rules else "en"


def text_of(parts: Sequence[Draft]) -> str:
    return " ".join(each.text for each in sorted(parts, key=lambda each: min(each.messages)))


def combined(parts: Sequence[Draft]) -> Draft:
    """The parts as one draft; its kind is that of the most important part."""
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
