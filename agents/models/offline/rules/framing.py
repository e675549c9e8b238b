"""Recognises what a message says in another's name: fiction, roles, suppositions, hearsay, and text that is to be worked on.

The principle: a statement is its speaker's own unless a frame stands around it. Frames are opened by what is made up (a
story, a song, a game, a dream), by whoever it is about (a character, a narrator), by a text that is looked at (a sentence to
correct, an example, a letter), by an order to make one up, to play a part or to suppose something, and by a being that nobody
is. What stands in a frame is not kept, whether the frame comes before it or is named after it. A frame that somebody goes on
with (a part, a story that is made together) lasts until something says that it is left, or a long pause. Words that only name a
work ("I read a novel", "I work in the game industry") open none. When in doubt nothing is kept: what was said is found anyway.
"""

import re
from collections.abc import Iterator

from agents.models.offline.rules.frames import (
    ARTICLE,
    ASKING_TO_MAKE,
    DATA,
    DETERMINER,
    DREAMT,
    FANTASTIC,
    FIGHTER,
    FIGURE,
    FIRST_PERSON,
    GOES_ON,
    I_AM,
    INVENTED,
    INVENTED_BEHIND,
    IT_WAS,
    LEFT,
    LIFE,
    MADE_UP,
    MAKING,
    NO_PERSON,
    NO_PROPERTY,
    NOWHERE,
    OF_MINE,
    OTHER,
    OUT_OF,
    PIECE,
    PLAYING,
    POLITE,
    RIDDLE,
    SEEN_AS,
    SUPPOSING,
    TALE,
    TEST_DATA,
    TEXT,
    TRADE,
    WORK,
    YOU_ARE,
    YOU_PLAY,
)

NAME = r"(?-i:[A-ZÀ-Þ])[\w'-]+"
PART = r"[\w' -]{2,30}"
START = r"(?:^|[.!?:;,\n(–—-] ?)"
NO_TRADE = rf"(?!['\w]*[ -]{TRADE}\b)"  # "game industry", "novel-writing class"
# A text to be translated or mended comes before the order to do so as often as behind it.
TEXT_WORK = re.compile(
    r"(?:^|[.!?:;,\n] ?)(?:tl;?dr\b|(?:please |pls |kindly |can you |could you |would you |I (?:want|need"
    r"|would like) you to |help me "
    r"|bitte "
    r"|kannst du |peux-tu |s'il (?:te|vous) pla[iî]t,? |por favor,? |puedes )*"
    r"(?:translat\w+|proof-?read|rewrite|rephrase|paraphrase|summari[sz]e|(?:correct|fix|check|improve"
    r"|edit) (?:the |my |this )*"
    r"(?:following|grammar|spelling|text|sentences?|paragraph|e-?mail|essay|english|german|french|spanish|:)"
    r"|how (?:do|would) (?:you|I|we) say|übersetz\w*|korrigier\w*|formulier\w*|umformulier\w*"
    r"|tradui[st]\w*|corrig\w+|reformul\w+|résume[rz]?|traduc\w+|traduzca|resum\w+|wie sagt man|comment dit-on|cómo se dice)\b)",
    re.IGNORECASE,
)
# From here on the words are not the speaker's own.
SUPPOSED = re.compile(
    rf"(?:^|[.!?;\n] ?|\b(?:and|now|so|ok|okay|hey|hi)\b,? )"
    rf"(?:(?:please |let us |let's |lass uns |bitte )?{SUPPOSING}\b|(?:in|en|dans|im) {OTHER} {LIFE}\b)",
    re.IGNORECASE,
)
# "In my novel I live on Mars": where a work is the place.
SET_IN = re.compile(
    rf"(?:{START}|\b(?:and|but|so|und|aber|et|mais|y|pero) )"
    rf"(?:(?:in|inside|within|for|dans|en|pour|para|für) (?:(?P<mine>{OF_MINE})|{DETERMINER}) (?:[\w'-]+ ){{0,2}}?|im |en |in )"
    rf"{WORK}\b{NO_TRADE}",
    re.IGNORECASE,
)
# "I live on Mars in my novel", "where I am a spy": the work is named later in the sentence.
SET_LATER = re.compile(
    rf"\b(?:in|inside|dans|en) {OF_MINE} (?:[\w-]+ )?{WORK}\b{NO_TRADE}"
    r"|\b(?:im (?:spiel|roman|traum|rollenspiel|film|märchen)|en el (?:juego|sueño)|dans le (?:jeu|rêve)"
    r"|in the (?:game|story|dream))\b"
    rf"{NO_TRADE}"
    rf"|\b{WORK},? (?:where|in which|about (?:how|me)|wo|in de[mr]|où|dans l[ae]quel(?:le)?|que dit|donde|en (?:el|la) que"
    r"|que dice)\b",
    re.IGNORECASE,
)
# "My character is a smuggler": whoever the work is about. "As the narrator" as well.
TOLD_OF = re.compile(
    rf"{START}(?:and |so |also |und |et |y )?(?:(?:as|als|en tant que|como) )?"
    rf"(?:(?P<mine>{OF_MINE})|the|der|die|das|le|la|l'|el) ?(?:[\w'&-]+ ){{0,2}}?{FIGURE}\b",
    re.IGNORECASE,
)
# "Poem: ...", "first line of my book: ...", "correct this sentence: ...": a text is announced.
ANNOUNCED = re.compile(
    rf"\b(?:(?P<work>{WORK}|{FIGURE})|{TEXT})\b(?![^.!?\n:]{{0,40}}(?:préféré|favorit))[^.!?\n:]{{0,40}}(?::|\s[–—-]\s)"
    rf"(?=[^.!?\n]{{0,300}}\b{FIRST_PERSON}\b|\s*[\n\"“„«'])"
    rf"|(?:here'?s|here is|hier ist|voici|aquí (?:va|tienes)) (?:one|it|mine|{DETERMINER} (?:[\w-]+ )?{WORK})[^.!?\n]{{0,40}}:",
    re.IGNORECASE,
)
FAVOURITE = re.compile(r"\b(?:favou?rite|lieblings\w*|best|liebste\w*)(?: [\w-]+)?$", re.IGNORECASE)
# Data that nobody's are.
MADE_UP_DATA = re.compile(
    rf"\b{INVENTED} (?:[\w-]+ ){{0,2}}?{DATA}|\b{DATA} {INVENTED_BEHIND}\b|\b{TEST_DATA}\b", re.IGNORECASE
)
# "I'm writing a novel", "I had a dream": what comes behind this sentence may be of it.
TOLD = re.compile(
    rf"(?:\b{MAKING} (?:\w+ )?{DETERMINER} (?:[\w'-]+ ){{0,3}}?{WORK}\b{NO_TRADE}|\b{DREAMT}\b)[^.!?\n]*", re.IGNORECASE
)
# "From the point of view of a tree": whose words follow.
SEEN = re.compile(rf"\b{SEEN_AS}", re.IGNORECASE)
# "Write me a song": what follows belongs to it.
ASKED_FOR = re.compile(
    rf"(?:^|[.!?\n] ?){POLITE}{ASKING_TO_MAKE}\b[^.!?\n:]{{0,60}}?\b{MADE_UP}\b(?!['\w]*[ -](?:{TRADE}|ideas?)\b)",
    re.IGNORECASE,
)
# "That's the first line of my thriller", after the words themselves.
WAS_A_WORK = re.compile(
    rf"\b{IT_WAS} (?:all |just |only |nur |bloß |juste |solo |sólo )?"
    rf"(?:{OUT_OF} {DETERMINER} (?:[\w-]+ )?"
    rf"|(?:[\w']+ ){{0,2}}?{PIECE} {OUT_OF} ?(?:{DETERMINER} )?(?:[\w-]+ )?"
    rf"|(?:[\w']+ ){{0,2}}?{PIECE} (?:meines|meiner|des|der|eines) ){MADE_UP}\b"
    rf"|^{OUT_OF} {OF_MINE} (?:[\w-]+ )?{MADE_UP}\b[^\w]*$"
    rf"|\b(?:says|said|sagt|dit|dice) {DETERMINER} (?:[\w-]+ )?{FIGURE}\b",
    re.IGNORECASE,
)
# What no person is, has reached or lives in.
UNREAL_SELF = re.compile(
    r"\b(?:I am|I'm|I was|ich bin|je suis|(?:yo )?soy)(?: now| jetzt| maintenant| ahora)?"
    rf" {ARTICLE} (?:[\w-]+ ){{0,3}}?{NO_PERSON}(?=$|[^\w\s-]| {GOES_ON}\b)"
    r"|\b(?:live|living|born|wohne|lebe|geboren|vis|habite|née?|vivo|nací) (?:[\w-]+ ){0,2}?"
    rf"(?:on|in|auf|sur|dans|à|en) {NOWHERE}\b"
    r"|\b(?:I am|I'm|ich bin|j'ai|tengo) (?:an? |ein\w* )?(?:1[3-9]\d|[2-9]\d\d|\d{4,}) (?:years|jahre|ans|años)\b",
    re.IGNORECASE,
)
# "My level 5 wizard", "as a vampire I", "I own a dragon", "once upon a time": told of what there is not.
FANTASY = re.compile(
    rf"\b(?:(?:my|mein\w*|mon|ma|mi|as an?|als|en tant que|como|playing (?:as )?(?:an?|my)) (?:[\w-]+ ){{0,3}}?{FANTASTIC}\b"
    rf"{NO_TRADE}"
    r"|(?:have|own|ride|married|habe|besitze|reite|ai|possède|tengo|monto) (?:[\w-]+ ){0,3}?"
    rf"(?:{FANTASTIC}|{NO_PROPERTY})\b{NO_TRADE}"
    rf"|(?:my|mein\w*|mon|ma|mi) {NO_PROPERTY}\b"
    rf"|(?:level|lvl|stufe|niveau|nivel)[ -]?\d+ (?:[\w-]+ )?(?:{FANTASTIC}|{FIGHTER})\b|{TALE})",
    re.IGNORECASE,
)
RIDDLES = re.compile(rf"\b{RIDDLE}", re.IGNORECASE)
# Lines that several speakers have: a dialogue that was pasted or made up.
SCRIPT = re.compile(
    rf"(?:^|\n)[ \t]*[\w .'-]{{1,25}}:[ \t](?=[^\n]{{0,300}}\b{FIRST_PERSON}\b)[^\n]*\n+(?=[ \t]*[\w .'-]{{1,25}}:[ \t])",
    re.IGNORECASE,
)
# "*draws a sword*": what a player's figure does.
ACTED = re.compile(r"^\s*\*(?!\*)\w[^*\n]{2,}\*(?!\*)")
# A dream or a game: what is said of it is not so, whoever plays or dreams.
UNREAL_WORLD = re.compile(
    r"\b(?:dream(?:ed|t)|(?:had|have) (?:an?|the|this|such an?) (?:[\w-]+ ){0,2}dreams?(?! (?:job|home|house)\b)"
    r"|(?:weirdest"
    r"|strangest|worst|best|craziest) dream"
    r"|geträumt|träumte|im traum|j'ai (?:rêvé|fait un rêve)|he soñado|soñé|soñaba"
    r"|in[- ]game|npc|in (?:stardew\w*|minecraft|skyrim|zelda|the sims|animal crossing|elden ring|fortnite"
    r"|roblox|gta|wow|dnd|d&d"
    r"|civ(?:ilization)? (?:\d|[ivx]+\b)|pok[eé]mon\w*|baldur'?s gate|cyberpunk|fallout|factorio|terraria|valheim))\b",
    re.IGNORECASE,
)
# From here on somebody plays a part, until they say that it is over: "you are the king, I am your spy".
ROLE = re.compile(
    rf"(?:{START}|\b(?:and|und|et|y|now|so|ok|okay|hey)\b,? )(?:"
    rf"{POLITE}{PLAYING}\b"
    rf"|{YOU_ARE} {ARTICLE} {PART}[,;.]? (?:and |und |et |y )?{I_AM}\b"
    rf"|{I_AM} {ARTICLE} {PART}[,;.]? (?:and |und |et |y )?{YOU_ARE} {ARTICLE}\b(?! (?:best|most|first|only)\b)"
    rf"|{YOU_ARE} {NAME}[,;.]? (?:and |und |et |y )?{I_AM} {NAME}|{YOU_PLAY} (?:{ARTICLE}\b|{NAME}))",
    re.IGNORECASE,
)
OUT_OF_ROLE = re.compile(
    rf"\b(?:{LEFT}|(?:stop|end|enough of) (?:the|this|with the)? ?(?:role-?play\w*|game|act\w*|story))\b", re.IGNORECASE
)
# What takes back the words before it.
JOKE = re.compile(
    r"^(?:(?:lol|jk|haha\w*|no|ok|sorry|nein|non)[,.! ]+)*(?:i'?m |i was |i am |that was |it was )?(?:just "
    r"|only |obviously )*(?:kidding|joking|a joke)\b"
    r"|^(?:das )?war (?:doch |nur |natürlich )*(?:ein )?(?:scherz|witz|spaß)|^(?:non,? )?(?:je (?:plaisant"
    r"|rigol)\w+|c'était une blague)"
    r"|^(?:es|era) (?:una )?broma",
    re.IGNORECASE,
)
SAYS = (
    r"(?:said|says|told|tells|wrote|writes|asked|replied|texted|sang|sings|claims?|claimed|quotes?|sagte"
    r"|sagt|schrieb|meinte"
    r"|behauptet"
    r"|erzählte|fragte|a (?:dit|écrit|répondu|demandé)|disait|dit|dijo|dice|escribió|preguntó|respondió)"
)
# Whose words follow, if not the speaker's.
HEARSAY = re.compile(
    rf"\b(?:(?!(?:I|you|we|ich|je|yo|j)\b)[^\W\d_]+) {SAYS}\b|\baccording to\b|\blaut \w+|\bd'après\b|\bsegún\b"
    r"|^(?:please )?(?:write|draft|compose|create|generate)\b.{0,80}\b(?:saying|that says|telling|about|where|in which"
    r"|explaining)\b",
    re.IGNORECASE,
)


LASTING = (ROLE, ASKED_FOR, TOLD, SEEN, UNREAL_SELF, FANTASY, ACTED)  # what the next messages go on with


def own_part(text: str) -> str:
    """What is before a frame begins; nothing of a message that asks for work on a text, or that says of itself what it is."""
    if any(whole.search(text) for whole in (TEXT_WORK, WAS_A_WORK, MADE_UP_DATA, RIDDLES)):
        return ""
    begins = [match.start() for match in first_of(text) if match]
    begins += [match.end() for match in (*announced(text), TOLD.search(text)) if match]
    return text[: min(begins)] if begins else text


def first_of(text: str) -> Iterator[re.Match[str] | None]:
    for frame in (SUPPOSED, SET_IN, TOLD_OF, SEEN, ASKED_FOR, UNREAL_SELF, FANTASY, SCRIPT, ACTED, ROLE):
        yield frame.search(text)


def announced(text: str) -> Iterator[re.Match[str]]:
    """Not "my favourite film: ...", which is a fact."""
    return (match for match in ANNOUNCED.finditer(text) if not FAVOURITE.search(text, 0, match.start()))


def is_role(text: str) -> bool:
    """Whether a frame is opened that the next messages go on with."""
    found = [match.end() for frame in LASTING for match in frame.finditer(text)]
    found += [match.end() for match in (*TOLD_OF.finditer(text), *SET_IN.finditer(text)) if match["mine"]]
    found += [match.end() for match in announced(text) if match["work"]]
    return bool(found) and not OUT_OF_ROLE.search(text, max(found))


def left(text: str) -> str | None:
    """What a message says from where it leaves the frame; None if it stays in it."""
    found = OUT_OF_ROLE.search(text) or JOKE.search(text)
    return None if found is None else text[found.start() :]


def is_taken_back(text: str) -> bool:
    """Whether it says that what was said before was a joke, or made up."""
    return JOKE.search(text) is not None or WAS_A_WORK.search(text) is not None


def is_unreal(sentence: str) -> bool:
    """Whether it tells of a dream or a game, or is set in a work."""
    return UNREAL_WORLD.search(sentence) is not None or SET_LATER.search(sentence) is not None


def is_hearsay(sentence: str) -> bool:
    return HEARSAY.search(sentence) is not None
