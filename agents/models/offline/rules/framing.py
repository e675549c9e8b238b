"""Recognises what a message says in another's name: fiction, roles, suppositions, hearsay, and text that is to be worked on."""

import re

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
WORKS = (
    r"(?:novels?|stor(?:y|ies)|screenplay|script|poem|song|lyrics|game|campaign|dreams?|movie|film"
    r"|fan-?fic\w*|role-?play"
    r"|scenario"
    r"|book(?! club)|play|series|comic|roman|buch|geschichte|spiel|traum|film|livre|histoire|jeu|rêve"
    r"|novela|libro|juego|sueño"
    r"|historia|cuento|película)"
)
# From here on the words are not the speaker's own.
FICTION = re.compile(
    r"(?:^|[.!?;\n] ?|\b(?:and|now|so|ok|okay|hey|hi)\b,? )(?:"
    rf"in (?:my|our|the|this|that|a) (?:[\w-]+ ){{0,2}}{WORKS}\b|in (?:meinem|meiner|dem|der|einem"
    rf"|einer) (?:\w+ )?{WORKS}\b"
    rf"|dans (?:mon|ma|le|la|un|une|notre) ?(?:\w+ )?{WORKS}\b|en (?:mi|el|la|un|una|nuestra) (?:\w+ )?{WORKS}\b"
    r"|(?:please |let us |let's |lass uns )?(?:imagine|pretend|suppose|assume|act as|act like|role-?play"
    r"|play the (?:role|part)"
    r"|say(?: that)? I\b|you are now|stell dir vor|angenommen|tu so|nehmen wir an|imaginons|supposons"
    r"|fais comme si|imagina"
    r"|supongamos|supón|haz como si)\b"
    r"|(?:hypothetically|what if|was wäre|et si|y si|qué pasaría)\b"
    rf"|(?:here'?s|here is|hier ist|voici|aquí (?:va|tienes)) (?:one|it|mine|(?:my|the|an?|mein\w*|eine?"
    rf"|mon|ma|une?|mi) {WORKS})"
    r"[^.!?\n]{0,40}:"
    r"|(?:my|the|our|meine?|mon|mi) (?:main )?(?:character|protagonist|avatar|persona|figur|personnage|personaje)\b)",
    re.IGNORECASE,
)
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
# From here on somebody plays a part, until they say that it is over.
ROLE = re.compile(
    r"(?:^|[.!?;:,\n] ?|\b(?:and|und|et|y|now|so|ok|okay|hey)\b,? )(?:"
    r"(?:please |let us |let's |can you |could you |bitte )*(?:pretend to be|pretend (?:that )?you"
    r"|role-?play|act as|act like"
    r"|play (?:the (?:role|part)|my)|spiel(?:e|en wir)? (?:mal |jetzt )?(?:meine?n?|den|die|das|eine?n?|wir)|tu so als"
    r"|joue(?:z|ons)? (?:le rôle|un|une|mon|ma)|on joue|fais comme si|faisons semblant|haz de|juguemos"
    r"|actúa como|finge que)\b"
    r"|(?:you are|you're|you be|tu es|vous êtes|du bist|sie sind|tú eres|eres) (?:the|an?|my|le|la|un|une"
    r"|mon|ma|der|die|das|eine?|mein"
    r"|el|una) [\w' -]{2,30}[,;.]? (?:and |und |et |y )?(?:i am|i'm|i'll be|moi,? (?:je )?suis|je suis|ich bin|yo soy|soy)\b)",
    re.IGNORECASE,
)
OUT_OF_ROLE = re.compile(
    r"\b(?:real life|irl|in reality|out of character|ooc|(?:stop|end|enough of) (?:the|this"
    r"|with the)? ?(?:role-?play\w*|game|act\w*)"
    r"|back to reality|seriously now|on a serious note|im ernst|im echten leben|ende des spiels"
    r"|genug gespielt|sérieusement|fini de jouer"
    r"|dans la vraie vie|en serio|en la vida real|se acabó el juego)\b",
    re.IGNORECASE,
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


def own_part(text: str) -> str:
    """What is before a fiction begins; nothing of a message that asks for work on a text."""
    if TEXT_WORK.search(text):
        return ""
    begins = [found.start() for found in (FICTION.search(text), ROLE.search(text)) if found]
    return text[: min(begins)] if begins else text


def is_role(text: str) -> bool:
    """Whether a part is played from this message on."""
    found = [match.end() for match in ROLE.finditer(text)]
    return bool(found) and not OUT_OF_ROLE.search(text, found[-1])


def ends_role(text: str) -> bool:
    return OUT_OF_ROLE.search(text) is not None


def is_joke_before(text: str) -> bool:
    """Whether it says that what was said before was a joke."""
    return JOKE.search(text) is not None


def is_unreal(sentence: str) -> bool:
    """Whether it tells of a dream or a game."""
    return UNREAL_WORLD.search(sentence) is not None


def is_hearsay(sentence: str) -> bool:
    return HEARSAY.search(sentence) is not None
