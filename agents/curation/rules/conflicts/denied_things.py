"""Decides whether a statement names another thing than the denied one: "gluten-free bread", "oat milk", "a garden gnome"."""

import re
from collections.abc import Set as AbstractSet
from itertools import pairwise
from typing import Final

from agents.curation.rules.attributes.named_things import POSSESSION
from agents.curation.rules.statements import words
from agents.curation.rules.statements.extent import DAYS, OCCASIONS, first_days, occasions
from agents.curation.rules.statements.meaning import meaning, stem, stems
from agents.curation.rules.statements.statement import ENDED, TIMES, Statement, is_content, number
from agents.curation.rules.statements.uncertainty import beginnings_of, root

SUBSTITUTES: Final = re.compile(  # words for the absence of the denied thing, or for a substitute
    r"(?:free|less|low|reduced|zero|substitutes?|alternatives?|replacements?|replacers?|flavou?r(?:ed|s)?|imitation|fake|faux"
    r"|mock|artificial|toys?|models?|non|decaf\w*|caffeine|law|step|foster|vegan\w*|vegetarian|vegg?ie|plant|oats?|soya?|almonds?|coconut|hemp"
    r"|cashew|pea|tofu|seitan|frei\w{0,2}|ersatz\w*|statt|entkoffein\w*|pflanz\w*|künstlich\w*|kunst|spielzeug\w*|hafer|soja"
    r"|mandel|substituts?|alternativas?|simili|similicuir|végét\w+|végan\w*|décaféin\w*|déca|avoine|amandes?|jouets?|exempte?s?"
    r"|sustitut\w+|vegetal\w*|descafeinad\w*|avena|almendras?|juguetes?|libres?|sintétic\w+|synthéti\w+|synthetic)"
)
COMPOUND_OF_ABSENCE: Final = re.compile(r"(?:frei|los|arm|ersatz)(?:e[mnrs]?)?$|less$|free$")
AVOIDS: Final = words.words("avoid avoids avoided refuses meidet vermeidet évite evita")
BEGINS: Final = words.words("started starts begun began again")
MIN_DENIED: Final = 3  # letters of a denied word that begins a compound
MIN_ADDED: Final = 4  # letters that make a compound: "Gartenzwerg" is no form of "Garten"
ATTRIBUTES: Final = words.words(  # they do not make it another thing
    "new own old used second first another big small little large black white red blue green brown good great nice young cute"
    " beautiful real regular normal proper fresh more much many lots some any valid fluent basic full strong raw dark"
    " neu neue neuen neues neuer eigene eigenen eigenes kleine kleinen kleines kleiner große großen großes alte alten altes"
    " viel mehr wieder normale normalen echte echten zweite zweiten schwarze schwarzen"
    " nouveau nouvelle nouvel propre petit petite grand grande vieux vieille beaucoup plus noir noire deuxième"
    " nuevo nueva propio propia pequeño pequeña gran viejo vieja mucho mucha más negro negra segundo segunda"
)
AFTER: Final = words.words(
    "again anymore daily regularly outside abroad alone professionally now already lately anyway instead too once called named"
    " lot lots well namens heißt wieder täglich gegessen getrunken gekauft bekommen"
    " jetzt nun inzwischen maintenant désormais ahora appelé appelée encore souvent nouveau llamado llamada otra"
    " normalmente bien gut"
)
ADJECTIVAL: Final = words.words("diet lifestyle intolerance allergy")  # "vegan" and "a vegan diet" are the same
NAMED_CLASSES: Final = words.CLASSES - {"food", "dish", "essen"}  # "vegan food" says nothing about a diet
JOINING: Final = words.words("de d du des del of aus")
LINKING: Final = JOINING | words.words("with in at for on an am von bei mit im avec dans con en")
BESIDE: Final = words.words(
    "at for with in on an using by from bei mit für auf im am beim in chez avec pour dans sur au con para en"
)
ABLE: Final = words.words("can able may allowed could kann darf könnte peut pourrait puede podría capable capaz")
AMOUNTS: Final = words.words(
    "amount amounts bit little traces some mengen menge wenig etwas bisschen peu quantités quantité poco poca cantidades"
)
DETERMINERS: Final = words.ARTICLES | words.words("some any my their his her einen einem einer des du de")
HAVE: Final = words.words("has have had hat haben a ont tiene tienen got")
NO_VERB_AFTER: Final = HAVE | words.COPULAS | DETERMINERS | words.LIKES | words.DISLIKES
CONSUMING: Final = words.words(
    "gets get acquired adopted eats eat drinks drink takes take uses buy keep own adopt"
    " eating drinking taking using isst trinkt nimmt mange boit prend come bebe toma"
    " adoptierte adopté adoptó"
)
NOT_HAVING: Final = re.compile(
    r"\b(?:(?:has|have|owns?|possess(?:es)?) (?:no|neither)|(?:not|doesnt|dont|never|cannot|cant) (?:have|own|possess)"
    r"|(?:hat|habe|haben|besitzt) (?:keine?[mnrs]?|nie)|n (?:a|ont|possède) (?:pas|aucune?|jamais)|(?:no|nunca) (?:tiene|posee)"
    r"|(?:not|doesnt|dont|never) wants? (?!to )\w+"
    rf")\b|{ENDED} wants? (?!to )|{ENDED} (?:have|has|owns?|a|possède|tiene|posee)\b|\b(?:hat|besitzt) {ENDED}"
)


def is_of_another_thing(negative: Statement, positive: Statement, said: AbstractSet[str], known: bool) -> bool:
    """Whether the positive statement is about another thing than the denied one. `said` are the denied words. `known`:
    the positive statement is the memory. Denying a thing denies its kinds, but affirming a kind does not affirm the thing."""
    having = NOT_HAVING.search(" ".join(negative.tokens)) is not None
    avoided = not known and not AVOIDS.isdisjoint(negative.tokens) and not positive.preference
    tokens = positive.tokens
    denied = {token for token in negative.tokens if meaning(token) in said}
    others = {token for token in tokens if is_content(token) and meaning(token) not in said}
    if any(is_compound(token, denied, having or not known) for token in others):
        return True
    if any(is_compound(token, others, narrow=True) for token in denied - set(tokens)):
        return True
    verb = place_of_verb(positive)
    places = [place for place, token in enumerate(tokens) if is_content(token) and is_form(meaning(token), said)]
    if any(is_substituted(tokens, place, said) for place in places):
        return True
    places = [place for place in places if place != verb]
    if any(is_qualified(positive, place, said, verb) for place in places):
        return True
    if having or not known:
        kinds = frozenset() if having else ADJECTIVAL
        if any(is_part(positive, place, said, kinds) for place in places):
            return True
    must_be_possessed = (having or avoided) and bool(places) and not (avoided and min(places) <= 1)
    return must_be_possessed and not any(has_or_consumes(positive, place, known) for place in places)


def is_compound(token: str, denied: AbstractSet[str], narrow: bool) -> bool:
    """Whether a word has a denied one as its first part: `glutenfrei`, `Gartenzwerg`."""
    first_parts = {part for each in denied for part in (each, stem(each)) if len(part) >= MIN_DENIED}
    begun = any(token.startswith(part) and len(token) - len(part) >= MIN_ADDED for part in first_parts)
    return begun and (narrow or COMPOUND_OF_ABSENCE.search(token) is not None)


def is_form(word: str, said: AbstractSet[str]) -> bool:
    """Whether the stem is one of the denied ones or another form of it: `kindern`, `kinder`."""
    return any(word == each or root(each) in beginnings_of(word) or root(word) in beginnings_of(each) for each in said)


def place_of_verb(each: Statement) -> int:
    """The place of the first content word if it is a verb: if no article, `has` or `likes` stands before it; -1 otherwise."""
    subject = words.GENERIC_SUBJECTS | words.ARTICLES | words.RELATIONS | set(each.names)
    place = next((at for at, token in enumerate(each.tokens) if is_content(token) and token not in subject), -1)
    before = each.tokens[place - 1] if place > 0 else ""
    return -1 if (before in NO_VERB_AFTER and before != "l") or number(before) is not None else place


def is_substituted(tokens: tuple[str, ...], place: int, said: AbstractSet[str]) -> bool:
    """Whether a word next to the denied one means its absence or a substitute."""
    beside = (*tokens[max(place - 2, 0) : place], *tokens[place + 1 : place + 3])
    return any(SUBSTITUTES.fullmatch(each) for each in beside if meaning(each) not in said)


def is_qualified(each: Statement, place: int, said: AbstractSet[str], verb: int) -> bool:
    """Whether another content word directly before the denied one makes it a kind: `oat milk`, `a toy car`."""
    tokens = each.tokens
    before = tokens[place - 1] if place - 1 not in (verb, -1) else ""
    return bool(before) and is_another(before, said) and before not in ATTRIBUTES | AFTER | BEGINS


def is_part(each: Statement, place: int, said: AbstractSet[str], kinds: AbstractSet[str]) -> bool:
    """Whether another content word directly after the denied one makes it a part or a kind: `garden gnome`, `lait d'avoine`."""
    after = each.tokens[place + 1 : place + 3]
    if len(after) > 1 and after[0] in JOINING:
        return is_another(after[1], said)
    return (
        bool(after)
        and is_another(after[0], said)
        and after[0] not in NAMED_CLASSES | kinds | AFTER
        and after[0] not in each.names
    )


def is_another(token: str, said: AbstractSet[str]) -> bool:
    return (
        is_content(token)
        and not is_form(meaning(token), said)
        and token not in HAVE | words.RELATING | OCCASIONS | DAYS | words.OTHER_TIMES | TIMES.keys()
        and not token.endswith("ly")
    )


def has_or_consumes(each: Statement, place: int, known: bool) -> bool:
    """Whether somebody has, gets or consumes the denied thing itself; not `a share in a car`. If it is `known`, a description
    is enough: `the car is a Golf`."""
    tokens = each.tokens
    if known and not words.COPULAS.isdisjoint(tokens[place:]):
        return True
    held = HAVE | POSSESSION | CONSUMING | words.LIKES
    verb = next((at for at, token in enumerate(tokens[:place]) if token in held and not is_article(tokens, at)), None)
    if verb is None:
        return False
    between = [
        token for token in tokens[verb + 1 : place] if token not in held and (is_content(token) or token in LINKING)
    ]
    return between[:1] != ["of"] and not any(after in LINKING for after in between[1:]) and BESIDE.isdisjoint(between)


def is_article(tokens: tuple[str, ...], place: int) -> bool:
    """Whether "a" is the English article, not the French verb, which follows the subject."""
    return tokens[place] == "a" and tokens[place - 1] not in words.GENERIC_SUBJECTS


def is_only_partly(new: Statement, old: Statement, new_denies: bool) -> bool:
    """Whether the new statement, a denial (`new_denies`) or a permission, adds a place, a means, an occasion or an amount that
    the memory lacks: `can walk with crutches`. A denial of certain times, `cannot work nights`, ends only by a statement about
    the same times."""
    if not new_denies and (occasions(old) - occasions(new) or is_of_other_times(new, old)):
        return True
    if not new_denies and ABLE.isdisjoint(new.tokens):
        return False
    if circumstances(new) - set(old.content):
        return True
    return not new_denies and bool(occasions(new) - occasions(old) or (AMOUNTS & set(new.tokens)) - set(old.tokens))


def is_of_other_times(new: Statement, old: Statement) -> bool:
    """Whether the old denial names a month or day that the new statement lacks; a first day does not count."""
    return bool(old.times - new.times - {TIMES.get(day) for day in first_days(old.tokens)})


def circumstances(each: Statement) -> set[str]:
    """The content words directly after prepositions, without times: `work` in `at work`."""
    rest = [token for token in each.tokens if token not in DETERMINERS]
    return {
        meaning(after)
        for before, after in pairwise(rest)
        if before in BESIDE
        and is_content(after)
        and number(after) is None
        and after not in TIMES.keys() | words.OTHER_TIMES | stems(OCCASIONS)
    }
