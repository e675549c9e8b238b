"""Which of the languages with rules a message is written in. Others are recognised too, in order to leave them alone."""

import re
from collections import Counter

WORD = re.compile(r"[^\W\d_]+", re.UNICODE)
LATIN = re.compile(r"[a-zà-öø-ÿœß]", re.IGNORECASE)
PLACEHOLDER = re.compile(r"\[[A-Z_]+\]")
CLEAR = 2  # known words, of a text whose language is to be told
SUPPORTED = frozenset({"en", "de", "fr", "es"})
STOP_WORDS = {
    "en": "i the and my is are to of a we our it in for with that not you have use always please was from no on am will me your "
    "he she they this at as have has do can don ll ve re call like love live work name prefer want never",
    "de": "ich und der die das mein meine ist nicht wir ein eine zu mit auf für bin habe von nach jetzt "
    "aber bitte mich den im am sich uns auch immer keine kein hallo wohne arbeite bevorzuge heiße "
    "mag hasse liebe antworte dem für gegen entschieden "
    "keinen seit trinke esse nehme darf vor uhr bei mir in zukunft ab bitte",
    "fr": "je j m n d appelle le la les mon ma mes et est pas nous un une des à avec pour suis ai dans de du plus mais "
    "que en au aux on chez préfère habite travaille déteste adore toujours jamais bonjour salut "
    "merci c qu s moi prends tutoie ordre",
    "es": "yo el la los las mi mis y es no nos un una me con para soy estoy de que por pero en ya se al "
    "del más tengo vivo trabajo prefiero hemos decidido decidimos uso hablo gusta gustan llamo "
    "nombre cambié mudé viajo tomo bebo ahora trátame sin tú usted voy siempre también hola gracias alérgico alérgica",
    "it": "io il lo gli mio mia e è non noi un una mi con per sono di che ma in ho della vivo lavoro "
    "preferisco anche della questo",
    "pt": "eu o os as meu minha e é não nós um uma me com para sou de que mas em tenho moro trabalho "
    "prefiro do da você muito",
    "nl": "ik de het een mijn en is niet wij we met voor ben heb van naar maar in woon werk bij ook zijn graag",
    "sv": "jag och är inte min mitt vi ett en med för på har av till men bor arbetar som det att",
    "pl": "ja i jest nie moje mój my z dla na mam do ale w mieszkam pracuję się że to jestem",
    "ro": "eu și este nu meu mea noi un o cu pentru sunt am de dar în locuiesc lucrez să la mă",
    "tr": "ben ve bir bu benim için değil ama çok da de mi olarak yaşıyorum çalışıyorum ile",
}
LANGUAGES_OF: dict[str, tuple[str, ...]] = {
    word: tuple(code for code, listed in STOP_WORDS.items() if word in listed.split())
    for word in " ".join(STOP_WORDS.values()).split()
}


def language_of(text: str, hint: str | None = None) -> str | None:
    """A code of SUPPORTED, or None for a language or script without rules. The sender's hint decides where words do not."""
    words = [word.lower() for word in WORD.findall(text)]
    if not words or not mostly_latin(words):
        return None
    hinted = hint.split("-")[0].split("_")[0].lower() if hint else None
    leading, _ = leaders(words)
    if hinted and (not leading or hinted in leading):
        return hinted if hinted in SUPPORTED else None
    return certain(leading)


def leaders(words: list[str]) -> tuple[list[str], int]:
    """The languages that most of the words are known of, and how many those are."""
    scores = Counter(code for word in words for code in LANGUAGES_OF.get(word, ()))
    best = max(scores.values(), default=0)
    return [code for code in STOP_WORDS if best and scores[code] == best], best


def is_another_language(text: str, source: str) -> bool:
    """Whether a text is clearly not in the language of what it was made from: another script, or other words."""
    here, there = ([word.lower() for word in WORD.findall(PLACEHOLDER.sub("", each))] for each in (text, source))
    if not here or not there:
        return False
    if mostly_latin(here) != mostly_latin(there):
        return True
    (mine, known), (theirs, known_there) = leaders(here), leaders(there)
    return known >= CLEAR and known_there >= CLEAR and not set(mine) & set(theirs)


def certain(leading: list[str]) -> str | None:
    """The first of the languages that fit equally well; None where one without rules is among them, save for English."""
    if not leading or leading[0] == "en":
        return "en"
    return leading[0] if SUPPORTED.issuperset(leading) else None


def mostly_latin(words: list[str]) -> bool:
    letters = "".join(words)
    return len(LATIN.findall(letters)) >= 0.8 * len(letters)
