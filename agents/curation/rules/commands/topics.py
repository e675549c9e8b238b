"""Tells whether a memory is about the topic of a wish to forget: "my job", "everything about my health", "Yasmin"."""

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Final

import msgspec

from agents.curation.rules.attributes.readings import readings
from agents.curation.rules.commands.themes import is_of_theme, relatives, theme_of
from agents.curation.rules.statements import words
from agents.curation.rules.statements.meaning import meaning
from agents.curation.rules.statements.normalise import normalise
from agents.curation.rules.statements.statement import Statement, statement
from schemas.memories.memories import Memory

TOPICS: Final = Path(__file__).with_name("topics.json")
# Words of a topic without content: `my old job`, `all the details of my job`.
EMPTY: Final = words.words(
    "old new current previous last own everything anything all details thing things fact facts part alte neue aktuelle alles"
    " ancien nouveau actuel tout détails viejo nuevo actual todo detalles where how who when which what wo wie wer was wann où"
    " comment qui quand dónde cómo cuándo meinen meinem meiner meines unsere unseren unserem unserer"
)
VERB_ENDING: Final = re.compile(r"(?:ée?s?|er|e)$")  # endings that `meaning` does not remove
MIN_STEM_LETTERS: Final = 5  # letters: shorter stems ("department") may belong to another word
OWN: Final = words.words(
    "my our mein meine unser unsere mon ma mes notre nos mi mis nuestro nuestra nuestros nuestras the die das la le"
)
ABOUT: Final = words.words("about über sur sobre")
CAUSES: Final = words.words("because weil denn parce puisque porque")
# Words behind the head of a topic: "my job at Siemens", "mi trabajo en la panadería", "my job because of the smell". English
# articles look like Spanish and German prepositions ("having an affair"); "d'" is two words in the normal form.
BEHIND_HEAD: Final = (
    CAUSES
    | {"d"}
    | words.words(" ".join((*words.PREPOSITIONS.values(), *words.CONJUNCTIONS.values())).replace("|", " "))
) - {"a", "an"}
POSSESSIVE: Final = re.compile(r"['’]s(?= )")


def is_about(memory: Memory, topic: str) -> bool:
    """Whether a memory is about the topic; about the user's own, unless the topic names another person."""
    topic = POSSESSIVE.sub(" ", topic)
    if (theme := theme_named(topic)) is not None:
        return is_of_theme(memory, theme)
    of_topic = statement(f"about {topic}")
    named, whose, memory_statement = set(of_topic.names), relations(of_topic.tokens), statement(memory.text)
    if named and named <= set(memory_statement.tokens) and whose <= set(memory_statement.content):
        return True
    if not relatives(memory.text) <= whose:
        return False
    if {each.attribute for each in readings(memory.text)} & attributes(topic):
        return True
    content, head = content_of(of_topic), head_of(topic)
    if is_of_its_theme(memory, head):
        content -= {meaning(head)}
    tagged = {meaning(word) for tag in (*memory.tags, memory.kind) for word in normalise(tag).split()}
    words_of_memory = {*memory_statement.content, *tagged}
    verbs = {VERB_ENDING.sub("", each) for each in words_of_memory}
    return bool(content) and all(each in words_of_memory or verb_stem(each) in verbs for each in content)


def head_of(topic: str) -> str:
    """The head of a topic: "job" of "my bakery job" and of "my job at the bakery"."""
    phrase = normalise(topic).split()
    end = next((at for at, word in enumerate(phrase) if at and word in BEHIND_HEAD), len(phrase))
    return phrase[end - 1] if phrase else ""


def is_of_its_theme(memory: Memory, noun: str) -> bool:
    """Whether the noun names a theme, such as "job", and the memory is of it: "works in a bakery"."""
    theme = theme_of(noun)
    return theme is not None and is_of_theme(memory, theme)


def content_of(of_topic: Statement) -> set[str]:
    """The content words of a topic, read as "about <topic>"."""
    return {each for each in of_topic.content if each not in EMPTY | OWN} - {
        meaning(each) for each in ("about", *CAUSES)
    }


def named_by(topic: str) -> frozenset[str]:
    """The names of a topic such as "Yasmin" or "my sister Clara". Empty for a theme, and for a thing ("my job", "meinen Umzug",
    "Clara's wedding"): in German nouns look like names, and a common word in a message says little."""
    plain = POSSESSIVE.sub(" ", topic)
    of_topic = statement(f"about {plain}")
    named, whose = frozenset(of_topic.names) - words.RELATIONS, relations(of_topic.tokens)
    further = {each for each in content_of(of_topic) if each not in whose} - {meaning(each) for each in named}
    is_person = not further and (plain[:1].isupper() or bool(whose))
    return named if is_person and theme_named(plain) is None else frozenset()


def names_topic(content: str, topic: str) -> bool:
    """Whether a message has all names of a topic, and names no other person or animal than a topic such as "my sister Clara"."""
    said = statement(POSSESSIVE.sub(" ", f"User: {content} "))
    named, whose = named_by(topic), relations(statement(POSSESSIVE.sub(" ", topic)).tokens)
    others = relations(said.tokens)
    return bool(named) and named <= set(said.tokens) and (not whose or not others or whose <= others)


def verb_stem(noun: str) -> str | None:
    """The stem of the verb from which a noun in -ement is formed: "engagement", "déménagement"."""
    verb = noun.removesuffix("ement")
    return verb if verb != noun and len(verb) >= MIN_STEM_LETTERS else None


def theme_named(topic: str) -> str | None:
    """The theme of a topic such as "my health" or "everything about my family"; None for "Tom's family"."""
    remaining = [each for each in normalise(POSSESSIVE.sub(" ", topic)).split() if each not in EMPTY | OWN | ABOUT]
    return theme_of(" ".join(remaining))


def relations(tokens: Sequence[str]) -> frozenset[str]:
    """The user's people and animals that are named."""
    return frozenset(meaning(each) for each in tokens if each in words.RELATIONS)


def attributes(topic: str) -> frozenset[str]:
    """The attributes that a topic names, if it names nothing else: the user's "job", "where I live"; not "my wife's job"."""
    phrase = normalise(topic)
    plain = " ".join(each for each in phrase.split() if each not in EMPTY | words.GENERIC_SUBJECTS)
    return frozenset(name for name, phrases in topics().items() if phrase in phrases or plain in phrases)


@cache
def topics() -> dict[str, frozenset[str]]:
    """Normalised words for each attribute."""
    listed = msgspec.json.decode(TOPICS.read_bytes(), type=dict[str, tuple[str, ...]])
    return {name: frozenset(map(normalise, phrases)) for name, phrases in listed.items()}
