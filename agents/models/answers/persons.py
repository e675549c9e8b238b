"""Recognises statements about a person, in the languages with rules: the assistant and tools cannot make them."""

import re
from collections.abc import Collection
from typing import Final

from agents.models.answers.speakers import begins_with_user
from schemas.extraction.requests import ExtractionRequest

# "User authentication runs on port 80" is about software, "User runs in the morning" about a person.
OF_SOFTWARE: Final = re.compile(
    r"(?:the )?user [a-z]+ (?:is|was|are|has|uses|runs|lives|needs|stores|reads|calls)\b", re.IGNORECASE
)
# Stricter than begins_with_user: "User profile: diabetic" is about a person, whatever noun follows.
USER_FIRST: Final = re.compile(r"(?:the )?user\b", re.IGNORECASE)
VERBS: Final = (
    r"(?:is|was|has|had|does|did|likes|loves|hates|prefers|wants|lives|works|owns|eats|feels|believes|plans|moved|uses|speaks|knows"
    r"|enjoys|needs|said|says|decided|will|would|can|cannot|should|also|never|always|takes|suffers|ist|war|hat|hatte|wohnt|lebt|arbeitet"
    r"|heißt|nimmt|mag|will|möchte|leidet|est|était|a|avait|habite|vit|travaille|s['’]appelle|prend|aime|veut|souffre|es|era|está|tiene"
    r"|vive|trabaja|se llama|toma|quiere|sufre)"
)
RELATIVES: Final = (
    r"(?:wife|husband|spouse|son|daughter|child|kid|mother|father|mom|mum|dad|brother|sister|girlfriend|boyfriend|fianc[ée]e?|boss"
    r"|friend|colleague|ehefrau|ehemann|frau|mann|sohn|tochter|kind|mutter|vater|bruder|schwester|freund(?:in)?|chef(?:in)?|femme|mari"
    r"|fils|fille|enfant|mère|père|frère|sœur|esposa|esposo|mujer|marido|hij[oa]|madre|padre|herman[oa]|novi[oa])"
)
PERSONS: Final = (
    r"(?:customer|patient|employee|account holder|applicant|person|man|woman|kunde|kundin|patientin|mitarbeiter(?:in)?|cliente"
    r"|patiente|paciente|employée?|emplead[oa])"
)
# Ids that are words.
COMMON_ID: Final = re.compile(r"user|admin|guest|root|test|dev|demo|owner|anonymous", re.IGNORECASE)
TITLE: Final = re.compile(r"(?:the|mrs?|ms|dr|prof|der|die|das|herr|frau|le|la|m|mme|el|sra?)\.?", re.IGNORECASE)
ARTICLE: Final = (
    r"(?:the|this|that|your|their|his|her|der|die|das|den|dem|dein\w*|ihr\w*|le|la|l['’]|votre|ton|ta|son|sa|el|su|tu)"
)
ABOUT_PERSON: Final = re.compile(
    rf"\b[Uu]ser(?:['’]s\b| {VERBS}\b)"
    r"|\b(?:[Tt]he [Uu]ser|User)\b(?=\s*(?:[.,;:!?)]|$)|\s+(?:of|in|at|on|with|from|to|for|and|or|who|by|as)\b)"
    r"|\b(?:[Dd]e[rmns] (?:Be)?[Nn]utzer(?:in|s)?|[Dd]ie (?:Be)?[Nn]utzerin)\b(?!-)"
    r"|\bl['’]utilisat(?:eur|rice)\b|\b(?:[Ee]l|[Ll]a|[Dd]el|[Aa]l) usuari[oa]\b"
    # Persons and pronouns at the beginning.
    rf"|^(?i:(?:{ARTICLE}\s?)?{RELATIVES}(?:['’]s\b|,| {VERBS}\b))"
    rf"|^(?i:(?:{ARTICLE}\s?)?{PERSONS}(?:['’]s\b| {VERBS}\b))"
    rf"|^(?:The )?[Pp]atient(?:in|e)? [A-Z]|^(?:[Ll]e|[Vv]otre) client {VERBS}\b"
    r"|^(?:He|She|You|Er|Sie|Du|Elle|Vous|Él|Ella|Usted|Tú)\b(?!['’])"
    r"|^Il (?!y a|faut|s['’]|est (?:pr[eéê]|pos|n[eé]c|con|rec))|^Tu (?:es|as|habites|vis|travailles|aimes)\b"
    # Predicates of people, with a name as their subject.
    r"|^[A-ZÀ-Þ]\w+(?: [A-ZÀ-Þ]\w+){0,2} (?:(?:lives|lived|resides|moved|wohnt|lebt|habite|vit|vive) (?:in|to|at|à|en) [A-ZÀ-Þ]"
    r"|(?:is|was|ist|est|es|está) (?:pregnant|diabetic|allergic|married|divorced|widowed|unemployed|schwanger|verheiratet"
    r"|geschieden|enceinte|mariée?|divorcée?|embarazada|casad[oa]|divorciad[oa])\b"
    r"|takes (?:insulin|medication)\b|(?:has|hat|a|tiene) (?:cancer|diabetes|asthma|krebs|diabète|cáncer)\b)",
)


def is_about_person(text: str, names: Collection[str]) -> bool:
    """Whether a text is about a user, a person with one of the `names`, or a person as a noun, a pronoun or a predicate shows."""
    is_about_user = begins_with_user(text) or USER_FIRST.match(text)
    if ABOUT_PERSON.search(text) or (is_about_user and not OF_SOFTWARE.match(text)):
        return True
    return any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE) for name in names)


def speaker_names(request: ExtractionRequest) -> frozenset[str]:
    """The names, first names and ids of the people who speak in a slice or before it."""
    said = [each for each in (*request.overlap, *request.messages) if each.role == "user"]
    ids = {request.scope.user_id, *(each.user_id for each in said)}
    names = {each.name.strip() for each in said if each.name}
    found = (
        {each for each in ids if each and not COMMON_ID.fullmatch(each)}
        | names
        | {name.split()[0] for name in names if name}
    )
    return frozenset(each for each in found if len(each) > 1 and not TITLE.fullmatch(each))
