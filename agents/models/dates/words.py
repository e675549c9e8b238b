"""Date words of the languages with rules: weekdays, months, units, numbers, phrases."""

WEEKDAYS = {
    "en": "monday tuesday wednesday thursday friday saturday sunday",
    "de": "montag dienstag mittwoch donnerstag freitag samstag sonntag",
    "fr": "lundi mardi mercredi jeudi vendredi samedi dimanche",
    "es": "lunes martes miércoles jueves viernes sábado domingo",
}
# Abbreviations.
ABBREVIATIONS = {
    "en": {
        **{
            "mon": "monday",
            "tue": "tuesday",
            "tues": "tuesday",
            "wed": "wednesday",
            "weds": "wednesday",
            "thu": "thursday",
        },
        **{"thur": "thursday", "thurs": "thursday", "fri": "friday", "sat": "saturday", "sun": "sunday"},
        **{
            "jan": "january",
            "feb": "february",
            "mar": "march",
            "apr": "april",
            "jun": "june",
            "jul": "july",
            "aug": "august",
        },
        **{"sep": "september", "sept": "september", "oct": "october", "nov": "november", "dec": "december"},
    }
}
MONTHS = {
    "en": "january february march april may june july august september october november december",
    "de": "januar februar märz april mai juni juli august september oktober november dezember",
    "fr": "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "es": "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
}
NUMBERS = {
    "en": "one two three four five six seven eight nine ten eleven twelve",
    "de": "einem zwei drei vier fünf sechs sieben acht neun zehn elf zwölf",
    "fr": "un deux trois quatre cinq six sept huit neuf dix onze douze",
    "es": "un dos tres cuatro cinco seis siete ocho nueve diez once doce",
}
ONES = {"a": 1, "an": 1, "einer": 1, "une": 1, "una": 1}
UNITS = {
    "day": "day",
    "days": "day",
    "tag": "day",
    "tagen": "day",
    "jour": "day",
    "jours": "day",
    "día": "day",
    "días": "day",
    "week": "week",
    "weeks": "week",
    "woche": "week",
    "wochen": "week",
    "semaine": "week",
    "semaines": "week",
    "semana": "week",
    "semanas": "week",
    "month": "month",
    "months": "month",
    "monat": "month",
    "monaten": "month",
    "mois": "month",
    "mes": "month",
    "meses": "month",
    "year": "year",
    "years": "year",
    "jahr": "year",
    "jahren": "year",
    "an": "year",
    "ans": "year",
    "année": "year",
    "año": "year",
    "años": "year",
    "weekend": "weekend",
    "wochenende": "weekend",
    "week-end": "weekend",
    "fin de semana": "weekend",
    "spring": "spring",
    "summer": "summer",
    "fall": "autumn",
    "autumn": "autumn",
    "winter": "winter",
}
# The first month of each season, in the northern hemisphere.
SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "winter": 12}
DAYS_AWAY = {
    "today": 0,
    "tonight": 0,
    "this morning": 0,
    "this afternoon": 0,
    "this evening": 0,
    "tomorrow": 1,
    "tmrw": 1,
    "tmr": 1,
    "last night": -1,
    "the day after tomorrow": 2,
    "the day before yesterday": -2,
    "yesterday": -1,
    "heute": 0,
    "heute abend": 0,
    "heute morgen": 0,
    "heute früh": 0,
    "heute nacht": 0,
    "morgen": 1,
    "übermorgen": 2,
    "gestern": -1,
    "vorgestern": -2,
    "letzte nacht": -1,
    "aujourd'hui": 0,
    "ce soir": 0,
    "demain": 1,
    "après-demain": 2,
    "hier": -1,
    "avant-hier": -2,
    "hoy": 0,
    "esta noche": 0,
    "mañana": 1,
    "pasado mañana": 2,
    "ayer": -1,
    "anteayer": -2,
    "antes de ayer": -2,
}
NEXT_WORDS = "next coming nächsten nächste nächster nächstes kommenden kommende prochain prochaine próximo próxima"
NEXT = frozenset(NEXT_WORDS.split())
LAST_WORDS = "last past letzten letzte letztes letzter dernier dernière pasado pasada"
LAST = frozenset(LAST_WORDS.split())
# A weekday before its date. "We wed 13 June" and "she sat March 3rd" have verbs, unless a full stop or comma follows.
NAMED_WEEKDAY = r"(?:(?:{weekday}|(?!(?:sat|sun|wed) )(?:{short_weekday}))\.?,? )?"
# One pattern per form; {weekday} and the like are replaced by the language's words. The preposition `lead` stays.
PHRASES = {
    "en": (
        r"(?:(?P<lead>on|by|until|before|after|from|since|starting) )?"
        + NAMED_WEEKDAY
        + r"(?:the )?(?P<day>\d{1,2})(?:st|nd|rd|th)?(?: of)? (?P<month>{month})(?:,? (?P<year>(?:19|20)\d\d))?",
        r"(?:(?P<lead>on|by|until|before|after|from|since|starting) )?"
        + NAMED_WEEKDAY
        + r"(?P<month>{month}) (?P<day>\d{1,2})(?:st|nd|rd|th)?(?:,? (?P<year>(?:19|20)\d\d))?",
        r"(?P<away>the day after tomorrow|the day before yesterday|today|tonight|this morning|this afternoon|this evening"
        r"|tomorrow|tmrw|tmr|yesterday|last night)(?!'s)",
        r"(?:(?P<lead>on|by|until|before|after|from|since|starting) )?(?:(?:this )?(?P<which>next|this|last|coming|past) )?"
        r"(?P<weekday>{weekday})(?! (?:mornings|afternoons|evenings|nights))",
        r"(?P<which>next|this|last|coming|past) (?P<weekday>{short_weekday})\.?",
        r"(?:(?P<lead>on|by|until|before|after|from|since|starting) )?(?P<month>{short_month})\.? (?P<day>\d{1,2})(?:st|nd|rd"
        r"|th)?"
        r"(?:,? (?P<year>(?:19|20)\d\d))?",
        r"(?P<ahead>in) (?:the next )?(?P<count>{number}|a|an|\d{1,3}) (?P<unit>days?|weeks?|months?|years?)(?! or)",
        r"(?P<count>{number}|a|an|\d{1,3}) (?P<unit>days?|weeks?|months?|years?) (?P<ago>ago)",
        r"(?P<count>{number}|a|an|\d{1,3}) (?P<unit>days?|weeks?|months?|years?) (?P<ahead>from now)",
        r"(?P<some>(?:a few|a couple of|a couple|the other|few|several) (?P<unit>days?|weeks?|months?|years?))(?P<ago> ago"
        r"|(?<=other day))",
        r"(?P<ahead>in )(?:the next )?(?P<some>(?:a few|a couple of|a couple|few|several) (?P<unit>days?|weeks?|months?|years?))",
        r"(?:(?:on|over|during) )?(?:this |the )?(?P<which>next|this|last|coming|past) (?P<span>week(?!-?ends?)|weekend|month"
        r"|year|spring|summer|fall|autumn"
        r"|winter)(?!'s)",
    ),
    "de": (
        r"(?:(?P<lead>am|bis|ab|seit|vor|nach)(?: dem| zum)? )?(?:(?:{weekday}),? (?:de[nm] )?)?"
        r"(?P<day>\d{1,2})\. (?P<month>{month})(?: (?P<year>(?:19|20)\d\d))?",
        r"(?P<away>übermorgen|heute (?:abend|morgen|früh|nacht)|heute|morgen|vorgestern|gestern|letzte nacht)",
        r"(?:(?P<lead>am|bis|ab|seit) )?(?:(?P<which>nächsten|kommenden|diesen|letzten) )?"
        r"(?P<weekday>{weekday})",
        r"(?P<ahead>in) (?P<count>{number}|einer|\d{1,3}) (?P<unit>tagen?|tag|wochen?|monaten?|monat"
        r"|jahren?|jahr)",
        r"(?P<ago>vor) (?P<count>{number}|einer|\d{1,3}) (?P<unit>tagen?|tag|wochen?|monaten?|monat"
        r"|jahren?|jahr)",
        r"(?:am )?(?P<which>nächste[rsn]?|letzte[rsn]?|dieses) (?P<span>woche|monat|jahr|wochenende)",
    ),
    "fr": (
        r"(?:(?P<lead>le|avant le|depuis le|jusqu'au|dès le) )?(?:(?:{weekday}),? (?:le )?)?(?P<day>\d{1,2})(?:er)? "
        r"(?P<month>{month})(?: (?P<year>(?:19|20)\d\d))?",
        r"(?P<away>après-demain|aujourd'hui|ce soir|demain|avant-hier|hier)",
        r"(?:(?P<lead>le|avant|dès) )?(?P<weekday>{weekday}) (?P<which>prochain|dernier)",
        r"(?P<ahead>dans) (?P<count>{number}|une|\d{1,3}) (?P<unit>jours?|semaines?|mois|ans?)",
        r"(?P<ago>il y a) (?P<count>{number}|une|\d{1,3}) (?P<unit>jours?|semaines?|mois|ans?)",
        r"(?:la |le |l')?(?P<span>semaine|mois|année|week-end) (?P<which>prochaine?|derni[eè]re?)",
    ),
    "es": (
        r"(?:(?P<lead>el|antes del|desde el|hasta el) )?(?:(?:{weekday}),? )?(?P<day>\d{1,2}) de (?P<month>{month})(?: de "
        r"(?P<year>(?:19|20)\d\d))?",
        r"(?P<away>pasado mañana|esta noche|hoy|(?<!la )(?<!por la )mañana|anteayer|antes de ayer|ayer)",
        r"(?:(?P<lead>el) )?(?P<which>próximo) (?P<weekday>{weekday})",
        r"(?:(?P<lead>el) )?(?P<weekday>{weekday}) (?P<which>que viene|pasado)",
        r"(?P<ahead>en|dentro de) (?P<count>{number}|una|\d{1,3}) (?P<unit>días?|semanas?|mes(?:es)?|años?)",
        r"(?P<ago>hace) (?P<count>{number}|una|\d{1,3}) (?P<unit>días?|semanas?|mes(?:es)?|años?)",
        r"(?:la |el )?(?P<which>próxim[ao]) (?P<span>semana|mes|año|fin de semana)",
        r"(?:la |el )?(?P<span>semana|mes|año|fin de semana) (?P<which>pasad[ao])",
    ),
}
RECURRING = {
    "en": r"every |each |every other |most |on alternate |an? ",
    "de": r"jeden |jede |jedes |immer ",
    "fr": r"chaque |tous les ",
    "es": r"cada |todos los ",
}
# Words of absences, journeys and plans, in which a period of weekdays is a single one.
ONE_WEEK = {
    "en": r"\b(?:away|off|out of|abroad|on leave|on holiday|on vacation|sick|trip|conference|visit\w*|staying|travel\w*|going"
    r"|coming|will|'ll|\w+ing (?:to|in|at|with)|this|next)\b",
    "de": r"\b(?:weg|verreist|unterwegs|urlaub|krank\w*|besuch\w*|konferenz|messe|fahre\w*|fliege\w*|reise\w*|bin|sind|werde\w*"
    r"|nächste\w*|diese\w*)\b",
    "fr": r"(?!)",
    "es": r"(?!)",
}
# Words that make "in two weeks" a duration: "I have not seen him in two weeks".
DURATION = {"en": r"\b(?:not|never|once|only|first|twice|times|ever)\b[^,.;]*"}
BEFORE, AFTER = {"en": "before"}, {"en": "after"}
ON = {"en": "on", "de": "am", "fr": "le", "es": "el"}
WITHIN = {
    "en": {
        **{"week": "in the week of", "month": "in", "year": "in", "weekend": "on the weekend of"},
        **{
            "spring": "in the spring of",
            "summer": "in the summer of",
            "autumn": "in the autumn of",
            "winter": "in the winter of",
        },
    },
    "de": {"week": "in der Woche ab", "month": "im Monat", "year": "im Jahr", "weekend": "am Wochenende ab"},
    "fr": {"week": "la semaine du", "month": "en", "year": "en", "weekend": "le week-end du"},
    "es": {"week": "la semana del", "month": "en", "year": "en", "weekend": "el fin de semana del"},
}
# Beginnings of WITHIN, and what is left of them behind a preposition that takes no other: "from the week of".
AFTER_LIMITING = {
    "en": {"in ": "", "on ": ""},
    "de": {"in der ": "der ", "im Monat ": "", "im Jahr ": "", "am ": "dem "},
    "fr": {"en ": ""},
    "es": {"en ": ""},
}
CLOCK = {
    "en": r"\b(?:at|from|around) (?P<hour>\d{1,2})(?::(?P<minute>\d{2}))? ?(?P<half>am|pm|a\.m\."
    r"|p\.m\.)?(?![\d:])",
    "de": r"\b(?:um|ab|gegen) (?P<hour>\d{1,2})(?:[:.](?P<minute>\d{2}))? ?uhr\b",
    "fr": r"\b(?:à|vers) (?P<hour>\d{1,2}) ?h(?:eures)? ?(?P<minute>\d{2})?\b",
    "es": r"\ba las? (?P<hour>\d{1,2})(?::(?P<minute>\d{2}))?\b",
}
SAID_LABEL = {"en": "said", "de": "gesagt", "fr": "dit", "es": "dicho"}
