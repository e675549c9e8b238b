"""Recognises standing instructions by classes of words: limits (of health, diet, faith, money, hours) and lasting wishes.

Rules match sentence forms, but people often state limits in fragments: "pregnant, 14 weeks", "nuts = hospital for me". A
sentence that names a limit, and no other person, is stored in its own words.
"""

import re
from functools import cache
from typing import Final

from agents.models.offline.rules.engine.folding import folded
from agents.models.offline.rules.engine.sentences import is_question
from agents.models.offline.rules.lasting_instructions.instruction_classes import (
    BETWEEN,
    MEDICINES,
    REACTIONS,
    STATES,
    Classes,
    LimitPattern,
    alternatives,
    any_word,
    near,
    starting_with_word,
    table,
)
from agents.models.offline.rules.lasting_instructions.limit_scope import without_household
from agents.models.offline.rules.lasting_instructions.wording import InstructionKind

# Conjunctions between a statement and the request based on it, or its reason.
CONJUNCTIONS: Final = {
    "en": "so|because|since|bc|cuz|cause|therefore|also",
    "de": "also|weil|denn",
    "fr": "donc|car|alors|parce que",
    "es": "así que|porque|entonces",
}
PLURAL_REPLIES: Final = {
    "en": "answers|replies|responses|explanations",
    "de": "antworten|erklärungen",
    "fr": "réponses|explications",
    "es": "respuestas|explicaciones",
}
JOINS: Final = {"en": "and|but", "de": "und|aber", "fr": "et|mais", "es": "y|pero"}
MOST_WORDS: Final = 10  # of a wish without a word for always
SHORTEST_WORDS: Final = 3
FIRST_WORDS: Final = 8  # of a sentence without a subject, among which it must name the limit
LONGEST_WORDS: Final = 24  # a longer sentence is a story, not a limit
NUMBER: Final = (
    r"(?:\d+|one|two|three|four|five|half|ein\w*|zwei|drei|vier|fünf"
    r"|une?|deux|trois|quatre|cinq|una?|dos|tres|cuatro|cinco)"
)
SPEAKERS: Final = (["ich"], ["wir"])  # after a verb: "zeige ich" is no order
ONLY: Final = "only just nur seulement uniquement solo sólo"
YOU: Final = "you du ihr tu vous tú usted"  # the assistant
# Beginnings of sentences without "I": "only have an Android", "stuck with Windows".
LEFT_OUT: Final = re.compile(
    r"\W*(?:only|just|stuck|cannot|do not|never|nur|kann|darf|hab|habe|bin|solo|sólo|nunca|jamais)\b", re.IGNORECASE
)
# The assistant's answers.
YOURS: Final = re.compile(r"\b(?:your|dein\w*|ihre\w*|t(?:on|a|es)|vos|tus?)\b", re.IGNORECASE)
# With a noun, the subject is not the speaker.
POSSESSIVE: Final = re.compile(
    r"\W*(?:my|mine|our|mein\w*|unser\w*|mon|ma|mes|notre|nos|mis?|nuestr\w+|user)\b", re.IGNORECASE
)


class InstructionPatterns:
    """The patterns of limits and wishes in one language."""

    def __init__(self, code: str, classes: Classes) -> None:
        states, medicines = f"{classes.states} {STATES[code]}", f"{classes.medicines} {MEDICINES[code]}"
        limits, intake = alternatives(classes.limits), alternatives(classes.intake)
        amount = f"{limits}{BETWEEN}{NUMBER}"
        self._limits = (
            LimitPattern(alternatives(classes.aids, classes.reactions, REACTIONS[code])),
            LimitPattern(near(alternatives(classes.takes), alternatives(medicines)), needed=classes.takes),
            LimitPattern(f"{alternatives(medicines)}{BETWEEN}{NUMBER}", needed=medicines),
            LimitPattern(near(f"(?:{amount}|{NUMBER}{BETWEEN}{limits})", intake), needed=classes.limits),
            LimitPattern(f"{NUMBER}{BETWEEN}{intake}{BETWEEN}{limits}", needed=classes.limits),
            LimitPattern(near(alternatives(classes.bars), alternatives(classes.barred)), needed=classes.bars),
            LimitPattern(f"{alternatives(classes.orders)}{BETWEEN}{alternatives(classes.bars, classes.limits)}"),
            LimitPattern(rf"^(?=.*\d)(?=.*{alternatives(classes.capped)})(?=.*{alternatives(classes.money)})"),
            LimitPattern(near(alternatives(classes.timed), alternatives(classes.hours)), needed=classes.timed),
        )
        self._code = code
        self._parts = re.compile(rf"[,;:–—]| - |\b(?:{CONJUNCTIONS[code]}) ", re.IGNORECASE)
        self._joined = re.compile(rf" (?:{JOINS[code]}) ", re.IGNORECASE)
        self._states = LimitPattern(alternatives(states))
        self._has_state = LimitPattern(f"{alternatives(classes.has)}{BETWEEN}{alternatives(states)}")
        self._mine, self._loose, self._once = map(any_word, (classes.mine, classes.loose, classes.once))
        self._always, self._address = any_word(classes.always), any_word(classes.address)
        self._style, self._henceforth = any_word(classes.style), any_word(classes.henceforth)
        self._when, self._self = starting_with_word(classes.when), starting_with_word(classes.mine)
        self._others, self._verb = starting_with_word(classes.others), starting_with_word(classes.asked)
        self._lasting, self._replies = any_word(classes.lasting), any_word(classes.replies)
        self._many_replies = re.compile(rf"\b(?:{PLURAL_REPLIES[code]})\b", re.IGNORECASE)
        self._at_hand, self._foreign = any_word(classes.at_hand), any_word(classes.foreign)
        self._aside, self._general = any_word(classes.aside), any_word(classes.general)
        self._manner, self._pointing = any_word(classes.manner), any_word(classes.pointing)
        self._ends_politely = re.compile(rf"[ ,]+{alternatives(classes.polite)}$", re.IGNORECASE)
        self._shape = starting_with_word(classes.shape)
        self._refusal = re.compile(
            rf"\W*{alternatives(classes.refusals)}\W+(?!{alternatives(classes.no_refusal)})\w.*{alternatives(classes.refused_when)}",
            re.IGNORECASE,
        )
        self._polite = re.compile(rf"\W*(?:{alternatives(classes.polite)}[ ,]+)+", re.IGNORECASE)
        things = (classes.barred, classes.intake, classes.states, classes.bars, classes.orders)
        self._they, self._thing = any_word(classes.they), starting_with_word(" ".join(things))
        self._others_act = re.compile(rf"\W*[\w'’-]+ (?:[\w'’-]+ ){{0,2}}?{alternatives(classes.does)}", re.IGNORECASE)
        self._bound = starting_with_word(f"{classes.refusals} {ONLY}")
        self._orders, self._you = any_word(classes.orders), any_word(YOU)

    def _has_no_subject(self, text: str) -> bool:
        """Whether the sentence has no subject: "No dairy, ever", but not "Tom eats no dairy" or "no dairy for him"."""
        if len(text.split()) < SHORTEST_WORDS or self._others.match(text) or self._they.search(text):
            return False
        is_general = self._general.search(text) and LEFT_OUT.match(text) is None
        if is_general and not any(each.isdigit() for each in text):
            return False
        if self._others_act.match(text) and not self._thing.match(text) and LEFT_OUT.match(text) is None:
            return False
        return self.names_limit(" ".join(text.split()[:FIRST_WORDS]))

    def has_limit(self, text: str) -> bool:
        """Whether a statement has a limit of a person, not of a thing: "is vegan", not "likes vegan food"."""
        lowered = folded(text)
        return any(each.is_in(lowered) for each in (self._has_state, *self._limits))

    def is_limit_of_speaker(self, text: str) -> bool:
        """Whether the subject is the speaker, and not "my aunt", and the statement has a state or a limit."""
        return self._self.match(text) is not None and POSSESSIVE.match(text) is None and self.has_limit(text)

    def names_state(self, text: str) -> bool:
        return self._states.is_in(folded(text))

    def names_limit(self, sentence: str) -> bool:
        lowered = folded(sentence)
        return any(each.is_in(lowered) for each in (self._states, *self._limits))

    def kind_of(self, sentence: str, plain: str) -> InstructionKind | None:
        """The kind of a user's sentence; None for questions, for sentences about others, and for those that hold once.

        `plain` is the sentence without contractions.
        """
        if len(sentence.split()) > LONGEST_WORDS or self.holds_once(plain):
            return None
        if self.is_wish(plain):
            return "wish"
        is_own = self._mine.search(plain) or self._has_no_subject(plain)
        is_request = is_question(sentence) or (self._polite.match(plain) and not self._self.match(plain))
        is_aside = self._loose.search(plain) or self._aside.search(without_household(plain, self._code))
        if is_own and not is_request and not is_aside and self.names_limit(plain):
            return "limit"
        return "wish" if self._is_refused(plain) else None

    def _is_refused(self, text: str) -> bool:
        """Whether the user refuses something for good, as in "No calls before nine", and no other person is mentioned."""
        others = self._pointing.search(text) or self._they.search(text) or self._loose.search(YOURS.sub("", text))
        return len(text.split()) <= MOST_WORDS and self._refusal.match(text) is not None and not others

    def is_conditional_wish(self, text: str) -> bool:
        """Whether the condition belongs to a wish, not to a hypothesis: "When I ask for code, only Python"."""
        return bool(self._when.match(text) or self._always.search(text))

    def holds_once(self, text: str) -> bool:
        """Whether the sentence holds once: "today", but not "from today"."""
        return self._once.search(self._henceforth.sub(" ", text)) is not None

    def lasts(self, sentence: str) -> bool:
        """Whether a wish holds beyond the current task: "always", "every answer", or about answers in general."""
        said = sentence.rstrip(" ,.!?")
        if self._foreign.search(said) or self.holds_once(said):
            return False
        if self._lasting.search(said):
            return True
        polite = self.without_polite_words(said)
        is_style = self._replies.search(said) or self._is_about_manner(polite, is_polite=polite != said)
        return bool(is_style) and not self._at_hand.search(said)

    def says_always(self, text: str) -> bool:
        """Whether the sentence has a word for always, or for answers in the plural."""
        return any(each.search(text) for each in (self._lasting, self._henceforth, self._many_replies))

    def is_about_current_task(self, text: str) -> bool:
        """Whether the sentence is about something at hand: "the code"."""
        return self._at_hand.search(text) is not None or self._pointing.search(text) is not None

    def is_doctors_order(self, sentence: str) -> bool:
        """Whether a doctor orders a limit, which counts as a statement of the speaker."""
        return self._orders.search(sentence) is not None

    def is_wish(self, sentence: str) -> bool:
        """Whether the sentence is a lasting request to the assistant, or about its answers; never one about the speaker."""
        polite = self.without_polite_words(sentence)
        said = polite.rstrip(" ,.!?")
        if sentence.rstrip().endswith("?") and polite == sentence:
            return False
        if self._address.search(said) or self._is_about_manner(said, is_polite=polite != sentence):
            return True
        condition, _, rest = said.partition(",")
        if self._when.match(condition) and (self._mine.search(condition) or self._you.search(condition)):
            order = self.without_polite_words(rest.strip())
            is_order = self._verb.match(order) or self._shape.match(order) or self._bound.match(order)
            return is_order is not None and order.split()[1:2] not in SPEAKERS
        if self._henceforth.search(said):
            without = self._henceforth.sub(" ", said)
            is_brief = len(said.split()) <= MOST_WORDS and not self._others_act.match(without)
            is_order = self._verb.match(without) or self._henceforth.match(said.lstrip())
            return (
                (is_order is not None or is_brief) and not self._self.match(without) and not self._others.match(without)
            )
        without = self._always.sub(" ", said)
        is_styled = self._style.search(said) and not self._self.match(said) and not self._others_act.match(said)
        is_asked = self._verb.match(without) or is_styled
        return (without != said and bool(is_asked)) or any(map(self._is_lasting_order, self._later_parts(said)))

    def _is_lasting_order(self, part: str) -> bool:
        """Whether a part is a lasting order, as in "Coriander tastes like soap to me, always leave it out"."""
        without = self._always.sub(" ", part)
        return without != part and self._verb.match(without) is not None

    def parts(self, text: str) -> list[str]:
        """The clauses of a sentence, without the commas and conjunctions between them."""
        return [part.strip(" .!") for clause in self._parts.split(text) for part in self._joined.split(clause)]

    def _later_parts(self, text: str) -> list[str]:
        """The parts of a sentence after the first one."""
        return [part.strip(" .!") for part in self._parts.split(text)[1:]]

    def is_explicit_wish(self, sentence: str) -> bool:
        """Whether a wish is explicit enough to be stored instead of the sentence's statement."""
        return self._is_about_manner(sentence.rstrip(" .!"), is_polite=False)

    def _is_about_manner(self, said: str, *, is_polite: bool) -> bool:
        """Whether the user asks for a manner of answering in general: "Be blunt", "British spelling please"."""
        if len(said.split()) > MOST_WORDS or self._pointing.search(said) or not self._manner.search(said):
            return False
        if self._shape.match(said):
            return True
        is_polite = is_polite or said != (self._ends_politely.sub("", said))
        starts = (self._self, self._others, self._verb)
        return is_polite and not any(each.match(said) for each in starts)

    def without_polite_words(self, sentence: str) -> str:
        """The sentence without polite words at its start."""
        polite = self._polite.match(sentence)
        return sentence[polite.end() :] if polite else sentence


def has_limit(text: str, code: str | None = None) -> bool:
    """Whether a statement has a limit, of any person. Without a known language all are tried."""
    known = table()
    codes = [code] if code is not None and code in known else list(known)
    return any(instruction_patterns(each).has_limit(text) for each in codes)


def names_state(text: str, code: str | None = None) -> bool:
    """Whether a text names a state of health, diet or faith, of any person."""
    known = table()
    codes = [code] if code is not None and code in known else list(known)
    return any(instruction_patterns(each).names_state(text) for each in codes)


@cache
def instruction_patterns(code: str) -> InstructionPatterns:
    return InstructionPatterns(code, table()[code])
