"""Detects corrections and clarifications of earlier statements or actions."""

from typing import Final

from streams.windows.detectors.rule import END, START, rule

IS_WRONG: Final = (
    *("that s ", "that is ", "thats ", "this is ", "it s ", "was ", "you re ", "you are ", "your answer is ", "still "),
    *("totally ", "completely ", "got it ", "got that ", "answer is ", "s just ", "i am ", "i m ", START),
)
IST: Final = ("das ist ", "ist leider ", "das war ", "ist ", "war ", "ganz ", START)

ENGLISH: Final = (
    rule("wrong incorrect", after=IS_WRONG, then=r"(?! (?:to|with|about my day)\b)"),
    rule(
        "wrong", after=("the ", "a "), then=r" (?:\w{1,20} )?(?:\w{1,20})(?=[ \n])", unless=("went the ", "what s the ")
    ),
    rule(
        "no",
        after=(START,),
        then=r" (?:(?:that|it|this)(?: s| is| was) (?:not|wrong)|(?:that|it|this) (?:isn|wasn) t"
        r"|i (?:meant|said|wanted|asked)|not (?:that|the|like)|you (?:misunderstood|misread|got))\b",
    ),
    rule(
        "actually",
        after=(START,),
        then=r" (?:i (?:meant|mean|wanted|said)|it s|it is|it was|that s|that is|no|not|let s|make it|use)\b",
    ),
    rule("not+quite", after=(START,), then=r"(?! (?:sure|as|the|what|ready|like|there|my|yet)\b)"),
    rule("meant", after=("i ", "what i ", "really ", "actually ")),
    rule("asked wanted said", after=("not what i ", "isn t what i ")),
    rule("said", after=(f"{START}i ", "no i "), then=r"(?: \w{1,20}){1,6} not\b"),
    rule("typo misunderstanding", after=("a ", "my ", "the ")),
    rule("misunderstood misread miscounted misspoke", after=("you ", "i ", "you ve ", "i ve ")),
    rule("correction", after=(START,), then=END),
    rule("clarify", after=(f"{START}to ", "let me ", "just to ", "should ")),
    rule("rephrase", after=("let me ", "i ll ", "i should ")),
    rule("mistake mistaken", after=("my ", "i made a ", "was a ", "i was ", "a ", "i am ", "i m ")),
    rule("mistake", after=("by ",), unless=("often by ",), then=r"(?= ?\n)"),
    rule(
        "apologize apologise apologies sorry",
        then=r" (?:for|about) (?:the|that|my|any) (?:\w{1,20} )?(?:confusion|mistake|error|mix|misunderst|oversight)",
    ),
    rule(
        "right",
        after=("you re ", "you are "),
        then=r" ?(?:\n ?)?(?:i (?:was|made|misread|misunderstood|used|forgot|apologi[sz]e)|my (?:mistake|apologies)|that was"
        r"|sorry)\b",
    ),
    rule("wrong", after=("i was ", "we were ")),
)
GERMAN: Final = (
    rule("falsch", after=IST, then=r"(?! (?:zu|wenn)\b)"),
    rule("nein", after=(START,), then=r" (?:das (?:ist|war|stimmt)|stimmt|ich (?:meinte|meine|wollte|sagte)|nicht)\b"),
    rule("meinte", after=("ich ", "damit ")),
    rule("gemeint", then=r" (?:war|ist|habe ich|sind)\b"),
    rule(
        "geirrt vertippt verschrieben verwechselt vertan",
        after=("mich ", "ich ", "mich da ", "das ", "da ", "mich leider "),
    ),
    rule("missverstanden", after=("mich ", "falsch ", "das ", "da ")),
    rule("korrektur richtigstellung", after=(START,), then=END),
    rule("stimmt", after=("das ", "es "), then=r"(?: so| leider| aber| doch){0,2} nicht\b"),
    rule("tippfehler", after=("ein ", "mein ", "einen ")),
    rule("fehler", after=("mein ",)),
)
FRENCH: Final = (
    rule("faux inexact", after=("c est ", "c était ", "est ", START), then=r"(?! (?:de|que si)\b)"),
    rule("voulais", after=("je ",), then=r" (?:plutôt )?dire\b"),
    rule("fait", after=(f"{START}en ",), then=r" non\b"),
    rule("non", after=(START,), then=r" (?:c est|ce n est|pas|je (?:voulais|parlais))\b"),
    rule("trompé trompée", after=("suis ", "es ", "êtes ", "me ", "a ")),
    rule("erreur", then=r" de ma part\b"),
    rule("rectification correction", after=(START,), then=END),
    rule("demandé voulais", after=("pas ce que j ai ", "pas ce que je ")),
    rule("exprimé exprimée", after=("mal ",)),
    rule("compris", after=("mal ", "m avez mal ", "as mal ")),
)
SPANISH: Final = (
    rule("mal", after=("eso está ", "eso esta ", "esto está ", "es que está "), then=END),
    rule("realidad", after=(f"{START}en ",), then=r" no\b"),
    rule("no", after=(START,), then=r" (?:eso|era|perdón|quería|quise)\b"),
    rule("refería referia", after=("me ",)),
    rule("decir", after=("quería ", "quise ", "queria "), unless=("qué quería ", "que quería ")),
    rule("equivoqué equivoque equivocado equivocada", after=("me ", "he ", "estás ", "estaba ", "me he ", "has ")),
    rule("corrección", after=(START,), then=END),
    rule("pedí", after=("lo que ", "lo que te "), then=END),
    rule("incorrecto incorrecta falso", after=("es ", "eso es ", START)),
    rule("malentendido", after=("un ", "hubo un ")),
)
RULES: Final = ENGLISH + GERMAN + FRENCH + SPANISH
