"""Corrects typos of one letter in important words: "alergic", "vegitarian", "diabetis"."""

import re
from functools import lru_cache
from typing import Final
from unicodedata import combining, normalize

WORDS: Final = {
    "en": "allergic allergy intolerant intolerance vegetarian diabetic diabetes pregnant breastfeeding wheelchair epileptic"
    " epilepsy gluten lactose peanuts shellfish celiac coeliac penicillin medication kosher",
    "de": "allergisch allergie intoleranz vegetarier vegetarisch schwanger laktose rollstuhl zöliakie erdnüsse diabetes gluten"
    " penicillin koscher",
    "fr": "allergique allergie intolérance intolérante végétarien végétarienne végétalien végétalienne enceinte diabétique"
    " diabète arachides gluten lactose casher cœliaque",
    "es": "alérgico alérgica intolerancia intolerante vegetariano vegetariana embarazada celíaco celíaca diabético diabética"
    " diabetes lactosa alergia cacahuetes gluten",
}
MIN_LETTERS: Final = 6  # shorter words are one letter away from too many other words
LONG_WORD: Final = re.compile(rf"[^\W\d_]{{{MIN_LETTERS},16}}")


def without_one_letter(word: str) -> set[str]:
    return {word[:at] + word[at + 1 :] for at in range(len(word))}


KNOWN_WORDS: Final = frozenset(" ".join(WORDS.values()).split())  # in any language, and so no typo


def _corrections(words: str) -> dict[str, str]:
    known = words.split()
    return {
        part: word for word in known for part in (word, *without_one_letter(word)) if part not in known or part == word
    }


# Two words differ by a typo if they are equal without one letter of either.
CORRECTIONS: Final = {code: _corrections(words) for code, words in WORDS.items()}


def without_typos(text: str, code: str) -> str:
    """The text with typos in the WORDS of its language corrected. A capital at the beginning of a word stays."""
    return LONG_WORD.sub(lambda found: corrected_word(found[0], code), text)


@lru_cache(maxsize=4_096)
def corrected_word(word: str, code: str) -> str:
    lowered, meant = word.lower(), CORRECTIONS[code]
    if lowered in KNOWN_WORDS or inflected(lowered):
        return word
    near = [meant[each] for each in (lowered, *sorted(without_one_letter(lowered))) if each in meant]
    near.sort(
        key=lambda each: (without_accents(each) != without_accents(lowered), len(each) == len(word))
    )  # a wrong accent, then a missing letter
    known = next((each for each in near if each[0] == lowered[0] and is_slip(lowered, each)), None)
    if known is None:
        return word
    return known.capitalize() if word[0].isupper() else known


def without_accents(word: str) -> str:
    """The word without accents."""
    return "".join(each for each in normalize("NFD", word) if not combining(each))


def is_slip(word: str, known: str) -> bool:
    """Whether two words differ by one letter more, less or different, or by two exchanged letters."""
    if len(word) != len(known):
        return True
    others = [at for at, letter in enumerate(word) if letter != known[at]]
    return len(others) == 1 or (len(others) == 2 and word[others[0]] == known[others[1]])


def inflected(word: str) -> bool:
    """Whether the word is a form of a known word, and so no typo: "vegetarians", "allergies", "peanut"."""
    return any(word.startswith((each, f"{each[:-1]}ie")) or each == f"{word}s" for each in KNOWN_WORDS)
