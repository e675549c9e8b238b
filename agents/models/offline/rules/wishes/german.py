"""German phrases of wishes to forget."""

from agents.models.offline.rules.wishes.phrases import ANY, END, GAP, REST, Phrases

FILL = r"(?: (?:bitte|mal|doch|einfach|jetzt|sofort|wieder|auch|schnell|gleich|lieber|alles|ganz))*"
OF_DE = r"(?:über|von|zu)"
KNOW_DE = r"(?:weißt|weisst|wissen|gespeichert ha(?:st|ben)|gemerkt ha(?:st|ben))"
FACT_DE = (
    r"(?:geburtstag|geburtsdatum|alter|(?:privat|mail|wohn)?adresse|anschrift|(?:handy|telefon|mobil|konto|pass)?nummer|gehalt|lohn"
    r"|einkommen|gewicht|größe|(?:schuh|kleider)größe|diagnose|krankheit(?:en)?|behinderung|medikamente?|allergien?|religion"
    r"|glauben|sexualität|schwangerschaft|scheidung|schulden|arbeitgeber|heimatort|(?:nach|vor)?namen?|blutgruppe)"
)
HELD_DE = r"(?:erinnerung(?:en)?|notizen?|daten|informationen|einträge?)"
MEMORY_DE = r"(?:aus|von) (?:deinem|ihrem|deinen|ihren|dem) (?:gedächtnis|speicher|erinnerungen|notizen)"
FORGET_DE = r"(?:vergiss|vergesst|vergessen sie)"
DROP_DE = r"(?:vergiss|vergesst|vergessen sie|lösche?|löscht|löschen sie|entfern(?:e|en sie))"
STATED_DE = (
    r"(?:zahl|nummer|namen?|adresse|betrag|summe|passwort|pin|detail|info(?:rmation)?|satz|aussage|bemerkung|nachricht)"
)

GERMAN = Phrases(
    code="de",
    polite=(
        r"(?:(?:bitte|also|und|aber|nein|ach|oh|ok(?:ay)?|moment|warte|sorry|entschuldigung|doch|jetzt|dann|danke|na "
        r"gut|übrigens)"
        rf"{GAP}){{0,6}}"
    ),
    everything=(
        rf"{DROP_DE}{FILL}(?: alles)?,? was (?:du|sie) (?:über mich|von mir) {KNOW_DE}{END}",
        rf"{DROP_DE}{FILL} alles (?:über mich|von mir){END}",
        rf"{DROP_DE}{FILL}(?: alle)?(?: deine| ihre| meine)? {HELD_DE}(?: (?:an|über|von) mi(?:ch|r)){END}",
        rf"{DROP_DE}{FILL} (?:alle )?(?:deine |ihre )erinnerungen{END}",
        rf"{DROP_DE}{FILL} (?:dein|ihr)(?: ganzes)? gedächtnis{END}",
        rf"(?:kannst|könntest|würdest) du (?:bitte )?alles(?: (?:vergessen|löschen))?,? was du über mich {KNOW_DE}(?: "
        rf"(?:vergessen|löschen))?{END}",
    ),
    that=(
        rf"{FORGET_DE}{FILL} (?:das|dies|dieses){FILL}{END}",
        rf"(?:kannst|könntest|würdest|können|könnten|würden) (?:du|sie){FILL} (?:das|dies){FILL} vergessen{END}",
        rf"ich (?:möchte|will|hätte gern),? dass du das{FILL} vergisst{END}",
        rf"{DROP_DE}{FILL},? was ich (?:dir |ihnen )?(?:gerade |eben |zuletzt |vorhin |soeben )*(?:gesagt|erzählt"
        rf"|geschrieben) habe{END}",
        rf"das nehme ich zurück{END}",
        rf"ich nehme das zurück{END}",
        rf"{FORGET_DE}{FILL} meine letzte (?:nachricht|aussage){END}",
        rf"{DROP_DE}{FILL} (?:das|dies){FILL} {MEMORY_DE}{END}",
        rf"(?:merke?|merken sie) (?:dir|sich) das{FILL} nicht{END}",
        rf"speicher(?:e|n sie)?{FILL} das{FILL} nicht{END}",
        rf"(?:das|dies){FILL} nicht (?:speichern|merken|behalten|notieren|aufschreiben){END}",
    ),
    stated=(
        rf"(?:lösche?|lösch|löschen sie){FILL} (?:das|dies|diese erinnerung){FILL}{END}",
        rf"{FORGET_DE}{FILL} (?:diese[nrs]?|die|den|das) {STATED_DE}{FILL}{END}",
    ),
    named=(
        rf"{FORGET_DE}{FILL} (?:(?:die|diese) (?:sache|geschichte)|das) (?:mit|über|von) (?P<topic>{REST})",
        rf"(?:{FORGET_DE}|(?:kannst|könntest|würdest) du{FILL} vergessen){FILL},? dass (?P<clause>(?:ich|wir|mein\w*"
        rf"|unser\w*)\b{REST})",
        rf"(?:{DROP_DE}|(?:kannst|könntest|würdest) du{FILL} (?:vergessen|löschen)){FILL}(?: alles| das)?,? was (?:du"
        rf"|sie) {OF_DE} "
        rf"(?P<topic>{ANY}{{1,200}}?) {KNOW_DE}{END}",
        rf"(?:{DROP_DE}|streiche?|streichen sie){FILL},? was ich (?:dir |ihnen )?{OF_DE} (?P<topic>{ANY}{{1,200}}?) (?:gesagt"
        rf"|erzählt|geschrieben) habe{END}",
        rf"(?:speicher(?:e|n sie)?|merke? dir|behalte?|notiere?){FILL} (?:nichts|bitte nichts) {OF_DE} (?P<topic>{REST})",
        rf"{DROP_DE}{FILL} alles {OF_DE} (?P<topic>{REST})",
        rf"{DROP_DE}{FILL} (?:deine |ihre |die |alle )*{HELD_DE} (?:an|{OF_DE}) (?P<topic>{REST})",
        rf"{DROP_DE}{FILL} (?P<topic>(?:mein|unser)\w* {ANY}{{1,200}}?) {MEMORY_DE}{END}",
        rf"{FORGET_DE}{FILL},? (?P<topic>(?:wo|wie|wer|was|wann) (?:alt )?(?:ich|wir|mein\w*|unser\w*)\b{REST})",
        rf"{FORGET_DE}{FILL} (?P<topic>(?:mein|unser)\w* {REST})",
        rf"(?:kannst|könntest|würdest) du{FILL} (?P<topic>(?:mein|unser)\w* {ANY}{{1,200}}?) vergessen{END}",
    ),
    denied=(
        r"^(?:bitte )?(?:vergiss|vergesst|vergessen sie)(?: \w+){0,3}? (?:nicht|nie|niemals)\b"
        r"|\b(?:für (?:heute|jetzt|einen moment)|heute|ausnahmsweise|diesmal)\b"
    ),
    me=r"(?:mich|mir|uns)",
    memory=MEMORY_DE,
    elsewhere=(
        r"(?:aus|von|vom|im|in|auf) (?:(?:de[rnm]|die|das|meine[rnm]?|unsere[rnm]?|diese[rnm]?|eine[rnm]?) )?(?:[\w-]+ ){0,2}"
        r"(?:dokument\w*|folien?|präsentation|kalender|e?-?mails?|brief\w*|entwurf|liste|text\w*|tabelle|code|dateien?|ordner|berichts?"
        r"|aufsatz|seiten?|website|postfach|handy|computer|laptop|lebenslauf|rede|geschichte|artikel|zusammenfassung|plan|rezept"
        r"|bestellung|warenkorb|absatz|kapitel|abschnitt|server)"
    ),
    facts=(
        rf"{DROP_DE}{FILL} (?P<topic>(?:mein|unser)\w* {FACT_DE}){FILL}{END}",
        rf"(?:kannst|könntest|würdest|können|könnten|würden) (?:du|sie){FILL} (?P<topic>(?:mein|unser)\w* {FACT_DE}){FILL} "
        rf"löschen{END}",
        rf"merke? dir{FILL} (?P<topic>(?:mein|unser)\w* [\w-]+){FILL} nicht{END}",
        rf"merke? dir{FILL} nicht (?P<topic>(?:mein|unser)\w* [\w-]+){FILL}{END}",
        rf"speicher(?:e|n sie)?{FILL} (?P<topic>(?:mein|unser)\w* {FACT_DE}){FILL} nicht{END}",
    ),
)
