"""Recognises what a message says in another's name: fiction, roles, suppositions, hearsay, and text that is to be worked on."""

import re

# A text to be translated or mended comes before the order to do so as often as behind it.
TEXT_WORK = re.compile(
    r"(?:^|[.!?:;,\n] ?)(?:please |pls |kindly |can you |could you |would you |I (?:want|need|would like) you to |help me "
    r"|bitte "
    r"|kannst du |peux-tu |s'il (?:te|vous) pla[iî]t,? |por favor,? |puedes )*"
    r"(?:translat\w+|proof-?read|rewrite|rephrase|paraphrase|summari[sz]e|(?:correct|fix|check|improve|edit) (?:the |my |this )*"
    r"(?:following|grammar|spelling|text|sentences?|paragraph|e-?mail|essay|english|german|french|spanish|:)"
    r"|how (?:do|would) (?:you|I|we) say|übersetz\w*|korrigier\w*|formulier\w*|umformulier\w*"
    r"|tradui[st]\w*|corrig\w+|reformul\w+|résume[rz]?|traduc\w+|traduzca|resum\w+|wie sagt man|comment dit-on|cómo se dice)\b",
    re.IGNORECASE,
)
WORKS = (
    r"(?:novels?|stor(?:y|ies)|screenplay|script|poem|song|lyrics|game|campaign|dreams?|movie|film|fan-?fic\w*|role-?play"
    r"|scenario"
    r"|book(?! club)|play|series|comic|roman|buch|geschichte|spiel|traum|film|livre|histoire|jeu|rêve|novela|libro|juego|sueño"
    r"|historia|cuento|película)"
)
# From here on the words are not the speaker's own.
FICTION = re.compile(
    r"(?:^|[.!?;\n] ?|\b(?:and|now|so|ok|okay|hey|hi)\b,? )(?:"
    rf"in (?:my|our|the|this|that|a) (?:[\w-]+ ){{0,2}}{WORKS}\b|in (?:meinem|meiner|dem|der|einem|einer) (?:\w+ )?{WORKS}\b"
    rf"|dans (?:mon|ma|le|la|un|une|notre) ?(?:\w+ )?{WORKS}\b|en (?:mi|el|la|un|una|nuestra) (?:\w+ )?{WORKS}\b"
    r"|(?:please |let us |let's |lass uns )?(?:imagine|pretend|suppose|assume|act as|act like|role-?play|play the (?:role|part)"
    r"|say(?: that)? I\b|you are now|stell dir vor|angenommen|tu so|nehmen wir an|imaginons|supposons|fais comme si|imagina"
    r"|supongamos|supón|haz como si)\b"
    r"|(?:hypothetically|what if|was wäre|et si|y si|qué pasaría)\b"
    r"|(?:my|the|our|meine?|mon|mi) (?:main )?(?:character|protagonist|avatar|persona|figur|personnage|personaje)\b)",
    re.IGNORECASE,
)
SAYS = (
    r"(?:said|says|told|tells|wrote|writes|asked|replied|texted|sang|sings|claims?|claimed|quotes?|sagte|sagt|schrieb|meinte"
    r"|behauptet"
    r"|erzählte|fragte|a (?:dit|écrit|répondu|demandé)|disait|dit|dijo|dice|escribió|preguntó|respondió)"
)
# Whose words follow, if not the speaker's.
HEARSAY = re.compile(
    rf"\b(?:(?!(?:I|you|we|ich|je|yo|j)\b)[^\W\d_]+) {SAYS}\b|\baccording to\b|\blaut \w+|\bd'après\b|\bsegún\b"
    r"|^(?:please )?(?:write|draft|compose|create|generate)\b.{0,80}\b(?:saying|that says|telling|about|where|in which"
    r"|explaining)\b",
    re.IGNORECASE,
)


def own_part(text: str) -> str:
    """What is before a fiction begins; nothing of a message that asks for work on a text."""
    if TEXT_WORK.search(text):
        return ""
    fiction = FICTION.search(text)
    return text[: fiction.start()] if fiction else text


def is_hearsay(sentence: str) -> bool:
    return HEARSAY.search(sentence) is not None
