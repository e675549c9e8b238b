"""Applies corrections that are no sentences ("No, 2016") to an earlier statement."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import structs

from agents.models.answers.drafts import Draft
from agents.models.offline.rules.findings.relations import words
from agents.models.offline.rules.lasting_instructions.wording import wording
from agents.models.offline.statements import LANGUAGE_RULES
from schemas.extraction.requests import ExtractionRequest

TAKES_BACK: Final = re.compile(
    r"^\W*(?:(?:oh|ah|hm+|um+|uh+|er+|ach|äh+|euh|eh|and|but|aber|mais|pero|ok|okay)[ ,.!]+){0,3}"
    r"(?:sorry|oops|whoops|wait|no|nope|nah|i meant?|make that|or rather|correction|scratch that|actually|hang on|my bad|typo"
    r"|entschuldigung|verzeihung|nein|quatsch|moment|falsch|ich mein(?:e|te)|besser gesagt|korrektur"
    r"|doch nicht|pardon|non|attends?"
    r"|je (?:veux|voulais) dire|ou plutôt|erreur|perdón|espera|qui(?:ero|se) decir|mejor dicho|me equivoqué|error)\b|^\*",
    re.IGNORECASE,
)
# Regret about news, which a sentence of its own follows: "Oh no! Peter broke his leg."
REGRET: Final = re.compile(r"^\W*(?:oh|ah|ach|ay|och) (?:no|nein|nee|non)\s*(?:[!.…]|\W*$)", re.IGNORECASE)
# Only from the beginning of a sentence on: a search from each of its characters takes quadratic time.
QUESTION: Final = re.compile(r"(?<![^.!?…\n])[^.!?…\n]*\?")
MAX_WORDS: Final = 12  # of a correction; a longer one is a sentence of its own
# A name with a capital, in the middle of a text.
NAME: Final = re.compile(r"(?<=[\w,*] )[A-ZÀ-Þ][\w'-]*[a-zà-ÿ]\b|(?<=\*)[A-ZÀ-Þ][\w'-]*[a-zà-ÿ]\b")
# A corrected name ends its clause; "No, Peter lives there" is a statement about him.
ENDS_CLAUSE: Final = (
    r"(?!\w)(?= *(?:[^\w\s]|$)| (?:actually|instead|not|rather|though|sorry|nicht|natürlich|statt|pas|plutôt|no)\b)"
)
# Forms of values that a correction may replace, the most specific first.
FORMS: Final = (
    re.compile(r"\b\d{1,2}[:.]\d{2}\b"),
    re.compile(r"\b(?:19|20)\d{2}\b"),
    re.compile(r"(?<![\w:.,-])\d[\d.,-]*(?![\w:])"),
    re.compile(
        r"\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf"
        r"|zwölf|deux|trois|quatre|cinq|sept|huit|neuf|dix|onze|douze|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|once"
        r"|doce)\b",
        re.IGNORECASE,
    ),
    re.compile(
        r"\b(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:mon|diens|donners|frei|sams|sonn)tag|mittwoch"
        r"|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche|lunes|martes|miércoles|jueves|viernes|sábado|domingo)s?\b",
        re.IGNORECASE,
    ),
    NAME,
)
FOLLOWED_BY: Final = {NAME: ENDS_CLAUSE}  # what follows a value of this form in a correction
AFTER_ARTICLE: Final = re.compile(
    r"\b(?:de[rmns]|die|das|(?:k?ein|mein|dein|sein|ihr|unser)(?:e[rmns]?)?) $", re.IGNORECASE
)
LONGEST_ARTICLE: Final = len("unserem ")  # characters
NO_VALUE: Final = frozenset({"User", "Nutzer", "Der", "El", "L'utilisateur", "I", "I'm"})


def with_corrections(request: ExtractionRequest, drafts: Sequence[Draft]) -> list[Draft]:
    """The drafts, and for each correction in the slice the person's earlier statement with the corrected value. It replaces a
    draft that only quotes the correction ("Sorry, Tuesday at ten")."""
    found = list(drafts)
    latest: dict[str | None, int] = {}
    for number, message in enumerate(request.messages, start=1):
        if message.role != "user":
            continue
        before = latest.get(message.user_id)
        latest[message.user_id] = number
        own = [each for each in drafts if each.messages == [number]]
        correction = QUESTION.sub("", message.content)
        if is_correction(correction) and all(map(is_quotation, own)):
            instead = list(corrected([each for each in drafts if each.messages == [before]], number, correction))
            found = [each for each in found if not instead or each not in own] + instead
    return found


def is_quotation(draft: Draft) -> bool:
    """Whether the draft only quotes the user's words, as no rule read them."""
    return any(wording(language).quotation.match(draft.text) for language in LANGUAGE_RULES)


def is_correction(text: str) -> bool:
    return len(text.split()) <= MAX_WORDS and TAKES_BACK.match(text) is not None and not REGRET.match(text)


def corrected(drafts: Sequence[Draft], number: int, correction: str) -> Iterator[Draft]:
    """The only statement with a single value of the correction's form (a time, a year, a name ...), with the new value; nothing
    if several statements or values may be meant."""
    for form in FORMS:
        new = values(form, correction)
        if not new:
            continue
        having = [(each, old) for each in drafts if len(old := values(form, each.text)) == 1]
        if having and all(old == new for _, old in having):
            continue  # "Tuesday at ten" after "Monday at ten"
        if not re.search(re.escape(new[0]) + FOLLOWED_BY.get(form, ""), correction):
            return
        if len(new) == 1 and len(having) == 1 and having[0][1] != new:
            draft, old = having[0]
            text = draft.text.replace(old[0], new[0])
            if words(text) != words(draft.text):
                yield structs.replace(draft, text=text, messages=[number], event_time=None, repeats=None)
        return


def values(form: re.Pattern[str], text: str) -> list[str]:
    """The values of this form. A word with a capital after a German article is a thing ("der Zug"), and no name."""
    found = (each[0] for each in form.finditer(text) if not follows_article(each))
    return [each for each in dict.fromkeys(found) if each not in NO_VALUE]


def follows_article(value: re.Match[str]) -> bool:
    start = value.start()
    return AFTER_ARTICLE.search(value.string, max(0, start - LONGEST_ARTICLE), start) is not None
