"""Detects the language of a message. Languages without rules are also detected, so that their messages are skipped."""

import re
from collections import Counter

WORD = re.compile(r"[^\W\d_]+", re.UNICODE)
POSSESSIVE = re.compile(r"(?<=\w\w)['’]s\b")  # "doctor's": no French word
LATIN = re.compile(r"[a-zà-öø-ÿœß]", re.IGNORECASE)
PLACEHOLDER = re.compile(r"\[[A-Z_]+\]")
MIN_KNOWN_WORDS = 2  # known words that are needed to detect a language
SUPPORTED = frozenset({"en", "de", "fr", "es"})
STOP_WORDS = {
    "en": "i the and my is are to of a we our it in for with that not you have use always please was from no on am will "
    "me your he she they this at as has do can don ll ve re call like love live work name prefer want never",
    "de": "ich und der die das mein meine ist nicht wir ein eine zu mit auf für bin habe von nach jetzt aber bitte mich "
    "den im am sich uns auch immer keine kein hallo wohne arbeite bevorzuge heiße mag hasse liebe antworte dem "
    "gegen entschieden will keinen seit trinke esse nehme darf vor uhr bei mir in zukunft ab hab dich halte kurz "
    "schwanger woche wochen allergie wenn weil dann noch nur nie mehr kann zum zur vom beim unser meiner meinem "
    "meinen waren hatte wird werden diese dieser dieses sein seine wie wo sie es er haben kommt doch schon gerade "
    "oder als bis über ohne durch dass heute morgen gestern wieder jeden jede danke ja nein sind arbeiten "
    "studiere schreib sag mach kannst du dir dein deine vergiss vielen alles klar aus unter zwischen sondern sehr nichts "
    "ihre ihr ihm ihn einem einer eines allen neuen wurde wurden würde soll muss müssen können montag dienstag mittwoch "
    "donnerstag freitag samstag sonntag januar februar märz dezember",
    "fr": "je j m n d rend donne lait appelle le la les mon ma mes et est pas nous un une des à avec pour suis ai dans "
    "de du plus mais que en au aux on chez préfère habite travaille déteste adore toujours jamais bonjour salut merci c qu s moi "
    "prends tutoie ordre tu il elle ils vous votre vos ton ta tes ce cette ces son sa ses leur très mal peux peut "
    "sois bref sans sous après avant depuis quand où comme aussi ne ni oui non si par mois ans semaine semaines "
    "enceinte fille fils viens vais fais bien oublie mange végétarien végétarienne chien chat sur puis aucun aucune été "
    "était sont ont fait être avoir chaque tout toute tous toutes autre vers cela rien personne lui déjà encore "
    "aujourd hui demain matin lundi mardi mercredi jeudi vendredi samedi dimanche janvier février avril juin juillet "
    "août septembre octobre décembre",
    "es": "yo el la los las mi mis y es no nos un una me con para soy estoy de que por pero en ya se al del más tengo "
    "vivo trabajo prefiero hemos decidido decidimos uso hablo gusta gustan llamo nombre cambié mudé viajo tomo "
    "bebo ahora trátame sin tú usted voy siempre también hola gracias alérgico alérgica como nunca sé puedo puede "
    "quiero quiere muy cuando donde porque si le lo tu su sus este esta eso hijo hija años semanas embarazada "
    "llámame respóndeme dame casa está son fue hay les comemos olvida dejé perro gato a he ha han hemos mudado semana pasada "
    "desde hasta hace otra otro vez muchas muchos cada hoy ayer mañana tras ser eran tiene tienen hacer acuerdo lunes "
    "martes miércoles jueves viernes enero febrero junio julio septiembre octubre noviembre diciembre",
    "it": "io il lo gli mio mia e è non noi un una mi con per sono di che ma in ho della vivo lavoro preferisco anche "
    "questo",
    "pt": "eu o os as meu minha e é não nós um uma me com para sou de que mas em tenho moro trabalho prefiro do da você "
    "muito",
    "nl": "ik de het een mijn en is niet wij we met voor ben heb van naar maar in woon werk bij ook zijn graag",
    "sv": "jag och är inte min mitt vi ett en med för på har av till men bor arbetar som det att",
    "pl": "ja i jest nie moje mój my z dla na mam do ale w mieszkam pracuję się że to jestem",
    "ro": "eu și este nu meu mea noi un o cu pentru sunt am de dar în locuiesc lucrez să la mă",
    "tr": "ben ve bir bu benim için değil ama çok da de mi olarak yaşıyorum çalışıyorum ile",
}
# Letters that distinguish languages if no word does.
SPELLING = {
    "de": re.compile(r"[äöüß]", re.IGNORECASE),
    "fr": re.compile(r"[àâçèêëîïôœùû]|\b[jldncsm]'", re.IGNORECASE),
    "es": re.compile(r"[ñ¿¡áíú]", re.IGNORECASE),
}
LANGUAGES_OF: dict[str, tuple[str, ...]] = {
    word: tuple(code for code, listed in STOP_WORDS.items() if word in listed.split())
    for word in " ".join(STOP_WORDS.values()).split()
}


def language_of(text: str, hint: str | None = None) -> str | None:
    """A code of SUPPORTED, or None for a language or script without rules. The sender's `hint` decides if words do not."""
    words = [word.lower() for word in WORD.findall(POSSESSIVE.sub("", text))]
    if not words or not mostly_latin(words):
        return None
    hinted = hint.split("-")[0].split("_")[0].lower() if hint else None
    leading, _ = best_languages(words)
    if not leading or len(leading) > 1:
        leading = [code for code in leading or SPELLING if code in SPELLING and SPELLING[code].search(text)] or leading
    if hinted and (not leading or hinted in leading):
        return hinted if hinted in SUPPORTED else None
    return only_supported(leading)


def best_languages(words: list[str]) -> tuple[list[str], int]:
    """The languages with the most known words, and that number of words."""
    scores = Counter(code for word in words for code in LANGUAGES_OF.get(word, ()))
    if words[:1] == ["im"]:  # "im pregnant"; behind other words it is German only
        scores["en"] += 1
    best = max(scores.values(), default=0)
    return [code for code in STOP_WORDS if best and scores[code] == best], best


def is_another_language(text: str, source: str) -> bool:
    """Whether a text is clearly not in the language of its source: another script, or other words."""
    here, there = ([word.lower() for word in WORD.findall(PLACEHOLDER.sub("", each))] for each in (text, source))
    if not here or not there:
        return False
    if mostly_latin(here) != mostly_latin(there):
        return True
    (mine, known), (theirs, known_there) = best_languages(here), best_languages(there)
    return known >= MIN_KNOWN_WORDS and known_there >= MIN_KNOWN_WORDS and not set(mine) & set(theirs)


def only_supported(leading: list[str]) -> str | None:
    """The first of the languages that fit equally well, English if none does; None if one of the languages has no rules, unless
    the first is English."""
    if not leading or leading[0] == "en":
        return "en"
    return leading[0] if SUPPORTED.issuperset(leading) else None


def mostly_latin(words: list[str]) -> bool:
    letters = "".join(words)
    return len(LATIN.findall(letters)) >= 0.8 * len(letters)
