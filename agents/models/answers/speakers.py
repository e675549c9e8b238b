"""People by their names: what of a name may be stored and shown, and a statement about "the user" told of somebody by name."""

import re
from collections.abc import Iterable
from typing import Final

from agents.models.offline.rules.injection import is_injection
from agents.privacy.scrub import storable
from schemas.extraction.requests import Speaker
from schemas.policies.policies import Privacy

LONGEST_NAME: Final = 64  # characters
NAMELESS: Final = "Somebody"
UNFIT: Final = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u2028\u2029<>{}\[\]\"`|\\]+")
# How a text begins that is about the user, in the languages that the rules read, with what stands there instead.
BEGINNINGS: Final = (
    (re.compile(r"(?:the )?user['’]s\b", re.IGNORECASE), "{}'s"),
    (re.compile(r"(?:the )?user\b", re.IGNORECASE), "{}"),
    (re.compile(r"(?P<what>Wunsch) (?:des Nutzers|der Nutzerin)\b", re.IGNORECASE), "{what} von {}"),
    (re.compile(r"(?:des (?:Be)?nutzers|der (?:Be)?nutzerin)\b", re.IGNORECASE), "Von {}:"),
    (re.compile(r"(?:(?:de[rmn]|die) )?(?:Be)?nutzer(?:in|s)?\b", re.IGNORECASE), "{}"),
    (re.compile(r"(?P<what>Souhait) de l['’]utilisat(?:eur|rice)\b", re.IGNORECASE), "{what} de {}"),
    (re.compile(r"(?:l['’])?utilisat(?:eur|rice)\b", re.IGNORECASE), "{}"),
    (re.compile(r"(?P<what>Deseo) (?:del usuario|de la usuaria)\b", re.IGNORECASE), "{what} de {}"),
    (re.compile(r"(?:al usuario|a la usuaria)\b", re.IGNORECASE), "A {}"),
    (re.compile(r"(?:(?:el|la) )?usuari[oa]\b", re.IGNORECASE), "{}"),
)


def called(speakers: Iterable[Speaker], privacy: Privacy) -> dict[str | None, str]:
    """What each person is called in texts, by user_id: the name, else the id; both where two have the same name."""
    names = {each.user_id: name_of(each, privacy) for each in speakers}
    given = [*names.values()]
    return {
        user_id: f"{name} ({fit(user_id, privacy) or number})" if given.count(name) > 1 else name
        for number, (user_id, name) in enumerate(names.items(), 1)
    }


def name_of(speaker: Speaker, privacy: Privacy) -> str:
    return fit(speaker.name, privacy) or fit(speaker.user_id, privacy) or NAMELESS


def fit(name: str | None, privacy: Privacy) -> str | None:
    """One short line; nothing of what instructs, or may not be stored."""
    line = UNFIT.sub(" ", name or "").strip()[:LONGEST_NAME].strip()
    return line if line and not is_injection(line) and storable(line, privacy) == line else None


def is_of_user(text: str) -> bool:
    """Whether it begins with the user, and so does not say whom it is about where several people speak."""
    return any(beginning.match(text) for beginning, _ in BEGINNINGS)


def told_of(text: str, name: str) -> str:
    """The text with somebody's name where it begins with the user."""
    for beginning, instead in BEGINNINGS:
        if found := beginning.match(text):
            return instead.format(name, **found.groupdict()) + text[found.end() :]
    return text


def about_user(text: str, name: str) -> str:
    """The other way round: "User" where the text begins with somebody's name."""
    rest = text.removeprefix(name)
    return f"User{rest}" if rest != text and rest[:1] in (" ", "'", "’") else text
