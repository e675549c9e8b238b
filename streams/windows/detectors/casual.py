"""Casual and social messages: greetings, thanks, laughter, farewells, and nothing else."""

from typing import Final

from streams.windows.detectors.rule import END, START, rule

MAX_WORDS: Final = 25  # longer messages have other content

_SOCIAL = (
    "hi hello hey heya hiya thanks thank thx ty cheers lol rofl lmao haha hahaha hahahaha hehe hihi wow yay bye goodbye "
    "welcome congrats congratulations ok okay k cool nice great awesome lovely super perfect brilliant amazing wonderful "
    "morning night evening afternoon weekend alright gotcha ha "
    "hallo servus moin danke dankeschön bitteschön tschüss tschüs prima toll klasse spitze genial wochenende morgen abend "
    "bonjour salut bonsoir merci coucou nuit soirée journée parfait génial bravo mdr rien "
    "hola gracias buenos buenas adiós jaja jajaja genial vale perfecto perfecta nada "
    "ciao grazie prego obrigado obrigada olá oi bedankt hoi dankjewel"
)
_FILLERS = (
    "so very much really that s is was it you re a an the good fine and there how are doing today all to for my well too "
    "i m am funny sounds looks see later tomorrow soon talk then have day one best dear again here of course sure got "
    "oh ah aw yeah yes yep up what no worries problem pleasure friend everyone guys bot buddy now just also lot bunch "
    "guten gute schönen schönes schön vielen lieben dank bitte dir ihnen euch tag nacht wie geht gehts es s bis bald dann "
    "alles klar gern gerne ja das ist freut mich dich auch sehr aber echt na gut "
    "beaucoup bonne bon ça ca va comment allez vous tu très bien de d accord à a demain bientôt oui "
    "c est je t et toi moi aussi "
    "muchas muchísimas qué que tal días tardes noches de hasta luego mañana cómo como estás está todo muy bien sí y tú por"
)
SOCIAL: Final = frozenset(_SOCIAL.split())
WORDS: Final = SOCIAL | frozenset(_FILLERS.split())

# Thanks: casual, unless the message also asks something.
THANKS: Final = (
    rule(
        "thanks thank+you",
        then=r" (?:very much |so much )?for (?:the|your|all|sharing|listening|being|always|inviting)\b",
    ),
    rule("grateful", after=("i m ", "i am ", "very ", "so ")),
    rule(
        "chat talk talking",
        after=("nice ", "nice to ", "let s ", "always nice ", "enjoy ", "nice to see you and "),
        then=r" (?:with|to|again|next)\b",
    ),
    rule("again", after=("chat with you ", "talk to you ", "see you ", "talk with you ")),
    rule("good+luck all+the+best take+care", then=r"[ \n]"),
    rule("wish+you", after=("i ",)),
    rule("danke merci gracias", then=r" (?:für|pour|por) \w"),
)

RULES: Final = (
    rule("how+can+i+help how+may+i+help happy+to+help glad+i+could+help glad+to+help"),
    rule("anything+else anything+you+d+like"),
    rule("welcome", after=("you re ", "you are ", "youre ", START), then=r"(?! to\b)"),
    rule("asking", after=("thank you for ", "thanks for ")),
    rule(
        "day",
        after=("how was your ", "how is your ", "how s your ", "have a nice ", "have a great ", "have a good "),
        then=END,
    ),
    rule("weekend", after=("have a nice ", "have a great ", "nice ", "good ", "happy "), then=END),
    rule("kidding joking", after=("just ", "only ", "i m ")),
    rule("haha hahaha lol", after=(START,), then=r" (?!but|no)\w"),
    rule("night morning", after=(f"{START}good ",), then=r"[ \n]"),
    rule("geschehen", after=("gern ", "gerne ")),
    rule("bis", after=(START, "tschüss ", "danke "), then=r" (?:bald|dann|morgen|später|nächste woche) ?\n"),
    rule("rien", after=(f"{START}de ",), then=END),
    rule("hésitez hésite", after=("n ",), then=r" pas\b"),
    rule("nada", after=(f"{START}de ",), then=END),
    rule("avísame avíseme", then=r" si necesitas\b"),
)


def social(words: list[str]) -> bool:
    """Whether a message consists of social words only; one of them at least must be unmistakable."""
    return WORDS.issuperset(words) and not SOCIAL.isdisjoint(words)


def wordless(text: str) -> bool:
    """Whether a message says something without letters or digits, in any script: thumbs up, an ellipsis."""
    return not text.isspace() and not any(char.isalnum() for char in text)


def has_unknown_script(text: str) -> bool:
    """Whether a message has letters that the word lists do not know, of another script."""
    return any(char > "ÿ" and char.isalpha() for char in text)
