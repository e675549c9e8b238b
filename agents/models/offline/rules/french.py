"""French: the core first-person sentences; the memory stays French."""

from agents.models.offline.rules.rule import Tongue, anywhere, starting
from agents.models.offline.rules.templated import Replacing, templated, unchanged

QUI = "L'utilisateur"
NAME = r"(?P<x>(?-i:[A-ZÀ-Þ])[\wà-ÿ'-]*(?: (?-i:[A-ZÀ-Þ])[\wà-ÿ'-]*){0,2})"
RIEN = (
    r"(?!ça\b|cela\b|bien (?:ça|ton|ta|votre)\b|le fait\b|beaucoup (?:ça|ton|ta|votre)\b|savoir\b"
    r"|te\b|vous\b)"
)
VERBS = {
    "adore": "adore",
    "aime": "aime",
    "déteste": "déteste",
    "préfère": "préfère",
    "parle": "parle",
    "utilise": "utilise",
    "bois": "boit",
    "mange": "mange",
    "apprends": "apprend",
    "joue": "joue",
    "supporte": "supporte",
}
PROCHE = (
    r"(?:chiens?|chats?|chienne|chatte|cheval|lapins?|perroquet|filles?|fils|enfants?|frères?|sœurs?"
    r"|soeurs?|jumeaux|bébé)"
)
METIER = (
    r"(?:infirmi[eè]re?|médecin|professeure?|prof|étudiante?|avocate?|développeu(?:r|se)|ingénieure?"
    r"|architecte|boulang(?:er|ère)|cuisini(?:er|ère)|journaliste|comptable|retraitée?|traduct(?:eur"
    r"|rice)|graphiste|musicien(?:ne)?|chef|designer|consultante?)"
)

CHANGES = (
    templated(
        r"(?:j'ai |nous avons |on a )déménagé (?:\w+ ){0,2}?d[e'] ?(?P<old>.+?) (?:à|en|au|pour) "
        r"(?P<new>.+)",
        QUI + " a déménagé de {old} à {new}",
        "fact",
        0.75,
        "home",
    ),
    templated(
        r"je suis passée? d[eu'] ?(?:la )?(?P<old>.+?) (?P<a>à la|à|au|aux) (?P<new>.+)",
        QUI + " est passé de {old} {a} {new}",
        "preference",
        0.7,
        "change",
    ),
    templated(
        r"je n'?(?:e )?(?P<v>utilise|aime|bois|mange) plus (?:d[e'u] ?|le |la |les |l')?(?P<old>[^,]+), "
        r"(?:j'|je )(?P<w>\w+) (?:maintenant |plutôt |désormais )?(?P<new>.+)",
        QUI + " n'{v} plus {old}, il {w} {new}",
        "preference",
        0.7,
        "change",
    ),
    templated(r"je n'(?P<v>utilise|aime) plus (?P<old>.+)", QUI + " n'{v} plus {old}", "preference", 0.65, "change"),
    templated(
        r"je ne (?P<v>bois|mange|supporte) plus (?P<old>.+)", QUI + " a arrêté : {old}", "preference", 0.65, "change"
    ),
)
FACTS = (
    templated(rf"(?:je m'appelle|mon nom est|mon prénom est) {NAME}", QUI + " s'appelle {x}", "fact", 0.8, "name"),
    templated(rf"appelle[sz]?-moi {NAME}", QUI + " veut être appelé {x}", "preference", 0.75, "name"),
    templated(
        r"(?:j'habite|je vis|je réside) (?P<x>(?:\w+ ){0,2}?(?:à|en|au|aux|dans|près de)\b .+)",
        QUI + " habite {x}",
        "fact",
        0.7,
        "home",
    ),
    templated(
        r"j'ai déménagé (?:récemment )?(?P<p>à|en|au) (?P<new>.+)", QUI + " a déménagé {p} {new}", "fact", 0.75, "home"
    ),
    templated(r"je viens (?P<x>d(?:e |'|u )(?-i:[A-ZÀ-Þ]).+)", QUI + " vient {x}", "fact", 0.6, "home"),
    templated(
        r"je travaille (?P<x>(?:chez|comme|à|pour|dans|en|au)\b .+)", QUI + " travaille {x}", "fact", 0.7, "work"
    ),
    templated(rf"je suis (?P<x>{METIER}\b.*)", QUI + " est {x}", "fact", 0.7, "work"),
    templated(
        r"je suis (?P<x>(?:très |fortement )?allergique (?:à|aux?) .+|intolérante? (?:à|au) .+)",
        QUI + " est {x}",
        "fact",
        0.9,
        "health",
        "allergy",
    ),
    templated(r"j'ai (?P<x>une allergie .+|du diabète|de l'asthme)", QUI + " a {x}", "fact", 0.9, "health"),
    templated(
        r"je suis (?P<x>végétarien(?:ne)?|végane?|vegan|gauch(?:er|ère)|mariée?|enceinte|diabétique"
        r"|daltonien(?:ne)?)\b",
        QUI + " est {x}",
        "fact",
        0.8,
        "health",
    ),
    templated(
        rf"(?:j'ai|nous avons|on a) (?P<x>(?:une?|deux|trois|quatre|\d) (?:\w+ )?{PROCHE}\b.*)",
        QUI + " a {x}",
        "fact",
        0.65,
        "family",
    ),
)
PREFERENCES = (
    templated(rf"je n'aime pas (?:du tout )?(?P<x>{RIEN}.+)", QUI + " n'aime pas {x}", "preference", 0.6, "preference"),
    templated(
        rf"je ne (?P<v>supporte|mange|bois|parle) pas (?P<x>{RIEN}.+)",
        QUI + " ne {v} pas {x}",
        "preference",
        0.6,
        "preference",
    ),
    *(
        templated(
            rf"(?:je |j'){said} (?P<x>(?!pas\b|plus\b){RIEN}.+)",
            f"{QUI} {told} {{x}}",
            "fact" if said in ("parle", "apprends") else "preference",
            0.6,
            "preference",
        )
        for said, told in VERBS.items()
    ),
    templated(
        r"(?:s'il (?:te|vous) plaît,? )?(?P<x>(?:répond(?:s|ez)|écri(?:s|vez)|parle[sz]?"
        r"|utilise[sz]?)\b.*\b(?:toujours|jamais|uniquement|seulement|en français)\b.*)",
        "Souhait de l'utilisateur : {x}",
        "preference",
        0.75,
        "directive",
    ),
)
PLANS = (
    templated(
        r"(?:nous avons|on a) (?:finalement )?(?:décidé|convenu) (?P<x>(?:de |d'|que ).+)",
        "L'équipe a décidé {x}",
        "decision",
        0.75,
        "decision",
    ),
    templated(
        r"j'ai (?:finalement )?décidé (?P<x>(?:de |d'|que ).+)", QUI + " a décidé {x}", "decision", 0.75, "decision"
    ),
    templated(r"(?:nous avons|on a) choisi (?P<x>.+)", "L'équipe a choisi {x}", "decision", 0.75, "decision"),
    templated(r"je (?:pars|m'envole) (?P<x>.+)", QUI + " part {x}", "plan", 0.65, "plan", dated=True),
    templated(r"je (?:vais) (?P<x>.+)", QUI + " va {x}", "plan", 0.65, "plan", dated=True),
    templated(r"je (?:commence|déménage) (?P<x>.+)", QUI + " commence : {x}", "plan", 0.65, "plan", dated=True),
    templated(
        r"(?P<x>(?:notre|l'|le|la) ?(?:api|application|serveur|base de données|site|projet|service) "
        r"(?:tourne|utilise|est|fonctionne) .+)",
        "{x}",
        "fact",
        0.65,
        "project",
    ),
)

FRENCH = Tongue(
    code="fr",
    normalise=unchanged,
    reword=Replacing({"mon": "son", "ma": "sa", "mes": "ses", "moi": "lui", "notre": "leur", "nos": "leurs"}),
    lead_in=starting(
        r"(?:(?:bonjour|salut|bonsoir|coucou|merci|alors|oui|non|ok|d'accord|au fait|en fait|et|mais"
        r"|aussi|sinon|bon|voilà|pour info|moi)(?:\s*[,:;!.–-]+\s*|\s+(?=(?:je|j'|nous|on|mon|ma)))"
        r"|(?:souviens-toi|note|retiens|rappelle-toi)(?: bien)? (?:que |qu')\s*)"
    ),
    fronted=starting(
        r"(?P<front>(?:demain|après-demain|aujourd'hui|hier|(?:vendredi|lundi|mardi|mercredi|jeudi"
        r"|samedi|dimanche|la semaine|le mois|dans|le \d+|depuis|à partir)\b[^,]{0,30}?)),? (?=(?:je |j'"
        r"|nous |on ))(?P<rest>.+)"
    ),
    clause_break=anywhere(
        r"(?:,? (?:et|mais|car|donc)|[;–,]) (?=(?:je |j'|nous |on |mon |ma |peux-tu|pouvez-vous|comment"
        r"|quel))"
    ),
    question=starting(
        r"(?:est-ce que|peux-tu|pouvez-vous|comment|quel\w*|quand|où|pourquoi|qui|que |qu'|as-tu"
        r"|avez-vous|pourrais-tu|puis-je|c'est quoi)\b"
    ),
    doubtful=anywhere(r"\b(?:je pense|je crois|probablement|sans doute|il me semble)\b"),
    unreal=anywhere(
        r"\b(?:peut-être|si j(?:e|')|si nous|éventuellement|imagine|supposons|j'aimerais|je voudrais"
        r"|serais|aurais)\b"
    ),
    casual=anywhere(r"(?:ça|cela)\b"),
    doubt="incertain",
    changes=CHANGES,
    rules=(*FACTS, *PLANS, *PREFERENCES),
)
