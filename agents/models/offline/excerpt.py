"""The summary without a model: the most telling sentences of a slice, in their speakers' words and so in their language."""

from collections.abc import Iterator, Sequence
from operator import attrgetter

from msgspec import Struct

from agents.models.answers.summaries import NOTHING_PERSONAL, fitted, split
from agents.models.dates.dates import local
from agents.models.offline.rules.injection import is_injection
from agents.models.offline.rules.reading import read
from agents.models.offline.statements import beginning, safe_sentences, tongue_of
from schemas.extraction.requests import ExtractionRequest, SliceMessage
from schemas.policies.policies import Privacy
from streams.windows.detectors.detect import detect
from streams.windows.detectors.traits import CASUAL
from streams.windows.pruning.importance import base_importance
from streams.windows.tokens.counting import TokenCount

# Tenths, beside those of a message's importance.
OPENS = 3  # the user's first words say what it is all about
MEMORABLE = 3
MARKED_IMPORTANT = 3
BY_USER = 1
SHORTEST_BYTES = 9  # of UTF-8: what is shorter tells nothing; a Chinese character is three
SHORTLISTED = 100  # reading a sentence by rules takes a third of a millisecond of the event loop's time


class Telling(Struct, frozen=True):
    """A sentence of a message with how much it tells at first sight, in tenths; `place` is its place among all."""

    place: int
    text: str
    tenths: int
    message: SliceMessage


def excerpt(
    request: ExtractionRequest, most_tokens: int, count_tokens: TokenCount, privacy: Privacy = NOTHING_PERSONAL
) -> str:
    """What was said before and what this slice says, each with at least half of the room if it needs it. Never raises."""
    earlier = fitted(request.summary, most_tokens, count_tokens, privacy)
    room = most_tokens - min(count_tokens(earlier), most_tokens // 2)
    known = set(split(earlier))
    chosen = most_telling([each for each in tellings(request.messages) if each.text not in known], room, count_tokens)
    latest = fitted(" ".join(chosen), room, count_tokens, privacy)
    if not latest:
        return earlier
    earlier = fitted(request.summary, most_tokens - count_tokens(latest) - 1, count_tokens, privacy)
    return fitted(f"{earlier} {latest}".strip(), most_tokens, count_tokens, privacy)


def most_telling(candidates: Sequence[Telling], room: int, count_tokens: TokenCount) -> list[str]:
    """Sentences within `room` tokens, in the order they were said; the best one, however long, if none fits."""
    best = ranked(candidates)
    chosen: list[Telling] = []
    for each in best:
        cost = count_tokens(each.text) + 1
        if cost <= room:
            chosen.append(each)
            room -= cost
    return [each.text for each in sorted(chosen or best[:1], key=attrgetter("place"))]


def ranked(candidates: Sequence[Telling]) -> list[Telling]:
    """The most telling first, among equals the earliest."""
    shortlist = sorted(candidates, key=lambda each: (-each.tenths, each.place))[:SHORTLISTED]
    read_well = {each.place: MEMORABLE if is_memorable(each) else 0 for each in shortlist}
    return sorted(shortlist, key=lambda each: (-each.tenths - read_well[each.place], each.place))


def is_memorable(telling: Telling) -> bool:
    """Whether the rules find something about the user in it."""
    message = telling.message
    tongue = tongue_of(telling.text, message.language) if message.role == "user" else None
    return tongue is not None and any(read(tongue, telling.text, local(message.timestamp, message.time_zone)))


def tellings(messages: Sequence[SliceMessage]) -> Iterator[Telling]:
    """The sentences of users and assistants, each once, without small talk."""
    told: set[str] = set()
    opened = False
    for message in messages:
        for text in statements(message):
            traits = detect(message.role, text).traits
            if text.casefold() in told or traits & CASUAL:
                continue
            opens = message.role == "user" and not opened
            opened = opened or opens
            yield Telling(
                len(told), text, base_importance(traits) + (OPENS if opens else 0) + standing(message), message
            )
            told.add(text.casefold())


def standing(message: SliceMessage) -> int:
    """What a sentence gains by who said it, in tenths."""
    return (BY_USER if message.role == "user" else 0) + (MARKED_IMPORTANT if message.important else 0)


def statements(message: SliceMessage) -> Iterator[str]:
    """The sentences of a message; none of one that addresses the memory or a model."""
    content = beginning(message.content)
    if message.role not in ("user", "assistant") or is_injection(content):
        return
    for sentence in safe_sentences(content):
        yield from (part for part in split(sentence) if len(part.encode(errors="surrogatepass")) >= SHORTEST_BYTES)
