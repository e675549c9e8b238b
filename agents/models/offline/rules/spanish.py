"""Spanish: the core first-person sentences; the memory stays Spanish."""

from agents.models.offline.rules.rule import Tongue, anywhere, starting
from agents.models.offline.rules.templated import Replacing, templated, unchanged

QUIEN = "El usuario"
NAME = r"(?P<x>(?-i:[A-ZÁÉÍÓÚÑ])[\wáéíóúñ'-]*(?: (?-i:[A-ZÁÉÍÓÚÑ])[\wáéíóúñ'-]*){0,2})"
NADA = r"(?!eso\b|esto\b|que me\b|tu\b|su\b|saber\b)"
VERBS = {
    "prefiero": "prefiere",
    "odio": "odia",
    "detesto": "detesta",
    "uso": "usa",
    "utilizo": "utiliza",
    "hablo": "habla",
    "bebo": "bebe",
    "aprendo": "aprende",
    "adoro": "adora",
}
CERCANO = (
    r"(?:perros?|perras?|gatos?|gatas?|caballo|loro|conejo|hijos?|hijas?|hermanos?|hermanas?|gemelos"
    r"|bebé)"
)
OFICIO = (
    r"(?:enfermer[oa]|médic[oa]|profesora?|estudiante|abogad[oa]|desarrolladora?|programadora?"
    r"|ingenier[oa]|arquitect[oa]|cociner[oa]|periodista|contadora?|jubilad[oa]|traductora?"
    r"|diseñadora?|músic[oa]|chef|consultora?)"
)

CHANGES = (
    templated(
        r"(?:yo )?(?:me mudé|me he mudado|nos mudamos) (?:\w+ ){0,2}?de (?P<old>.+?) a (?P<new>.+)",
        QUIEN + " se mudó de {old} a {new}",
        "fact",
        0.75,
        "home",
    ),
    templated(
        r"(?:yo )?(?:cambié|he cambiado|pasé|he pasado) (?:de|del) (?P<old>.+?) (?P<a>al?) (?P<new>.+)",
        QUIEN + " cambió de {old} {a} {new}",
        "preference",
        0.7,
        "change",
    ),
    templated(r"ya no me gustan? (?P<old>[^,]+)", "Al usuario ya no le gusta {old}", "preference", 0.65, "change"),
    templated(
        r"ya no (?P<v>uso|utilizo|bebo) (?P<old>[^,]+?)(?:, (?:ahora )?(?:uso|utilizo|bebo|prefiero) "
        r"(?P<new>.+))$",
        QUIEN + " cambió de {old} a {new}",
        "preference",
        0.7,
        "change",
    ),
    templated(r"ya no (?:uso|utilizo) (?P<old>.+)", QUIEN + " ya no usa {old}", "preference", 0.65, "change"),
)
FACTS = (
    templated(rf"(?:me llamo|mi nombre es) {NAME}", QUIEN + " se llama {x}", "fact", 0.8, "name"),
    templated(rf"(?:por favor )?llámame {NAME}", QUIEN + " quiere que lo llamen {x}", "preference", 0.75, "name"),
    templated(
        r"(?:yo )?(?:vivo|resido) (?P<x>(?:\w+ ){0,2}?(?:en|cerca de|con)\b .+)",
        QUIEN + " vive {x}",
        "fact",
        0.7,
        "home",
    ),
    templated(r"(?:me mudé|me he mudado) a (?P<new>.+)", QUIEN + " se mudó a {new}", "fact", 0.75, "home"),
    templated(r"(?:yo )?soy de (?P<x>(?-i:[A-ZÁÉÍÓÚÑ]).+)", QUIEN + " es de {x}", "fact", 0.6, "home"),
    templated(
        r"(?:yo )?trabajo (?P<x>(?:en|como|para|de|desde|con)\b .+)", QUIEN + " trabaja {x}", "fact", 0.7, "work"
    ),
    templated(rf"(?:yo )?soy (?P<x>{OFICIO}\b.*)", QUIEN + " es {x}", "fact", 0.7, "work"),
    templated(
        r"(?:yo )?(?:soy|tengo) (?P<x>(?:muy )?alérgic[oa] (?:a|al)\b .+|intolerante (?:a|al)\b .+)",
        QUIEN + " es {x}",
        "fact",
        0.9,
        "health",
        "allergy",
    ),
    templated(r"tengo (?P<x>(?:una )?alergia .+|diabetes|asma)", QUIEN + " tiene {x}", "fact", 0.9, "health"),
    templated(
        r"(?:yo )?soy (?P<x>vegetarian[oa]|vegan[oa]|celíac[oa]|zurd[oa]|diabétic[oa]|daltónic[oa])\b",
        QUIEN + " es {x}",
        "fact",
        0.8,
        "health",
    ),
    templated(
        rf"(?:yo )?(?:tengo|tenemos) (?P<x>(?:una?|dos|tres|cuatro|\d) (?:\w+ )?{CERCANO}\b.*)",
        QUIEN + " tiene {x}",
        "fact",
        0.65,
        "family",
    ),
)
PREFERENCES = (
    templated(
        rf"no me gustan? (?:nada )?(?P<x>{NADA}.+)", "Al usuario no le gusta {x}", "preference", 0.6, "preference"
    ),
    templated(
        rf"(?:a mí )?me (?:gustan?|encantan?) (?P<x>{NADA}.+)",
        "Al usuario le gusta {x}",
        "preference",
        0.6,
        "preference",
    ),
    templated(rf"(?:yo )?no (?P<v>como|bebo) (?P<x>{NADA}.+)", QUIEN + " no toma {x}", "preference", 0.65, "diet"),
    *(
        templated(
            rf"(?:yo )?{said} (?P<x>{NADA}.+)",
            f"{QUIEN} {told} {{x}}",
            "fact" if said in ("hablo", "aprendo") else "preference",
            0.6,
            "preference",
        )
        for said, told in VERBS.items()
    ),
    templated(
        r"(?:por favor,? )?(?P<x>(?:responde|contesta|escribe|habla|usa)\b.*\b(?:siempre|nunca|solo"
        r"|en español)\b.*)",
        "Deseo del usuario: {x}",
        "preference",
        0.75,
        "directive",
    ),
)
PLANS = (
    templated(
        r"(?:hemos decidido|decidimos|acordamos) (?P<x>.+)", "El equipo decidió {x}", "decision", 0.75, "decision"
    ),
    templated(r"(?:he decidido|decidí) (?P<x>.+)", QUIEN + " decidió {x}", "decision", 0.75, "decision"),
    templated(r"(?:yo )?(?:viajo|vuelo) (?P<x>.+)", QUIEN + " viaja {x}", "plan", 0.65, "plan", dated=True),
    templated(r"(?:yo )?(?:voy a) (?P<x>.+)", QUIEN + " va a {x}", "plan", 0.65, "plan", dated=True),
    templated(
        r"(?P<x>(?:nuestr[oa]|la|el) (?:api|aplicación|servidor|base de datos|sitio|proyecto|servicio) "
        r"(?:corre|usa|utiliza|está|funciona) .+)",
        "{x}",
        "fact",
        0.65,
        "project",
    ),
)

SPANISH = Tongue(
    code="es",
    normalise=unchanged,
    reword=Replacing({"mi": "su", "mis": "sus", "nuestro": "su", "nuestra": "su"}),
    lead_in=starting(
        r"(?:(?:hola|buenas|buenos días|buenas tardes|gracias|pues|bueno|sí|vale|por cierto|además|y"
        r"|pero|también|en realidad|ok|mira)(?:\s*[,:;!.–-]+\s*|\s+(?=(?:yo|mi|me|vivo|trabajo|prefiero"
        r"|soy|tengo)\b))"
        r"|(?:recuerda|ten en cuenta|anota) que\s+)"
    ),
    fronted=starting(
        r"(?P<front>(?:mañana|pasado mañana|hoy|ayer|el próximo \w+|el \w+ que viene|la próxima semana"
        r"|en \w+ \w+|el \d+ de \w+|desde [^,]{1,30}?|ahora)),? (?=(?:yo|me|viajo|vuelo|voy|vivo|trabajo"
        r"|uso|prefiero|nos|tengo)\b)(?P<rest>.+)"
    ),
    clause_break=anywhere(
        r"(?:,? (?:y|pero|así que)|[;–,]) (?=(?:yo|me|mi|mis|vivo|trabajo|prefiero|soy|tengo|uso|no me"
        r"|puedes|qué|cómo|hemos|voy)\b)"
    ),
    question=starting(r"(?:¿|puedes|podrías|qué|cómo|cuándo|dónde|quién|cuál|por qué|hay|tienes|sabes|debo)"),
    doubtful=anywhere(r"\b(?:creo que|pienso que|probablemente|supongo)\b"),
    unreal=anywhere(r"\b(?:quizás?|tal vez|si yo|si fuera|si tuviera|imagina|supongamos|me gustaría|ojalá)\b"),
    casual=anywhere(r"(?:eso|esto)\b"),
    doubt="no es seguro",
    changes=CHANGES,
    rules=(*FACTS, *PLANS, *PREFERENCES),
)
