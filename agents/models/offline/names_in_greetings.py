"""Finds the name of the speaker in a greeting that opens a message ("Hi, Sara here") and makes it a sentence that rules read."""

import re
from typing import Final

from agents.models.offline.introductions import EVERYBODY, WORDS

WORD: Final = r"(?-i:(?:Ma?c|[DO]['’])?[A-ZÀ-Þ][a-zß-ÿ]+(?:-[A-ZÀ-Þ][a-zß-ÿ]+|['’][A-ZÀ-Þ]?[a-zß-ÿ]+)*)"
# Capitalised words that follow "it's", "I'm" or "soy" and are no names.
NO_NAME: Final = (
    r"(?!(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|may|june|july|august|september|october"
    r"|november|december|christmas|easter|ramadan|halloween|thanksgiving|hanukkah|diwali|eid|spring|summer|autumn|fall|winter"
    r"|aries|tauro|géminis|gemini|cáncer|cancer|virgo|libra|escorpio|scorpio|sagitario|sagittarius|capricornio|capricorn"
    r"|acuario|aquarius|piscis|pisces|bélier|taureau|gémeaux|lion|vierge|balance|scorpion|sagittaire|capricorne|verseau|poissons"
    r"|greek|dutch|swiss|czech|thai|french|irish|welsh|iraqi|israeli|pakistani|afghan|arab|kurd|turk|dane|swede|finn|scot|brit"
    r"|italian|russian|persian|iranian|bosnian|haitian|libyan|kenyan|ugandan|moroccan|chilean|filipin[oa]|catalan|aussie|vegan"
    r"|german|american|african|asian|european|latin[oa]|korean|mexican|cuban|indian|belgian|norwegian|syrian|serbian|texan"
    r"|muslim|hindu|sikh|buddhist|jew|jewish|catholic|christian|protestant|orthodox|mormon|atheist|mom|mum|dad|nurse|newbie"
    r"|fran[cç]aise?|anglaise?|allemande?|italien(?:ne)?|espagnole?|belge|suisse|marocaine?|algérien(?:ne)?"
    r"|(?:lun|mar|mercre|jeu|vendre|same)di|dimanche|noël|pâques|ok|okay|fine|good|great|sorry|back|new"
    r"|[a-z]{3,}(?:ish|ese)|[a-z]{4,}(?:nian|lian|sian|rian|cian|dian|gian|tian|bian))\b)"
)
NAME: Final = rf"{NO_NAME}(?P<name>{WORD}(?: {WORD})?)"
OPENING: Final = rf"{WORDS}(?: {EVERYBODY})?[,.!]* "
FROM: Final = r"(?: from (?:[A-Z]{2,3}|(?!(?:the|my|our|an?)\b)[a-z][\w-]*)(?![\w-]))"
# After a greeting, and without one; then the sentence with the name.
INTRODUCTIONS: Final = (
    (rf"(?:it['’]?s|it is|this is|I['’]?m|I am) {NAME}(?: (?:here|again|speaking))?{FROM}?", "My name is {}."),
    (rf"{NAME} here", "My name is {}."),
    (rf"hier (?:schreibt|spricht) {NAME}", "Ich heiße {}."),
    (rf"(?:c['’]est|je suis) {NAME}", "Mon nom est {}."),
    (rf"(?:aquí|habla|te escribe) {NAME}", "Mi nombre es {}."),
)
WITHOUT_GREETING: Final = (
    (rf"this is {NAME}{FROM}", "My name is {}."),
    (rf"(?:mein name ist|ich bin(?:['’]?s| es),?) {NAME}", "Ich heiße {}."),
    (rf"(?:ici|moi,? c['’]est) {NAME}", "Mon nom est {}."),
    (rf"soy {NAME}", "Mi nombre es {}."),
)
END: Final = r"(?: *[.,!;–—]+ *| +-+ *| (?:and|und|et|y) | *$)"
APPOSITION: Final = re.compile(r"(?:\d|an? (?!few\b|quick\b|question\b))")  # "Marlene, 71", "Sara, a nurse from Leeds"
FORMS: Final = tuple(
    (re.compile(rf"(?:{begins}){form}{END}", re.IGNORECASE), sentence)
    for begins, forms in ((OPENING, INTRODUCTIONS), (f"(?:{OPENING})?", WITHOUT_GREETING))
    for form, sentence in forms
)


def with_name_as_sentence(text: str) -> str | None:
    """The message with the name of its greeting as a sentence: "My name is Sara. I'm vegan" for "Hi, Sara here, I'm vegan". None
    for other messages."""
    for pattern, sentence in FORMS:
        if found := pattern.match(text):
            rest = text[found.end() :]
            rest = f"I'm {rest}" if APPOSITION.match(rest) else f"{rest[:1].upper()}{rest[1:]}"
            return f"{sentence.format(found['name'])} {rest}".rstrip()
    return None
