"""Finds the statements of assistants and tools about orders, documents, projects, systems and results; never about people.

A statement begins with such a thing and a verb, and has a detail (a number, a name, a path) or a conclusion. General knowledge,
advice and remarks to somebody have neither, or have the words of `NOT_STATED`.
"""

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Final

from msgspec import Struct

from agents.models.dates.dates import dates_in, event_time, with_absolute_dates
from agents.models.offline.rules.engine.rule import anywhere, starting
from agents.models.offline.rules.engine.rule_engine import Finding


class ImpersonalWords(Struct, frozen=True, kw_only=True):
    """The words of one language. `yours` begin a sentence about the user's thing, with their replacements."""

    things: str
    says: str
    yours: dict[str, str]
    article: str
    not_stated: str


WORDS: Final = {
    "en": ImpersonalWords(
        things=(
            "orders?|invoices?|tickets?|bookings?|reservations?|deliver(?:y|ies)|shipments?|parcels?|packages?"
            "|deadlines?|due dates?"
            "|meetings?|reports?|projects?|budgets?|revenues?|turnover|sales|profits?|margins?|costs?|prices?"
            "|contracts?|warrant(?:y|ies)"
            "|subscriptions?|refunds?|(?:reference|order|invoice|tracking|case|account) numbers?|releases?|versions?"
            "|builds?|tests?"
            "|deployments?|migrations?|servers?|databases?|clusters?|apis?|endpoints?|services?|repositor(?:y|ies)"
            "|codebases?|modules?"
            "|functions?|configurations?|branch(?:es)?|pipelines?|schemas?|tables?|bugs?|errors?|issues?|root causes?"
            "|fix(?:es)?|results?"
            "|stud(?:y|ies)|surveys?|documents?|files?|chapters?|sections?|campaigns?|flights?|appointments?|ports?"
            "|login|queue|cache|leases?|insurances?|deposits?|premiums?|interest rates?|notice periods?|guarantees?|claims?"
            "|rooms?|halls?|seats?|gates?|tables?|trains?|opening hours"
        ),
        says=(
            "is|are|was|were|has|have|had|will be|runs?|ran|lives?|uses?|costs?|starts?|ends?|begins?|expires?"
            "|arrives?|ships?|shipped"
            "|rose|fell|grew|increased|decreased|dropped|correlates?|depends?|contains?|shows?|failed|passed|passes"
            "|fails|moved|changed"
            "|requires?|takes?|listens?|points?|came|comes|turned out|resolved|caused|needs|follows|arrives?|leaves?|departs?"
            "|should (?:arrive|be delivered|ship)|opens?|closes?|covers?|amounts? to|must be"
        ),
        yours={"your": "The", "our": "The"},
        article="the|your|our|this|total|overall|average",
        not_stated=(
            "you|your|yours|I|me|my|we|us|let me|let's|please|could|would"
            "|should(?! (?:arrive|be delivered|ship)\\b)|might|may|can|if|usually|typically"
            "|generally|often"
            "|for example|e\\.g\\.|typical|imagine|suppose|a good|best practice|consider|want|try"
        ),
    ),
    "de": ImpersonalWords(
        things=(
            "bestellung(?:en)?|bestellnummer|rechnung(?:en)?|rechnungsnummer|ticket|buchung|lieferung|paket|frist"
            "|termin|bericht|projekt"
            "|budget|umsatz|gewinn|kosten|preis|vertrag|server|datenbank|dienst|version|ursache|fehler|ergebnis"
            "|dokument|datei|abgabetermin"
            "|sendungsnummer|tests?|kampagne|studie|release|kaution|miete|kündigungsfrist|garantie|versicherung|zug|flug|raum|saal|zimmer"
        ),
        says=(
            "ist|sind|war|waren|hat|haben|hatte|wird|wurde|wurden|läuft|kostet|beginnt|endet|stieg|sank|fiel|wuchs"
            "|zeigt|enthält|liegt"
            "|lag|beträgt|betrug|lautet|kommt|kam|hängt|geht|gilt|fährt|fliegt|öffnet|schließt|muss|kostete"
        ),
        yours=dict.fromkeys(("ihre", "ihr", "deine", "dein", "unser", "unsere"), ""),
        article="die|der|das|ihre|ihr|deine|dein|unsere|unser",
        not_stated=(
            "du|dich|dir|dein\\w*|(?-i:Sie)|ihnen|ich|mich|mir|wir|uns|bitte|könnte\\w*|würde\\w*|sollte\\w*|kannst"
            "|können|wenn|falls"
            "|normalerweise|meist(?:ens)?|oft|zum Beispiel"
        ),
    ),
    "fr": ImpersonalWords(
        things=(
            "commandes?|factures?|billets?|réservations?|livraisons?|colis|échéances?|dates? limites?|réunions?"
            "|rapports?|projets?|budgets?"
            "|revenus?|chiffre d'affaires|ventes|marges?|coûts?|prix|contrats?|numéros? de (?:commande|suivi|facture)"
            "|serveurs?"
            "|bases? de données|services?|versions?|causes?|erreurs?|résultats?|documents?|fichiers?|études?"
            "|campagnes?|tests?|baux|bail|loyers?|cautions?|garanties?|préavis|assurances?|vols?|trains?|salles?|chambres?"
        ),
        says=(
            "est|sont|était|étaient|a|ont|avait|sera|coûte|commence|finit|termine|expire|montre|contient|se trouve"
            "|s'élève|vient"
            "|dépend|tourne|utilise|échoue|passe|est passée?|arrive|part|court|dure|ouvre|ferme|doit être"
        ),
        yours=dict.fromkeys(("votre", "ta", "ton", "notre", "vos"), ""),
        article="le|la|les|l'|votre|ta|ton|notre|vos",
        not_stated=(
            "vous|votre|vos|tu|ton|tes|toi|je|moi|nous|pourr\\w+|devr\\w+|peut|peuvent|si|généralement|souvent"
            "|par exemple"
            "|s'il (?:te|vous) plaît"
        ),
    ),
    "es": ImpersonalWords(
        things=(
            "pedidos?|facturas?|reservas?|entregas?|paquetes?|plazos?|fechas? límite|reuni(?:ón|ones)|informes?"
            "|proyectos?|presupuestos?"
            "|ingresos|ventas|beneficios?|costes?|costos?|precios?|contratos?|números? de (?:pedido|seguimiento"
            "|factura)|servidor(?:es)?"
            "|bases? de datos|servicios?|versi(?:ón|ones)|causas?|errores|error|resultados?|documentos?|archivos?"
            "|estudios?|campañas?|pruebas|alquiler(?:es)?|fianzas?|garantías?|seguros?|vuelos?|trenes|tren|salas?|habitaci(?:ón|ones)"
        ),
        says=(
            "es|son|era|eran|fue|fueron|está|están|tiene|tienen|será|cuesta|empieza|termina|vence|muestra|contiene|usa"
            "|depende|subió"
            "|bajó|creció|cayó|falló|pasó|viene|llega|sale|dura|abre|cierra|debe"
        ),
        yours=dict.fromkeys(("tu", "su", "nuestro", "nuestra"), ""),
        article="el|la|los|las|tu|su|nuestro|nuestra",
        not_stated=(
            "tú|usted|te|tu|ti|yo|me|mi|nosotros|nos|podr\\w+|deber\\w+|puede\\w*|si|normalmente|a menudo|por ejemplo"
            "|por favor"
        ),
    ),
}
BY_SOURCE: Final = r"(?:according to|as per|per|laut|gemäß|selon|d'après|según) [^,]{2,60}, "
# A document at hand that a sentence names as its source, in the place of a thing; general knowledge ("according to experts")
# names none.
OF_DOCUMENT: Final = {
    code: starting(f"(?P<by>{source})(?P<article>)")
    for code, source in {
        "en": r"(?:according to|as per|per) (?:the|your|our|this) [^,]{2,60}, ",
        "de": r"(?:laut|gemäß) (?:(?:dem|der|den|(?:ihr|dein|unser)e[mrn]) )?(?!experten|studien|forscher|ärzte)[^, ]{4,30} "
        r"(?:vom [^,]{2,30} )?(?=(?:muss|soll|\w+(?:t|en)|ist|war) )",
        "fr": r"(?:selon|d'après) (?:le |la |l'|votre |ton |ta |notre )(?!(?:science|loi)\b)[^,]{2,60}, ",
        "es": r"según (?:el|la|su|tu|nuestr[oa]) (?!(?:ciencia|ley)\b)[^,]{2,60}, ",
    }.items()
}
DETAIL: Final = re.compile(r"\d|(?<=[^.!?] )(?-i:[A-ZÀ-Þ])[\w'-]+|\w+[./_]\w+")
CONCLUDES: Final = anywhere(
    r"\b(?:correlat\w+|because|due to|root causes?|caused|depends? on|turned out|leads? to|follows"
    r"|weil|wegen|ursache|hängt|führt zu|parce que|à cause|causes?|dépend|porque|debido|causas?|depende)\b"
)
# German nouns are capitalised anyway.
NUMBERED: Final = re.compile(r"\d|\w+[./_]\w+")
OPENINGS: Final = {
    code: starting(
        rf"(?!an? |une? |eine? )(?P<by>{BY_SOURCE})?(?P<article>(?:{words.article})(?: |(?<=l')))?(?:[\w'’&/.-]+ ){{0,3}}?"
        rf"(?:{words.things})\b(?: [\w#'’&/.%()-]+){{0,6}}?(?:, [^,.]{{1,40}},)? (?:{words.says})\b"
    )
    for code, words in WORDS.items()
}
NOT_STATED: Final = {code: anywhere(rf"\b(?:{words.not_stated})\b") for code, words in WORDS.items()}
MAX_CHARS: Final = 300


def impersonal_findings(sentence: str, said_at: datetime) -> Iterator[tuple[str, Finding]]:
    """The statement in a sentence of an assistant or a tool, with the first language whose words match: such a sentence is
    often too short for detection. Nothing for questions, advice and remarks to somebody."""
    code = next((each for each in WORDS if opening(each, sentence) is not None), None)
    if code is not None:
        yield from ((code, finding) for finding in statements_in(code, sentence, said_at))


def opening(language: str, sentence: str) -> re.Match[str] | None:
    """The beginning of a sentence about a thing, or of one with a number from a document."""
    if (found := OPENINGS[language].match(sentence)) is not None:
        return found
    return OF_DOCUMENT[language].match(sentence) if NUMBERED.search(sentence) else None


def statements_in(language: str, sentence: str, said_at: datetime) -> Iterator[Finding]:
    words = WORDS[language]
    found = opening(language, sentence)
    if found is None or len(sentence) > MAX_CHARS or sentence.rstrip().endswith(("?", ":")):
        return
    statement = without_owner(sentence, found, words).rstrip(" .!")
    own = statement[len(found["by"] or "") :]
    dated = dates_in(statement, said_at, language)
    concludes = CONCLUDES.search(own) is not None
    detailed = (NUMBERED if language == "de" else DETAIL).search(own.partition(" ")[2])
    if NOT_STATED[language].search(own) or not (concludes or dated or detailed):
        return
    text, remark = with_absolute_dates(statement, dated, language)
    yield Finding(
        kind="insight" if concludes else "fact",
        text=f"{text}{remark}.",
        event_time=event_time(dated[-1].day, statement, said_at, language) if dated else None,
        confidence=0.7,
        importance=0.6,
        tags=("insight",) if concludes else ("matter",),
    )


def without_owner(said: str, found: re.Match[str], words: ImpersonalWords) -> str:
    """The sentence without the owner of its thing: "The order" for "Your order", as the assistant may not know the owner."""
    first = (found["article"] or "").strip()
    instead = words.yours.get(first.lower())
    if instead is None:
        return said[:1].upper() + said[1:]
    at = found.start("article")
    instead = instead if at == 0 else instead.lower()
    text = said[:at] + f"{instead} {said[at + len(first) :].lstrip()}".lstrip()
    return text[:1].upper() + text[1:]
