"""Patterns of e-mail addresses, telephone numbers and postal addresses, which a policy may have replaced.

Street names are matched in English, German, Dutch, French, Spanish, Italian and Portuguese. All quantifiers are bounded.
"""

import re

from schemas.policies.policies import PersonalKind

LETTER = "A-Za-zÀ-ɏА-яЁёІіЇїЄє"
CAP = r"[A-ZÀ-ÖØ-Þ][\w'’.-]{0,30}+"
LINK = r"(?:de la|de los|de|del|della|delle|di|du|des|das|dos|da|do|la|le|les|van|von|der|den)"
DOT = r"\s{0,2}(?:\.|[(\[{]\s?(?:dot|punkt|point|punto)\s?[)\]}])\s{0,2}"
AFTER_ADDRESS = (
    rf"(?:,?\s(?:Apt|Unit|Suite|Flat|#)\.?\s?\w{{1,6}})?(?:,\s(?:\d{{4,5}}(?:\s[A-Z]{{2}})?\s)?{CAP}(?:[ -]{CAP}){{0,2}}?"
    r"(?:,?\s(?:[A-Z]{2}\s\d{5}(?:-\d{4})?|[A-Z]{1,2}\d[A-Z\d]?\s\d[A-Z]{2})\b)?)?"
)
PERSONAL: dict[PersonalKind, tuple[re.Pattern[str], ...]] = {
    "email": (
        re.compile(
            rf"(?<![{LETTER}0-9_.+/-])[{LETTER}0-9_][{LETTER}0-9_.+'’-]{{0,63}}+@(?:[{LETTER}0-9-]{{1,63}}+\.){{1,6}}"
            rf"[{LETTER}]{{2,24}}(?![{LETTER}0-9_-])(?!:[\w-]{{1,40}}/)"
        ),
        re.compile(
            rf"(?<![\w.+-])[A-Za-z0-9][\w.+-]{{0,63}}+\s{{0,2}}[(\[{{]\s?(?:at|ät|@|arroba)\s?[)\]}}]\s{{0,2}}[\w-]{{1,63}}+"
            rf"(?:{DOT}[\w-]{{1,63}}+){{1,4}}",
            re.IGNORECASE,
        ),
    ),
    "phone": (
        re.compile(r"(?<![\w+])\+\d{1,3}(?:[ ./-]{0,2}\(?\d{1,5}\)?){2,7}(?!\w)|(?<![\w+])\+\d{8,15}(?!\w)"),
        re.compile(r"(?<![\w.(-])(?:\(\d{3}\)\s?|\d{3}[ .-])\d{3}[.-]\d{4}(?![\w-])"),
        re.compile(
            r"(?P<keep>(?:\btel(?:\.|\b|:|ephone|efon|éfono|éphone)|\b(?:phone|mobile|cell|whatsapp|handy|portable|móvil|celular"
            r"|cellulare|telefoon|my number|meine nummer|call me|text me|ring me)\b|電話|电话|тел(?:ефон)?\b)[\"']?"
            r"(?:\s(?:is|number|at|on|ist|est|es|è|é|nummer|unter|au|al)\b){0,2}\s?(?:[:=：は]\s?)?[\"']?)"
            r"(?P<secret>\(?\d{2,5}\)?(?:[ ./-]?\d{2,4}){1,4})(?!\w|[.:]\d)",
            re.IGNORECASE,
        ),
        # With the 0 of national numbers; dots only between pairs, as "01.02.2026" is a date.
        re.compile(
            r"(?<![\w.,:/-])(?<!\d )\(?0\d{1,4}\)?(?:[ /-]\d{2,9}){1,5}(?![\w-]|[.:,]\d)|(?<![\w.])0\d(?:\.\d\d){4}(?![\w.])"
        ),
    ),
    "address": (
        re.compile(
            rf"(?<![\w.,-])\d{{1,5}}[A-Za-z]?\s(?:{CAP}\s){{1,4}}?(?:Street|St|Avenue|Ave|Road|Rd|Lane|Ln|Drive|Dr|Boulevard|Blvd"
            r"|Terrace|Court|Ct|Place|Pl|Square|Sq|Way|Close|Crescent|Highway|Hwy|Parkway|Pkwy"
            r"|Row|Mews|Grove|Gardens)\b(?:\.(?=[ ,]))?" + AFTER_ADDRESS
        ),
        re.compile(
            r"(?<!\w)(?:(?:Am|An der|Im|In der|Zum|Zur|Auf der|Unter den)\s[A-ZÄÖÜ][\w-]{2,30}"
            r"|(?:[A-ZÄÖÜ][\w.-]{1,20}\s){0,2}[A-ZÄÖÜ][\wäöüß-]{0,30}(?:(?:[sS]tra(?:ß|ss)e|[sS]tr\.)|weg|platz|allee|gasse|ring|damm|ufer"
            r"|gracht|straat|laan|plein|kade))\s\d{1,4}\s?(?:[a-z]\b)?" + AFTER_ADDRESS
        ),
        re.compile(
            r"(?<![\w.,-])\d{1,4}(?:\s(?:bis|ter|quater))?,?\s(?:rue|avenue|av\.|boulevard|bd|place|chemin|allée|impasse|quai|cours"
            rf"|route|square)\s(?:(?:{LINK}\s|l['’]|d['’]){{0,2}}{CAP}\s?){{1,4}}" + AFTER_ADDRESS
        ),
        re.compile(
            r"(?<!\w)(?:Calle|C/|Avenida|Avda\.|Plaza|Paseo|Via|Viale|Piazza|Corso|Vicolo|Rua|Praça|Travessa|Largo)\s"
            rf"(?:(?:{LINK}\s){{0,2}}{CAP}\s?){{1,4}}(?:,\s|n[.º°]\s?|\s)?\d{{1,4}}\b" + AFTER_ADDRESS
        ),
        re.compile(
            r"\b(?:P\.?\s?O\.?\sBox|Postfach|Boîte postale|Apartado(?: de correos)?|Casella postale)\s\d{1,6}\b",
            re.IGNORECASE,
        ),
    ),
}
