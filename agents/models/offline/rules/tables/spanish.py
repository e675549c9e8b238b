"""Spanish statements in the first person; the memory stays Spanish."""

import re

from agents.models.offline.rules.engine.rule import LanguageRules, anywhere, starting
from agents.models.offline.rules.engine.sentences import SPANISH_FIRST
from agents.models.offline.rules.tables.templated import WordReplacement, templated, topics, unchanged

SUBJECT = "El usuario"
NAME = r"(?P<x>(?-i:[A-ZÁÉÍÓÚÑ])[\wáéíóúñ'-]*(?: (?-i:[A-ZÁÉÍÓÚÑ])[\wáéíóúñ'-]*){0,2})"
# The subject is left out and many nouns end as verbs do, so verbs are listed; those in -a take the ending -a.
IRREGULAR = {
    **{
        "soy": "es",
        "estoy": "está",
        "tengo": "tiene",
        "voy": "va",
        "hago": "hace",
        "quiero": "quiere",
        "prefiero": "prefiere",
    },
    **{
        "juego": "juega",
        "duermo": "duerme",
        "salgo": "sale",
        "vengo": "viene",
        "conozco": "conoce",
        "conduzco": "conduce",
    },
    **{
        "tuve": "tuvo",
        "fui": "fue",
        "hice": "hizo",
        "estuve": "estuvo",
        "vivo": "vive",
        "bebo": "bebe",
        "como": "come",
    },
    **{
        "leo": "lee",
        "escribo": "escribe",
        "aprendo": "aprende",
        "corro": "corre",
        "vendo": "vende",
        "resido": "reside",
    },
    **{"he": "ha", "había": "había", "era": "era"},
}
IN_A = (
    "trabajo|estudio|enseño|uso|utilizo|hablo|toco|cocino|odio|detesto|adoro|bailo|canto|nado|monto|viajo|compro|llevo|paso"
    "|cuido"
    "|gano|visito|practico|entreno|manejo|trabajaba|estudiaba|jugaba|vuelo"
)
PAST = {"é": "ó", "í": "ió"}
VERB = rf"(?P<verb>(?:no )?(?:me )?(?:{'|'.join(IRREGULAR)}|{IN_A}|(?!aquí|allí|ahí|así)\w{{2,}}(?:é|í)))"
POINTING = (
    r"(?:eso|esto|ello|que me|tu|su|saber|muy|bien|aquí|allí|de acuerdo|seguro|list[oa]|cansad[oa]|content[oa]|segur[oa]"
    r"|busc\w+|pens\w+)"
)
TALK = (
    r"(?:un[oa]? |algun[oa]? |la |el )*(?:preguntas?|dudas?|problemas?|ideas?|que|razón|ganas|hambre|sed|sueño|tiempo|prisa"
    r"|miedo de que)"
)
OBJECT = rf"(?P<object>(?!{POINTING}\b|{TALK}\b)(?!.*\b(?:tú|usted|contigo|tuy[oa])\b).+)"
TOPICS = topics(
    likes=r"prefiero|odio|detesto|adoro|favorit[oa]s?",
    allergy=r"al[eé]rgi\w+|intoleran\w+",
    health=r"diabet\w*|diabét\w+|asma|vegetarian[oa]|vegan[oa]|celíac[oa]|zurd[oa]|daltónic[oa]|embarazada|cáncer",
    home=r"vivo|resido|soy de|mud[ée]",
    work=r"trabaj\w+|empleo|estudi\w+|universidad|escuela|enfermer[oa]|médic[oa]|profesora?|abogad[oa]|ingenier[oa]|jubilad[oa]",
    family=r"espos[oa]|marido|hij[oa]s?|herman[oa]s?|madre|padres?|familia|perr[oa]s?|gat[oa]s?|casad[oa]",
)


def third_person_verb(verb: str) -> str:
    """The verb for "él" instead of "yo"."""
    before, last = re.fullmatch(r"((?:no )?(?:me )?)(.+)", verb.lower()).groups()  # type: ignore[union-attr]
    ending = last[-1:]
    third_person = IRREGULAR.get(last) or (last[:-1] + PAST[ending] if ending in PAST else re.sub(r"o$", "a", last))
    return before.replace("me ", "se ") + third_person


CHANGES = (
    templated(
        r"(?:yo )?(?:me mudé|me he mudado|nos mudamos) (?:\w+ ){0,2}?de (?P<old>.+?) a (?P<new>.+)",
        SUBJECT + " se mudó de {old} a {new}",
        "fact",
        0.75,
        "home",
    ),
    templated(
        r"(?:yo )?(?:cambié|he cambiado|pasé|he pasado) (?:de|del) (?P<old>.+?) (?P<a>al?) (?P<new>.+)",
        SUBJECT + " cambió de {old} {a} {new}",
        "preference",
        0.7,
        "change",
    ),
    templated(r"ya no me gustan? (?P<old>[^,]+)", "Al usuario ya no le gusta {old}", "preference", 0.65, "change"),
    templated(
        rf"ya no {VERB} (?P<old>[^,]+?)(?P<rest>(?:, (?:ahora )?\w+ (?P<new>.+))?)$",
        SUBJECT + " ya no {verb} {old}",
        "preference",
        0.65,
        "change",
    ),
)
RULES = (
    templated(rf"(?:me llamo|mi nombre es) {NAME}", SUBJECT + " se llama {x}", "fact", 0.8, "name"),
    templated(rf"(?:por favor )?llámame {NAME}", SUBJECT + " quiere que lo llamen {x}", "preference", 0.75, "name"),
    templated(
        r"(?:hemos decidido|decidimos|acordamos) (?P<x>.+)", "El equipo decidió {x}", "decision", 0.75, "decision"
    ),
    templated(r"(?:he decidido|decidí) (?P<x>.+)", SUBJECT + " decidió {x}", "decision", 0.75, "decision"),
    templated(
        r"(?:por favor,? )?(?P<x>(?:responde|contesta|escribe|habla|usa)\b.*\b(?:siempre|nunca|solo|en español)\b.*)",
        "Deseo del usuario: {x}",
        "preference",
        0.75,
        "directive",
    ),
    templated(
        rf"(?:a mí )?(?P<no>(?:no )?)me (?P<v>gustan?|encantan?) {OBJECT}",
        "Al usuario {no} le {v} {object}",
        "preference",
        0.6,
        "preference",
    ),
    templated(
        r"(?:(?:en casa|nosotros) )?no (?P<v>comemos|bebemos|tomamos) (?P<x>(?:\w+ ?){1,4})",
        "En casa del usuario: no {v} {x}",
        "preference",
        0.75,
        "diet",
    ),
    templated(
        r"(?:nosotros )?nos (?:hemos mudado|mudamos|hemos trasladado) a (?P<x>.+)",
        SUBJECT + " se ha mudado a {x}",
        "fact",
        0.6,
        "home",
    ),
    templated(rf"(?:yo )?{VERB} {OBJECT}", SUBJECT + " {verb} {object}", "plan", 0.65, "plan", dated=True),
    templated(rf"(?:yo )?{VERB} {OBJECT}", SUBJECT + " {verb} {object}", "fact", 0.5, topics=TOPICS),
    templated(
        rf"mis? (?P<x>\w+) (?P<y>(?:es|son|era|está|tiene|tienen|vive|viven|trabaja|se llaman?) {OBJECT})",
        "{x} del usuario: {y}",
        "fact",
        0.6,
        topics=TOPICS,
    ),
)
FIRST = f"(?:{SPANISH_FIRST})"

SPANISH = LanguageRules(
    code="es",
    normalise=unchanged,
    reword=WordReplacement({"mi": "su", "mis": "sus", "nuestro": "su", "nuestra": "su", "mí": "sí"}),
    subject=SUBJECT,
    pronoun=SUBJECT,
    third=third_person_verb,
    lead_in=starting(
        rf"(?:[\w ]{{2,30}}:\s+(?={FIRST}\b)|"
        r"(?:hola|buenas|buenos días|buenas tardes|gracias|pues|bueno|sí|vale|por cierto|además|y"
        rf"|pero|también|en realidad|ok|mira|claro)(?:\s*[,:;!.–-]+\s*|\s+(?={FIRST}\b))"
        r"|no\s*,\s*|(?:recuerda|ten en cuenta|anota|ahora) que\s+)"
    ),
    fronted=starting(
        r"(?P<front>(?:mañana|pasado mañana|hoy|ayer|el próximo \w+|el \w+ que viene|la próxima semana"
        rf"|(?:los|todos los|cada) (?:\w+(?:es|os)|sábado|domingo)"
        rf"|en (?:\w+ \w+|invierno|verano|otoño|primavera)|durante \w+(?: \w+)?|el \d+ de \w+"
        rf"|desde [^,]{{1,30}}?|ahora)),? (?={FIRST}\b)(?P<rest>.+)"
    ),
    clause_break=anywhere(
        rf"(?:,? (?:y|pero|así que)|[;–,]) (?=(?:{FIRST}|puedes|qué|cómo)\b|¿)"
        rf"|,? (?:pero|y(?= (?:desde|a partir) )) (?=(?:en|desde|el|la|a partir de)\b[\w ]{{0,20}}?,? {FIRST}\b)"
    ),
    question=starting(r"(?:¿|puedes|podrías|qué|cómo|cuándo|dónde|quién|cuál|por qué|hay|tienes|sabes|debo)"),
    doubtful=anywhere(r"\b(?:creo que|pienso que|probablemente|supongo)\b"),
    unreal=anywhere(r"\b(?:quizás?|tal vez|si yo|si \w+(?:era|iera|ara|ría)|imagina|supongamos|me gustaría|ojalá)\b"),
    casual=anywhere(rf"{POINTING}\b"),
    doubt="no es seguro",
    changes=CHANGES,
    rules=RULES,
)
