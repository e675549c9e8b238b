"""Adds neighbouring messages to passages that are hard to understand alone: the question before a short reply, the answer
after a question, the message before "And a curry". Pure.

Longer passages get no neighbours: further hits add more evidence for the same tokens.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from typing import Final, TypeAlias

from msgspec.structs import replace

from agents.passages.chunking import SENTENCE_END
from agents.passages.terms import UNSPACED, WORD
from agents.retrieval.passage_exchanges import SESSION_GAP
from schemas.passages.passages import Passage, ReadPassage
from schemas.retrieval.searches import SaidHit

# In words; chosen by the tokens per evidence of ten hits (deploy/docs/retrieval.md).
SHORT_MESSAGE_WORDS: Final = 8  # a shorter message comes with the previous one
SHORT_REPLY_WORDS: Final = 15  # a shorter reply comes with the question before it
NEIGHBOUR_WORDS: Final = 40  # shown of the previous message; a question comes with an answer up to this length

NEIGHBOUR_CHARS: Final = 250
ELLIPSIS: Final = "…"  # marks a truncated beginning
QUESTION_MARK: Final = re.compile(r"[?？؟]")
QUESTION_MARKS: Final = ("?", "？")  # at the end of a sentence

Place: TypeAlias = tuple[str, int]  # conversation_id, ordinal


def neighbour_places(hits: Iterable[SaidHit]) -> list[Place]:
    """The places of all possible neighbours of these hits, without duplicates."""
    steps = ((hit.passage, step) for hit in hits for step in neighbour_steps(hit.passage))
    return list(dict.fromkeys((passage.conversation_id, passage.ordinal + step) for passage, step in steps))


def neighbour_steps(passage: Passage) -> list[int]:
    """Relative places of possible neighbours: -1 for the previous message, 1 for the next one."""
    before = [-1] if has_at_most(passage.text, SHORT_REPLY_WORDS) else []
    return [*before, 1] if only_asks(passage.text) else before


def only_asks(text: str) -> bool:
    """Whether all sentences are questions: such a passage is seldom an answer."""
    if not text.rstrip().endswith(QUESTION_MARKS):  # most passages: only others are split
        return False
    sentences = [sentence.strip() for sentence in SENTENCE_END.split(text) if sentence.strip()]
    return all(sentence.endswith(QUESTION_MARKS) for sentence in sentences)


def merge_neighbours(hits: Sequence[SaidHit], neighbours: Mapping[Place, ReadPassage]) -> list[SaidHit]:
    """Adds to each hit the neighbours that it needs; every message appears once. Hits that share a message become one hit,
    at the rank of the best of them. `neighbours` has the existing ones by place."""
    found, places = list[SaidHit](), dict[Place, int]()
    for hit in hits:
        own = place_of(hit.passage)
        passages = [hit.passage] if own in places else [hit.passage, *needed_neighbours(hit, neighbours)]
        at = next((places[place] for place in map(place_of, passages) if place in places), len(found))
        passages = [each for each in passages if places.setdefault(place_of(each), at) == at]
        if at == len(found):
            found.append(add_neighbours(hit, passages))
        else:
            first = add_neighbours(found[at], passages)
            found[at] = replace(first, joined=(*first.joined, hit))
    return found


def add_neighbours(hit: SaidHit, passages: Iterable[Passage]) -> SaidHit:
    """Adds passages to the neighbours of a hit. The first passage is a hit itself, so its whole text replaces a truncated
    neighbour."""
    known = {place_of(each): each for each in hit.neighbours}
    for at, passage in enumerate(passages):
        known[place_of(passage)] = passage if at == 0 else known.get(place_of(passage), passage)
    known.pop(place_of(hit.passage), None)
    return replace(hit, neighbours=tuple(sorted(known.values(), key=lambda each: each.ordinal)))


def without_shown(hit: SaidHit, is_shown: Callable[[Passage], bool]) -> list[SaidHit]:
    """The hit without messages that are shown elsewhere. If its own passage is one of them, the hits that were joined with
    it."""
    joined_left = tuple(each for each in hit.joined if not is_shown(each.passage))
    if is_shown(hit.passage):
        return list(joined_left)
    return [replace(hit, neighbours=tuple(each for each in hit.neighbours if not is_shown(each)), joined=joined_left)]


def needed_neighbours(hit: SaidHit, neighbours: Mapping[Place, ReadPassage]) -> list[Passage]:
    """The neighbours that the hit needs, as far as they have the same readers. A previous message is truncated to its end."""
    conversation, ordinal = place_of(hit.passage)
    existing = [
        neighbours[place]
        for step in neighbour_steps(hit.passage)
        if (place := (conversation, ordinal + step)) in neighbours
    ]
    same_readers = [each.passage for each in existing if set(each.owners) == set(hit.owners)]
    return [
        replace(each, text=last_sentences(each.text)) if each.ordinal < ordinal else each
        for each in same_readers
        if is_needed(hit.passage, each)
    ]


def is_needed(passage: Passage, other: Passage) -> bool:
    if abs(other.said_at - passage.said_at) > SESSION_GAP:
        return False
    if other.ordinal > passage.ordinal:
        return speaker_of(other) != speaker_of(passage) and has_at_most(other.text, NEIGHBOUR_WORDS)
    return has_at_most(passage.text, SHORT_MESSAGE_WORDS) or (
        speaker_of(other) != speaker_of(passage) and QUESTION_MARK.search(last_sentences(other.text)) is not None
    )


def last_sentences(text: str) -> str:
    """The last whole sentences with at most `NEIGHBOUR_WORDS` words; if the last sentence is longer, its last
    `NEIGHBOUR_CHARS` characters."""
    if has_at_most(text, NEIGHBOUR_WORDS):
        return text
    kept, words = list[str](), 0
    for sentence in reversed(SENTENCE_END.split(text)):
        words += count_words(sentence)
        if words > NEIGHBOUR_WORDS:
            break
        kept.append(sentence)
    return f"{ELLIPSIS} {' '.join(reversed(kept)) or text[-NEIGHBOUR_CHARS:]}"


def speaker_of(passage: Passage) -> tuple[str, str, str | None]:
    """Identifies the speaker. Chat services distinguish speakers by id, role or name."""
    return passage.speaker, passage.role, passage.name


def place_of(passage: Passage) -> Place:
    return passage.conversation_id, passage.ordinal


def has_at_most(text: str, words: int) -> bool:
    """Whether a text has at most `words` words. Reads a long text only in part."""
    one_more = next(islice(WORD.finditer(text), words, None), None)
    return one_more is None and count_words(text) <= words


def count_words(text: str) -> int:
    """The number of words; two characters count as one word in scripts without spaces."""
    return len(WORD.findall(text)) + len(UNSPACED.findall(text)) // 2
