"""Measures the memories that the rules keep of public conversations: coverage, junk, and unresolved relative dates."""

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import Stemmer
from msgspec import Struct

from tests.benchmarks.offline_sets import Talk

LABELS = Path(__file__).with_name("offline_labels.json")
COVERED = 0.6  # of the words of a fact that mean something, in one text
STEMMERS = {code: Stemmer.Stemmer(name) for code, name in (("en", "english"), ("fr", "french"), ("de", "german"))}
WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)?")
EMPTY_WORDS = {
    "en": (
        "a an the i i'm i've i'd i'll im my me mine we our us you your he she it its it's they them their this that these "
        "those is am are was were be been being have has had do does did done will would can could should not no don't "
        "doesn't didn't isn't wasn't to of in on at for with from by as about into and or but so if than then too also "
        "very really just user user's s t m d ll re ve get got there here some any up out others"
    ),
    "fr": (
        "je j tu il elle nous vous ils elles on mon ma mes ton ta tes son sa ses notre nos le la les l un une des de du d "
        "et ou mais à au aux en dans sur pour avec par est suis es sont était ai as a avons avez ont être avoir ne n pas "
        "que qui qu ce cette ces c se s me m y utilisateur très aussi"
    ),
}
EMPTY_WORDS["de"] = ""  # no facts are stated in German sets
EMPTY = {language: frozenset(words.split()) for language, words in EMPTY_WORDS.items()}
REMARK = re.compile(r" \((?:said|dit|gesagt): [^()]*\)")
DAYS = "mondays?|tuesdays?|wednesdays?|thursdays?|fridays?|saturdays?|sundays?|mon|tues?|wed|thurs?|fri|sat|sun"
SPAN = rf"(?:{DAYS}|day|night|evening|morning|afternoon|week|weekend|month|year|summer|winter|spring|fall|autumn)"
# What only the day on which it was said tells. Every Friday, and "some day", are no dates.
RELATIVE = {
    "en": re.compile(
        rf"\b(?:today|tonight|tomorrow|tmrw|yesterday|(?:last|next|this|the other|this coming|this past) {SPAN}"
        r"|(?:an?|one|two|three|\d+|few|couple of) (?:days?|weeks?|months?|years?) (?:ago|from now)"
        r"|in (?:an?|one|two|three|\d+|a few|a couple of) (?:days?|weeks?|months?|years?)"
        rf"|(?<!every )(?<!each )on (?:{DAYS})(?! (?:nights|mornings|afternoons|evenings)))\b(?!s)",
        re.IGNORECASE,
    ),
    "de": re.compile(
        r"\b(?:heute|morgen|übermorgen|gestern|(?:nächste|letzte|diese)[nrsm]? (?:woche|monat|jahr|wochenende|\w+tag|nacht))\b",
        re.IGNORECASE,
    ),
    "fr": re.compile(
        r"\b(?:aujourd'hui|demain|hier|ce soir|(?:semaine|mois|année|week-end) (?:prochaine?|derni\w+))\b", re.I
    ),
}
# What no memory may be, whatever it is about: a question, a greeting, a clause with an unknown object.
FRAGMENT = re.compile(
    r"\?|\b(?:hello|hi there|good morning|nice to meet|how are you|thank you|thanks)\b"
    r"|\bUser (?:\w+ ){1,3}(?:it|this|that|these|those|them|him|her|so|too|one|there|the same)\.$"
    r"|\b(?:the assistant|you)\b.*\.$",
    re.IGNORECASE,
)


class Kept(Struct, frozen=True):
    """One text that the rules keep of a talk, and where from."""

    talk: str
    message_id: str
    text: str

    @property
    def key(self) -> str:
        """Returns the key of the label, which contains none of the text."""
        return hashlib.sha256(f"{self.talk} {self.message_id} {self.text}".encode()).hexdigest()[:16]


def stems(text: str, language: str) -> frozenset[str]:
    words = (word for word in WORD.findall(text.lower().replace("’", "'")) if word not in EMPTY[language])
    return frozenset(STEMMERS[language].stemWords(list(words)))


def covers(text: frozenset[str], fact: frozenset[str]) -> bool:
    return bool(fact) and len(fact & text) >= COVERED * len(fact)


def measured(
    talks: Sequence[Talk], kept: dict[str, list[Kept]], sentences: dict[str, list[str]], language: str
) -> dict[str, Any]:
    """Figures of one half of a set."""
    texts = [each for talk in talks for each in kept[talk.name]]
    facts = stated = covered = 0
    for talk in talks:
        said = [stems(text, language) for text in sentences[talk.name]]
        found = [stems(each.text, language) for each in kept[talk.name]]
        for fact in (stems(gold, language) for gold in talk.gold):
            facts += 1
            is_stated = any(covers(each, fact) for each in said)
            stated += is_stated
            covered += is_stated and any(covers(each, fact) for each in found)
    labels = [label for label in (labelled().get(each.key) for each in texts) if label]
    return {
        "messages": sum(len(talk.messages) for talk in talks),
        "kept": len(texts),
        "facts": facts,
        "facts_said_in_one_sentence": stated,
        "coverage": share(covered, stated),
        "fragments": share(sum(is_fragment(each.text) for each in texts), len(texts)),
        "dates_left": sum(has_relative_date(each.text, language) for each in texts),
        "labelled": len(labels),
        "junk_of_labelled": share(labels.count("junk"), len(labels)),
    }


def is_fragment(text: str) -> bool:
    return FRAGMENT.search(REMARK.sub("", text)) is not None


def has_relative_date(text: str, language: str) -> bool:
    return RELATIVE[language].search(REMARK.sub("", text)) is not None


def share(part: int, whole: int) -> float | None:
    return round(part / whole, 3) if whole else None


def labelled() -> dict[str, str]:
    """Keep or junk, by hand, by the key of what was kept."""
    labels: dict[str, str] = json.loads(LABELS.read_text()) if LABELS.exists() else {}
    return labels


def rows(report: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for name, halves in report.items():
        if isinstance(halves, dict):
            yield from ((name, half, row) for half, row in halves.items() if isinstance(row, dict))
