"""Recognises statements that are not the speaker's own: fiction, roles, hypotheses, hearsay, and texts to be edited.

A statement is its speaker's own unless it is in a frame. These open a frame: something invented (a story, a song, a game, a
dream); a subject that is not the speaker (a character, a narrator); a text to work on (a sentence to correct, an example, a
letter); a request to invent something, to play a role or to suppose something; and an impossible speaker.

Statements in a frame are not extracted, whether the frame is named before or after them. A frame that is continued (a role,
a shared story) ends when a message leaves it, or after a long pause. Words that only name a work ("I read a novel", "I work
in the game industry") open no frame. In doubt nothing is extracted; the messages stay searchable.
"""

import re
from collections.abc import Iterator

from agents.models.offline.rules.frame_patterns import (
    ACTED,
    ANNOUNCED,
    ASKED_FOR,
    FANTASY,
    FAVOURITE,
    FOR_ANOTHER,
    HEARSAY,
    IN_GAME,
    JOKE,
    LABELLED,
    LETTER,
    MADE_UP_DATA,
    MENTIONED,
    NAMED,
    OUT_OF_ROLE,
    OWN_WORDS,
    RIDDLES,
    ROLE,
    SCRIPT,
    SCRIPT_INLINE,
    SEEN,
    SET_IN,
    SET_LATER,
    SUNG,
    SUPPOSED,
    TEXT_WORK,
    TITLE,
    TOLD,
    TOLD_OF,
    UNREAL_SELF,
    UNREAL_WORLD,
    WANTED,
    WAS_A_WORK,
)

LEFT_BY = " ,:;.!–—-"  # characters between the words that leave a frame and the speaker's own
LASTING = (
    ROLE,
    ASKED_FOR,
    WANTED,
    TOLD,
    SEEN,
    UNREAL_SELF,
    FANTASY,
    ACTED,
    IN_GAME,
)  # frames that later messages continue


def own_part(text: str) -> str:
    """The text before a frame begins and after it is left. Empty for a message that asks to work on a text, or that declares
    itself a frame."""
    if any(whole.search(text) for whole in (TEXT_WORK, WAS_A_WORK, MADE_UP_DATA, RIDDLES)):
        return ""
    begins = [frame_start(text, match) for match in first_of(text) if match]
    begins += [match.end() for match in (*announced(text), TOLD.search(text), MENTIONED.search(text)) if match]
    if not begins:
        return text
    before, framed = text[: min(begins)], text[min(begins) :]
    behind = OUT_OF_ROLE.search(framed)
    return f"{before}\n{own_part(framed[behind.end() :].lstrip(LEFT_BY))}" if behind else before


def frame_start(text: str, match: re.Match[str]) -> int:
    """The place where a frame begins: the beginning of its sentence, if the frame is named within it."""
    if not match.groupdict().get("play"):
        return match.start()
    return max(text.rfind(mark, 0, match.start()) for mark in ".!?\n") + 1


def first_of(text: str) -> Iterator[re.Match[str] | None]:
    for frame in (
        SUPPOSED,
        SET_IN,
        TOLD_OF,
        SEEN,
        ASKED_FOR,
        WANTED,
        UNREAL_SELF,
        FANTASY,
        SCRIPT,
        SCRIPT_INLINE,
        ACTED,
        ROLE,
        IN_GAME,
        LETTER,
        SUNG,
        LABELLED,
        NAMED,
        FOR_ANOTHER,
    ):
        yield frame.search(text)


def announced(text: str) -> Iterator[re.Match[str]]:
    """Announcements of a text ("my poem: ..."), but not facts ("my favourite film: ...")."""
    return (match for match in ANNOUNCED.finditer(text) if not FAVOURITE.search(text, 0, match.start()))


def is_role(text: str, *, with_hypotheses: bool = True) -> bool:
    """Whether the text opens a frame that later messages continue."""
    if TITLE.match(text):
        return True
    found = [match.end() for frame in LASTING for match in frame.finditer(text)]
    found += [match.end() for match in (*TOLD_OF.finditer(text), *SET_IN.finditer(text)) if match["mine"]]
    if with_hypotheses and "?" not in text:  # a hypothesis within a question opens no frame
        found += [match.end() for match in SUPPOSED.finditer(text) if match["on"]]
    found += [match.end() for match in announced(text) if match["work"]]
    found += [
        match.end() for match in MENTIONED.finditer(text) if match["mine"] and OWN_WORDS.search(text, match.end())
    ]
    return bool(found) and not OUT_OF_ROLE.search(text, max(found))


def after_frame(text: str) -> str | None:
    """The text of a message from the place where it leaves the frame; None if it does not."""
    found = OUT_OF_ROLE.search(text) or JOKE.search(text)
    return None if found is None else text[found.start() :]


def is_taken_back(text: str) -> bool:
    """Whether the message says that the one before was a joke or invented."""
    return JOKE.search(text) is not None or WAS_A_WORK.search(text) is not None


def is_unreal(sentence: str) -> bool:
    """Whether the sentence is about a dream or a game, or is set in a work of fiction."""
    return UNREAL_WORLD.search(sentence) is not None or SET_LATER.search(sentence) is not None


def is_hearsay(sentence: str) -> bool:
    return HEARSAY.search(sentence) is not None
