"""Directives and constraints: how the user wants things done from now on, and what must not happen."""

from typing import Final

from streams.windows.detectors.rule import START, rule

ASKING: Final = (START, "please ", "and ", "but ", "also ", "just ", "so ", "ok ", "then ")
BITTEN: Final = (START, "bitte ", "und ", "aber ", "also ")
PRIER: Final = (START, "plaît ", "et ", "mais ", "alors ", "donc ")
PEDIR: Final = (START, "favor ", "y ", "pero ", "entonces ")
LIMITED: Final = r"(?:nicht|nie|niemals|keine?[nmrs]?|nur|höchstens|maximal|auf keinen|ausschließlich)\b"

ENGLISH: Final = (
    rule("always", after=(*ASKING, "should ", "must ", "you to ", "shall ", "can you ", "could you ")),
    rule(
        "never",
        after=(*ASKING, "should ", "must ", "you to ", "shall "),
        then=r" (?!mind\b|heard|been|had|was|knew|saw|thought|again\b|ever\b|really|learn(?:ed|t)|liked|got|did|seen)\w",
    ),
    rule("must", unless=("i ", "he ", "she "), then=r"(?! (?:be (?:joking|kidding)|have (?:been|had)|say|admit)\b) \w"),
    rule("mustn", then=r" t\b"),
    rule("don", after=ASKING, then=r" t (?!worry|know|think|mind|you|we|they|understand|have|forget about|bother)\w"),
    rule("dont", after=ASKING, then=r" (?!worry|know|think|mind|you|we|they|understand|have|bother)\w"),
    rule("do", after=ASKING, then=r" not (?!you|we|they)\w"),
    rule("make", after=(*ASKING, "you ", "must "), then=r" sure (?!you re ok)\w"),
    rule("ensure", after=(*ASKING, "must ", "should ")),
    rule("remember", after=ASKING, then=r" (?:that|to|not|i|my|we|our)\b"),
    rule(
        "keep",
        after=ASKING,
        then=r" (?:in mind\b|(?:your|all|the) (?:answers?|repl|respon|messages?|texts?|tone)|(?:it|them) (?:short|simple|brief))",
    ),
    rule("avoid", after=(*ASKING, "should ", "must ", "to ")),
    rule("only", after=ASKING, then=r" (?:use|answer|reply|respond|write|include|change|edit|touch|return|show|give|consider)\b"),
    rule("stick", after=ASKING, then=r" (?:to|with)\b"),
    rule("now", after=("from ",), then=r" on\b"),
    rule("circumstances", after=("under no ", "under any ")),
    rule("exceptions", after=("no ", "without ")),
    rule("most", after=("at ",), unless=("look at ",)),
    rule("than", after=("no more ", "no longer ", "not more ", "no fewer ", "no less ", "not less ")),
    rule("exceed", after=("not ", "t ", "never ")),
    rule("has have", unless=("i ", "we "), then=r" to (?:be|fit|stay|work|remain|run|support|return|contain|include|offer)\b"),
    rule("need want", after=("i ",), then=r" you to\b"),
    rule("should shall", then=r" (?:not|never|always|only) "),
    rule("shouldn", unless=(START,), then=r" t\b"),
    rule("stay", after=("must ", "should ", "has to "), then=r" (?:below|under|within)\b"),
    rule("please", then=r" (?:use|avoid|stick|call me|answer in|reply in|respond in|write in)\b"),
    rule("call", after=(*ASKING, "on "), then=r" me (?!back|later|tomorrow|when|at|on|if|a |an )\w"),
    rule("forbidden prohibited mandatory"),
    rule("allergic", then=r" to\b"),
    rule("deadline", then=r" (?:is|for)\b"),
)
GERMAN: Final = (
    rule("bitte", then=rf"(?: \w{{1,30}}){{0,4}} (?:immer|{LIMITED})"),
    rule("jetzt sofort", after=("ab ",)),
    rule("nun", after=("von ",), then=r" an\b"),
    rule("niemals", after=BITTEN),
    rule("fall umständen", after=("auf keinen ", "unter keinen ")),
    rule("keinesfalls"),
    rule("darf darfst dürfen", then=rf"(?: \w{{1,30}}){{0,3}} {LIMITED}"),
    rule("muss müssen", unless=("ich ", "er ", "sie ", "wir ", "man ", START), then=r" (?!ich|wir|man)\w"),
    rule("musst müsst", after=("du ", "ihr "), then=r" (?!wissen)\w"),
    rule("verwende benutze nutze schreib schreibe antworte", after=BITTEN, then=rf"(?: \w{{1,30}}){{0,3}} (?:immer\b|{LIMITED})"),
    rule("achte achtet achten", then=r"(?: bitte| sie)? darauf\b"),
    rule("sicher", after=("stelle ", "stell ", "stellen sie ")),
    rule("daran", after=("denk ", "denke ", "denkt ", "denken sie ", "denk bitte ")),
    rule("vergiss", then=r" (?:bitte )?(?:nicht|nie)\b"),
    rule("höchstens maximal"),
    rule("vermeide vermeiden", after=BITTEN),
    rule("allergisch", then=r" (?:gegen|auf)\b"),
)
FRENCH: Final = (
    rule("toujours", after=("réponds ", "répondez ", "écris ", "écrivez ", "utilise ", "utilisez ", "garde ", "parle ")),
    rule("n ne", after=PRIER, then=r" \w{1,30}(?: \w{1,30})? (?:jamais|pas|surtout|aucun|aucune)\b"),
    rule("faut", after=("ne ",), then=r" (?:surtout )?(?:pas|jamais)\b"),
    rule("faut", after=("il ",), then=r" que (?:tu|vous|le|la|les|l|tout|chaque)\b"),
    rule("assure", after=PRIER, then=r" toi\b"),
    rule("assurez", then=r" vous\b"),
    rule("veille veillez", after=PRIER, then=r" à\b"),
    rule("désormais dorénavant"),
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
        then=r" (?:uses|borres|toques|escribas|digas|hagas|menciones|olvides|cambies|envíes|modifiques|elimines|pongas|incluyas)\b",
    ),
    rule("nunca", after=("uses ", "use ", "borres ", "toques ")),
    rule("asegúrate asegurate asegúrese"),
    rule("recuerda recuerde", after=PEDIR, then=r" que\b"),
    rule("evita evite", after=PEDIR),
    rule("ahora", after=("a partir de ",)),
    rule("debe deben", then=r" (?:ser|estar|tener|caber|quedar|incluir|contener|costar)\b"),
    rule("puede pueden", after=("no ",), then=r" (?:tener|costar|superar|pasar|exceder)\b"),
    rule("máximo", after=("como ",)),
    rule("solo sólo", after=PEDIR, then=r" (?:usa|responde|escribe|utiliza)\b"),
    rule("alérgica alérgico", then=r" (?:a|al)\b"),
    rule("obligatorio prohibido", after=("es ", "está ")),
)
RULES: Final = ENGLISH + GERMAN + FRENCH + SPANISH
