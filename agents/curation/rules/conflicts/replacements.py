"""Recognises that something replaces the subject of a memory: "switched from Spotify to Tidal"."""

import re
from collections.abc import Iterable
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Final

from agents.curation.rules.attributes.attributes import table
from agents.curation.rules.attributes.named_things import (
    POSSESSION,
    Named,
    affirms,
    core,
    holding,
    is_planned,
    named_by,
    subject_of,
)
from agents.curation.rules.attributes.readings import is_marked
from agents.curation.rules.conflicts.denial_scope import verb_of
from agents.curation.rules.conflicts.denials import words_of_past
from agents.curation.rules.statements import words
from agents.curation.rules.statements.extent import is_habit, is_recurrent, occasions
from agents.curation.rules.statements.guards import other_scope
from agents.curation.rules.statements.meaning import meaning, stems
from agents.curation.rules.statements.statement import Statement, is_content, statement

LEAST_CORRECTED: Final = 3  # words that must all be repeated
LEAST_SHARED: Final = 2  # words that a plan and its changed version share
INSTEAD: Final = re.compile(r"\binstead(?=[,;.!]|$)", re.IGNORECASE)
MOST_SWAPPED: Final = 4  # replaced words
THING: Final = (
    r"(?P<what>(?:[^\s,;.()]+ ){0,5}?[^\s,;.()]+?)(?=[,;.()!]|$| (?:to|with|by|for|because|since|after|as|and|but|when|due"
    r"|zu|zum|zur|auf|nach|durch|gegen|wegen|weil|seit|und|aber|à|au|par|pour|parce|depuis|après|et|mais"
    r"|a|al|por|porque|desde|tras|y|pero)\b)"
)
IN_PLACE_OF: Final = re.compile(
    r"\b(?:instead of|in place of|statt|anstatt|anstelle (?:von|der|des)|au lieu d(?:e|u|es)|à la place d(?:e|u|es)|en vez del?"
    rf"|en lugar del?)(?: in| with| at| mit| bei)? {THING}",
    re.IGNORECASE,
)
EXCHANGED: Final = re.compile(
    rf"\b(?:(?:replaced|ersetzte?|remplacé|reemplazó) {THING} (?:with|by|durch|par|por)"
    rf"|(?:swapped|exchanged|traded(?: in)?|tauschte|échangé|cambió) {THING.replace('what', 'other')} (?:for|gegen|contre|por)) ",
    re.IGNORECASE,
)
NO_LONGER: Final = re.compile(
    r"(?:\bno longer|[,;] (?:and |but |und |et |y )?(?:no longer|nicht mehr|mais plus|ya no))"
    rf"(?: at| with| in| on| for| by| bei| mit| chez| à| au| en| con)? {THING}",
    re.IGNORECASE,
)
NOT_THAT: Final = re.compile(
    rf"[,;] (?:and |but |und |et |y )?(?:not|nicht|plus)(?: at| with| in| on| for| by| bei| mit| chez| à| au| en| con)? {THING}",
    re.IGNORECASE,
)
SWITCHED_FROM: Final = re.compile(  # directly after the verb; otherwise something else was switched
    r"\b(?:switched|moved|migrated|changed|converted|transferred|upgraded|downgraded|ist|sind|wechselte|passée?|migré|pasó|cambió|went)"
    rf" (?:back |over )?(?:from|von|vom|von der|del?|du) {THING} (?:to|into|over to|auf|zu|zum|zur|nach|à|au|a|al) ",
    re.IGNORECASE,
)
TAKEN_BACK: Final = re.compile(
    r"^(?P<what>.+?) (?:was|were|is|are|turned out to be|war|était|era) (?:only |just )?(?:an? )?"
    r"(?:untrue|misdiagnosis|misunderstanding|false alarm|not true|not happening)\b",
    re.IGNORECASE,
)
CALLED_OFF: Final = re.compile(r"^(?P<what>.+?) (?:is|are) off(?= after|[,;.!]|$)", re.IGNORECASE)
PURPOSE: Final = words.words("for on at in during für pour para")
ANEW: Final = re.compile(
    r"\b(?:with|for|by) (?:an? )?(?:new(?:er)?|other|better|bigger|smaller|another|day|while|night)(?: ones?)?\b",
    re.IGNORECASE,
)
USES: Final = words.words(
    "uses use using drinks drink eats eat plays play smokes takes subscribes subscribed subscriber codes insured customer pays"
    " drives rides listens shops runs versichert kunde nutzt trinkt isst spielt utilise boit mange joue usa bebe come"
    " juega cliente client"
)
MARKERS: Final = re.compile(
    r"\b(?:now|instead|currently|these days|from now on|nowadays|jetzt|inzwischen|nun|ab jetzt|maintenant|désormais|ahora)\b",
    re.IGNORECASE,
)
HAS: Final = words.words("has have owns own hat besitzt possède tiene")


def replaced(candidate: str, memory: str, new: Statement, old: Statement) -> bool:
    """Whether the candidate says that something else replaces the memory's subject."""
    known = core(old)
    uses = old.subject is not None or not USES.isdisjoint(old.tokens)
    ended = (
        *replaced_by(candidate),
        *(instead_of(candidate) if HAS.isdisjoint(old.tokens) else ()),
        *exchanged(candidate, memory),
        *(switched_from(candidate) if uses else ()),
        *(called_off(candidate) if is_planned(old) else ()),
    )
    if replaced_by(memory) or instead_of(memory) or switched_from(memory) or not occasions(new) <= occasions(old):
        return False
    for named in ended:
        rest = known - named.words - holding() - core(new) - stems(table().general)
        if named.words <= {verb_of(old)} and len(known) > len(named.words) + 1:
            continue  # the action ended for this thing only
        within = named.words <= known and named.times <= old.times and named.words.isdisjoint(subject_of(old))
        if within and is_only_purpose(rest, old) and rest.isdisjoint(stems(words.RELATIONS)):
            return True
    return False


def is_only_purpose(rest: set[str], old: Statement) -> bool:
    """Whether `rest`, the memory's remaining words, is at most one word for its purpose or topic: "the cache is Redis", "uses
    Deezer for podcasts"."""
    following = zip(("", *old.tokens), old.tokens, (*old.tokens[1:], ""), strict=False)
    beside = {
        meaning(token)
        for before, token, after in following
        if before in PURPOSE or after in words.COPULAS or token in USES or token in table().planned | words.WISHES
    }
    rest = rest - {"bei", "chez"}
    return len(rest) <= 1 and rest <= beside


@lru_cache(maxsize=1_024)
def replaced_by(text: str) -> tuple[Named, ...]:
    """The things that the statement says no longer hold, or never did."""
    return named_in(text, (NO_LONGER, TAKEN_BACK))


@lru_cache(maxsize=1_024)
def instead_of(text: str) -> tuple[Named, ...]:
    """The things that the statement says are habitually not done."""
    return named_in(text, (IN_PLACE_OF, NOT_THAT)) if is_habit(text) and not statement(text).preference else ()


def done_by_another(candidate: str, memory: str, new: Statement, old: Statement) -> bool:
    """Whether another person takes over the memory's activity: "Lena brings the meat instead of Ravi"."""
    doer = {meaning(old.subject)} if old.subject else set[str]()
    named = [each.words for each in named_in(candidate, (IN_PLACE_OF,))]
    return (
        bool(doer)
        and affirms(old)
        and doer in named
        and not core(old) - doer - core(new)
        and new.subject != old.subject
    )


def chosen_instead(candidate: str, memory: str, new: Statement, old: Statement) -> bool:
    """Whether the candidate repeats the memory with another thing instead: "gives Dad a book instead"."""
    alone = INSTEAD.search(candidate) is not None and not words_of_past(new)
    same = core(new) & core(old) - subject_of(old)
    verbs = verb_of(new) == verb_of(old) or is_planned(old)
    return (
        alone
        and verbs
        and is_planned(old)
        and len(same) >= LEAST_SHARED
        and affirms(new)
        and bool(core(new) - core(old))
    )


def corrected(candidate: str, memory: str, new: Statement, old: Statement) -> bool:
    """Whether the candidate repeats all of the memory and denies one part: "ran in Chicago, not in York"."""
    if bool(words_of_past(new)) != bool(words_of_past(old)) or not core(old) - core(new) <= set() or is_recurrent(new):
        return False
    denied = named_in(candidate, (NOT_THAT,))
    return len(core(old)) >= LEAST_CORRECTED and any(each.words <= core(old) for each in denied)


def named_in(text: str, patterns: Iterable[re.Pattern[str]]) -> tuple[Named, ...]:
    matches = (match for pattern in patterns for match in pattern.finditer(text) if is_unrestricted(text, match))
    return named_by(next(filter(None, match.groups())) for match in matches)


def is_unrestricted(text: str, match: re.Match[str]) -> bool:
    """Whether no purpose follows the replacement: "uses Zulip instead of Slack for the club" has one."""
    behind = re.split(r"[;.]", text[match.end() :].lstrip(", "))[0].split()
    return not behind or behind[0] not in PURPOSE


def exchanged(candidate: str, memory: str) -> tuple[Named, ...]:
    """Exchanged things that the user owns or that have names; not "replaced the milk with cream". A new copy is no
    replacement."""
    match, old = EXCHANGED.search(candidate), statement(memory)
    if match is None or ANEW.search(candidate):
        return ()
    named = named_by([next(filter(None, match.groups()))])
    is_owned = old.subject is not None or not POSSESSION.isdisjoint(old.tokens)
    return tuple(each for each in named if is_owned or each.words <= stems(frozenset(old.names)))


@lru_cache(maxsize=1_024)
def switched_from(text: str) -> tuple[Named, ...]:
    match = SWITCHED_FROM.search(text)
    if match is None or not PURPOSE.isdisjoint(text[match.end() :].split()):
        return ()
    return named_by([match["what"]])


def called_off(text: str) -> tuple[Named, ...]:
    """The things that the statement calls off: "the trip is off"."""
    match = CALLED_OFF.match(text)
    return named_by([match["what"]]) if match else ()


def swapped(candidate: str, memory: str, new: Statement, old: Statement) -> bool:
    """Whether the candidate repeats the memory with "now" and one changed part, which is neither subject nor verb."""
    if not (is_marked(candidate) and affirms(new)) or new.wish or old.wish or other_scope(new, old):
        return False
    if not table().also.isdisjoint(new.tokens) or not takes_one_object(old):
        return False
    mine, theirs = (statement(MARKERS.sub(" ", text)).tokens for text in (candidate, memory))
    matcher = SequenceMatcher(None, list(map(meaning, theirs)), list(map(meaning, mine)), autojunk=False)
    other = [each for each in matcher.get_opcodes() if each[0] != "equal"]
    if (
        len(other) != 1
        or other[0][0] != "replace"
        or max(other[0][2] - other[0][1], other[0][4] - other[0][3]) > MOST_SWAPPED
    ):
        return False
    _, start, end, begin, stop = other[0]
    kept = {meaning(each) for each in (*theirs[:start], *theirs[end:]) if is_content(each)}
    if start and theirs[start - 1] in ("with", "mit", "avec", "con") and not is_planned(old):
        return False  # with different people at different times
    if occasions(new) != occasions(old) or (theirs[max(start - 2, 0) : start] == ("to", "the") and not is_planned(old)):
        return False  # both may hold: to the cinema, and to the theatre
    verb_and_more = len(kept - subject_of(old)) + bool(old.times & new.times) >= 2 or (
        kept > subject_of(old) and bool(subject_of(old))
    )
    return (
        start > 1
        and verb_and_more
        and any(map(is_content, theirs[start:end]))
        and any(map(is_content, mine[begin:stop]))
    )


def takes_one_object(each: Statement) -> bool:
    """Whether the verb of the statement has one object at a time; a person may use, grow or sing several things."""
    verb = next((token for token in each.tokens if token in table().exclusive), None)
    of_thing = each.subject is not None and not each.relations
    if verb in words.words("goes geht va") and not {"to the", "ins", "zum", "au", "al"} & {
        " ".join(each.tokens[2:4]),
        *each.tokens,
    }:
        return False  # both may hold: yoga and ballet
    return verb is not None and (of_thing or verb not in words.COPULAS or is_planned(each))
