"""Recognises a death or a birth that ends a memory: of the same person or animal, not of another one or long ago."""

import re
from itertools import pairwise
from typing import Final

from msgspec import Struct

from agents.curation.rules.attributes.attributes import table
from agents.curation.rules.attributes.named_things import WHEN
from agents.curation.rules.conflicts.denial_scope import verb_of
from agents.curation.rules.statements import words
from agents.curation.rules.statements.extent import is_occasional
from agents.curation.rules.statements.meaning import meaning, stems
from agents.curation.rules.statements.normalise import normalise
from agents.curation.rules.statements.statement import Statement, is_content, number

YEAR: Final = re.compile(r"(?:19|20)\d\d")
MERELY: Final = words.words("finally at last already now again just meanwhile schon endlich déjà enfin ya")
SADLY: Final = words.words(
    "sadly unfortunately suddenly leider plötzlich malheureusement soudainement desgraciadamente"
)
AUXILIARIES: Final = words.words("is was has had ist hat war est a était ha ya")
FICTION: Final = words.words(
    "tv television dream film play theatre opera theater oper théâtre opéra teatro ópera"
    " movie novel story series show game video photo picture map karte carte mapa fernsehen traum roman geschichte serie"
    " spiel foto bild télé télévision rêve série jeu tele televisión sueño película novela juego"
)
LONG_AGO: Final = words.words(
    "ago year years decade decades formerly earlier jahr jahre jahren damals année années ans año años hace"
)
BEFORE: Final = LONG_AGO | words.words("before once when vorher früher einmal als avant autrefois quand antes cuando")
FIGURATIVE: Final = words.words(
    "laughing laughter boredom embarrassment shame tired lachen scham langeweile rire faim soif peur froid fatigue honte"
    " risa hambre sed miedo frío cansancio vergüenza sueño"
)
BIRTH_OF: Final = words.words("to de d von a")
OTHER: Final = words.words(
    "first other another older oldest elder eldest previous late earlier erste ersten erstes erster andere anderen anderes"
    " ältere ältestes vorige premier première autre aîné aînée primer primero primera otro otra mayor anterior"
)
CHILDREN: Final = words.words(
    "child children son daughter baby babies boy girl twins kind sohn tochter junge mädchen zwillinge fils fille bébé garçon"
    " jumeaux hijo hija bebé niño niña gemelos"
)
POSSESSIVE: Final = re.compile(r"\b([^\W\d_]+)['’](?:s\b|(?=\s))", re.IGNORECASE)
OF_WHOM: Final = (
    r"(?: (?:of|von|vom|de|du|des|der|del|d['’])(?: (?:the|la|le|les|el|los|las|dem|den|der))? ?(?:l['’])?)([^\W\d_]+)"
)
EXPECTED: Final = re.compile(
    r"\bexpecting(?: (?:a|an|another|her|their|his|the|first|second|third|two))*"
    r"(?: (?:baby|babies|child|children|boy|girl|son|daughter|twins))?"
    r"(?=[,;.]| (?:in|on|at|this|next|due|soon|and|with|by|around|again|together|from)(?=\s)|$)",
    re.IGNORECASE,
)
AGE: Final = re.compile(
    r"\b(?:at|aged|mit|à|con) (?:the age of )?(?:(?:1[3-9]|[2-5]\d)(?! ?(?:weeks|wochen|semaines|semanas|[:.]\d))\b|\w+teen\b)"
)
JOINED_NAMES: Final = re.compile(r"\b[^\W\d_]+(?:,| and| und| et| y| &) ")


def owners(text: str, *of: str) -> frozenset[str]:
    """The owners named in the text, the user aside: "Tom" in "Tom's dog", and in "the dog of Tom" if `of` has "dog"."""
    found = [each[1] for each in POSSESSIVE.finditer(text)]
    for thing in of:
        found += [each[1] for each in re.finditer(rf"\b{re.escape(thing)}{OF_WHOM}", text, re.IGNORECASE)]
    return frozenset(meaning(each) for each in map(normalise, found) if each not in words.GENERIC_SUBJECTS)


def is_long_ago(new: Statement, old: Statement) -> bool:
    """Whether the event happened in a year or "ago", or in fiction, rather than to the memory's subject lately."""
    added = set(new.tokens) - set(old.tokens)
    years = any(YEAR.fullmatch(each) for each in new.quantities - old.quantities)
    return years or not added.isdisjoint(FICTION | BEFORE)


def others(tokens: tuple[str, ...], known: set[str]) -> set[str]:
    """The content words of a subject that are not known: "neighbour" in "the neighbour's dog"."""
    empty = (MERELY - {"last"}) | SADLY | AUXILIARIES | WHEN | words.GENERIC_SUBJECTS
    return {meaning(each) for each in tokens if is_content(each) and each not in empty} - known


def died(new: Statement, old: Statement, candidate: str, memory: str) -> bool:
    """Whether the candidate is the death of a person or animal whose activities the memory describes."""
    before = dying(new)
    gone = who_died(new, before)
    if not gone or new.negated is not None or is_occasional(new) or is_long_ago(new, old) or not old.tokens:
        return False
    if not FIGURATIVE.isdisjoint(new.tokens):
        return False
    beings = {meaning(each) for each in old.tokens if each in old.names or each in words.RELATIONS}
    if (old.relations and new.relations and old.relations.isdisjoint(new.relations)) or old.preference:
        return False
    if others(before, set(old.content)) or not table().indefinite.isdisjoint(before) or is_of_others(old, gone, memory):
        return False
    if owners(candidate) != owners(memory):
        return False
    named = gone & {meaning(each) for each in new.names}
    same = named <= beings if named else bool(gone & beings) and not old.names
    several = not named and bool(gone & stems(table().several))
    return same and not several and verb_of(old) in stems(table().alive)


def is_of_others(old: Statement, gone: set[str], memory: str) -> bool:
    """Whether the memory is about somebody else's person or animal, or about several."""
    if old.relations - gone:
        return True
    known = [each for each in old.tokens if meaning(each) in gone]
    counted = {word for value, word in old.numbers if value != "1"}
    plural = any(each not in words.RELATIONS and each not in old.names for each in old.tokens if meaning(each) in gone)
    joined = any(
        normalise(each.group()).split()[0] in gone and normalise(memory[each.end() :]).partition(" ")[0] in old.names
        for each in JOINED_NAMES.finditer(memory)
    )
    listed = any(
        before in words.LISTED and meaning(token) in gone
        for before, token in zip(("", *old.tokens), old.tokens, strict=False)
        if token in old.names
    )
    return plural or joined or listed or bool(counted & gone) or bool(owners(memory, *known) - owners(memory))


def dying(each: Statement) -> tuple[str, ...]:
    """The words before the verb, from the subject on."""
    place = next((place for place, token in enumerate(each.tokens) if token in table().died), 0)
    return each.tokens[:place]


def who_died(each: Statement, before: tuple[str, ...]) -> set[str]:
    """The name and the relation before the verb: "User's greyhound Frida died"."""
    rest = [token for token in before if token not in AUXILIARIES | SADLY | MERELY]
    last = rest[-2:] if rest and rest[-1] in each.names else rest[-1:]
    return {meaning(token) for token in last if token in each.names or token in words.RELATIONS}


def born(new: Statement, old: Statement, candidate: str, memory: str) -> bool:
    """Whether a pregnancy ended with a birth."""
    bearing, pregnant = birth(new), before_pregnancy(old, memory)
    if bearing is None or pregnant is None or new.negated is not None or new.wish or is_long_ago(new, old):
        return False
    if not (set(new.tokens) - set(old.tokens)).isdisjoint(OTHER) or owners(candidate) != owners(memory):
        return False
    if AGE.search(candidate) or not stems(table().expecting).isdisjoint(old.negated or ()):
        return False
    mother = {meaning(each) for each in pregnant if is_content(each)} - stems(words.GENERIC_SUBJECTS)
    children = stems(CHILDREN)
    if (old.relations - children - new.relations) or (new.relations - children - old.relations):
        return False
    subject = {meaning(each) for each in bearing.subject}
    if not bearing.of_child:
        return not others(bearing.subject, mother) and not mother - {meaning(each) for each in old.names} - subject
    named = {after for before, after in pairwise(bearing.subject) if before in CHILDREN and after in new.names}
    is_childs = bool((subject & children) - mother) and mother & stems(words.RELATIONS) <= subject
    return is_childs and not others(bearing.subject, mother | children | stems(frozenset(named)))


class Birth(Struct, frozen=True):
    """The subject of a birth: the mother, or the child (`of_child`) with the mother as its owner."""

    subject: tuple[str, ...]
    of_child: bool


def birth(each: Statement) -> Birth | None:
    said = f" {' '.join(each.tokens)} "
    phrase = next((phrase for phrase in table().births if f" {phrase} " in said), None)
    if phrase is None:
        return None
    before, _, after = said.partition(f" {phrase} ")
    first, *rest = phrase.split()
    if first in CHILDREN:
        return Birth((*before.split(), first), of_child=True)
    if first == "was":
        return Birth(tuple(before.split()), of_child=True)
    return Birth(tuple(before.split()), of_child=False) if is_of_child(rest[-1:], after.split(), each) else None


def is_of_child(last: list[str], after: list[str], each: Statement) -> bool:
    """Whether a child was born: not "had a baby shower", "gave birth to ideas"."""
    if after[:1] and after[0] in BIRTH_OF:
        return any(token in CHILDREN or token in each.names or number(token) for token in after)
    follows = after[:1] and is_content(after[0]) and after[0] not in WHEN | set(each.names)
    return not (last and last[0] in CHILDREN and follows)


def before_pregnancy(each: Statement, text: str) -> tuple[str, ...] | None:
    """The words before "pregnant"; None without a pregnancy. "expecting" alone or with a child is one, with a parcel not."""
    place = next((place for place, token in enumerate(each.tokens) if token in table().expecting), None)
    if place is None or (each.tokens[place] == "expecting" and EXPECTED.search(text) is None):
        return None
    return each.tokens[:place]
