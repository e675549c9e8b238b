"""French statements in the first person; the memory stays French."""

import re

from agents.models.offline.rules.engine.rule import LanguageRules, anywhere, starting
from agents.models.offline.rules.tables.templated import WordReplacement, templated, topics, unchanged

SUBJECT = "L'utilisateur"
NAME = r"(?P<x>(?-i:[A-ZÀ-Þ])[\wà-ÿ'-]*(?: (?-i:[A-ZÀ-Þ])[\wà-ÿ'-]*){0,2})"
IRREGULAR = {"suis": "est", "ai": "a", "vais": "va", "connais": "connaît", "nais": "naît"}
# Verbs that state nothing about the speaker.
SAYS_NOTHING = (
    r"(?:pense|crois|dis|sais|savais|comprends|suppose|espère|souhaite|vois|voulais|voudrais|peux|pouvais|pourrais|dois|devrais"
    r"|aimerais|imagine|demande|regrette|remercie|parie|trouve|entends|serais|aurais|ferais|irais|doute|sens|souviens|rappelle"
    r"|plaisante|attends|dirais|promets|préférerais|excuse|vous|te|l|y|en|le|la|les|lui|leur|ne|me|se"
    r"|veux (?:dire|savoir|juste|que|bien)|viens de|vais (?:(?:très )?bien|essayer|voir|te|vous|y|le|la)"
    r"|(?:ai|avais) (?:besoin|hâte|fini|juste|(?:une? |des |aucune? )(?:question|idée|problème)|entendu|compris|essayé|dit|eu"
    r"|oublié|pensé|tort|raison|du mal|l'air|remarqué|vu)"
    r"|étais (?:juste|en train)"
    r"|suis (?:désolée?s?|contente?|heureu\w+|triste|d'accord|sûre?|certaine?|fatiguée?|prête?|curieu\w+|bien|bonne|ravie?"
    r"|en train|juste|là|ici|ok|occupée?|excitée?|inquiet|inquiète|perdue?|seule?|tellement|si|très|trop|impressionnée?"
    r"|jalou\w+|intéressée?|au courant|pas))"
)
POINTING = (
    r"(?:ça|cela|ceci|celui|celle|ceux|y|en|le fait|tout|bien|beaucoup|aussi|moi|trop|lui|toi|vous|savoir|l'idée|cette idée"
    r"|votre|ton|ta)"
)
OBJECT = (
    rf"(?P<object>(?!{POINTING}\b)(?!pas (?:{POINTING}|vraiment|encore|sûre?)\b)(?!.*\b(?:vous|votre|vos|tu|ton|tes"
    rf"|toi)\b).+)"
)
FIRST_PERSON = rf"j(?:e |')(?P<verb>(?:n'|ne )?(?:m'|me )?(?!{SAYS_NOTHING}\b)\w\w+)"
TOPICS = topics(
    likes=r"j'(?:aime|adore)|je (?:n'aime|n'adore|préfère|déteste|ne supporte)|préférée?s?",
    allergy=r"allergi\w+|intoléran\w+",
    health=r"diab\w+|asthm\w+|végétari\w+|végane?|vegan|enceinte|cancer|handicap\w*|daltonien\w*",
    home=r"j'habite|je vis|je réside|je viens d|déménag\w+",
    work=r"travail\w*|emploi|métier|bénévol\w+|étudi\w+|université|école|infirmi\w+|médecin|prof\w*|avocate?|ingénieure?|retraitée?",
    family=r"femme|mari|mariée?|fille|fils|enfants?|frères?|sœurs?|soeurs?|mère|père|parents|chiens?|chats?|famille",
)


def third_person_verb(verb: str) -> str:
    """The verb for "il" instead of "je", with the words before it."""
    before, last = re.fullmatch(r"((?:n'|ne )?(?:m'|me )?)(.+)", verb.lower()).groups()  # type: ignore[union-attr]
    before = before.replace("m", "s")
    if last not in IRREGULAR and last.endswith("rai"):
        return f"{before}{last[:-1]}"
    third_person = IRREGULAR.get(
        last, re.sub(r"(?<=[dt])s$|(?<=[^dt])[sx]$", lambda found: "" if last[-2] in "dt" else "t", last)
    )
    return (before.replace("se ", "s'") if third_person[0] in "aeiouhéèê" else before) + third_person


POSSESSIVE = WordReplacement(
    {"mon": "son", "ma": "sa", "mes": "ses", "moi": "lui", "me": "se", "notre": "leur", "nos": "leurs"}
)
WITHIN = re.compile(r"\bj(?:e |')((?:n'|ne )?(?:m'|me )?\w+)", re.IGNORECASE)


def reword(text: str) -> str:
    return POSSESSIVE(WITHIN.sub(lambda found: f"il {third_person_verb(found[1])}", text)).replace("que il ", "qu'il ")


CHANGES = (
    templated(
        r"(?:j'ai |nous avons |on a )déménagé (?:\w+ ){0,2}?d[e'] ?(?P<old>.+?) (?:à|en|au|pour) (?P<new>.+)",
        SUBJECT + " a déménagé de {old} à {new}",
        "fact",
        0.75,
        "home",
    ),
    templated(
        r"je suis passée? d[eu'] ?(?:la )?(?P<old>.+?) (?P<a>à la|à|au|aux) (?P<new>.+)",
        SUBJECT + " est passé de {old} {a} {new}",
        "preference",
        0.7,
        "change",
    ),
    templated(
        r"je (?P<verb>n(?:'|e )\w+) plus (?P<old>[^,]+)(?P<rest>(?:, (?:je |j')\w+ (?:maintenant |plutôt "
        r"|désormais )?(?P<new>.+))?)",
        SUBJECT + " {verb} plus {old}{rest}",
        "preference",
        0.65,
        "change",
    ),
)
RULES = (
    templated(rf"(?:je m'appelle|mon nom est|mon prénom est) {NAME}", SUBJECT + " s'appelle {x}", "fact", 0.8, "name"),
    templated(rf"appelle[sz]?-moi {NAME}", SUBJECT + " veut être appelé {x}", "preference", 0.75, "name"),
    templated(
        r"(?:nous avons|on a) (?:finalement )?(?P<x>(?:décidé|convenu|choisi) .+)",
        "L'équipe a {x}",
        "decision",
        0.75,
        "decision",
    ),
    templated(r"j'ai (?:finalement )?(?P<x>(?:décidé|choisi) .+)", SUBJECT + " a {x}", "decision", 0.75, "decision"),
    templated(
        r"(?:s'il (?:te|vous) plaît,? )?(?P<x>(?:répond(?:s|ez)|écri(?:s|vez)|parle[sz]?"
        r"|utilise[sz]?)\b.*\b(?:toujours|jamais|uniquement|seulement|en français)\b.*)",
        "Souhait de l'utilisateur : {x}",
        "preference",
        0.75,
        "directive",
    ),
    templated(
        r"(?:jamais de|pas de) (?P<x>\w+ (?:le (?:lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche)|avant|après)\b.*)",
        "Souhait de l'utilisateur : pas de {x}",
        "preference",
        0.75,
        "directive",
    ),
    templated(rf"{FIRST_PERSON} {OBJECT}", SUBJECT + " {verb} {object}", "plan", 0.65, "plan", dated=True),
    templated(rf"{FIRST_PERSON} {OBJECT}", SUBJECT + " {verb} {object}", "fact", 0.5, topics=TOPICS),
    templated(rf"(?:nous avons|on a) {OBJECT}", SUBJECT + " a {object}", "fact", 0.5, topics=TOPICS),
    *(
        templated(
            rf"{mine} (?!(?:avis|question|dieu|faute|côté|problème)\b)(?P<x>{vowel}[\w'-]*(?: [\w'-]+){{0,2}}?) "
            rf"(?P<y>(?:n'|ne )?(?:est|sont|était|étaient|a|ont|vit|vivent|travaille|aime|s'appelle\w*|habite) {OBJECT})",
            f"{article}{{x}} de l'utilisateur {{y}}",
            "fact",
            0.55,
            topics=TOPICS,
        )
        for mine, vowel, article in (
            ("m(?:on|a)", "[aeiouhéèêâîœ]", "l'"),
            ("mon", "", "le "),
            ("ma", "", "la "),
            ("mes", "", "les "),
        )
    ),
)

FRENCH = LanguageRules(
    code="fr",
    normalise=unchanged,
    reword=reword,
    subject=SUBJECT,
    pronoun="il",
    third=third_person_verb,
    lead_in=starting(
        r"(?:[\w' ]{2,30} ?:\s+(?=(?:je |j'|nous |on ))|"
        r"(?:bonjour|salut|bonsoir|coucou|merci|alors|oui|non|ok|d'accord|au fait|en fait|et|mais|aussi|sinon|bon|voilà"
        r"|pour info|moi|lol|ah|oh|cool|super|génial|wow|désolée?|bien|eh bien|ouais|haha|donc|parfois|normalement|hé|hey"
        r"|c'est \w+|ça va)(?:\s*[,:;!.–-]+\s*|\s+(?=(?:je |j'|nous |on |mon |ma |mes )))"
        r"|(?:souviens-toi|note|retiens|rappelle-toi|maintenant)(?: bien)? (?:que |qu')\s*)"
    ),
    fronted=starting(
        r"(?P<front>(?:demain|après-demain|aujourd'hui|hier|(?:le |chaque |tous les )?(?:(?:vendredi|lundi|mardi|mercredi|jeudi"
        r"|samedi|dimanche)s?|la semaine|le mois|dans"
        r"|en (?:hiver|été|automne)|pendant|avant|après|le \d+|depuis|à partir)\b[^,]{0,30}?)),? (?=(?:je |j'"
        r"|nous |on ))(?P<rest>.+)"
    ),
    clause_break=anywhere(
        r"(?:,? (?:et|mais|car|donc)|[;–,]) (?=(?:je |j'|nous |on |mon |ma |mes |peux-tu|pouvez-vous|comment|quel"
        r"|tu (?:peux|pourrais|connais) |vous (?:pouvez|connaissez) |pourrais-tu|connais-tu|connaissez-vous))"
        r"|,? (?:mais|et(?= (?:dès|à partir) )) "
        r"(?=(?:en|dès|depuis|à partir d\w*|la|le|l'|dans)\b[\w' ]{0,20}?,? (?:je |j'|nous ))"
    ),
    question=starting(
        r"(?:est-ce que|peux-tu|pouvez-vous|tu (?:peux|pourrais|connais)\b|vous (?:pouvez|connaissez)\b"
        r"|comment|quel\w*|quand|où|pourquoi|qui|que |qu'|as-tu"
        r"|avez-vous|pourrais-tu|puis-je|c'est quoi)\b"
    ),
    doubtful=anywhere(r"\b(?:je pense|je crois|probablement|sans doute|il me semble)\b"),
    unreal=anywhere(
        r"\b(?:peut-être|si j(?:e |')|si nous|éventuellement|imagine|supposons|j'aimerais|je voudrais|serais|aurais"
        r"|\w{2,}erais)(?!\w)"
    ),
    casual=anywhere(rf"{POINTING}\b"),
    doubt="incertain",
    changes=CHANGES,
    rules=RULES,
)
