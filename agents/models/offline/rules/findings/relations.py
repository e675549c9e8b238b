"""Finds the memory that a finding repeats or contradicts, by words, without a model."""

import re
from collections.abc import Sequence

from msgspec import Struct

from agents.models.answers.persons import RELATIVES, VERBS
from agents.models.offline.rules.engine.rule_engine import Finding
from agents.models.offline.rules.findings.places import is_place, is_product
from agents.models.offline.rules.lasting_instructions.wording import remark_of
from agents.models.offline.rules.tables.english_statements import PET
from agents.models.offline.rules.tables.finer_kinds import PEOPLE
from schemas.memories.memories import Memory

WORD = re.compile(r"[^\W_]+(?:[.:][^\W_]+)*", re.UNICODE)
REMARK = re.compile(r"\((?:said|gesagt|dit|dicho): [^()]*\)")
STOP_WORD_LIST = (
    "user users user's s team the a an is are am of to in on at for and with they their them it that this "
    "has have had was been be will now also very really assistant wants want does do der die das nutzer "
    "ist hat ein eine im zu und l utilisateur le la les un une est el usuario los es en de du des d"
)
STOP_WORDS = frozenset(STOP_WORD_LIST.split())
NEGATIVE = re.compile(
    r"\b(?:not|no longer|never|cannot|dislikes?|hates?|detests?|stopped|quit|gave up|without"
    r"|any ?more|nicht|kein\w*|hasst|n'\w+|ne \w+ (?:pas|plus)|déteste|no|nunca|odia)\b",
    re.IGNORECASE,
)
LIKING = re.compile(
    r"\b(?:prefers?|likes?|loves?|enjoys?|favou?rs?|dislikes?|hates?|detests?|adores?|cannot stand"
    r"|fan of|into|mag|liebt|hasst|bevorzugt|aime|adore|déteste|préfère|gustan?|prefiere|odia)\b"
    r"(?: not)?",
    re.IGNORECASE,
)
CHOOSING = re.compile(r"\b(?:prefers?|bevorzugt|préfère|prefiere)\b|\bfavou?rite\b", re.IGNORECASE)
OBJECT_ENDS = re.compile(
    r"\b(?:over|to|than|rather|instead|because|when|in|for|at|since|now|als|weil|que|à|a)\b|[,;(.]", re.IGNORECASE
)
# Attributes with one value at a time: another value contradicts the earlier one of the same person.
ATTRIBUTES = {
    "home": re.compile(
        r"^User (?:now |currently |still )*(?:lives(?=.* (?:in|at|near|on|by|outside|abroad|here|there|above|next|close)\b)"
        r"|is based|resides|(?:has |recently |just )*(?:moved|relocated)(?: from .+?)? to|is moving to)\b|\baddress is\b"
        r"|\bwohnt\b|gezogen|\bhabite\b|déménagé(?: sur\b)?|\bvive en\b|se mudó(?: a\b)?"
    ),
    "employer": re.compile(
        r"\b(?:works|arbeitet|travaille|trabaja) (?:now )?(?:at|for|bei|für|chez|pour|para)\b|^User "
        r"(?:joined|started (?:a new job|working) at)\b"
    ),
    "name": re.compile(r"\bname is\b|\bheißt\b|s'appelle|se llama"),
    "called": re.compile(r"wants to be called|genannt werden|être appelé"),
    "age": re.compile(r"^User is \d{1,3}(?: years old)?\."),
}
# The beginning of a statement about the speaker, and the people, animals and possessors before the verb of any other.
SPEAKER = re.compile(
    r"(?:(?:the )?user|der nutzer|l['’]utilisateur|(?:el|al) usuario|I|we|ich|wir|je|nous|yo)\b(?!['’]s)|j['’]",
    re.IGNORECASE,
)
QUOTATION = re.compile(r'^[^":]{1,30}: "')
VERB = re.compile(rf"\b{VERBS}\b", re.IGNORECASE)
# Not "The project's deadline": possessors that are things may be left out.
OWNER = re.compile(
    rf"\b(?!family\b)(?:(?<!^The )[\w-]+(?=['’]s\b)|(?:{PEOPLE}|{PET}|{RELATIVES}|hund|katze|chien|chat|perro|gato)\b)",
    re.IGNORECASE,
)
LONGEST_SUBJECT = 6  # words
ALIKE = 0.72
SAME_BUT_FOR_NUMBERS = 0.6


class Relation(Struct, frozen=True):
    """Places in the related memories, from 0; None without such a memory."""

    repeats: int | None = None
    contradicts: int | None = None


def relate(finding: Finding, related: Sequence[Memory]) -> Relation:
    """The first memory with the same content, otherwise the first one that the finding contradicts. Statements with a remark
    about the previous sentence are compared only with those that have the same remark."""
    own = {index: memory for index, memory in enumerate(related) if remark_of(memory.text) == remark_of(finding.text)}
    for index, memory in own.items():
        if is_same(finding.text, memory.text) if finding.old is None else is_same_change(finding.text, memory.text):
            return Relation(repeats=index)
    opposed = (index for index, memory in own.items() if is_opposed(finding, memory))
    return Relation(contradicts=next(opposed, None))


def is_same(text: str, other: str) -> bool:
    """Whether two texts state the same, by their words, numbers and negations."""
    if is_negative(text) != is_negative(other) or numbers(text) != numbers(other) or choice_differs(text, other):
        return False
    mine, theirs = words(text), words(other)
    return overlap(mine, theirs) >= ALIKE and not (attribute_of(text) and mine != theirs)


def is_same_change(text: str, other: str) -> bool:
    """Whether the memory states the whole change, in the same words; one with only its old state has most of them."""
    return is_negative(text) == is_negative(other) and words(text) == words(other)


def is_opposed(finding: Finding, memory: Memory) -> bool:
    """Whether the finding contradicts the memory."""
    if finding.old is not None:
        return mentions_only_old(finding, memory)
    taken = attribute_of(finding.text)
    if taken is not None:
        return taken == attribute_of(memory.text)
    return (
        taste_differs(finding.text, memory.text)
        or choice_differs(finding.text, memory.text)
        or numbers_differ(finding.text, memory.text)
    )


def mentions_only_old(finding: Finding, memory: Memory) -> bool:
    """Whether the memory is about the old state of a change and not about the new one, of the same subject. A move contradicts
    a home, but not a preference for the town."""
    old, new, known = words(finding.old or ""), words(finding.new or ""), words(memory.text)
    if not old or not old <= known or (new - old and new <= known):
        return False
    if "home" in finding.tags:
        return attribute_of(memory.text) == ("home", frozenset())
    if not is_same_subject(finding, memory):
        return False
    return not (finding.new is None and is_negative(finding.text) == is_negative(memory.text))


def is_same_subject(finding: Finding, memory: Memory) -> bool:
    """Whether the memory is of the finding's owner and has its subject, or says of its subject nothing but the old state."""
    subject, said, known = words(finding.subject or ""), words(finding.text), words(memory.text)
    is_named = subject <= known or known - words(finding.old or "") <= said
    return is_named and is_same_owner(finding.text, memory.text)


def is_same_owner(text: str, other: str) -> bool:
    """Whether each text names the people, animals and possessors at the beginning of the other: not "User's rent" and "User's
    brother's rent"."""
    return owners(text) <= words(other) and owners(other) <= words(text)


def owners(text: str) -> frozenset[str]:
    """The stems of the people, animals and possessors before a statement's verb; empty for the user."""
    stated = QUOTATION.sub("", text)
    if SPEAKER.match(stated):
        return frozenset()
    subject = VERB.split(" ".join(stated.split()[:LONGEST_SUBJECT]), maxsplit=1)[0]
    return words(" ".join(OWNER.findall(subject)))


def taste_differs(text: str, other: str) -> bool:
    """Whether one text likes the thing that the other dislikes, for the same person."""
    mine, theirs = frozenset(preference_stems(text)), frozenset(preference_stems(other))
    same = bool(mine and theirs) and (mine <= theirs or theirs <= mine) and is_same_person(text, other)
    return same and is_negative(text) != is_negative(other)


def choice_differs(text: str, other: str) -> bool:
    """Whether two texts state preferences for different things of one sort: "light mode" and "dark mode", "A over B" and "B over
    A"."""
    if not (CHOOSING.search(text) and CHOOSING.search(other)) or is_negative(text) != is_negative(other):
        return False
    if not is_same_person(text, other):
        return False
    mine, theirs = preference_stems(text), preference_stems(other)
    if not mine or not theirs or mine == theirs:
        return False
    swapped = mine[-1] in words(other) and theirs[-1] in words(text) and mine[-1] != theirs[-1]
    return swapped or (mine[-1] == theirs[-1] and mine[:-1] != theirs[:-1] and bool(mine[:-1]) and bool(theirs[:-1]))


def numbers_differ(text: str, other: str) -> bool:
    """Whether two texts are the same statement with different numbers or dates. A number in only one of them is a detail."""
    mine, theirs = numbers(text), numbers(other)
    if not mine - theirs or not theirs - mine or not is_same_owner(text, other):
        return False
    return overlap(words(text) - mine, words(other) - theirs) >= SAME_BUT_FOR_NUMBERS


def preference_stems(text: str) -> list[str]:
    """The stems of the preferred things, in order."""
    verb = LIKING.search(text)
    if verb is None:
        _, _, rest = text.partition(" is ") if CHOOSING.search(text) else ("", "", "")
    else:
        rest = text[verb.end() :]
    return [stem(word) for word in WORD.findall(OBJECT_ENDS.split(rest)[0].lower()) if word not in STOP_WORDS]


def attribute_of(text: str) -> tuple[str, frozenset[str]] | None:
    """The attribute with one value at a time that the text sets, and its owner's words: empty for the user."""
    for name, pattern in ATTRIBUTES.items():
        found = pattern.search(text)
        if found is not None and not (name == "home" and is_elsewhere(found[0], text[found.end() :].strip())):
            return name, words(text[: found.start()])
    return None


def is_elsewhere(moved: str, where: str) -> bool:
    """Whether a move is to something that is no place: "moved to decaf". `where` are the words behind the verb `moved`."""
    return not is_place(where) if moved.endswith(" to") else is_product(where)


def is_same_person(text: str, other: str) -> bool:
    """Whether both are preferences of the same person."""
    mine, theirs = LIKING.search(text), LIKING.search(other)
    return not mine or not theirs or owner_words(text[: mine.start()]) == owner_words(other[: theirs.start()])


def owner_words(subject: str) -> frozenset[str]:
    return words(NEGATIVE.sub(" ", subject))


def is_negative(text: str) -> bool:
    return NEGATIVE.search(text) is not None


def words(text: str) -> frozenset[str]:
    """The stems of a text's words, without stop words and the remark that quotes dates."""
    return frozenset(stem(word) for word in WORD.findall(REMARK.sub("", text).lower()) if word not in STOP_WORDS)


def numbers(text: str) -> frozenset[str]:
    return frozenset(word for word in words(text) if any(letter.isdigit() for letter in word))


def stem(word: str) -> str:
    """The first five letters without a plural "s": equal for "allergic" and "allergy"."""
    return word if any(letter.isdigit() for letter in word) else word.removesuffix("s")[:5]


def overlap(mine: frozenset[str], theirs: frozenset[str]) -> float:
    """The Jaccard index of two sets of words, in [0, 1]."""
    return len(mine & theirs) / len(mine | theirs) if mine and theirs else 0.0
