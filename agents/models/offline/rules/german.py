"""German: the core first-person sentences; the memory stays German."""

from agents.models.offline.rules.rule import Tongue, anywhere, starting
from agents.models.offline.rules.templated import Replacing, templated, unchanged

WER = "Der Nutzer"
NAME = r"(?P<x>(?-i:[A-ZÄÖÜ])[\wäöüß'-]*(?: (?-i:[A-ZÄÖÜ])[\wäöüß'-]*){0,2})"
WENN = (
    r"(?:(?:jetzt|seit|aktuell|derzeit|zurzeit|auch|momentan|nun|noch|am|nächsten?|nächste|morgen"
    r"|übermorgen|heute|in \w+ \w+)\b ?)"
)
NICHTS = r"(?!es\b|das\b|dies|ihn\b|sie\b|dich\b|euch\b|dir\b)"
TIER = (
    r"(?:Hund|Hunde|Katze|Katzen|Kater|Pferd|Hasen|Kaninchen|Papagei|Hamster|Tochter|Töchter|Sohn"
    r"|Söhne|Kind|Kinder|Bruder|Brüder|Schwester|Schwestern|Zwillinge)"
)
VERBS = {
    "mag": "mag",
    "liebe": "liebt",
    "hasse": "hasst",
    "bevorzuge": "bevorzugt",
    "spreche": "spricht",
    "benutze": "benutzt",
    "nutze": "nutzt",
    "verwende": "verwendet",
    "lerne": "lernt",
    "trinke": "trinkt",
    "esse": "isst",
    "vertrage": "verträgt",
    "spiele": "spielt",
}
GOING = {
    "fliege": "fliegt",
    "fahre": "fährt",
    "ziehe": "zieht",
    "reise": "reist",
    "heirate": "heiratet",
    "beginne": "beginnt",
    "fange": "fängt",
    "treffe": "trifft",
    "besuche": "besucht",
    "gehe": "geht",
    "habe": "hat",
    "starte": "startet",
    "komme": "kommt",
}

CHANGES = (
    templated(
        r"ich bin (?P<w>.*?)von (?P<old>.+?) nach (?P<new>.+?) (?:um)?gezogen",
        WER + " ist von {old} nach {new} gezogen",
        "fact",
        0.75,
        "home",
    ),
    templated(
        r"ich bin (?P<w>.*?)von (?P<old>.+?) (?:auf|zu) (?P<new>.+?) (?:umgestiegen|gewechselt)",
        WER + " ist von {old} auf {new} umgestiegen",
        "preference",
        0.7,
        "change",
    ),
    templated(
        r"ich (?P<v>trinke|esse|benutze|nutze|verwende|mag) (?:kein(?:en?)?|nicht) (?P<old>\S+) mehr,? "
        r"(?:sondern|ich \w+) (?:jetzt |nur noch |lieber )*(?P<new>.+)",
        WER + " ist von {old} auf {new} umgestiegen",
        "preference",
        0.7,
        "change",
    ),
    templated(
        r"ich (?P<v>trinke|esse|benutze|nutze|verwende|mag) (?P<n>kein(?:en?)?) (?P<old>.+?) mehr$",
        WER + " hat aufgegeben: {old}",
        "preference",
        0.65,
        "change",
    ),
)
FACTS = (
    templated(rf"(?:ich heiße|mein name ist) {NAME}", WER + " heißt {x}", "fact", 0.8, "name"),
    templated(
        rf"(?:bitte )?nenn mich (?:bitte )?{NAME}", WER + " möchte {x} genannt werden", "preference", 0.75, "name"
    ),
    templated(
        rf"ich (?:wohne|lebe) {WENN}*(?P<x>(?:mit .{{2,40}} )?(?:in|im|am|an|auf|bei)\b .+)",
        WER + " wohnt {x}",
        "fact",
        0.7,
        "home",
    ),
    templated(
        r"ich bin (?P<w>.*?)nach (?P<new>.+?) (?:um)?gezogen", WER + " ist nach {new} gezogen", "fact", 0.75, "home"
    ),
    templated(r"ich komme (?:ursprünglich )?aus (?P<x>(?-i:[A-ZÄÖÜ]).+)", WER + " kommt aus {x}", "fact", 0.6, "home"),
    templated(
        rf"ich arbeite {WENN}*(?P<x>(?:als|bei|beim|für|im|in|an)\b .+)", WER + " arbeitet {x}", "fact", 0.7, "work"
    ),
    templated(
        r"ich bin (?P<x>(?:von beruf )?(?:(?:freie[r]?|selbstständige[r]?"
        r"|gelernte[r]?) )?(?-i:[A-ZÄÖÜ])[\wäöüß-]+(?:er|erin|ist|istin|eur|eurin|arzt|ärztin|loge|login"
        r"|ant|antin|ent|entin|wirt|frau|mann)\b.*)",
        WER + " ist {x}",
        "fact",
        0.7,
        "work",
    ),
    templated(
        r"ich bin (?P<x>(?:stark |leicht |sehr )?allergisch (?:gegen|auf) .+)",
        WER + " ist {x}",
        "fact",
        0.9,
        "health",
        "allergy",
    ),
    templated(
        r"ich habe (?P<x>eine? (?:\w+ )?\w*(?:allergie|intoleranz|unverträglichkeit|zöliakie|diabetes"
        r"|asthma)\b.*)",
        WER + " hat {x}",
        "fact",
        0.9,
        "health",
    ),
    templated(
        r"ich (?:bin|ernähre mich) (?P<x>vegan|vegetarisch|laktoseintolerant|linkshänder(?:in)?"
        r"|schwanger|verheiratet|farbenblind)\b",
        WER + " ist {x}",
        "fact",
        0.8,
        "health",
    ),
    templated(
        rf"(?:ich habe|wir haben) (?P<x>(?:einen?|eine|ein|zwei|drei|vier|\d) (?:\w+ ){{0,2}}?{TIER}\b.*)",
        WER + " hat {x}",
        "fact",
        0.65,
        "family",
    ),
    templated(
        r"meine? (?P<x>(?:frau|mann|tochter|sohn|hund|katze|kater|bruder|schwester|mutter|vater|freundin"
        r"|freund)) (?P<y>(?:heißt|arbeitet|wohnt|ist|hat) .+)",
        WER + ": {x} {y}",
        "fact",
        0.6,
        "family",
    ),
    templated(
        r"(?:meine? )(?P<x>lieblings\w+) (?:ist|sind) (?P<y>.+)",
        "{x} des Nutzers: {y}",
        "preference",
        0.6,
        "preference",
    ),
)
PREFERENCES = tuple(
    templated(
        rf"ich {said} (?P<x>{NICHTS}.+)",
        f"{WER} {told} {{x}}",
        "fact" if said in ("spreche", "lerne", "vertrage") else "preference",
        0.6,
        "preference",
    )
    for said, told in VERBS.items()
)
DIRECTIVES = (
    templated(
        r"(?:bitte )?(?P<x>(?:antworte|schreib|sprich|erkläre?|benutze|verwende|nutze|gib)\b.*\b(?:immer"
        r"|nur|nie|niemals|stets|keine|auf (?-i:[A-Z])\w+)\b.*)",
        "Wunsch des Nutzers: {x}",
        "preference",
        0.75,
        "directive",
    ),
    templated(
        r"(?P<x>ab (?:jetzt|sofort) (?:bitte )?.+|bitte (?:immer|nie|niemals|keine) .+)",
        "Wunsch des Nutzers: {x}",
        "preference",
        0.75,
        "directive",
    ),
)
PLANS = (
    templated(
        r"wir haben (?:uns |heute |jetzt |nun |gestern )*(?P<x>(?:für|gegen) .+? entschieden)",
        "Das Team hat sich {x}",
        "decision",
        0.75,
        "decision",
    ),
    templated(
        r"(?:wir haben|ich habe) (?:heute |jetzt |nun |gestern |uns |mich )*(?:beschlossen"
        r"|entschieden),? (?P<x>.+)",
        "Beschlossen wurde: {x}",
        "decision",
        0.75,
        "decision",
    ),
    templated(
        r"ich habe mich (?:heute |jetzt |nun )*(?P<x>(?:für|gegen) .+? entschieden)",
        WER + " hat sich {x}",
        "decision",
        0.75,
        "decision",
    ),
    *(
        templated(rf"ich {said} (?P<x>.+)", f"{WER} {told} {{x}}", "plan", 0.65, "plan", dated=True)
        for said, told in GOING.items()
    ),
    templated(
        r"wir (?:(?P<w>starten|veröffentlichen|launchen|feiern|heiraten|ziehen|fliegen|fahren)) (?P<x>.+)",
        "Der Nutzer und andere {w} {x}",
        "plan",
        0.65,
        "plan",
        dated=True,
    ),
    templated(
        r"(?P<x>(?:unsere?|die|der|das) (?:api|app|server|datenbank|webseite|website|dienst|projekt"
        r"|release|deployment|frist|deadline) (?:läuft|nutzt|verwendet|ist|liegt|endet|startet"
        r"|braucht) .+)",
        "{x}",
        "fact",
        0.65,
        "project",
    ),
)

FIRST = r"(?:ich|wir|mein|meine|unser|unsere)"
POSSESSIVE = Replacing(
    {
        "mein": "sein",
        "meine": "seine",
        "meinen": "seinen",
        "meinem": "seinem",
        "meiner": "seiner",
        "mich": "sich",
        "mir": "sich",
        "unser": "das gemeinsame",
        "unsere": "die gemeinsame",
        "ich": "er",
    }
)

GERMAN = Tongue(
    code="de",
    normalise=unchanged,
    reword=POSSESSIVE,
    lead_in=starting(
        r"(?:(?:hallo|hi|hey|moin|servus|guten (?:tag|morgen|abend)|also|ja|nein|ok|okay|übrigens|danke"
        r"|naja|nun|gut|super|ach|und|aber|außerdem|zur info|korrektur|eigentlich|ehrlich gesagt)"
        r"(?:\s*[,:;!.–-]+\s*|\s+(?=(?:ich|wir|mein|meine|bitte)\b))|(?:bitte )?(?:merk|merke|denk) "
        r"(?:dir|daran)(?: bitte)?[,:]?(?: dass)?\s+)"
    ),
    # The verb comes before the subject after an adverbial: "Am Freitag fliege ich nach Wien".
    fronted=starting(
        r"(?P<front>(?:am|im|in|ab|seit|nächste\w*|kommende\w*|letzte\w*|morgen|übermorgen|heute|gestern"
        r"|vor|jetzt|derzeit|normalerweise|meistens)\b[\w. äöüß]{0,30}?)"
        r" (?P<verb>\w+) (?P<who>ich|wir) (?P<rest>.+)"
    ),
    clause_break=anywhere(
        rf"(?:,? (?:und|aber|denn|außerdem|also|daher|deshalb)|[;–,]) (?=(?:{FIRST}|kannst du|könntest du"
        r"|was|wie|wo|welche\w*|bitte)\b)"
    ),
    question=starting(
        r"(?:kannst du|könntest du|kann ich|soll ich|was|wie|wo|wer|wann|warum|wieso|welche\w*|gibt es"
        r"|hast du|bist du|ist das|weißt du|darf ich|können wir)\b"
    ),
    doubtful=anywhere(r"\b(?:ich glaube|ich denke|wahrscheinlich|vermutlich|ungefähr|glaub ich)\b"),
    unreal=anywhere(
        r"\b(?:vielleicht|eventuell|wenn ich|falls|würde|hätte|wäre|angenommen|stell dir vor"
        r"|möglicherweise)\b"
    ),
    casual=anywhere(r"(?:es|das|dies)\b"),
    doubt="nicht sicher",
    changes=CHANGES,
    rules=(*FACTS, *PLANS[:3], *DIRECTIVES, *PLANS[3:], *PREFERENCES),
)
