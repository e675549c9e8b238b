"""Words by language that decide how a sentence classified as a statement is kept."""

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from agents.models.offline.rules.engine.rule import anywhere, starting
from agents.models.offline.rules.tables.spanish import IN_A, IRREGULAR


class StatementPatterns(NamedTuple):
    """The words of one language. `feeling`: a mood of the moment; `pronoun` and `demonstrative`: a subject that the previous
    sentence names; `speaker`: words for the speaker; `liking` and `planning` decide the kind."""

    feeling: re.Pattern[str]
    pronoun: re.Pattern[str]
    demonstrative: re.Pattern[str]
    speaker: re.Pattern[str]
    liking: re.Pattern[str]
    planning: re.Pattern[str]

    def refers_back(self, sentence: str) -> bool:
        """Whether the previous sentence names its subject."""
        return self.pronoun.match(sentence) is not None or self.demonstrative.match(sentence) is not None


BY_LANGUAGE: Final[Mapping[str, StatementPatterns]] = {
    "en": StatementPatterns(
        feeling=anywhere(
            r"\b(?:feel(?:s|ing)?|felt|lonely|sad|anxious|scared|worried|angry|upset|heartbroken|depressed|overwhelmed"
            r"|miserable|stressed|been down|so happy|so proud|cried|crying)\b"
        ),
        pronoun=starting(r"\W*(?:and |but |so )?(?:he|she|it|they|its|theyre|hes|shes)\b"),
        demonstrative=starting(
            r"\W*(?:and |but |so )?(?:which\b"
            r"|the (?:first|second|third|last|other|latter|former|same) (?:ones?|two)\b"
            r"|(?:that|this|these|those|there)(?:'s| (?:is|are|was|were|has|have|had|means?|will|would|can)\b))"
        ),
        liking=anywhere(
            r"\b(?:likes?|loves?|prefers?|enjoys?|hates?|dislikes?|favou?rites?|can(?:not|'t) stand|(?:a )?fan of"
            r"|(?:am|is|are|really) into)\b"
        ),
        planning=anywhere(
            r"\b(?:going to|plan(?:s|ning)?|(?:I|we) will|wants? to|hop(?:e|es|ing) to|aims? to|booked"
            r"|next (?:week|month|year|spring|summer|autumn|winter))\b"
        ),
        speaker=anywhere(r"\b(?:I|me|my|mine|we|us|our|ours)\b"),
    ),
    "de": StatementPatterns(
        feeling=anywhere(
            r"\b(?:fühl\w*|gefühl\w*|traurig|einsam|ängstlich|angst\b(?! vor)|wütend|sauer auf|enttäuscht|deprimiert|überfordert"
            r"|gestresst|verzweifelt|nervös|so glücklich|so stolz|geweint|weinen?|heulen?|liebeskummer)\b"
        ),
        pronoun=starting(r"(?!.*\b(?:ich|wir)\b)\W*(?:und |aber |also )?(?:er|sie|es)\b(?! gibt\b| gab\b)"),
        demonstrative=starting(
            r"(?!.*\b(?:ich|wir)\b)\W*(?:und |aber |also )?(?:dies\b"
            r"|(?:das|der|die) (?:erste|zweite|dritte|letzte|andere)n? (?-i:[a-zäöü])"
            r"|(?:das|der|die|da|dort) (?:ist|sind|war|waren|hat|haben|hatte|heißt|heißen|wird|kann|geht|kommt|bedeutet"
            r"|wohnt|arbeitet|lebt|soll)\b)"
        ),
        speaker=anywhere(r"\b(?:ich|mich|mir|mein\w*|wir|uns|unser\w*)\b"),
        liking=anywhere(
            r"\b(?:mag|mögen|(?:ich|wir) lieben?|gern|gerne|lieber|lieblings\w+|hasse|hassen|bevorzug\w+|fan von)\b"
        ),
        planning=anywhere(
            r"\b(?:plane?n?|geplant|vorhaben?|haben? vor|wollen?|will|werden?|möchten?|gebucht|nächste[nmrs]? "
            r"(?:woche|monat|jahr|frühling|sommer|herbst|winter))\b"
        ),
    ),
    "fr": StatementPatterns(
        feeling=anywhere(
            r"\b(?:me sens|sentiment|triste|(?:suis|sens) (?:si |très )?seule?|anxieu\w+|inquiet"
            r"|inquiète|énervée?|fâchée?|déprimée?|débordée?|stressée?|malheureu\w+|si heureu\w+|si fi[eè]re?|pleur\w+)\b"
        ),
        pronoun=starting(
            r"(?!.*\b(?:je|nous|on|moi)\b|.*\bj')\W*(?:et |mais |donc )?"
            r"(?:il(?! n'y a\b| y a\b| faut\b| fait\b| me\b)|elle|ils|elles)\b"
        ),
        demonstrative=starting(
            r"(?!.*\b(?:je|nous|on|moi)\b|.*\bj')\W*(?:et |mais |donc )?"
            r"(?:ça|cela|ce (?:sont|sera|serait)|c'(?:est|était)|celui-ci|celle-ci)\b"
        ),
        speaker=anywhere(r"\b(?:je|me|moi|mon|ma|mes|nous|notre|nos|on)\b|\b[jm]'"),
        liking=anywhere(
            r"\b(?:aim(?:e|es|ent|ons|ez|ais|ait)|ador\w+|préfèr\w+|préfér\w+|détest\w+|hais"
            r"|ne support\w+|fan de|favori\w*|passionnée?)\b"
        ),
        planning=anywhere(
            r"\b(?:(?:vais|allons|va|compte|comptons) \w+(?:er|ir|re)|prévo\w+|prévu\w*|projett?e|projetons|veux|voulons|espèr\w+"
            r"|(?:semaine|année|mois|été|printemps|hiver|automne) prochaine?)\b"
        ),
    ),
    "es": StatementPatterns(
        feeling=anywhere(
            r"\b(?:siento|sentimos|sentimiento|triste|sol[oa] y|ansios[oa]|preocupad[oa]|enfadad[oa]|enojad[oa]|deprimid[oa]"
            r"|agobiad[oa]|estresad[oa]|tan feliz|tan orgullos[oa]|llor(?:o|é|ando|amos))\b"
        ),
        pronoun=starting(
            r"(?!.*\b(?:yo|mis?|conmigo|nosotr[oa]s|nuestr[oa]s?)\b)\W*(?:y |pero |así que )?"
            r"(?:él|ella|ellos|ellas|se llaman?|tienen?|es(?! que\b)|está|viven?|trabaja|son|fue|era|cumple)\b"
        ),
        demonstrative=starting(
            r"(?!.*\b(?:yo|mis?|conmigo|nosotr[oa]s|nuestr[oa]s?)\b)\W*(?:y |pero |así que )?(?:eso|esto)\b"
        ),
        speaker=anywhere(
            r"\b(?:yo|mis?|me|mí|nos|nosotr[oa]s|nuestr[oa]s?|soy|estoy|tengo|voy|he|vamos|\w{2,}(?:amos|emos|imos))\b"
            rf"|^\W*(?:ya )?(?:no )?(?:{'|'.join(IRREGULAR)}|{IN_A})\b"
        ),
        liking=anywhere(
            r"\b(?:gust\w+|encant\w+|ador\w+|prefier\w+|odi(?:o|a|amos|aba)|detest\w+|favorit[oa]s?|aficionad[oa]|apasion\w+)\b"
        ),
        planning=anywhere(
            r"\b(?:voy a|vamos a|va a|plane(?:o|a|amos|ando)|piens[oa]|pensamos|quier\w+|queremos|espero|esperamos"
            r"|(?:semana|mes|año|verano|invierno|otoño|primavera) (?:que viene|próxim[oa])"
            r"|próxim[oa] (?:semana|mes|año|verano|invierno|otoño|primavera))\b"
        ),
    ),
}
