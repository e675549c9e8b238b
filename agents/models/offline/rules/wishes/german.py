"""German phrases of wishes to forget."""

from agents.models.offline.rules.wishes.phrases import ANY, END, GAP, REST, Phrases

FILL = r"(?: (?:bitte|mal|doch|einfach|jetzt|sofort|wieder|auch|schnell|gleich|lieber|alles|ganz))*"
OF_DE = r"(?:über|von|zu)"
KNOW_DE = r"(?:weißt|weisst|wissen|gespeichert ha(?:st|ben)|gemerkt ha(?:st|ben))"
HELD_DE = r"(?:erinnerung(?:en)?|notizen?|daten|informationen|einträge?)"
MEMORY_DE = r"(?:aus|von) (?:deinem|ihrem|deinen|ihren|dem) (?:gedächtnis|speicher|erinnerungen|notizen)"
ASK_DE = (
    r"(?P<asks>(?:kannst|könntest|würdest|magst|willst|möchtest) du|(?:können|könnten|würden|möchten) sie"
    r"|(?:(?:(?:es )?(?:wäre|wär)|ich wäre(?: dir| ihnen)?) (?:sehr )?(?:nett|lieb|schön|gut|toll|besser|dankbar|froh)"
    r"|ich fände es (?:nett|schön|gut|besser)),? wenn (?:du|sie)|wenn (?:du|sie)"
    r"|ich (?:möchte|will|hätte gern|bitte dich),? dass (?:du|sie)|(?:wärst du|wären sie) so (?:nett|lieb|gut),?"
    r"|darf ich (?:dich|sie) bitten,?)"
)
THIS_DE = r"(?:das(?: gesagte)?|dies(?:es)?)"
SAID_DE = r"was ich (?:dir |ihnen )?(?:gerade |eben |zuletzt |vorhin |soeben )*(?:gesagt|erzählt|geschrieben) habe"
FORGETTING_DE = r"(?:(?:zu )?vergessen|vergisst|vergäßest)(?: (?:kannst|könntest|könnten|würdest|würden))?"
FORGET_DE = r"(?:vergiss|vergesst|vergessen sie)"
DROP_DE = r"(?:streiche?|vergiss|vergesst|vergessen sie|lösche?|löscht|löschen sie|entfern(?:e|en sie))"

GERMAN = Phrases(
    code="de",
    polite=(
        r"(?:(?:bitte|also|und|aber|nein|ach|oh|ok(?:ay)?|moment|warte|sorry|entschuldigung|doch|jetzt|dann|danke|na "
        r"gut|übrigens|sei so (?:gut|nett|lieb) und)"
        rf"{GAP}){{0,6}}"
    ),
    everything=(
        rf"{DROP_DE}{FILL}(?: alles)?,? was (?:du|sie) (?:über mich|von mir) {KNOW_DE}{END}",
        rf"{DROP_DE}{FILL} alles (?:über mich|von mir){END}",
        rf"{DROP_DE}{FILL}(?: alle)?(?: deine| ihre| meine)? {HELD_DE}(?: (?:an|über|von) mi(?:ch|r)){END}",
        rf"{DROP_DE}{FILL} (?:alle )?(?:deine |ihre )erinnerungen{END}",
        rf"{DROP_DE}{FILL} (?:dein|ihr)(?: ganzes)? gedächtnis{END}",
        rf"{ASK_DE} (?:bitte )?alles(?: (?:vergessen|löschen))?,? was du über mich {KNOW_DE}(?: "
        rf"(?:vergessen|löschen))?{END}",
    ),
    that=(
        rf"(?:{FORGET_DE}{FILL} {THIS_DE}|(?<=bitte ){FORGET_DE} es|{FORGET_DE} es(?=,? bitte)){FILL}{END}",
        rf"(?:{ASK_DE}{FILL} {THIS_DE}|das (?:bitte|kannst du|können sie)|(?<=bitte )das){FILL} {FORGETTING_DE}{END}",
        rf"(?:{DROP_DE}|{ASK_DE}{FILL} vergessen){FILL},? {SAID_DE}{END}",
        rf"{ASK_DE}{FILL},? {SAID_DE},?{FILL} {FORGETTING_DE}{END}",
        rf"das nehme ich zurück{END}",
        rf"ich nehme das zurück{END}",
        rf"{FORGET_DE}{FILL} meine letzte (?:nachricht|aussage){END}",
        rf"(?:{DROP_DE}|{ASK_DE}){FILL} {THIS_DE}{FILL} {MEMORY_DE}(?:{FILL} (?:löschen|entfernen|streichen))?{END}",
        rf"(?:merke?|merken sie) (?:dir|sich) das{FILL} nicht{END}",
        rf"speicher(?:e|n sie)? das{FILL} nicht{END}",
        rf"(?:das|dies){FILL} nicht (?:speichern|merken|behalten|notieren|aufschreiben){END}",
    ),
    stated=(rf"(?:lösche?|lösch|löschen sie){FILL} (?:das|dies){FILL}{END}",),
    named=(
        rf"{FORGET_DE}{FILL} (?:(?:die|diese) (?:sache|geschichte)|das) (?:mit|über|von) (?P<topic>{REST})",
        rf"(?:{FORGET_DE}|{ASK_DE}{FILL} vergessen){FILL},? dass (?P<clause>(?:ich|wir|mein\w*"
        rf"|unser\w*)\b{REST})",
        rf"(?:{DROP_DE}|{ASK_DE}{FILL} (?:vergessen|löschen)){FILL}(?: alles| das)?,? was (?:du"
        rf"|sie) {OF_DE} "
        rf"(?P<topic>{ANY}{{1,200}}?) {KNOW_DE}{END}",
        rf"{FORGET_DE}{FILL},? was ich (?:dir |ihnen )?{OF_DE} (?P<topic>{ANY}{{1,200}}?) (?:gesagt|erzählt"
        rf"|geschrieben) habe{END}",
        rf"(?:speicher(?:e|n sie)?|merke? dir|behalte?|notiere?){FILL} (?:nichts|bitte nichts) {OF_DE} (?P<topic>{REST})",
        rf"{DROP_DE}{FILL} alles {OF_DE} (?P<topic>{REST})",
        rf"{DROP_DE}{FILL} (?:deine |ihre |die |alle )*{HELD_DE} (?:an|{OF_DE}) (?P<topic>{REST})",
        rf"{DROP_DE}{FILL} (?P<topic>(?:mein|unser)\w* {ANY}{{1,200}}?) {MEMORY_DE}{END}",
        rf"{FORGET_DE}{FILL},? (?P<topic>(?:wo|wie|wer|was|wann) (?:alt )?(?:ich|wir|mein\w*|unser\w*)\b{REST})",
        rf"{FORGET_DE}{FILL} (?P<topic>(?:mein|unser)\w* {REST})",
        rf"{ASK_DE}{FILL} (?P<topic>(?:mein|unser)\w* {ANY}{{1,200}}?) vergessen{END}",
    ),
    denied=(
        r"^(?:bitte )?(?:vergiss|vergesst|vergessen sie)(?: \w+){0,3}? (?:nicht|nie|niemals)\b"
        r"|\b(?:für (?:heute|jetzt|einen moment)|heute|ausnahmsweise|diesmal)\b"
    ),
    me=r"(?:mich|mir|uns)",
)
