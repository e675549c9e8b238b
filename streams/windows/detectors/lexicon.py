"""Finds the rules that apply to a message, by their trigger words and the role of the speaker."""

from collections.abc import Iterable
from typing import Final

from ahocorasick_rs import BytesAhoCorasick, Implementation

from schemas.conversations.messages import Role
from streams.windows.detectors import beginning, casual, completion, correction, directive, error, reference
from streams.windows.detectors.rule import MAX_PLACES, START, Rule
from streams.windows.detectors.traits import (
    CASUAL,
    CORRECTION,
    DIRECTIVE,
    ERROR,
    GRATEFUL,
    LASTING,
    REFERENCE,
    TASK_BEGINS,
    TASK_COMPLETE,
    TASK_SWITCHES,
    with_references,
)

SENTENCE_END: Final = START.encode()
# Four bytes that no cleaned text contains. If all patterns began with one of three bytes, the search would use a prefilter that
# jumps between those bytes, which takes 1.5 times as long in text with a space in every fifth place.
NOWHERE: Final = (b"\x01", b"\x02", b"\x03", b"\x04")

Concerns = Iterable[tuple[int, tuple[Rule, ...]]]


class Lexicon:
    """The rules for one role. All triggers are searched for at once."""

    def __init__(self, concerns: Concerns) -> None:
        rules: dict[str, list[tuple[int, Rule]]] = {}
        for trait, written in concerns:
            for rule in written:
                for trigger in rule.triggers:
                    rules.setdefault(trigger, []).append((trait, rule))
        self.triggers = tuple(rules)
        self._rules = list(rules.values())
        spaced = [f" {trigger} ".encode("latin-1") for trigger in rules]
        self._search = BytesAhoCorasick([*spaced, *NOWHERE], implementation=Implementation.DFA)

    def traits(self, flat: bytes) -> int:
        """The traits that the rules find in flattened text."""
        places = self._search.find_matches_as_indexes(flat.replace(SENTENCE_END, b" "), overlapping=True)
        if not places:
            return 0
        text = flat.decode("latin-1")
        traits = 0
        referred: list[int] = []
        for trigger, start, end in places[:MAX_PLACES]:
            for trait, rule in self._rules[trigger]:
                if traits & trait == trait or not rule.holds(text, start + 1, end - 1):
                    continue
                if trait == REFERENCE:
                    referred.append(start)
                else:
                    traits |= trait
        return with_references(traits, reference.count_separate(referred)) if referred else traits


_FAILED: Final = ((ERROR, error.RULES),)
_TRACED: Final = ((ERROR, error.TRACES),)
_SAID: Final = (
    (CORRECTION, correction.RULES),
    (REFERENCE, reference.RULES),
    (TASK_COMPLETE, completion.RULES),
)
_TURNED: Final = ((TASK_BEGINS, beginning.BEGINS), (TASK_BEGINS | TASK_SWITCHES, beginning.SWITCHES))
_DIRECTED: Final = ((DIRECTIVE, directive.RULES), (DIRECTIVE | LASTING, directive.LASTING))
_REQUESTS: Final = (*_SAID, *_DIRECTED, *_TURNED)
_SOCIAL: Final = ((CASUAL, casual.RULES), (GRATEFUL, casual.THANKS))

SHORT: Final[dict[Role, Lexicon]] = {
    "user": Lexicon((*_FAILED, *_REQUESTS, *_SOCIAL)),
    "assistant": Lexicon((*_FAILED, *_SAID, *_SOCIAL)),
    "tool": Lexicon(((ERROR, error.PROGRAMS),)),
}
# Long messages skip the rules for casual messages, whose trigger words are common.
LONG: Final[dict[Role, Lexicon]] = {
    "user": Lexicon((*_FAILED, *_REQUESTS)),
    "assistant": Lexicon((*_FAILED, *_SAID)),
    "tool": SHORT["tool"],
}
PASTED: Final[dict[Role, Lexicon]] = {
    "user": Lexicon((*_TRACED, *_REQUESTS)),
    "assistant": Lexicon((*_TRACED, *_SAID)),
    "tool": Lexicon(_TRACED),
}
# For the two ends of pasted text.
ENDS: Final[dict[Role, Lexicon]] = {
    "user": Lexicon(_FAILED),
    "assistant": Lexicon(_FAILED),
    "tool": SHORT["tool"],
}


def fitting(role: Role, words: int) -> Lexicon:
    """The rules for a message with this number of words."""
    if words <= casual.MAX_WORDS:
        return SHORT[role]
    return LONG[role] if words <= error.MAX_WORDS else PASTED[role]
