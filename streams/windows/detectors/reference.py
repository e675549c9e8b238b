"""Detects references to earlier messages: statements, outputs or agreements before. Several in one message count several
times."""

from typing import Final

from streams.windows.detectors.rule import rule

APART_CHARS: Final = 28  # two triggers within one phrase ("as I said earlier") are one reference

SPOKEN: Final = (
    "as i ",
    "as we ",
    "as you ",
    "as ",
    "like i ",
    "like you ",
    "what you ",
    "as already ",
    "you ",
    "we ",
    "i ",
)
OF_OURS: Final = ("your ", "my ", "the ", "that ", "this ")
TURN: Final = r" (?:\w{1,20} )?(?:message|answer|question|reply|replies|response|point|example|suggestion|version)s?\b"

ENGLISH: Final = (
    rule(
        "said mentioned discussed agreed explained suggested described",
        after=SPOKEN,
        unless=("he ", "she ", "they ", "have you ", "did you ", "have we "),
    ),
    rule("told", after=("i ", "you "), then=r" (?:you|me)\b"),
    rule("showed sent gave", after=("you ",), then=r" (?:me|us)\b"),
    rule("earlier", after=("from ", "me ", "you ", "asked ", "wrote ", "did ", "had ", "your ")),
    rule(
        "above",
        after=(
            "see ",
            "me ",
            "as ",
            "from ",
            "shown ",
            "listed ",
            "code ",
            "example ",
            "table ",
            "message ",
            "list ",
            "text ",
            "figure ",
        ),
    ),
    rule("previous", after=OF_OURS, then=TURN),
    rule("last", after=("your ", "my "), then=TURN),
    rule("before", after=("as ", "like ", "asked ")),
    rule(
        "remember", unless=("can t ", "don t "), then=r" (?:when|(?:what|how) (?:i|you|we)|the \w{1,20} (?:i|you|we))\b"
    ),
    rule(
        "back",
        after=("going ", "coming ", "go ", "come "),
        then=r" to (?:what|your|the (?:question|point|first|topic|issue))\b",
    ),
    rule("aforementioned"),
)
GERMAN: Final = (
    rule("erwähnt", after=("wie ", "bereits ", "schon ", "oben ", "vorhin ")),
    rule("gesagt", after=("wie ", "wie schon ", "bereits ", "oben ", "du ", "ich ", "vorhin ")),
    rule("vorhin"),
    rule("oben", after=("wie ", "siehe ", "das von ", "text ", "tabelle ", "beispiel ", "liste ")),
    rule("besprochen vereinbart", after=("wie ", "wir ", "bereits ")),
    rule(
        "vorherige vorherigen vorige vorigen letzte letzten",
        then=r" (?:nachricht|antwort|frage|vorschlag|version|beispiel)\b",
    ),
)
FRENCH: Final = (
    rule(
        "dit mentionné expliqué indiqué convenu",
        after=("je l ai ", "tu l as ", "vous l avez ", "comme ", "déjà ", "m as ", "t ai "),
    ),
    rule("haut", after=("plus ",), then=r"(?! que\b)"),
    rule("dessus", after=("ci ",)),
    rule("précédent précédente", after=("message ", "réponse ", "question ", "exemple ", "version ", "proposition ")),
)
SPANISH: Final = (
    rule("dije mencioné expliqué comenté", after=("te ", "como ", "ya ", "le ", "lo que ")),
    rule("dijiste mencionaste explicaste mostraste", after=("me ", "que ", "como ", "lo que ", "ya ")),
    rule("comentamos hablamos acordamos quedamos", after=("como ", "que ", "lo que ", "ya ")),
    rule("anterior", after=("respuesta ", "mensaje ", "pregunta ", "ejemplo ", "versión ", "propuesta ")),
)
RULES: Final = ENGLISH + GERMAN + FRENCH + SPANISH


def count_separate(starts: list[int]) -> int:
    """How many references begin at these places; those close together count as one."""
    count, last = 0, -APART_CHARS
    for start in sorted(starts):
        count += start - last >= APART_CHARS
        last = start
    return count
