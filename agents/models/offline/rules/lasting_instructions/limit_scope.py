"""Recognises the owner of a limit and its duration, by words of the household and of the moment, by language.

Weekdays in the singular, minutes, remainders ("two eggs left"), and things at hand ("this tea") hold once, unless the sentence
says that they recur ("every Friday", "ten minutes a day").
"""

import re
from collections.abc import Mapping
from functools import cache
from typing import Final

# People of the household, after "my" or "our".
HOUSEHOLD: Final[Mapping[str, str]] = {
    "en": r"(?:my|our) (?:\S+ ){0,3}?(?:bab(?:y|ies)|infants?|newborn|toddlers?|child(?:ren)?|twins|triplets"
    r"|(?:(?:step|grand|foster )?(?:son|daughter|kid|boy|girl)|teen|teenager|little one)s?|youngest|oldest|eldest"
    r"|grandchild(?:ren)?|wife|husband|spouse|partner|fianc[ée]e?|girlfriend|boyfriend|family|household)\b",
    "de": r"(?:mein|unser)e?[nrms]? (?:\S+ ){0,3}?(?:babys?|säugling|kleinkind|tochter|töchter|s[oö]hne?|zwillinge"
    r"|(?:stief|enkel|pflege)?(?:sohn|tochter|kind(?:er)?)|jüngste[rn]?|älteste[rn]?|kleine[rn]?|junge|mädchen"
    r"|frau|mann|partner(?:in)?|verlobter?|familie|haushalt)\b",
    "fr": r"(?:ma|mon|mes|notre|nos) (?:\S+ ){0,3}?(?:bébés?|fils|filles?|enfants?|jumeaux|jumelles|ado(?:lescente?)?s?"
    r"|(?:petite?|beau|belle)-(?:fils|fille)|petite?|garçons?|aînée?|cadette?|benjamine?|femme|mari|époux|épouse"
    r"|conjointe?|compagne|compagnon|fiancée?|famille|foyer)\b",
    "es": r"(?:mis?|nuestr[oa]s?) (?:\S+ ){0,3}?(?:beb[ée]s?|(?:hij|niñ|chic|gemel|melliz|niet|hijastr|pequeñ)[oa]s?"
    r"|adolescentes?|mayor|menor|mujer|espos[oa]|marido|pareja|novi[oa]|prometid[oa]|familia|hogar)\b",
}

WEEKDAYS: Final[Mapping[str, str]] = {
    "en": r"(?:mon|tues|wednes|thurs|fri|satur|sun)day",
    "de": r"(?:mon|diens|donners|frei|sams|sonn)tag|mittwoch",
    "fr": r"(?:lun|mar|mercre|jeu|vendre|same)di|dimanche",
    "es": r"lunes|martes|miércoles|jueves|viernes|sábado|domingo",
}
# "One kidney left", "my left arm": no remainder.
BODY: Final = (
    r"(?:kidney|eye|ear|leg|arm|hand|lung|foot|knee|niere|auge|ohr|bein|rein|œil|oreille|jambe|bras|main|riñón|ojo)\b"
)
MOMENT: Final[Mapping[str, tuple[str, ...]]] = {
    "en": (
        r"\b(?:today|tonight|this (?:morning|afternoon|evening))\b",
        r"\bcannot (?:\w+ ){1,2}(?:this|these|that|those)\b(?! (?:kinds?|sorts?|types?|med\w*|pills?|tablets?|drugs?)\b)",
        r"\bcannot \w+ (?:anything )?(?:right )?now\W*$",
        rf"\bcannot\b(?!.*\b(?:every|each|any|eat|drink|take)\b).*\b(?:{WEEKDAYS['en']})\b(?! (?:morning|evening|night)s)",
        r"\bonly (?:have|got) (?:\S+ ){1,3}(?:min(?:ute)?s?|seconds?|hours?)\b(?! (?:an?|per|each|every|for|to|in|on|daily)\b)",
        rf"\b(?:only (?:have|got)|do not have|have no)\b(?!.*{BODY}).* left\W*$",
        r"\bno \w+ in the (?:shop|store|supermarket|fridge|pantry|cupboard|market)\b",
        r"\banother (?:bite|sip|drop|crumb)\b",
    ),
    "de": (
        r"\b(?:heute(?! an)|jetzt gerade|gerade jetzt)\b",
        r"\b(?:kann|mag)\b (?:ich )?(?:das (?:hier )?nicht|dies\w* \w+ nicht)\b",
        r"\bkann jetzt (?:nicht|nichts|kein\w*)\b",
        rf"\bkann\b(?!.*\b(?:jede|essen|trinken|nehmen)).*\b(?:{WEEKDAYS['de']})\b",
        r"\bhabe? (?:\w+ )?nur (?:noch )?(?:\S+ ){1,2}(?:minuten?|sekunden?|stunden?)\b(?! (?:am|pro|in|für|zum|täglich)\b)",
        rf"\b(?:nur|nicht|kein\w*)\b(?!.*{BODY}).* übrig\W*$",
        r"\bim (?:laden|supermarkt|geschäft|kühlschrank|schrank)\b",
        r"\bkeinen (?:bissen|schluck|krümel) mehr\b",
    ),
    "fr": (
        r"\b(?:aujourd['’]hui|ce (?:soir|matin|midi)|cet après-midi|maintenant(?! que))\b",
        r"\bpeux pas (?:\w+ ){1,2}(?:ça|cela|ceci|ce|cet|cette|ces)\b",
        rf"\bpeux pas\b(?!.*\b(?:chaque|tous|manger|boire|prendre)\b).*(?<!le )\b(?:{WEEKDAYS['fr']})\b",
        r"\bn['’]ai (?:plus )?que (?:\S+ ){1,2}(?:minutes?|secondes?|heures?)\b(?! (?:par|chaque|le|pour|à)\b)",
        rf"\bne (?:me )?rest(?:e|ent)\b(?!.*{BODY})",
        r"\b(?:au|dans le) (?:magasin|supermarché|frigo|placard)\b",
        r"\b(?:bouchée|gorgée|miette)\b",
    ),
    "es": (
        r"\b(?:hoy|esta (?:noche|mañana|tarde)|ahora mismo)\b",
        r"\bno puedo (?:\w+ ){1,2}(?:esto|este|esta|estos|estas|eso|ese|esa)\b",
        r"\bahora no puedo\b|\bno puedo \w+ ahora\W*$",
        rf"\bno puedo\b(?!.*\b(?:cada|todos|los|comer|beber|tomar)\b).*\b(?:{WEEKDAYS['es']})\b",
        r"\bs[oó]lo tengo (?:\S+ ){1,2}(?:minutos?|segundos?|horas?)\b(?! (?:al?|por|cada|para|diari[oa]s?)\b)",
        rf"\b(?:solo|sólo|no) (?:me|nos) quedan?\b(?!.*{BODY})",
        r"\ben (?:la tienda|el súper|el supermercado|la nevera|el frigo|el armario)\b",
        r"\bni un (?:bocado|trago|sorbo)\b",
    ),
}
# A limit that was learnt or ordered today lasts: "I was told today that I cannot eat salt".
NEWLY_KNOWN: Final = re.compile(
    r"\b(?:diagnos\w*|learn\w*|told|found out|turns out|says?|said|since|from|as of|starting|until|before|because"
    r"|erfahren|gesagt|sagt|seit|ab|bis|wegen|weil|appris|dit|depuis|jusqu['’]\w+|avant|parce que|à partir|supe|dijo|desde"
    r"|hasta|antes|porque|a partir)\b",
    re.IGNORECASE,
)
# Jokes: allergies to a time or to work.
JOKE_ALLERGY: Final[Mapping[str, str]] = {
    "en": rf"\ballergic to (?:all |any |stupid |bad )?(?:(?:{WEEKDAYS['en']})s?|mornings?|meetings?|work\W*$|people|questions"
    r"|nonsense|drama|excuses|bullshit|spreadsheets)\b",
    "de": rf"\ballergisch (?:gegen|auf) (?:alle |jede |dumme )?(?:(?:{WEEKDAYS['de']})e?|meetings?|arbeit|leute|menschen|fragen"
    r"|ausreden|dummheit)\b",
    "fr": rf"\ballergiques? (?:aux?|à la|à l['’]|à) ?(?:(?:{WEEKDAYS['fr']})s?|réunions?|travail|gens"
    r"|questions|bêtise|matins?)\b",
    "es": rf"\bal[eé]rgic[oa]s? al?(?: l[oa]s?)? ?(?:(?:{WEEKDAYS['es']})s?|reuniones|reunión|trabajo|gente"
    r"|preguntas|tonterías|mañanas)\b",
}
LAUGHTER: Final = re.compile(r"\b(?:(?:ha){2,}h?|(?:he){2,}|(?:ja){2,}|lol|lmao|mdr|ptdr)\b|[😂🤣]", re.IGNORECASE)
SPEAKER: Final = re.compile(r"\b(?:I|me|we|us|ich|mir|mich|wir|uns|je|j['’]\w+|moi|nous|yo|me|mí|nos)\b", re.IGNORECASE)


@cache
def _moment(code: str) -> re.Pattern[str]:
    return re.compile("|".join(MOMENT[code]), re.IGNORECASE)


@cache
def _joke_allergy(code: str) -> re.Pattern[str]:
    return re.compile(JOKE_ALLERGY[code], re.IGNORECASE)


def holds_for_moment(text: str, code: str) -> bool:
    """Whether a limit holds only at the moment: "cannot eat this tonight"."""
    return _moment(code).search(text) is not None and NEWLY_KNOWN.search(text) is None


def is_joke(text: str, code: str) -> bool:
    """Whether a limit is a joke: an allergy to Mondays."""
    return _joke_allergy(code).search(text) is not None


def is_impersonal_joke(sentence: str) -> bool:
    """Whether a limit is a joke that is about no particular person: "never eat yellow snow, haha"."""
    return LAUGHTER.search(sentence) is not None and SPEAKER.search(sentence) is None


@cache
def _household(code: str) -> re.Pattern[str]:
    return re.compile(rf"^\W*{HOUSEHOLD[code]}", re.IGNORECASE)


def is_about_household(text: str, code: str) -> bool:
    """Whether the sentence is about a person of the speaker's household."""
    return _household(code).match(text) is not None


def without_household(text: str, code: str) -> str:
    """The text without a person of the household at its beginning."""
    return _household(code).sub("", text, count=1)
