"""Labelled pairs for deduplication: a memory, a statement, and the relation of the statement to the memory.

Written and labelled by hand before tuning. `duplicate`: the candidate says nothing new. `refinement`: it says all of the
memory and more. `contradiction`: both cannot be true at the same time. `related`: both can.
"""

import json
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from itertools import permutations, product
from pathlib import Path
from typing import Literal

from msgspec import Struct, convert

FILE = Path(__file__).parents[1] / "unit" / "curation" / "rules" / "labelled_pairs.json"
TOPICS = FILE.with_name("topics.txt")
RULE_PAIRS = FILE.with_name("pairs")
CHANGES = FILE.with_name("change_pairs.json")

Label = Literal["duplicate", "refinement", "contradiction", "related", "unrelated"]


class Pair(Struct, frozen=True, forbid_unknown_fields=True):
    label: Label
    language: str
    memory: str
    candidate: str

    @property
    def one_memory(self) -> bool:
        """Whether the pair should become one memory."""
        return self.label in ("duplicate", "refinement")


def pairs() -> list[Pair]:
    return convert(json.loads(FILE.read_text(encoding="utf-8")), list[Pair])


def changes() -> list[Pair]:
    """Further pairs for endings: half of the statements report a change, the others something that is compatible with the
    memory. Written from general knowledge after the rules of attributes and before those of words of change."""
    return convert(json.loads(CHANGES.read_text(encoding="utf-8")), list[Pair])


def rule_pairs(section: str, subject: str = "*") -> Iterator[tuple[str, str]]:
    """Memory and statement of the lines `memory | statement` below `[section]`, of the subject's file or of all. Lines with `#`
    are comments."""
    for path in sorted(RULE_PAIRS.glob(f"{subject}.txt")):
        current = ""
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.startswith("["):
                current = line
            elif current == f"[{section}]" and not line.startswith("#"):
                memory, statement = line.split(" | ")
                yield memory, statement


def topics() -> list[Pair]:
    """Pairs of statements of one topic, 961 of them contradictions, in four languages: many hold that share words or a word of
    change, as most neighbours of a candidate do."""
    found: list[Pair] = []
    for block in TOPICS.read_text(encoding="utf-8").split("\n# ")[1:]:
        name, *lines = block.strip().splitlines()
        said = {line[0]: [each.strip() for each in line[2:].split("|")] for line in lines}
        language = name[-2:] if name[-3:-2] == "-" and name[-2:] in ("de", "fr", "es") else "en"
        found += (
            Pair(label, language, memory, candidate)
            for label, candidate, memory in of_topic(said)
            if candidate != memory
        )
    return found


def of_topic(said: dict[str, list[str]]) -> Iterator[tuple[Label, str, str]]:
    first, second, ends, beside = (said.get(mark, []) for mark in "ABE=")
    for one, other in (*product(first, second), *product(second, first), *product(ends, first)):
        yield "contradiction", one, other
    for same in (first, second, beside):
        yield from (("related", one, other) for one, other in permutations(same, 2))
    for one, other in product(beside, (*first, *second, *ends)):
        yield "related", one, other
        yield "related", other, one


def tuning(listed: Sequence[Pair]) -> list[Pair]:
    """The half for tuning rules and thresholds."""
    return [pair for pair in listed if not is_held_out(pair)]


def held_out(listed: Sequence[Pair]) -> list[Pair]:
    """The half for reported figures."""
    return [pair for pair in listed if is_held_out(pair)]


def is_held_out(pair: Pair) -> bool:
    """Splits by a hash of the memory's text: no memory is in both halves, and new pairs move no others."""
    return bool(blake2b(pair.memory.encode(), digest_size=1).digest()[0] & 1)
