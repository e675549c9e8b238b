"""Words that open a frame, by class, in English, German, French and Spanish: `frames.json`. See `framing` for frames.

A new word is a new entry of a class, not a new pattern.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec

# The words of each class, one list a language, separated by spaces; `_` stands for a space within a word.
TABLE: Final[Mapping[str, Sequence[str]]] = msgspec.json.decode(
    Path(__file__).with_suffix(".json").read_bytes(), type=dict[str, tuple[str, ...]]
)


def listed(name: str) -> str:
    """A pattern of alternatives: the words of a class in all languages."""
    return f"(?:{'|'.join(word.replace('_', ' ') for words in TABLE[name] for word in words.split())})"


DETERMINER: Final = listed("determiner")
# Kinds of fiction (novel, song).
FICTION: Final = listed("made_up")
# Kinds of works that are fiction only in some sentences: "in my book I am a spy", but not "I bought a book".
_ALSO_WORK: Final = listed("also_work")
WORK: Final = f"(?:{FICTION}|{_ALSO_WORK})"
# Words after a work that make it a trade or a place: "in the game industry".
TRADE: Final = listed("trade")
# Fictional characters, and the roles of a narrator.
CHARACTER: Final = listed("figure")
# Texts that are quoted or edited.
TEXT: Final = listed("text")
# Made-up data.
INVENTED: Final = listed("invented")
DATA: Final = listed("data")
INVENTED_AFTER: Final = listed("invented_behind")
TEST_DATA: Final = listed("test_data")
# Requests to write a text.
WRITE_REQUEST: Final = listed("asking_to_make")
POLITE: Final = f"(?:{listed('polite')},? )*"
# Phrases that start a role play.
ROLE_PLAY_START: Final = listed("playing")
# Kinds of role play ("mock interview"); each opens a frame wherever it is named.
PLAY: Final = listed("play")
# Games whose players speak as if they lived in them.
GAME: Final = listed("game")
ARTICLE: Final = listed("article")
YOU_ARE: Final = listed("you_are")
I_AM: Final = listed("i_am")
YOU_PLAY: Final = listed("you_play")
# Roles given to a model or a partner: "you are my doctor".
ROLE_NAME: Final = listed("stock")
# Speakers before a colon in a dialogue.
SPEAKER_LABEL: Final = listed("speaking_parts")
# Fantastic beings, and other nouns that are no person.
FANTASTIC: Final = listed("fantastic")
_NON_HUMAN: Final = listed("things")
NOT_HUMAN: Final = f"(?:{FANTASTIC}|{_NON_HUMAN})"
# Fictional property and places.
FICTIONAL_PROPERTY: Final = listed("no_property")
FICTIONAL_PLACE: Final = listed("nowhere")
# Phrases that end a frame or change the subject.
LEAVES_FRAME: Final = listed("left")

# The first person, and hypotheses.
FIRST_PERSON: Final = listed("first_person")
MY: Final = listed("of_mine")
SUPPOSING: Final = listed("supposing")
COUNTERFACTUAL: Final = listed("contrary")
ANOTHER: Final = listed("other")
WORLD: Final = listed("life")
# Phrases that mark the preceding text as part of a work: "that was the first line of my novel".
IT_WAS: Final = listed("it_was")
FROM: Final = listed("out_of")
TEXT_PART: Final = listed("piece")
# Words that may follow a noun without being part of it: "a vampire from Prague", but not "a ghost writer".
NOUN_CONTINUES: Final = listed("goes_on")

# Announcements of invented text or of a dream, which may follow.
WRITING: Final = listed("making")
DREAMT: Final = listed("dreamt")
POINT_OF_VIEW_OF: Final = listed("seen_as")

# Beginnings and ends of tales, riddles and arithmetic problems.
TALE: Final = listed("tale")
RIDDLE: Final = listed("riddle")

# Professions that belong to a game only with a level: "level 5 ranger".
FIGHTER: Final = listed("fighter")

# Beginnings of letters.
SALUTATION: Final = listed("salutation")
# Labels before the speaker's own words: "update: I …".
OWN_LABEL: Final = listed("own_label")
