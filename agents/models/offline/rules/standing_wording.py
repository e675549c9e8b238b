"""How limits, standing wishes and other statements are worded as memories where no rule puts them into the third person."""

import re
from functools import cache
from typing import Final, Literal

from agents.models.offline.rules.standing_instruction_classes import Classes, alternatives, starting, table

SUBJECTS: Final = ("User", "Der Nutzer", "L'utilisateur", "El usuario")
ABOUT: Final = {"en": "about", "de": "zu", "fr": "à propos de", "es": "sobre"}
ABOUT_REMARK: Final = re.compile(rf" \((?:{'|'.join(ABOUT.values())}): ([^()]*)\)")
Sort = Literal["limit", "wish"]


class Wording:
    """The templates of one language. `quotation` matches a memory in the user's own words, which are its group."""

    def __init__(self, classes: Classes, about: str) -> None:
        self._verb = starting(classes.asked)
        self._predicate = re.compile(rf"({alternatives(classes.predicates)})(?:[,:;]? *(?P<rest>.*))?$", re.IGNORECASE)
        self._quotation, self._wish_form, self._order_form, *self._state_forms = classes.told.split("|")
        self._about = about
        before, after = map(re.escape, self._quotation.split("{}"))
        self.quotation = re.compile(f'^{before}([^"]+){after}')

    def told(self, sort: Sort, said: str, reworded: str) -> str:
        """The memory's text: in the third person if it begins with the user, otherwise in the user's own words. An order
        that mentions the user is quoted, except in English: in other languages its pronouns would have to agree with the
        verb."""
        if sort == "limit" and reworded.startswith(SUBJECTS):
            return reworded
        if sort == "limit":
            return self._limit_told(said)
        if not self._verb.match(said):
            return self._wish_form.format(said)
        if self._order_form == self._wish_form and reworded.casefold() != said.casefold():
            return self.quoted(said[:1].upper() + said[1:])
        return self._order_form.format(reworded[:1].lower() + reworded[1:])

    def quoted(self, said: str) -> str:
        """The user's own words, as a quotation without quotation marks within."""
        return self._quotation.format(said.replace('"', "'"))

    def remark(self, before: str) -> str:
        """What stands behind a memory: what was said before it, so that it can be understood."""
        return f" ({self._about}: {before.replace('(', '').replace(')', '')})"

    def _limit_told(self, said: str) -> str:
        """ "User is pregnant (14 weeks)" for "Pregnant, 14 weeks"; other limits are quoted."""
        state = self._predicate.match(said)
        if state is None or ("," not in said and state["rest"]):
            return self.quoted(said)
        with_rest, alone = self._state_forms
        name = state[1][:1].lower() + state[1][1:]
        return with_rest.format(name, state["rest"]) if state["rest"] else alone.format(name)


@cache
def wording(code: str) -> Wording:
    return Wording(table()[code], ABOUT[code])


def remark_of(text: str) -> str:
    """What was said before the sentence with a pronoun of which the memory is made; empty for other memories."""
    found = ABOUT_REMARK.search(text)
    return "" if found is None else found[1]


def without_remark(text: str) -> str:
    """The memory without what was said before its sentence."""
    return ABOUT_REMARK.sub("", text)
