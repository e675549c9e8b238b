"""Words that open a frame, by class, in English, German, French and Spanish: `frames.json`. See `framing` for frames.

A new word is a new entry of a class, not a new pattern.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec

# By class the words of each language, divided by spaces; `_` stands for a space within one.
TABLE: Final[Mapping[str, Sequence[str]]] = msgspec.json.decode(
    Path(__file__).with_suffix(".json").read_bytes(), type=dict[str, tuple[str, ...]]
)


def any_of(*lists: str) -> str:
    """A pattern of alternatives, from lists with white space between the items; `_` stands for a space within an item."""
    return f"(?:{'|'.join(word.replace('_', ' ') for each in lists for word in each.split())})"


def listed(name: str) -> str:
    return any_of(*TABLE[name])


DETERMINER: Final = listed("determiner")
# What somebody makes up, and nothing else: a text of this kind speaks for itself.
MADE_UP: Final = listed("made_up")
# The same where a determiner and what is said make it plain: "in my book I am a spy", and not "I bought a book".
_ALSO_WORK: Final = listed("also_work")
WORK: Final = f"(?:{MADE_UP}|{_ALSO_WORK})"
# Behind these a work is a trade or a place: "in the game industry".
TRADE: Final = listed("trade")
# Whoever a work is about.
FIGURE: Final = listed("figure")
# A text that is looked at, rather than said.
TEXT: Final = listed("text")
# What says of data that nobody's are.
INVENTED: Final = listed("invented")
DATA: Final = listed("data")
INVENTED_BEHIND: Final = listed("invented_behind")
TEST_DATA: Final = listed("test_data")
ASKING_TO_MAKE: Final = listed("asking_to_make")
POLITE: Final = f"(?:{listed('polite')},? )*"
# How parts are given out.
PLAYING: Final = listed("playing")
# What parts are played in, which opens one wherever it is named.
PLAY: Final = listed("play")
# Games that people tell of as if they lived in them.
GAME: Final = listed("game")
ARTICLE: Final = listed("article")
YOU_ARE: Final = listed("you_are")
I_AM: Final = listed("i_am")
YOU_PLAY: Final = listed("you_play")
# Parts that are given to a model or a partner: "you are my doctor".
STOCK: Final = listed("stock")
# Who speaks behind a colon, in a dialogue or a note of one.
SPEAKING_PARTS: Final = listed("speaking_parts")
# Beings that nobody is, and places where nobody lives.
FANTASTIC: Final = listed("fantastic")
_THINGS: Final = listed("things")
NO_PERSON: Final = f"(?:{FANTASTIC}|{_THINGS})"
# What nobody owns.
NO_PROPERTY: Final = listed("no_property")
NOWHERE: Final = listed("nowhere")
# What says that a frame is left, or that something else is talked of.
LEFT: Final = listed("left")

# Somebody speaks of themselves.
FIRST_PERSON: Final = listed("first_person")
OF_MINE: Final = listed("of_mine")
SUPPOSING: Final = listed("supposing")
CONTRARY: Final = listed("contrary")
OTHER: Final = listed("other")
LIFE: Final = listed("life")
# What says of words before it what they were.
IT_WAS: Final = listed("it_was")
OUT_OF: Final = listed("out_of")
PIECE: Final = listed("piece")
# What may stand behind a noun without being part of it: "a vampire from Prague", and not "a ghost writer".
GOES_ON: Final = listed("goes_on")

# Somebody tells that they make something up, or have dreamt: what comes next may be it.
MAKING: Final = listed("making")
DREAMT: Final = listed("dreamt")
SEEN_AS: Final = listed("seen_as")

# How tales, riddles and sums begin or end.
TALE: Final = listed("tale")
RIDDLE: Final = listed("riddle")

# Trades that only a level makes those of a game.
FIGHTER: Final = listed("fighter")

# How letters begin, which are somebody's to somebody.
SALUTATION: Final = listed("salutation")
# What people write before a colon and their own words behind it.
OWN_LABEL: Final = listed("own_label")
