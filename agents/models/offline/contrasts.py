"""Reads sentences that name a wrong value and the right one ("Thursday, not Tuesday"), and corrects statements by them."""

import re
from collections.abc import Iterator
from datetime import date, datetime
from typing import Final, NamedTuple

from agents.models.dates.date_matches import FoundDate
from agents.models.dates.dates import dates_in
from agents.models.dates.words import MONTHS, WEEKDAYS
from agents.models.offline.rules.findings.relations import WORD

# Words that open a correction.
TAKES_BACK: Final = re.compile(
    r"^\W*(?:(?:oh|ah|hm+|um+|uh+|er+|ach|äh+|euh|eh|and|but|aber|mais|pero|ok|okay)[ ,.!]+){0,3}"
    r"(?:sorry|oops|ups|whoops|wait|no|nope|nah|i meant?|i misspoke|my mistake|make that|or rather|correction|scratch that"
    r"|actually|hang on|my bad|typo|entschuldigung|verzeihung|nein|quatsch|moment|falsch|ich mein(?:e|te)|besser gesagt"
    r"|korrektur|doch nicht|stimmt nicht|tut mir leid|pardon|désolée?|non|attends?|je me suis trompée?"
    r"|je (?:veux|voulais) dire|ou plutôt|erreur|perdón|espera|qui(?:ero|se) decir|mejor dicho|me equivoqué|lo siento|error"
    r"|corrección)\b|^\*",
    re.IGNORECASE,
)
NOT: Final = r"(?:not|nicht|pas|no)"
VALUE: Final = r"[^,;.!?:–—]|(?<=\d)[.,:](?=\d)|(?<=\d)\.(?= [^\W\d])"
AFTERTHOUGHT: Final = (
    r"(?:[,.!;–— ]+(?:sorry|my (?:bad|mistake)|of course|lol|haha|oops|entschuldigung|pardon|désolée?|perdón"
    r"|lo siento))*"
)
CONTRASTS: Final = (
    re.compile(
        rf"(?P<about>.*?)\b{NOT} (?P<old>(?:{VALUE}){{1,40}}?),? (?:but|sondern|mais|sino)(?: rather)? "
        rf"(?P<new>(?:{VALUE}){{1,40}}?){AFTERTHOUGHT}\W*",
        re.IGNORECASE,
    ),
    re.compile(
        rf"(?P<about>.+?)(?P<apart>,| [–—-])? (?:and |und |et |y )?{NOT} (?P<old>(?:{VALUE}){{1,40}}?){AFTERTHOUGHT}\W*",
        re.IGNORECASE,
    ),
)
# Words before a value that are no part of it.
LEADING: Final = re.compile(
    r"^(?:(?:on|in|at|to|the|an?|from|by|for|with|my|our|am|im|ins?|um|den|dem|der|die|das|nach|bei|mit|zum|zur|für|mein\w*"
    r"|eine?[nr]?|le|la|les|une?|à|au|en|chez|de|du|avec|pour|mon|ma|son|est|ist|sind|is|es|el|los|las|una?|del|al|con|para|mis?) |l')+",
    re.IGNORECASE,
)
ORDINAL: Final = re.compile(r"(?P<day>\d{1,2})(?:st|nd|rd|th|er|\.)?", re.IGNORECASE)
REMARK: Final = re.compile(r"(?P<label> \([^\W\d]+: )(?P<words>[^()]*)\)")
# Words of a correction that say nothing about its subject.
EMPTY_WORDS: Final = (
    "also that this they there name number date time called have should really heißt habe hatte sind waren wird datum suis appelle"
    " était sont étaient tengo tiene tenemos estoy está llama nombre fecha somos eran"
)
EMPTY: Final = frozenset(EMPTY_WORDS.split())
DATES: Final = frozenset(" ".join((*MONTHS.values(), *WEEKDAYS.values())).split())
LEAST_LETTERS: Final = 4  # of a word that tells the subject


class Contrast(NamedTuple):
    """The right value, the wrong one, and the further words of the sentence."""

    new: str
    old: str
    beside: frozenset[str] = frozenset()

    @property
    def subject(self) -> frozenset[str]:
        """The words that tell what the values are of."""
        return frozenset(each for each in self.beside - EMPTY - DATES if len(each) >= LEAST_LETTERS)

    def is_about(self, text: str) -> bool:
        """Whether a text has all words of the subject, inflected or not."""
        said = words(text)
        return all(any(is_form_of(word, each) for each in said) for word in self.subject)

    def shared(self, text: str) -> int:
        """How many of the further words a text has."""
        return len(self.beside & words(text))

    def is_stated_by(self, text: str) -> bool:
        """Whether a text is made of the correction."""
        return self.is_about(text) and contrast(REMARK.sub("", text)) is not None


def contrast(sentence: str) -> Contrast | None:
    """The values of a sentence that ends with "not <the wrong one>", or has "not <the wrong one> but <the right one>"."""
    for pattern in CONTRASTS:
        match = pattern.fullmatch(sentence.strip())
        if match is None:
            continue
        found, old = match.groupdict(), bare(match["old"])
        new = bare(first_value(found["new"], old) if "new" in found else last_value(found["about"], old))
        if (
            not new
            or not old
            or new.casefold() == old.casefold()
            or not (is_apart(found) or (has_digit(new) and has_digit(old)))
        ):
            continue
        beside = words(f"{without_opening(found['about'])} {found.get('new', '')}") - words(new)
        return Contrast(new, old, frozenset(beside))
    return None


def is_apart(found: dict[str, str]) -> bool:
    """Whether the values are opposed to each other: "I do not like" has only a negation."""
    return bool(found.get("apart") or found.get("new"))


def without_opening(text: str) -> str:
    while opening := TAKES_BACK.match(text):
        text = text[opening.end() :]
    return text


def bare(value: str) -> str:
    return LEADING.sub("", value.strip(), count=1).strip(" ,;:–—-")


def first_value(text: str, old: str) -> str:
    """The first words of a text that are a value like `old`: "4" of "4 chairs"."""
    said, count = text.split(), len(old.split())
    return " ".join(said[:count]) if has_digit(old) else text


def last_value(text: str, old: str) -> str:
    """The last words of a text that are a value like `old`: with a digit, a name, or as many words."""
    said, count = text.replace(",", " ").split(), len(old.split())
    last = said[-count:]
    if has_digit(old) and not has_digit(" ".join(last)):
        return next((each for each in reversed(said) if has_digit(each)), "")
    if old[:1].isupper() and said[-1:] and said[-1][:1].isupper():
        first = next((at for at in range(len(said), 0, -1) if not said[at - 1][:1].isupper()), 0)
        last = said[first:] or last
    return " ".join(last)


def has_digit(text: str) -> bool:
    return any(char.isdigit() for char in text)


def words(text: str) -> set[str]:
    return set(WORD.findall(text.casefold()))


def is_form_of(word: str, other: str) -> bool:
    """Whether two words may be forms of one: "lives" and "live", "wohne" and "wohnt"."""
    stem = max(3, min(len(word), len(other)) - 2)
    return word[:stem] == other[:stem]


def corrected(text: str, values: Contrast, said_at: datetime, language: str) -> str | None:
    """The text with the right value in the place of the wrong one; None if it does not have that one exactly once. A memory
    has a day as a date, by the time `said_at` of its message."""
    remark = REMARK.search(text)
    main = text if remark is None else text[: remark.start()] + text[remark.end() :]
    said = "" if remark is None else remark["words"]
    if (once := replaced_once(main, values.old, values.new)) is None:
        days = days_of(values, said_at, language) or days_of_month(main, values)
        once = days and replaced_once(main, days[0].isoformat(), days[1].isoformat())
        said = replaced_once(said, values.old, values.new) or ""
    if not once or remark is None or not said:
        return once or None
    return f"{once.rstrip('.')}{remark['label']}{said})."


def replaced_once(text: str, old: str, new: str) -> str | None:
    """The text with `new` in the place of the words `old`; None unless these are there exactly once."""
    found = list(re.finditer(rf"(?<![\w-]){re.escape(old)}(?![\w-]|[.:,]\d)", text, re.IGNORECASE))
    return f"{text[: found[0].start()]}{new}{text[found[0].end() :]}" if len(found) == 1 else None


def days_of(values: Contrast, said_at: datetime, language: str) -> tuple[date, date] | None:
    old, new = (only_day(dates_in(f"on {value}", said_at, language)) for value in (values.old, values.new))
    return (old, new) if old and new else None


def only_day(found: list[FoundDate]) -> date | None:
    return found[0].day if len(found) == 1 and found[0].days == 1 else None


def days_of_month(text: str, values: Contrast) -> tuple[date, date] | None:
    """The days that "the 12th" and "the 13th" mean in a text with one date of such a day."""
    old, new = ORDINAL.fullmatch(values.old), ORDINAL.fullmatch(values.new)
    if old is None or new is None:
        return None
    named = {each for each in dates_written(text) if each.day == int(old["day"])}
    if len(named) != 1:
        return None
    (day,) = named
    try:
        return day, day.replace(day=int(new["day"]))
    except ValueError:
        return None


def dates_written(text: str) -> Iterator[date]:
    for each in re.findall(r"(?<!\d)\d{4}-\d{2}-\d{2}(?!\d)", text):
        try:
            yield date.fromisoformat(each)
        except ValueError:
            continue
