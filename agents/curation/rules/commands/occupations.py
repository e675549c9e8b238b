"""What a statement says about work and studies, to be left out: "works at the clinic", "is a physiotherapist"."""

import re
from typing import Final

# "works at the clinic as a cook", to the end of the clause. "Works for 20 euros an hour" is about money.
ACTIVITY: Final = re.compile(
    r"\b(?:work(?:s|ed|ing)? (?:as|at|in|for)|stud(?:ies|ied|ying)|train(?:s|ed|ing) (?:as|to be)"
    r"|(?:is|was) an? (?:\w+ ){0,2}?(?:\w+(?:er|or|ist|ian)|nurse|cook) (?:at|in)"
    r"|arbeitet (?:als|an|am|bei|beim|für|im|in)|studiert|travaille (?:à|au|aux|chez|comme|dans|en|pour)|étudie"
    r"|trabaja (?:como|de|en|para)|estudia) (?!\d)[^,;.()]*?"
    r"(?=$|[,;.()]| (?:after|although|and|because|but|despite|during|since|who|while|with|aber|mit|nach|seit|trotz"
    r"|und|weil|après|avec|depuis|et|mais|malgré|con|desde|pero|tras|y) )",
    re.IGNORECASE,
)
# "is a retired physiotherapist", "ist Zahnärztin".
PRACTITIONER: Final = re.compile(
    r"\b(?:(?:is|was|be|become|as) an? (?:\w+ ){0,2}?|(?:ist|war|wird|als) (?:eine? )?|(?:est|était|comme) (?:une? )?"
    r"|(?:es|era|como) (?:una? )?)"
    r"[\w-]*(?:arzt|chirurg|chirurgien|chirurgienne|chirurgin|cirujan[oa]|dentist[ea]?|dietici?an|dontist|hebamme|iat(?:er|erin)"
    r"|iat(?:ra|re)|iatrician|iatrist|kinési|matrona|midwife|nutritionist|olog(?:e|in|ist|ue)|ólog[oa]|opath|opathe|opathin"
    r"|ópata|physio|practor|puncturist|sage-femme|surgeon|therapist|therapeut|therapeutin|terapeuta|thérapeute|ärztin)\b",
    re.IGNORECASE,
)


def without_occupations(text: str) -> str:
    return PRACTITIONER.sub(" ", ACTIVITY.sub(" ", text))
