"""Who of those who spoke is named in a question, and the question without their names. Pure."""

from collections.abc import Collection, Iterable

from agents.passages.words import WORD, question_words, stems


def named(speakers: Iterable[str], words: Collection[str]) -> tuple[str, ...]:
    """Speakers all of whose words are among those of the question, each once. An id of digits alone is no name: a question has
    numbers of other things."""
    asked = set(words)
    return tuple(speaker for speaker in dict.fromkeys(speakers) if is_named(set(stems(speaker)), asked))


def is_named(name: Collection[str], asked: Collection[str]) -> bool:
    return any(stem.isalpha() for stem in name) and all(stem in asked for stem in name)


def without_names(text: str, speakers: Iterable[str]) -> str:
    """The text without the speakers' names; nothing where no other word says something."""
    names = {stem for speaker in speakers for stem in stems(speaker)}
    kept = WORD.sub(lambda word: "" if is_of(word[0], names) else word[0], text.replace("’", "'"))
    return " ".join(kept.split()) if question_words(kept) else ""


def is_of(word: str, names: Collection[str]) -> bool:
    own = stems(word)
    return bool(own) and all(stem in names for stem in own)
