"""The wording of memories that no rule puts into the third person: limits, standing wishes and other statements."""

import re
from functools import cache
from typing import Final, Literal

from agents.models.offline.rules.lasting_instructions.instruction_classes import (
    Classes,
    alternatives,
    starting_with_word,
    table,
)

SUBJECTS: Final = ("User", "Der Nutzer", "L'utilisateur", "El usuario")
ABOUT: Final = {"en": "about", "de": "zu", "fr": "à propos de", "es": "sobre"}
ABOUT_REMARK: Final = re.compile(rf" \((?:{'|'.join(ABOUT.values())}): ([^()]*)\)")
InstructionKind = Literal["limit", "wish"]


class Wording:
    """The templates of one language. `quotation` matches a memory in the user's own words, which are its group."""

    def __init__(self, classes: Classes, about: str) -> None:
        self._verb = starting_with_word(classes.asked)
        self._predicate = re.compile(rf"({alternatives(classes.predicates)})(?:[,:;]? *(?P<rest>.*))?$", re.IGNORECASE)
        self._quotation, self._wish_form, self._order_form, *self._state_forms = classes.templates.split("|")
        self._about = about
        before, after = map(re.escape, self._quotation.split("{}"))
        self.quotation = re.compile(f'^{before}([^"]+){after}')

    def memory_text(self, kind: InstructionKind, sentence: str, third_person: str) -> str:
        """The text of a limit or wish: in the third person if it begins with the user, otherwise in the user's own words.
        An order that mentions the user is quoted, except in English: elsewhere its verb would have to change."""
        if kind == "limit":
            return third_person if third_person.startswith(SUBJECTS) else self._limit_text(sentence)
        if not self._verb.match(sentence):
            return self._wish_form.format(sentence)
        if self._order_form == self._wish_form and third_person.casefold() != sentence.casefold():
            return self.quoted(sentence[:1].upper() + sentence[1:])
        return self._order_form.format(third_person[:1].lower() + third_person[1:])

    def quoted(self, sentence: str) -> str:
        """The user's own words as a quotation, without inner quotation marks."""
        return self._quotation.format(sentence.replace('"', "'"))

    def remark(self, before: str) -> str:
        """The remark after a memory that quotes the previous sentence, for context."""
        return f" ({self._about}: {before.replace('(', '').replace(')', '')})"

    def _limit_text(self, sentence: str) -> str:
        """ "User is pregnant (14 weeks)" for "Pregnant, 14 weeks"; other limits are quoted."""
        state = self._predicate.match(sentence)
        if state is None or ("," not in sentence and state["rest"]):
            return self.quoted(sentence)
        with_rest, alone = self._state_forms
        name = state[1][:1].lower() + state[1][1:]
        return with_rest.format(name, state["rest"]) if state["rest"] else alone.format(name)


@cache
def wording(code: str) -> Wording:
    return Wording(table()[code], ABOUT[code])


def remark_of(text: str) -> str:
    """The quoted previous sentence in a memory's remark; empty without a remark."""
    found = ABOUT_REMARK.search(text)
    return "" if found is None else found[1]


def without_remark(text: str) -> str:
    """The memory without the remark that quotes the previous sentence."""
    return ABOUT_REMARK.sub("", text)
