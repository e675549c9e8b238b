"""Applies corrections to an earlier statement: values alone ("No, 2016"), and values beside wrong ones ("2016, not 2015")."""

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import Final

from msgspec import structs

from agents.models.answers.drafts import Draft
from agents.models.offline.contrasts import TAKES_BACK, Contrast, contrast
from agents.models.offline.earlier_statements import (
    Earlier,
    corrected_draft,
    earlier_statements,
    remembered,
    statement_meant,
)
from agents.models.offline.rules.lasting_instructions.wording import wording
from agents.models.offline.statements import LANGUAGE_RULES, readable_beginning, safe_sentences
from schemas.extraction.requests import ExtractionRequest, SliceMessage
from schemas.memories.memories import Memory

# Regret about news, which a sentence of its own follows: "Oh no! Peter broke his leg."
REGRET: Final = re.compile(r"^\W*(?:oh|ah|ach|ay|och) (?:no|nein|nee|non)\s*(?:[!.…]|\W*$)", re.IGNORECASE)
# Only from the beginning of a sentence on: a search from each of its characters takes quadratic time.
QUESTION: Final = re.compile(r"(?<![^.!?…\n])[^.!?…\n]*\?")
MAX_CONTRASTS: Final = 8  # of a message, each compared with all earlier statements
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
VALUES: Final = "|".join(form.pattern for form in FORMS[:-1])
# Words after "scratch that" that give another value.
OTHER_VALUE: Final = re.compile(
    r"\W*(?:(?:please )?make (?:it|that)\b|I meant?\b|ich meint?e\b|je voulais dire\b|quise decir\b"
    r"|(?:(?:it|that|there|they)(?:'s|'re| is| are| was| were)|es (?:ist|sind|war\w*)|c'est|es|son|the|on|at|am|um|le|el) "
    rf"(?:the |on |at |am |um |le |el )?(?:{VALUES})|(?:{VALUES}))",
    re.IGNORECASE,
)
FOLLOWED_BY: Final = {NAME: ENDS_CLAUSE}  # what follows a value of this form in a correction
AFTER_ARTICLE: Final = re.compile(
    r"\b(?:de[rmns]|die|das|(?:k?ein|mein|dein|sein|ihr|unser)(?:e[rmns]?)?) $", re.IGNORECASE
)
LONGEST_ARTICLE: Final = len("unserem ")  # characters
NO_VALUE: Final = frozenset({"User", "Nutzer", "Der", "El", "L'utilisateur", "I", "I'm"})


def with_corrections(
    request: ExtractionRequest, drafts: Sequence[Draft], known: Callable[[SliceMessage], Mapping[int, Memory]]
) -> list[Draft]:
    """The drafts, and for each correction in the slice the person's earlier statement with the corrected value. It replaces
    drafts of the correction itself ("Sorry, Tuesday at ten"). `known` returns the memories of a message's speaker by number."""
    found = list(drafts)
    pairs: list[tuple[Draft, Draft]] = []  # corrected statements, and those of the slice that they correct
    latest: dict[str | None, int] = {}
    for number, message in enumerate(request.messages, start=1):
        if message.role != "user":
            continue
        before = latest.get(message.user_id)
        latest[message.user_id] = number
        correction = QUESTION.sub("", message.content)
        own = [each for each in drafts if each.messages == [number]]
        named = filter(None, map(contrast, safe_sentences(readable_beginning(correction))))
        contrasts = list(islice(named, MAX_CONTRASTS))
        for values in contrasts:
            stating = [each for each in own if values.is_stated_by(each.text)]
            wrong = [old for _, old in pairs]
            others = [each for each in found if each not in stating and each not in wrong]
            earlier = [*earlier_statements(request, number, others), *remembered(known(message), number)]
            meant = statement_meant(values, earlier, takes_back=is_correction(correction))
            found = amended(found, pairs, meant, stating, number)
        if not contrasts and is_correction(correction) and all(map(is_quotation, own)):
            said = [each for each in drafts if each.messages == [before]]
            meant = with_bare_value([*earlier_statements(request, number, said)], correction)
            found = amended(found, pairs, meant, own, number)
    places = {id(each): place for place, each in enumerate(found, start=1)}
    corrects = {id(right): [places[id(old)]] for right, old in pairs if id(old) in places}
    return [structs.replace(each, corrects=corrects.get(id(each), each.corrects)) for each in found]


def amended(
    found: list[Draft],
    pairs: list[tuple[Draft, Draft]],
    meant: tuple[Earlier, str] | None,
    own: Sequence[Draft],
    number: int,
) -> list[Draft]:
    """The drafts with the corrected statement, if one is `meant`, in the place of the correction's `own`."""
    if meant is None:
        return found
    right = corrected_draft(*meant, number)
    if meant[0].known_as is None:
        pairs.append((right, meant[0].draft))
    return [each for each in found if each not in own] + [right]


def is_quotation(draft: Draft) -> bool:
    """Whether the draft only quotes the user's words, as no rule read them."""
    return any(wording(language).quotation.match(draft.text) for language in LANGUAGE_RULES)


def is_correction(text: str) -> bool:
    return len(text.split()) <= MAX_WORDS and TAKES_BACK.match(text) is not None and not REGRET.match(text)


def gives_other_value(text: str) -> bool:
    """Whether the words after "scratch that" give the right value."""
    return OTHER_VALUE.match(text) is not None or contrast(text) is not None


def with_bare_value(earlier: Sequence[Earlier], correction: str) -> tuple[Earlier, str] | None:
    """The only statement with a single value of the correction's form (a time, a year, a name ...), and its text with the new
    value; None if several statements or values may be meant."""
    for form in FORMS:
        new = values(form, correction)
        if not new:
            continue
        having = [(each, old) for each in earlier if len(old := values(form, each.draft.text)) == 1]
        if having and all(old == new for _, old in having):
            continue  # "Tuesday at ten" after "Monday at ten"
        if not re.search(re.escape(new[0]) + FOLLOWED_BY.get(form, ""), correction):
            return None
        if len(new) == 1 and len(having) == 1 and having[0][1] != new:
            return statement_meant(Contrast(new[0], having[0][1][0]), [having[0][0]])
        return None
    return None


def values(form: re.Pattern[str], text: str) -> list[str]:
    """The values of this form. A word with a capital after a German article is a thing ("der Zug"), and no name."""
    found = (each[0] for each in form.finditer(text) if not follows_article(each))
    return [each for each in dict.fromkeys(found) if each not in NO_VALUE]


def follows_article(value: re.Match[str]) -> bool:
    start = value.start()
    return AFTER_ARTICLE.search(value.string, max(0, start - LONGEST_ARTICLE), start) is not None
