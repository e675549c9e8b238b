"""Proposals of a slice that correct others of the slice ("in medium. Sorry, in large"), by the model's answer and by rules.
Pure."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from agents.curation.rules.statements.statement import statement
from agents.models.offline.statements import readable_beginning
from agents.models.port import Proposal
from schemas.extraction.requests import ExtractionRequest
from streams.windows.detectors.detect import detect
from streams.windows.detectors.traits import CORRECTION

# The beginning of a sentence that takes back the one before, in the languages with rules.
TAKES_BACK: Final = re.compile(
    r"(?:^|[.!?;:,–—\n] ?)(?:(?:oh|ah|hm+|um+|uh+|er+|ach|äh+|euh|eh|and|but|aber|mais|pero)[ ,.!]{1,3}){0,3}"
    r"(?:sorry|oops|whoops|wait|no|nope|i meant?|make that|or rather|correction|scratch that|actually|in fact"
    r"|entschuldigung|nein|moment|ich mein(?:e|te)|besser gesagt"
    r"|korrektur|eigentlich|pardon|non|attends?|je (?:veux|voulais) dire|ou plutôt|en fait|perdón|espera|qui(?:ero|se) decir"
    r"|mejor dicho|en realidad)\b|\b(?:instead|sondern|stattdessen|plutôt que|en vez de)\b"
    r"|,? (?:not|nicht|pas|no) (?:my |the |in |on |at |mein\w* |le |la |el )?\w+[.!]?$",
    re.IGNORECASE,
)
BESIDES: Final = re.compile(r"\b(?:too|also|as well|both|another|auch|ebenfalls|aussi|también|además)\b", re.IGNORECASE)
MIN_SHARED: Final = 0.5  # least share of common content words of the shorter statement
MAX_CHANGED: Final = 2  # words in which each statement may differ


def corrections_of(request: ExtractionRequest, proposals: Sequence[Proposal]) -> Mapping[int, tuple[int, ...]]:
    """By the place of each correcting proposal the places of those that it corrects, by the model's answer and the rules."""
    places = {each.number: place for place, each in enumerate(proposals) if each.number}
    words, found = user_texts(request), dict(corrected(request, proposals))
    for place, each in enumerate(proposals):
        named = [places[number] for number in each.corrects if number in places]
        if not takes_back(said_in(each, words)):
            named = [number for number in named if not interrupts(each, proposals[number])]
        if named:
            found[place] = tuple(dict.fromkeys((*named, *found.get(place, ()))))
    return found


def interrupts(new: Proposal, old: Proposal) -> bool:
    """Whether the new statement is temporary and the old one is not: "until April I'm in Split" does not correct a home."""
    return new.valid_until is not None and old.valid_until is None


def corrected(request: ExtractionRequest, proposals: Sequence[Proposal]) -> Mapping[int, tuple[int, ...]]:
    """The same by the rules alone."""
    words = user_texts(request)
    found: dict[int, tuple[int, ...]] = {}
    for later, new in enumerate(proposals):
        if not takes_back(said_in(new, words)):
            continue
        taken = tuple(
            earlier
            for earlier, old in enumerate(proposals)
            if earlier != later and is_another_value(old.text, new.text) and follows(request, old, new, earlier < later)
        )
        if taken:
            found[later] = taken
    return found


def user_texts(request: ExtractionRequest) -> dict[str, str]:
    return {each.message_id: readable_beginning(each.content) for each in request.messages if each.role == "user"}


def said_in(proposal: Proposal, words: Mapping[str, str]) -> str:
    return " ".join(words.get(message_id, "") for message_id in proposal.message_ids)


def takes_back(text: str) -> bool:
    """Whether a message corrects its speaker's own statement, in the message or the one before; additions do not count."""
    if BESIDES.search(text):
        return False
    return TAKES_BACK.search(text) is not None or bool(detect("user", text).traits & CORRECTION)


def follows(request: ExtractionRequest, old: Proposal, new: Proposal, is_earlier: bool) -> bool:
    """Whether the new statement is later in the same message, or in the person's next message."""
    if request.speakers_of(old.message_ids) != request.speakers_of(new.message_ids):
        return False
    speakers = request.speakers_of(new.message_ids)
    own = [each.message_id for each in request.messages if each.role == "user" and request.speaker(each) in speakers]
    if not {*old.message_ids, *new.message_ids} <= {*own}:
        return False
    last, first = max(map(own.index, old.message_ids)), min(map(own.index, new.message_ids))
    return first == last + 1 or (first == last and is_earlier)


def is_another_value(old: str, new: str) -> bool:
    """Whether two statements differ in one value only, either in figures and times or in other words."""
    before, after = meaningful(old), meaningful(new)
    shared = before & after
    changed = [before - after, after - before]
    if not all(0 < len(each) <= MAX_CHANGED for each in changed):
        return False
    if figures(old).isdisjoint(changed[0]) != figures(new).isdisjoint(changed[1]):
        return False
    return len(shared) >= MIN_SHARED * min(len(before), len(after)) and bool(shared)


def meaningful(text: str) -> set[str]:
    return {*statement(text).content, *figures(text)}


def figures(text: str) -> set[str]:
    said = statement(text)
    return {*said.quantities, *said.times}
