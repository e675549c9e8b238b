"""Detects messages that repeat something that their user asked to forget. In doubt a message is no repeat."""

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Final

from agents.curation.rules.attributes.attribute_values import owners
from agents.curation.rules.attributes.readings import readings
from agents.curation.rules.statements import words
from agents.curation.rules.statements.guards import other_negation, other_preference
from agents.curation.rules.statements.meaning import meaning
from agents.curation.rules.statements.normalise import normalise
from agents.curation.rules.statements.statement import Statement, statement

FIRST_PERSON: Final = words.words(
    "i im ive my we our ours mine ich mein meine meinem meinen meiner meines wir unser unsere je j jai mon ma mes moi nous notre"
    " yo mi mis vivo tengo soy estoy nuestro nuestra"
)
OTHERS: Final = words.words(
    "he she they his her their someone somebody anyone anybody everyone who whose you your er sein seine seinem seinen jemand wer"
    " du dein deine il elle leur quelqu qui vous votre tu él ella alguien quien quién usted su sus"
)
CONDITIONS: Final = words.words("if whether unless suppose supposing imagine ob falls wenn si")
FOLLOWING: Final = words.words(
    "too again already still now since with because and but so auch wieder schon seit mit weil und aber aussi encore depuis avec"
    " et mais también desde con y pero"
)
CLAUSE: Final = re.compile(r"[,;:–—]")
SHORT_FORMS: Final = (
    ("i'm ", "i am "),
    ("i've ", "i have "),
    ("don't ", "do not "),
    ("doesn't ", "does not "),
    ("j'", "je "),
)
MIN_WORDS: Final = 2  # content words of a statement; a single word is too common
MIN_RUN: Final = 3  # words


def repeats(sentences: Sequence[str], statements: Iterable[str], text: str, said: Iterable[str] = ()) -> bool:
    """Whether a sentence of a message, or a statement that rules found in it (`statements`), has the content of a memory's
    text. `said` are the sentences of the memory's source messages."""
    if any(is_same(each, text) for each in statements) or any(says_it(each, text) for each in sentences):
        return True
    return any(repeats_words(sentence, each) for each in said for sentence in sentences)


def repeats_words(sentence: str, said: str) -> bool:
    """Whether a sentence contains all words of another one as one run, up to the end of a clause or to an addition. It is no
    repeat if only one of them has a negation, or if it adds hearsay or a condition."""
    row = tuple(written_out(CLAUSE.sub(" ", said)).split())
    if len(row) < MIN_RUN or sentence.rstrip().endswith("?") or owners(sentence) != owners(said):
        return False
    clauses = up_to(sentence, row)
    if clauses is None or denies(statement(f"User: {clauses}"), statement(f"User: {said}")):
        return False
    besides = set(written_out(CLAUSE.sub(" ", sentence)).split()) - set(row)
    return besides.isdisjoint(CONDITIONS | OTHERS)


def up_to(sentence: str, row: tuple[str, ...]) -> str | None:
    """The clauses up to the one in which a run of words ends; None without the run."""
    clauses, tokens = CLAUSE.split(sentence), tuple[str, ...]()
    for place, clause in enumerate(clauses, start=1):
        begun = len(tokens)
        tokens += tuple(written_out(clause).split())
        ends = range(max(len(row), begun + 1), len(tokens) + 1)
        if any(tokens[at - len(row) : at] == row and (at == len(tokens) or tokens[at] in FOLLOWING) for at in ends):
            return ", ".join(clauses[:place])
    return None


def written_out(clause: str) -> str:
    plain = f"{clause.lower().replace('’', chr(39))} "
    for short, long in SHORT_FORMS:
        plain = plain.replace(short, long)
    return normalise(plain)


def is_same(stated: str, text: str) -> bool:
    """Whether a statement in the third person has all of a memory's content."""
    mine, theirs = statement(stated), statement(text)
    if owners(stated) != owners(text) or denies(mine, theirs):
        return False
    known = {(each.owner, each.attribute, each.value) for each in readings(stated)}
    named = {(each.owner, each.attribute, each.value) for each in readings(text)}
    if named and named <= known and set(theirs.names) <= set(mine.tokens):
        return True
    return has_all(mine, theirs) and (len(set(theirs.content)) >= MIN_WORDS or set(mine.content) == set(theirs.content))


def says_it(sentence: str, text: str) -> bool:
    """Whether a person's own sentence has the content of a memory about them."""
    said, of_text = statement(f"User: {sentence}"), statement(text)
    if sentence.rstrip().endswith("?") or len(set(of_text.content)) < MIN_WORDS or owners(sentence) != owners(text):
        return False
    if not has_all(said, of_text) or denies(said, of_text) or not OTHERS.isdisjoint(said.tokens):
        return False
    if not (CONDITIONS & set(said.tokens)).issubset(of_text.tokens):
        return False
    clauses = [statement(each) for each in CLAUSE.split(sentence)]
    own = [each for each in clauses if is_own(each, of_text)]
    if any(set(each.content) & set(of_text.content) for each in own):
        return True
    return not own and set(said.content) <= set(of_text.content)


def is_own(clause: Statement, of_text: Statement) -> bool:
    """Whether the sentence is about its speaker, not only about a relative whom the memory does not mention."""
    others = clause.relations - of_text.relations
    followed = pairwise((*clause.tokens, ""))
    return any(token in FIRST_PERSON and meaning(after) not in others for token, after in followed)


def has_all(said: Statement, of_text: Statement) -> bool:
    """Whether all names, numbers, times and content words occur."""
    content = set(of_text.content)
    return (
        bool(content)
        and content <= set(said.content)
        and set(of_text.names) <= set(said.tokens)
        and of_text.quantities <= said.quantities
        and of_text.times <= said.times
    )


def denies(said: Statement, of_text: Statement) -> bool:
    return (
        other_negation(said, of_text)
        or other_preference(said, of_text)
        or is_negated_or_ended(said) != is_negated_or_ended(of_text)
    )


def is_negated_or_ended(each: Statement) -> bool:
    return each.negated is not None or each.ended
