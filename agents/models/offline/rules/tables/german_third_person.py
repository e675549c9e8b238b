"""Converts German words of the first person to the third: "ich mag mein Rad" becomes "er mag sein Rad"."""

import re
from typing import Final

IRREGULAR: Final = {
    **{"bin": "ist", "habe": "hat", "hab": "hat", "werde": "wird", "werd": "wird", "weiß": "weiß", "heiße": "heißt"},
    **{"fahre": "fährt", "esse": "isst", "lese": "liest", "sehe": "sieht", "spreche": "spricht", "treffe": "trifft"},
    **{"nehme": "nimmt", "gebe": "gibt", "schlafe": "schläft", "trage": "trägt", "laufe": "läuft", "helfe": "hilft"},
    **{"fange": "fängt", "lasse": "lässt", "halte": "hält", "vertrage": "verträgt", "wasche": "wäscht"},
    **{"vergesse": "vergisst", "reise": "reist", "hasse": "hasst", "verlasse": "verlässt"},
}
# Spoken forms without the last "e".
SHORT_WORDS: Final = """
    mach lern zieh bring brauch geh komm wohn leb arbeit spiel trink ess nehm fahr les seh geb schlaf lauf find denk glaub hör sag
    frag kauf koch hass such hol ruf schreib steh sitz lieg üb treff wart zahl zeig nutz benutz putz versuch heiß lass halt
    studier trainier telefonier probier vertrag besuch verdien verlass trag wasch vergess bleib freu fühl fang sing tanz schwimm
    reit flieg miet heirat plan hoff
"""
SHORT: Final = frozenset(SHORT_WORDS.split())
PAST: Final = re.compile(
    r"(?!(?:arbei|war|hal|bie|miet|rei|be|lei|ra|tö|züch|rich|leuch|flech)te$)\w+te|wurde", re.IGNORECASE
)
# Subjunctives of strong verbs, which are the same in the first and the third person: "im Mai würde er umziehen".
SUBJUNCTIVE: Final = re.compile(
    r"(?:be|ent|er|ge|ver|über|unter)?(?:würde|wäre|ginge|käme|bliebe|gäbe|fände|nähme|ließe|läge|säße|sähe|stünde|stände|zöge|flöge"
    r"|läse|äße|träfe|tränke|spräche|schriebe|schliefe|liefe|riefe|hieße|hinge|finge|fiele|verlöre|trüge|schlüge|bräche|sänge"
    r"|schwämme|spränge|begänne|gewönne|hülfe|stürbe|würfe)",
    re.IGNORECASE,
)
# Words beside "ich" that end as verbs do and are none: "weil ich sie besuche", "ehe ich umziehe".
NO_VERBS: Final = frozenset(
    """
    sie die eine keine meine deine seine ihre unsere eure diese jene jede welche alle viele wenige manche beide mehrere einige
    solche andere gerne heute lange solange alleine ohne nächste letzte ganze neue ehe wie sowie je nie beinahe gerade
    """.split()  # noqa: SIM905
)
# The verb is the last word of a clause after one of these: "weil ich eine Katze habe".
SUBORDINATE: Final = re.compile(
    r"\b(?P<lead>weil|dass|daß|obwohl|damit|bevor|ehe|nachdem|sobald|solange|während|wenn|falls|als|ob|was|wo|wie) ich"
    r"(?P<middle>(?: [^\s,;.:!?]+){0,12}?) (?P<verb>[^\s,;.:!?]+)(?=\s*(?:[,;.:!?)]|$| und | aber | oder ))",
    re.IGNORECASE,
)
# The verb stands before "ich" after an adverbial: "seit März bin ich Vegetarier".
INVERTED: Final = re.compile(r"\b([a-zäöü]\w*) ich\b")
WITHIN: Final = re.compile(r"\bich (\w+)", re.IGNORECASE)
POSSESSIVES: Final = {
    **{
        "mein": "sein",
        "meine": "seine",
        "meinen": "seinen",
        "meinem": "seinem",
        "meiner": "seiner",
        "meines": "seines",
    },
    **{"unser": "das gemeinsame", "unsere": "die gemeinsame"},
}
OWN: Final = re.compile(r"\b(?:" + "|".join(POSSESSIVES) + r")\b", re.IGNORECASE)
OBJECTS: Final = {"mir": ("sich", "ihm"), "mich": ("sich", "ihn")}
OBJECT: Final = re.compile(r"\b(?:mir|mich)\b", re.IGNORECASE)
# The subject is another: "sie hat mir den Urlaub gestrichen", "das ist mir egal", "dass er mir hilft".
VERBS: Final = (
    r"(?:ist|sind|war|waren|hat|haben|hatte|hatten|wird|wurde|werden|wurden|will|wollte|kann|soll|gibt|hilft|geht|tut|fehlt|gefällt"
    r"|schmeckt|reicht|passt|gehört|macht|sagt|sagte|schreibt|schrieb|nervt|stört|ärgert|erinnert|besucht|bringt|schenkt|schenkte"
    r"|gab|riet)"
)
OF_OTHERS: Final = re.compile(
    rf"(?:\b(?P<before>(?:{VERBS}|er|sie|es|man|wer|das|(?:mein|unser)\w* \w+)(?: \w+)? )|^(?=\w+ {VERBS}\b))"
    r"(?P<object>mir|mich)\b",
    re.IGNORECASE,
)
CLAUSE: Final = re.compile(r"([,;.:!?]| und | aber | oder | weil | dass | denn )")
SPEAKS: Final = re.compile(r"\bich\b", re.IGNORECASE)


def third_person_verb(verb: str) -> str:
    """The verb for "er" instead of "ich"."""
    verb = verb.lower()
    verb = f"{verb}e" if verb in SHORT else verb
    if verb in IRREGULAR:
        return IRREGULAR[verb]
    if not verb.endswith("e") or PAST.fullmatch(verb) or SUBJUNCTIVE.fullmatch(verb):
        return verb
    return verb[:-1] + ("et" if verb[-2] in "td" else "t")


def is_first_person(word: str) -> bool:
    """Whether the word may be a verb after "ich"."""
    return third_person_verb(word) != word.lower() and word.lower() not in NO_VERBS


def reword(text: str) -> str:
    """The text about "er" instead of "ich". Without a subject the text is the rest of a sentence about the speaker."""
    text = "".join(with_objects(part) for part in CLAUSE.split(text))
    text = SUBORDINATE.sub(verb_last, text)
    text = INVERTED.sub(
        lambda found: f"{third_person_verb(found[1])} er" if is_first_person(found[1]) else found[0], text
    )
    text = SPEAKS.sub("er", WITHIN.sub(lambda found: f"er {inflected(found[1])}", text))
    return OWN.sub(lambda found: POSSESSIVES.get(found[0].lower(), found[0]), text)


def inflected(word: str) -> str:
    """The word behind "ich", conjugated; a word with a capital is a noun there ("wäre ich Koch")."""
    return third_person_verb(word) if is_first_person(word) and not word[0].isupper() else word


def verb_last(found: re.Match[str]) -> str:
    return f"{found['lead']} er{found['middle']} {third_person_verb(found['verb'])}"


def with_objects(clause: str) -> str:
    """The clause with "mir" and "mich" in the third person: reflexive if the speaker is the subject."""
    if SPEAKS.search(clause) is None:
        clause = OF_OTHERS.sub(lambda found: f"{found['before'] or ''}{OBJECTS[found['object'].lower()][1]}", clause)
    return OBJECT.sub(lambda found: OBJECTS[found[0].lower()][0], clause)
