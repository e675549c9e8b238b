"""Recognises statements that are not the speaker's own: fiction, roles, hypotheses, hearsay, and texts to be edited.

A statement is its speaker's own unless it is in a frame. A frame opens with something invented (a story, a song, a game, a
dream); a subject that is not the speaker (a character, a narrator); a text to work on (a sentence to correct, an example, a
letter); a request to invent something, to play a role or to suppose something; and an impossible speaker.

By rules alone, statements in a frame are not extracted, whether the frame is named before or after them. A classifier of
sentences judges them instead, except in later messages of a role play. A frame that is continued (a role, a shared story) ends
when a message leaves it, or after a long pause. Words that only name a work ("I read a novel", "I work in the game industry")
open no frame. In doubt the rules extract nothing; the message stays searchable.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

from agents.models.offline.rules.framing.frame_patterns import (
    ACTION,
    ADDITION,
    DIALOGUE,
    DIALOGUE_INLINE,
    DREAM_OR_GAME,
    FANTASY,
    FAVOURITE,
    FICTION_ANNOUNCED,
    FICTION_REQUESTED,
    FICTION_WANTED,
    FICTIONAL_CHARACTER,
    FRAME_END,
    HEARSAY,
    HYPOTHESIS,
    IMPOSSIBLE_SELF,
    IN_GAME,
    JOKE,
    LETTER,
    MADE_UP_DATA,
    MUSIC_NOTES,
    OWN_WORDS,
    POINT_OF_VIEW,
    RIDDLES,
    ROLE_PLAY,
    SET_IN_WORK,
    SPEECH_AFTER_LABEL,
    SPEECH_AFTER_NAME,
    TALE_BEGUN,
    TEXT_ANNOUNCED,
    TEXT_WORK,
    TITLE,
    WAS_FICTION,
    WORK_MENTIONED,
    WORK_NAMED_LATER,
    WRITTEN_FOR_OTHERS,
)

SEPARATORS = " ,:;.!–—-"  # between the phrase that ends a frame and the speaker's own words
# Frames that later messages continue: plays, in which the person speaks in a role, and others.
PLAYS = (ROLE_PLAY, IMPOSSIBLE_SELF, FANTASY, ACTION)
CONTINUED = (*PLAYS, TALE_BEGUN, FICTION_REQUESTED, FICTION_WANTED, FICTION_ANNOUNCED, POINT_OF_VIEW, IN_GAME)


@lru_cache(maxsize=8)
def own_part(text: str) -> str:
    """The text outside of frames. Empty for a message that asks to edit a text or declares itself fiction. Cached, as wishes and
    statements are read from the same message."""
    if any(whole.search(text) for whole in (TEXT_WORK, WAS_FICTION, MADE_UP_DATA, RIDDLES)):
        return ""
    begins = [frame_start(text, match) for match in frame_matches(text) if match]
    announcements = (*announced(text), FICTION_ANNOUNCED.search(text), WORK_MENTIONED.search(text))
    begins += [match.end() for match in announcements if match]
    if not begins:
        return text
    before, framed = text[: min(begins)], text[min(begins) :]
    end = FRAME_END.search(framed)
    return f"{before}\n{own_part(framed[end.end() :].lstrip(SEPARATORS))}" if end else before


def frame_start(text: str, match: re.Match[str]) -> int:
    """The start of a frame: the match, or its whole sentence for a kind of role play."""
    if not match.groupdict().get("play"):
        return match.start()
    return max(text.rfind(mark, 0, match.start()) for mark in ".!?\n") + 1


def frame_matches(text: str) -> Iterator[re.Match[str] | None]:
    for frame in (
        HYPOTHESIS,
        SET_IN_WORK,
        FICTIONAL_CHARACTER,
        POINT_OF_VIEW,
        FICTION_REQUESTED,
        FICTION_WANTED,
        IMPOSSIBLE_SELF,
        FANTASY,
        TALE_BEGUN,
        DIALOGUE,
        DIALOGUE_INLINE,
        ACTION,
        ROLE_PLAY,
        IN_GAME,
        LETTER,
        MUSIC_NOTES,
        SPEECH_AFTER_LABEL,
        SPEECH_AFTER_NAME,
        WRITTEN_FOR_OTHERS,
    ):
        yield frame.search(text)


def announced(text: str) -> Iterator[re.Match[str]]:
    """Announcements of a text ("my poem: ..."), but not facts ("my favourite film: ...")."""
    return (match for match in TEXT_ANNOUNCED.finditer(text) if not FAVOURITE.search(text, 0, match.start()))


def opens_frame(text: str, *, with_hypotheses: bool = True) -> bool:
    """Whether the text opens a frame that later messages continue."""
    if TITLE.match(text):
        return True
    found = [match.end() for frame in CONTINUED for match in frame.finditer(text)]
    set_in = (*FICTIONAL_CHARACTER.finditer(text), *SET_IN_WORK.finditer(text))
    found += [match.end() for match in set_in if match["mine"]]
    if with_hypotheses and "?" not in text:  # a hypothesis within a question opens no frame
        found += [match.end() for match in HYPOTHESIS.finditer(text) if match["on"]]
    found += [match.end() for match in announced(text) if match["work"]]
    found += [
        match.end() for match in WORK_MENTIONED.finditer(text) if match["mine"] and OWN_WORDS.search(text, match.end())
    ]
    return bool(found) and not FRAME_END.search(text, max(found))


def opens_play(text: str) -> bool:
    """Whether the text that opens a frame opens a role play, and does not ask for a text: "write a story where I am a dragon"."""
    return FICTION_REQUESTED.search(text) is None and any(play.search(text) for play in PLAYS)


def after_frame(text: str) -> str | None:
    """The text after the phrase that ends the frame, or from the phrase on if it is part of a sentence ("my actual sister"); None
    without such a phrase."""
    found = FRAME_END.search(text) or JOKE.search(text)
    if found is None:
        return None
    behind = text[found.end() :]
    return behind.lstrip(SEPARATORS) if behind[:1] in SEPARATORS.strip() else text[found.start() :]


def adds_to_previous(sentence: str) -> bool:
    """Whether a sentence adds to what was said before: "I also own a ship"."""
    return ADDITION.search(sentence) is not None


def is_taken_back(text: str) -> bool:
    """Whether the message declares the one before a joke or fiction."""
    return JOKE.search(text) is not None or WAS_FICTION.search(text) is not None


def is_unreal(sentence: str) -> bool:
    """Whether the sentence is about a dream or a game, or is set in a work of fiction."""
    return DREAM_OR_GAME.search(sentence) is not None or WORK_NAMED_LATER.search(sentence) is not None


def is_hearsay(sentence: str) -> bool:
    return HEARSAY.search(sentence) is not None
