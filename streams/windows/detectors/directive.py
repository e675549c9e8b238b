"""Detects directives and constraints: how the user wants things done, and what must not happen.

Directives in a long text, such as a pasted prompt or a detailed order, count for its own task only, unless it says
otherwise.
"""

from typing import Final

from streams.windows.detectors.rule import START, rule

MAX_WORDS: Final = 50  # in a message whose directives apply to later tasks

ASKING: Final = (START, "please ", "also ", "just ", "ok ", "then ")
ADDED: Final = ("and ", "but ", "so ", "or ")
COMMANDED: Final = (
    r" (?:use|touch|write|change|delete|push|commit|send|share|mention|add|remove|say|ask|edit|call|include|show|return"
    r"|put|run|answer|reply|make|merge|modify|rename|install|deploy|translate|repeat|invent|guess|assume)\b"
)
NOT_STATED: Final = r"(?!worry|know|think|mind|you|we|they|understand|have|like|forget about|bother|get me)\w"
BITTEN: Final = (START, "bitte ", "und ", "aber ", "also ")
PRIER: Final = (START, "plaît ", "et ", "mais ", "alors ", "donc ")
PEDIR: Final = (START, "favor ", "y ", "pero ", "entonces ")
LIMITED: Final = r"(?:nicht|nie|niemals|keine?[nmrs]?|nur|höchstens|maximal|auf keinen|ausschließlich)\b"

# Before "never" and "always" at the end of a sentence: a statement about the present or past, not a directive.
_TELLING = (
    "i we you he she it they there this that ve have has had is are was were s re m d ll do does did will would can could "
    "or not than"
)
TELLING: Final = tuple(f"{word} " for word in _TELLING.split())

ENGLISH: Final = (
    rule("always", after=(*ASKING, "should ", "must ", "you to ", "shall ", "can you ", "could you ")),
    rule(
        "never",
        after=(*ASKING, "should ", "must ", "you to ", "shall "),
        then=r" (?!mind\b|heard|been|had|was|knew|saw|thought|again\b|ever\b|really|learn(?:ed|t)|liked|got|did|seen)\w",
    ),
    rule("always never", after=ADDED, then=COMMANDED),
    rule("never", unless=TELLING, then=r" (?!mind\b|again\b|ever\b|before\b|really\b)\w{1,20}(?= ?\n)"),
    rule("always", unless=(*TELLING, "as ", "almost ", "nearly ", "like "), then=r"(?= ?\n)"),
    rule("no", after=(START, "but ", "and ", "just "), then=r" \w{1,20}(?: \w{1,20}){0,2} please\b"),
    rule(
        "must",
        unless=("i ", "he ", "she "),
        then=r"(?! (?:have (?:been|had)|feel|say|admit|be (?:joking|kidding|very|so|really|quite|an?|tired|proud|happy))\b) \w",
    ),
    rule("mustn", then=r" t\b"),
    rule("don+t", after=ASKING, then=f" {NOT_STATED}"),
    rule("don+t", after=ADDED, then=rf"(?: ever)?{COMMANDED}"),
    rule("dont", after=ASKING, then=f" {NOT_STATED}"),
    rule("do+not", after=(*ASKING, *ADDED), then=rf"(?: ever)?{COMMANDED}"),
    rule("make+sure", after=(*ASKING, *ADDED, "you ", "must "), then=r" (?!you re ok)\w"),
    rule("ensure", after=(*ASKING, *ADDED, "must ", "should ")),
    rule("remember", after=(*ASKING, *ADDED), then=r" (?:that|to|not|i|my|we|our)\b"),
    rule(
        "keep",
        after=(*ASKING, *ADDED),
        then=r" (?:in mind\b|(?:your|all|the) (?:answers?|repl|respon|messages?|texts?|tone)|(?:it|them) (?:short|simple|brief))",
    ),
    rule("avoid", after=(*ASKING, *ADDED, "should ", "must ")),
    rule(
        "only",
        after=ASKING,
        then=r" (?:use|answer|reply|respond|write|include|change|edit|touch|return|show|give|consider)\b",
    ),
    rule("stick", after=ASKING, then=r" (?:to|with)\b"),
    rule("circumstances", after=("under no ", "under any ")),
    rule("exceptions", after=("no ", "without ")),
    rule(
        "at+most",
        then=r"(?= ?\n| (?:\d|one|two|three|four|five|six|seven|eight|nine|ten|twenty|half|once|twice|an? )\b)",
    ),
    rule("than", after=("no more ", "no longer ", "not more ", "no fewer ", "no less ", "not less ")),
    rule("exceed", after=("not ", "t ", "never ")),
    rule(
        "has+to",
        unless=("i ", "we "),
        then=r" (?:be|fit|stay|work|remain|run|support|return|contain|include|offer)\b",
    ),
    rule("need+you+to want+you+to", after=("i ",)),
    rule("should shall", unless=("i ", "we "), then=r" (?:not|never|always|only) "),
    rule("shouldn", unless=(START, "i ", "we "), then=r" t\b"),
    rule("stay", after=("must ", "should ", "has to "), then=r" (?:below|under|within)\b"),
    rule("please", then=r" (?:use|avoid|stick|call me|answer in|reply in|respond in|write in)\b"),
    rule("call+me", after=(*ASKING, "on "), then=r" (?!back|later|tomorrow|when|at|on|if|a |an )\w"),
    rule("forbidden prohibited mandatory"),
    rule("allergic", then=r" to\b"),
    rule("deadline", then=r" (?:is|for)\b"),
)
GERMAN: Final = (
    rule("bitte", then=rf"(?: \w{{1,30}}){{0,4}} (?:immer|{LIMITED})"),
    rule("niemals", after=BITTEN),
    rule("fall umständen", after=("auf keinen ", "unter keinen ")),
    rule("keinesfalls"),
    rule("darf darfst dürfen", then=rf"(?: \w{{1,30}}){{0,3}} {LIMITED}"),
    rule("muss müssen", unless=("ich ", "er ", "sie ", "wir ", "man ", START), then=r" (?!ich|wir|man)\w"),
    rule("musst müsst", after=("du ", "ihr "), then=r" (?!wissen)\w"),
    rule(
        "verwende benutze nutze schreib schreibe antworte",
        after=BITTEN,
        then=rf"(?: \w{{1,30}}){{0,3}} (?:immer\b|{LIMITED})",
    ),
    rule("achte achtet achten", then=r"(?: sie)?(?: bitte)? darauf\b"),
    rule("sicher", after=("stelle ", "stell ", "stellen sie ")),
    rule("daran", after=("denk ", "denke ", "denkt ", "denken sie ", "denk bitte ")),
    rule("vergiss", then=r" (?:bitte )?(?:nicht|nie)\b"),
    rule("höchstens maximal"),
    rule("vermeide vermeiden", after=BITTEN),
    rule("allergisch", then=r" (?:gegen|auf)\b"),
)
FRENCH: Final = (
    rule(
        "toujours", after=("réponds ", "répondez ", "écris ", "écrivez ", "utilise ", "utilisez ", "garde ", "parle ")
    ),
    rule("n ne", after=PRIER, then=r" \w{1,30}(?: \w{1,30})? (?:jamais|pas|surtout|aucun|aucune)\b"),
    rule("faut", after=("ne ",), then=r" (?:surtout )?(?:pas|jamais)\b"),
    rule("faut", after=("il ",), then=r" que (?:tu|vous|le|la|les|l|tout|chaque)\b"),
    rule("assure", after=PRIER, then=r" toi\b"),
    rule("assurez", then=r" vous\b"),
    rule("veille veillez", after=PRIER, then=r" à\b"),
    rule("maximum", after=("au ",)),
    rule("évite évitez", after=PRIER),
    rule("oublie oubliez", after=("n ",), then=r" (?:pas|jamais)\b"),
    rule("souviens rappelle", after=PRIER, then=r" toi (?:que|de)\b"),
    rule("doit doivent", then=r" (?:être|rester|tenir|contenir|faire (?:moins|au))\b"),
    rule("allergique", then=r" (?:à|au|aux)\b"),
    rule("interdit obligatoire", after=("est ", "sont ")),
)
SPANISH: Final = (
    rule("siempre", after=("responde ", "contesta ", "escribe ", "usa ", "utiliza ", "habla ", "responda ", "use ")),
    rule(
        "no nunca",
        after=PEDIR,
        then=r" (?:uses|borres|toques|escribas|digas|hagas|menciones|olvides|cambies|envíes|modifiques|elimines|pongas"
        r"|incluyas)\b",
    ),
    rule("nunca", after=("uses ", "use ", "borres ", "toques ")),
    rule("asegúrate asegurate asegúrese"),
    rule("recuerda recuerde", after=PEDIR, then=r" que\b"),
    rule("evita evite", after=PEDIR),
    rule("debe deben", then=r" (?:ser|estar|tener|caber|quedar|incluir|contener|costar)\b"),
    rule("puede pueden", after=("no ",), then=r" (?:tener|costar|superar|pasar|exceder)\b"),
    rule("máximo", after=("como ",)),
    rule("solo sólo", after=PEDIR, then=r" (?:usa|responde|escribe|utiliza)\b"),
    rule("alérgica alérgico", then=r" (?:a|al)\b"),
    rule("obligatorio prohibido", after=("es ", "está ")),
)
RULES: Final = ENGLISH + GERMAN + FRENCH + SPANISH

# In messages of any length these apply to all later tasks.
LASTING: Final = (
    rule("from+now+on"),
    rule("jetzt sofort", after=("ab ",)),
    rule("nun", after=("von ",), then=r" an\b"),
    rule("désormais dorénavant"),
    rule("ahora", after=("a partir de ",)),
)
