"""The wording of constraints, wishes, names, languages and roles in memories, in English, German, French and Spanish.

Data for `classification`: patterns of third-person statements, as rules and models write them. They are in lower case and
match folded texts.
"""

import re
from collections.abc import Mapping
from typing import Final


def _any(patterns: Mapping[str, str]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns.values()))


# The user as the subject; a relative's or a pet's name and job are not the user's.
USER: Final = {
    "en": r"^(?:the )?user(?:'s|’s)? ",
    "de": r"^(?:der nutzer|die nutzerin|der benutzer|die benutzerin) |^(?:\w+ ){1,3}(?:des nutzers|der nutzerin) ",
    "fr": r"^l['’]utilisat(?:eur|rice) |^(?:la |le |les )?\w+ (?:\w+ )?de l['’]utilisat(?:eur|rice) ",
    "es": r"^(?:el usuario|la usuaria) |^(?:el |la )?\w+ (?:\w+ )?del? (?:la )?usuari[oa] ",
}

# A person outside the user's household, as the subject or the owner.
OTHERS: Final = _any(
    {
        "en": r"^(?:the )?user['’]s (?:\S+ )?(?:(?:grand|god|step)?(?:mother|father|parents?)|mum|mom|dad|grandma|grandpa"
        r"|(?:half-?)?(?:brother|sister)s?|siblings?|aunt|uncle|cousin|nephew|niece|\S+-in-law|in-laws|friends?|boss|manager"
        r"|colleagues?|coworkers?|neighbou?rs?|landlord|landlady|teacher|coach|therapist|ex)\b",
        "de": r"^(?:d(?:er|ie) )?(?:\w+ )?(?:groß|schwieger|stief)?(?:mutter|vater|eltern|oma|opa|bruder|schwester|tante|onkel"
        r"|cousine?|neffe|nichte"
        r"|freund(?:in)?|chef(?:in)?|kolleg(?:e|in)|nachbar(?:in)?|vermieter(?:in)?) (?:des nutzers|der nutzerin)\b",
        "fr": r"^l(?:[ae] |['’])(?:\w+ )?(?:grand-|belle-|beau-)?(?:mère|père|frère|sœur|tante|oncle|cousine?"
        r"|neveu|nièce|amie?|chef(?:fe)?|collègue|voisine?|propriétaire) de l['’]utilisat",
        "es": r"^(?:el|la) (?:madre|padre|abuel[oa]|suegr[oa]|cuñad[oa]|herman[oa]|tí[oa]|prim[oa]|sobrin[oa]|amig[oa]|jef[ea]"
        r"|compañer[oa]|vecin[oa]|caser[oa]) del? (?:la )?usuari",
    }
)

# Health, disability, diet, belief and law, of any person. Patterns match from the beginning of a word: matching at each letter
# takes three times as long.
STATE: Final = _any(
    {
        "en": r"\ballergic\b|\banaphyla\w+|\ballerg(?:y|ies) to\b"
        r"|\b(?:has|have|having|with|from|severe|food|nut|drug|known)\b(?: [\w-]+){0,4} (?:allerg(?:y|ies)|intolerances?)\b"
        r"|\bintolerant\b|\bco?eliac\b|\bdiabetic\b|\b(?:type [12] )?diabetes\b|\basthma(?:tic)?\b|\bepilep\w+"
        r"|\bseizures\b"
        r"|\bpregnant\b|\bbreast-?feeding\b|\bpacemaker\b|\bha?emophili\w+|\bblood thinners?\b|\banticoagulants?\b"
        r"|\binsulin\b"
        r"|\bimmuno(?:compromised|suppress\w+)|\bdialysis\b|\bheart (?:condition|disease|failure)\b|\bhypertension\b"
        r"|\bhigh blood pressure\b|\b(?:has|with|diagnosed with)\b.{0,30}\bcancer\b|\bdyslexi\w+|\bcolou?r-?blind\b"
        r"|\b(?:is|are|legally|partially) (?:blind|deaf)\b|\bhard of hearing\b|\bwheelchair\b|\b\w+phobi[ac]\b"
        r"|\b(?:recovering|former) (?:alcoholic|addict)\b|\b(?:is|stays|has been) sober\b|\bteetotal\w*"
        r"|\b(?:is|are|am|be|became|becomes|turned|went|goes|lives?|eats?|eating|strict(?:ly)?)"
        r" (?:an? |strictly |fully |mostly |now |also |both )*(?:vegan|vegetarian|pescatarian|gluten|lactose|halal|kosher"
        r"|keto)\b"
        r"|\b(?:vegan|vegetarian|pescatarian|gluten-free|halal|kosher|low-\w+|ketogenic|dairy-free) diet\b"
        r"|\bkeeps? (?:kosher|halal)\b|\bunder (?:18|the legal age)\b|\bis a minor\b|\bnon-disclosure\b|\bnda\b"
        r"|\b(?:on|under) probation\b|\brestraining order\b",
        "de": r"\b\w*allergi(?:sch|ker\w*)\b|\b(?:hat|haben|leidet|leiden|mit|wegen)\b.{0,40}\w*(?:allergien?|intoleran\w+"
        r"|unverträglichkeit\w*)\b|\b\w+allergie\b|\b\w*intoleran[tz]\w*|\b\w+unverträglich\w*|\bzöliakie\b|\bdiabet\w+|\basthma\w*"
        r"|\bepilep\w+|\bschwanger\b|\bstillt\b|\bherzschrittmacher\b|\bblutverdünner\w*|\binsulin\b|\bbluthochdruck\b"
        r"|\bhält\b.{0,30}\b(?:ramadan|schabbat|sabbat|fastenzeit)\b"
        r"|\brollstuhl\w*|\bschwerhörig\b|\bgehörlos\b|\bist blind\b|\bfarbenblind\b|\blegasthen\w+|\b\w+phobie\b"
        r"|\btrockene[rn]? alkoholiker\w*|\b(?:ist|sind|isst|essen|lebt|leben|ernährt|wurde)\b.{0,30}\b(?:vegetarier\w*"
        r"|vegetarisch"
        r"|veganer\w*|vegan|pescetari\w+|glutenfrei|laktosefrei|halal|koscher)\b|\bminderjährig\b"
        r"|\bverschwiegenheitspflicht\w*",
        "fr": r"\ballergiques?\b|\ballergies? (?:à|aux?)\b|\b(?:a|ont|souffre\w*) .{0,30}(?:allergies?|intolérances?)\b"
        r"|\bintolérante?s?\b|\bcœliaque\b|\bcoeliaque\b|\bdiabét\w+|\bdiabète\b|\basthm\w+|\bépilep\w+|\benceinte\b"
        r"|\ballaite\b"
        r"|\bpacemaker\b|\banticoagulants?\b|\binsuline\b|\bhypertension\b|\bfauteuil roulant\b|\bmalentendante?\b"
        r"|\baveugle\b"
        r"|\bdaltonien\w*|\bdyslexi\w+|\b\w+phob(?:e|ie)\b|\b(?:est|sont|mange\w*|devenue?)\b.{0,20}\b(?:végétarien\w*"
        r"|végane?s?|vegan"
        r"|végétalien\w*|halal|casher|sans gluten|sans lactose)\b|\brégime (?:sans|végé\w*|halal|casher)\b|\bmineure?\b"
        r"|\baccord de confidentialité\b",
        "es": r"\balérgic[oa]s?\b|\balergias? a\b|\b(?:tiene|tienen|padece\w*|sufre\w*)\b.{0,30}(?:alergias?"
        r"|intolerancias?)\b"
        r"|\bintolerantes?\b|\bcelíac[oa]s?\b|\bdiab[eé]t\w+|\bdiabetes\b|\basm(?:a|átic[oa])\b|\bepil[eé]p\w+|\bembarazada\b"
        r"|\bmarcapasos\b|\banticoagulantes?\b|\binsulina\b|\bhipertensi\w+|\bsilla de ruedas\b|\bsord[oa]s?\b|\bcieg[oa]s?\b"
        r"|\bdaltónic[oa]\b|\bdisléxic[oa]\b|\b\w+fobia\b|\b(?:es|son|come\w*|lleva\w*)\b.{0,20}\b(?:vegetarian[oa]s?"
        r"|vegan[oa]s?|halal"
        r"|kosher|sin gluten|sin lactosa)\b|\bdieta (?:sin|vegetariana|vegana|halal|kosher)\b|\bmenor de edad\b"
        r"|\bacuerdo de confidencialidad\b",
    }
)

# Things that a person does not, cannot or must not do.
PROHIBITION: Final = _any(
    {
        "en": r"\b(?:(?:can|may|could|must) ?(?:not|n['’]t|no longer)|can['’]t|won['’]t)\b.{0,30}"
        r"\b(?:eat|drink|have|take|tolerate|consume|lift|climb"
        r"|drive|fly"
        r"|wear|use|touch|share|disclose|travel|work|smoke)\b|\bmust not\b|\bcannot (?:eat|drink|have|take|tolerate|lift"
        r"|drive|fly)\b"
        r"|\b(?:does not|doesn['’]t|do not|don['’]t|no longer|never) (?:eat|drink|consume|smoke|drive|flie|wear)s?\b"
        r"|\bstopped (?:eating|drinking|smoking)\b|\bavoids? (?!getting|being)\w+|\babstains? from\b"
        r"|\b(?:is|are) not (?:allowed|permitted)\b|\b(?:forbidden|prohibited)\b|\blegally (?:required|bound|obliged)\b"
        r"|(?<!has )(?<!have )(?<!had )(?<!['’]ve )\bnever (?!(?:been|had|heard|seen|met|went|was|were|got|won|\w+ed)\b)\w+",
        "de": r"\b(?:darf|dürfen|kann|können|verträgt|vertragen)\b.{0,60}\b(?:nicht|kein\w*)\b"
        r"|\b(?:isst|essen|trinkt|trinken|raucht|nimmt)\b.{0,40}\b(?:kein\w*|nicht|niemals|nie)\b|\bmeidet\b"
        r"|\bverzichtet auf\b"
        r"|\bverboten\b|\bgesetzlich verpflichtet\b|\b(?<!noch )(?:niemals|nie)\b(?!.*\b(?:gewesen|gehabt|gesehen|gehört)\b)",
        "fr": r"\bne (?:peut|peuvent|doit|doivent|supporte\w*|tolère\w*)\b.{0,40}\b(?:pas|plus|jamais)\b"
        r"|\bévite\w* (?:de |les? |la )"
        r"|\bne (?:mange|boi[ts]|fume|consomme)\w* (?:pas|plus|jamais|ni)\b|\binterdite?s?\b|\bne (?!a\b)\w+ jamais\b"
        r"|\bn['’](?!a\b|est\b|avait\b|était\b|ont\b)\w+ jamais\b|\blégalement tenue?\b",
        "es": r"\bno (?:puede|pueden|debe|deben|tolera|toleran)\b|\bya no (?:puede|come|bebe|fuma)\b"
        r"|\bno (?:come|comen|bebe|beben|toma|fuma|consume)\b"
        r"|\bevita\w*\b|\bprohibid[oa]\b|\bnunca (?!ha|han|había|fue|estuvo)\w+|\bobligad[oa] por ley\b",
    }
)

# What a person cannot do for once: a task or an appointment.
UNABLE: Final = _any(
    {
        "en": r"\b(?:cannot|can['’]t|can not)\b.{0,30}\b(?:come|find|open|log|access|install|attend|reach|change)\b",
        "de": r"\b(?:kann|können)\b.{0,60}\b(?:kommen|finden|öffnen|ändern|anmelden|einloggen|erreichen|installieren"
        r"|teilnehmen)\b",
        "fr": r"\bne (?:peut|peuvent) pas (?:venir|trouver|ouvrir|changer|se connecter|joindre|installer|participer|assister)\b",
        "es": r"\bno puede\w* (?:ir|venir|encontrar|abrir|cambiar|entrar|acceder|instalar|asistir|localizar)\b",
    }
)

# A state that is denied or has ended.
OVER: Final = _any(
    {
        "en": r"\bno longer\b|\b(?:is|are|was|were) (?:not|n['’]t)\b|\b(?:isn|aren|wasn|weren)['’]t\b|\bused to (?:be|have)\b"
        r"|\b(?:has|have|had) no\b|\b(?:does|do) ?n[o'’]t have\b|\bformerly\b|\boutgr(?:ew|own)\b|\bstopped being\b|\bcured\b"
        r"|\bwas (?:an? )?(?:vegan|vegetarian|pescatarian|pregnant|allergic)\b",
        "de": r"\bnicht mehr\b|\bist nicht\b|\bkein\w* (?:\w+ )?(?:\w*allergi\w*|vegetarier\w*|veganer\w*|diabet\w+"
        r"|unverträgl\w+)"
        r"|\bfrüher\b|\bwar (?:einmal |mal )?(?:vegetar\w+|vegan\w*|schwanger|allergisch)\b|\bnicht (?:allergisch|vegan"
        r"|schwanger)\b",
        "fr": r"\bn['’]est (?:plus|pas)\b|\bn['’]a (?:plus|pas|aucune)\b|\bautrefois\b|\bauparavant\b|\bétait\b|\bguérie?\b",
        "es": r"\bya no\b|\bno es\b|\bno tiene\b|\bantes era\b|\bdejó de\b|\bera (?:vegetarian|vegan|alérgic)\w+",
    }
)

# Wishes about the assistant's answers.
ANSWERING: Final = _any(
    {
        "en": r"\bwants? the assistant\b"
        r"|\b(?:wants?|prefers?|wish(?:es)?|asks?|asked|expects?|likes?|would like|needs?|insists?|requests?"
        r"|requested)\b.{0,60}"
        r"\b(?:answer\w*|repl(?:y|ies)|respon[sd]\w*|explanations?|summar(?:y|ies)|bullet|brief|concise|short(?:er)?|detailed"
        r"|formal|informal|tone|emojis?|jargon|metric|imperial|units|celsius|fahrenheit|24-hour|step[- ]by[- ]step|markdown"
        r"|code (?:examples|comments|style)|plain language|be addressed|no small talk)\b"
        r"|\banswers? (?:should|must|always)\b|\b(?:answers|replies|responses) in \w+",
        "de": r"\bwunsch (?:des nutzers|der nutzerin)\b|\b(?:möchte|will|wünscht|bevorzugt|bittet|mag"
        r"|erwartet)\b.{0,60}\b(?:antwort\w*"
        r"|erklär\w*|kurz\w*|knapp\w*|ausführlich\w*|stichpunkt\w*|geduzt|gesiezt|duzen|siezen|auf (?:deutsch|englisch)"
        r"|emojis?"
        r"|metrisch\w*|zusammenfass\w*|formell\w*|schritt für schritt)\b",
        "fr": r"\bsouhait de l['’]utilisat|\b(?:souhaite|veut|préfère|demande|aime|attend)\b.{0,60}\b(?:réponse\w*"
        r"|répond\w*|explication\w*"
        r"|bref|brève\w*|concis\w*|court\w*|détaillé\w*|tutoie\w*|vouvoie\w*|tutoyée?|vouvoyée?|résumé\w*|en (?:français"
        r"|anglais)"
        r"|métrique\w*|émojis?)\b",
        "es": r"\bdeseo del? (?:la )?usuari|\b(?:quiere|prefiere|desea|pide|espera|le gusta)\b.{0,60}\b(?:respuesta\w*"
        r"|respond\w*|explicacion\w*"
        r"|breve\w*|concis\w*|cort[oa]s?|detallad\w*|tute\w*|resumen\w*|en (?:español|inglés)|métric\w*|emojis?)\b",
    }
)

# A wish without exceptions, whatever its subject.
WANTING: Final = _any(
    {
        "en": r"\b(?:wants?|wish(?:es)?|prefers?|expects?|insists?|asks?|asked|would like)\b",
        "de": r"\b(?:möchte|will|wünscht|bevorzugt|bittet|erwartet|besteht)\b",
        "fr": r"\b(?:veut|souhaite|préfère|demande|attend|exige)\b",
        "es": r"\b(?:quiere|desea|prefiere|pide|espera|exige)\b",
    }
)
WITHOUT_EXCEPTION: Final = _any(
    {
        "en": r"\b(?:always|never|nothing|no|none|only|every|each|must|whenever|by default|from now on)\b",
        "de": r"\b(?:immer|stets|nie|niemals|nichts|kein\w*|nur|jede[rsnm]?|grundsätzlich|ab sofort)\b",
        "fr": r"\b(?:toujours|jamais|rien|aucune?|uniquement|seulement|chaque|désormais)\b",
        "es": r"\b(?:siempre|nunca|nada|ningún|ninguna?|solo|sólo|solamente|cada|a partir de ahora)\b",
    }
)


def _of_user(patterns: Mapping[str, str]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{USER[code]})(?:{each})" for code, each in patterns.items()))


NAME: Final = re.compile(
    r"^(?:the )?user(?:['’]s (?:\w+ )?(?:name is|names are|pronouns are)| is (?:called|named|known as)| goes by"
    r"| (?:wants|prefers|likes) to be (?:called|named|addressed as))\b"
    r"|^(?:der nutzer|die nutzerin|der benutzer|die benutzerin) (?:heißt|nennt sich|möchte .{1,40} genannt werden)"
    r"|^(?:der )?(?:\w+)?name (?:des nutzers|der nutzerin) ist\b"
    r"|^l['’]utilisat(?:eur|rice) (?:s['’]appelle|se prénomme|se nomme)\b"
    r"|^l['’]utilisat(?:eur|rice) (?:veut|souhaite|préfère) être appelée?\b|^le (?:pré)?nom de l['’]utilisat(?:eur|rice) est\b"
    r"|^(?:el usuario|la usuaria) (?:se llama|quiere que l[aoe] llamen)\b|^el nombre del? (?:la )?usuari[oa] es\b"
)
SPEAKS: Final = _of_user(
    {
        "en": r"(?:speaks?|is (?:fluent|a native speaker)|understands \w+ (?:and|but)"
        r"|(?:native|first|second|preferred|mother) (?:language|tongue))\b",
        "de": r"(?:spricht|versteht)\b|^muttersprache (?:des nutzers|der nutzerin)\b",
        "fr": r"(?:parle|comprend)\b|^la langue maternelle de l['’]utilisat(?:eur|rice)\b",
        "es": r"(?:habla|entiende)\b|^la lengua materna del? (?:la )?usuari[oa]\b",
    }
)
WORKS: Final = _of_user(
    {
        "en": r"(?:works (?:as|at|for|in)|is employed|is (?:the |an? )?(?:head|chief|director|founder|owner|co-founder"
        r"|lead) |runs an? "
        r"|leads |manages |teaches |studies |is (?:retired|self-employed|a student|a freelance\w*)|(?:job|profession"
        r"|occupation|role) )",
        "de": r"(?:arbeitet (?:als|bei|für|in)|leitet |führt |unterrichtet |studiert |ist (?:student\w*"
        r"|selbst(?:st)?ändig|rentner\w*))",
        "fr": r"(?:travaille (?:comme|chez|pour|dans|à|en tant)|dirige |enseigne |étudie |est (?:étudiante?|retraitée?))",
        "es": r"(?:trabaja (?:como|en|para|de)|dirige |enseña |estudia |es (?:estudiante|jubilad[oa]))",
    }
)
IS_A: Final = _of_user({"en": r"is an? ", "de": r"ist ", "fr": r"est ", "es": r"es "})

# Tags and kinds that rules, models and services assign. A loose tag counts only from some importance on.
CONSTRAINT_LABELS: Final = frozenset(
    """allergy allergies intolerance medication disability accessibility constraint constraints restriction restrictions
    dietary-restriction dietary safety hard-constraint allergie unverträglichkeit einschränkung allergie contrainte
    alergia restricción""".split()  # noqa: SIM905
)
LOOSE_LABELS: Final = frozenset(
    "health medical diet legal religion religious gesundheit ernährung recht santé régime salud dieta".split()  # noqa: SIM905
)
WISH_LABELS: Final = frozenset(
    """directive instruction instructions standing-wish style tone format communication response-style answer-style wunsch
    consigne instrucción""".split()  # noqa: SIM905
)
LANGUAGE_LABELS: Final = frozenset({"language", "languages", "sprache", "langue", "idioma"})
WORK_LABELS: Final = frozenset(
    "work job profession occupation role career beruf arbeit travail métier trabajo".split()  # noqa: SIM905
)
