"""German statements in the first person; the memory stays German."""

import re

from agents.models.offline.rules.engine.rule import LanguageRules, anywhere, starting
from agents.models.offline.rules.tables.german_third_person import reword, third_person_verb
from agents.models.offline.rules.tables.templated import templated, topics

SUBJECT = "Der Nutzer"
NAME = r"(?P<x>(?-i:[A-ZÄÖÜ])[\wäöüß'-]*(?: (?-i:[A-ZÄÖÜ])[\wäöüß'-]*){0,2})"
UNCHANGED = (
    r"(?:war|wurde|ging|kam|fuhr|fand|blieb|traf|sah|nahm|gab|flog|las|aß|lief|hieß|\w+te|mag|kann|will|muss|darf|soll)"
)
# Verbs that state nothing about the speaker.
SAYS_NOTHING = (
    r"(?:denke|dachte|glaube|glaubte|meine|meinte|hoffe|wünsche|weiß|wusste|verstehe|finde|fand|sehe|sah"
    r"|sage|sagte|frage|fragte"
    r"|danke|bitte|möchte|würde|hätte|wäre|könnte|sollte|müsste|muss|musste|kann|konnte|darf|soll|will|wollte|werde|brauche"
    r"|brauchte"
    r"|fürchte|vermute|schätze|nehme an|stimme|freue|freute|höre|hörte|versuche|versuchte|suche|hole|komme"
    r"|kam|gehe|rufe|zeige"
    r"|bringe"
    r"|gebe|erinnere|entschuldige|schwöre|verspreche|wette|warte|schaue|sorge|empfehle|schlage|stelle"
    r"|fühle|fühlte|nehme|nahm"
    r"|tue|tat"
    r"|habe (?:eine? |keine? |die |den |das |noch |auch |schon |gerade |nur )*(?:frage|idee|ahnung|problem|zeit|lust|hunger"
    r"|durst|angst"
    r"|bitte|gehört|gesehen|gedacht|gesagt|vergessen|verstanden|recht|gefragt|es|ihn|sie|das|dich|ihnen"
    r"|mich gefragt|glück|vor"
    r"|zu"
    r"|hier|gerade|gewusst|versucht|gefunden)"
    r"|bin (?:mir |so |sehr |nicht |auch |gerade |noch |schon |wirklich |ziemlich |etwas |zu |total "
    r"|einfach )*(?:sicher|froh"
    r"|glücklich|traurig|müde|bereit|fertig|neugierig|hier|da|gleich|gespannt|überrascht|beschäftigt|hungrig|durstig|krank"
    r"|aufgeregt"
    r"|spät|zurück|wütend|besorgt|dabei|es|einverstanden|dankbar|enttäuscht|interessiert|ihrer meinung|deiner meinung|stolz"
    r"|okay|nur"
    r"|dran|weg|los|erschöpft|verwirrt|nervös|unterwegs|sauer|gekommen|gegangen|derjenige|wie|als ob|der|die))"
)
POINTING = (
    r"(?:es|das|dies\w*|ihn|sie|ihm|dich|dir|euch|ihnen|ihr\w*|dein\w*|eu(?:er|re\w*)|so|mir|mich|jetzt|gerade|nur|schon"
    r"|hier|damit|davon|darauf|daran|dort|da)"
)
OBJECT = rf"(?P<object>(?!{POINTING}(?:$|[ ,])|k?eine?[nmrs]?$)(?!.*\b(?:du|dich|dir|dein\w*|(?-i:Ihnen|Ihr\w*|Sie)|euch)\b).+)"
FIRST_PERSON = rf"ich (?!{SAYS_NOTHING}\b)(?P<verb>\w+(?:e|st)|bin|hab|{UNCHANGED})"
TOPICS = topics(
    likes=r"ich (?:mag|liebe|hasse|bevorzuge|trinke|esse)|lieblings\w+|am liebsten",
    allergy=r"\w*allergi\w*|\w*intoleran\w*|unverträglich\w*",
    health=r"diabet\w*|asthma\w*|vegan\w*|vegetari\w*|zöliakie|schwanger|krebs|linkshänder\w*|farbenblind|blind|taub",
    home=r"ich wohne|ich lebe|gezogen|ich komme (?:ursprünglich )?aus",
    work=r"arbeite\w*|beruf|job|firma|studier\w*|universität|schule|lehrer\w*|arzt|ärztin|ingenieur\w*|anwalt|rentner\w*|chef\w*",
    family=r"frau|mann|tochter|töchter|sohn|söhne|kind(?:er)?|bruder|brüder|schwester\w*|mutter|vater|eltern|hunde?|katzen?|verheiratet",
)


CHANGES = (
    templated(
        r"(?:ich bin|wir sind) (?P<w>.*?)von (?P<old>.+?) nach (?P<new>.+?) (?:um)?gezogen",
        SUBJECT + " ist von {old} nach {new} gezogen",
        "fact",
        0.75,
        "home",
    ),
    templated(
        r"ich bin (?P<w>.*?)von (?P<old>.+?) (?:auf|zu) (?P<new>.+?) (?:umgestiegen|gewechselt)",
        SUBJECT + " ist von {old} auf {new} umgestiegen",
        "preference",
        0.7,
        "change",
    ),
    templated(
        r"ich (?P<verb>\w+) (?P<n>kein(?:en?)?|nicht) (?P<old>.+?) mehr(?P<rest>(?:,? (?:sondern"
        r"|ich \w+) (?:jetzt |nur noch "
        r"|lieber )*"
        r"(?P<new>.+))?)$",
        SUBJECT + " {verb} {n} {old} mehr{rest}",
        "preference",
        0.65,
        "change",
    ),
)
RULES = (
    templated(rf"(?:ich heiße|mein name ist) {NAME}", SUBJECT + " heißt {x}", "fact", 0.8, "name"),
    templated(
        rf"(?:bitte )?nenn mich (?:bitte )?{NAME}", SUBJECT + " möchte {x} genannt werden", "preference", 0.75, "name"
    ),
    templated(
        r"(?:ich bin|wir sind) (?P<w>.*?)nach (?P<new>.+?) (?:um)?gezogen",
        SUBJECT + " ist nach {new} gezogen",
        "fact",
        0.75,
        "home",
    ),
    templated(
        r"wir haben (?:uns |heute |jetzt |nun |gestern )*(?P<x>(?:für|gegen) .+? entschieden)",
        "Das Team hat sich {x}",
        "decision",
        0.75,
        "decision",
    ),
    templated(
        r"(?:wir haben|ich habe) (?:heute |jetzt |nun |gestern |uns |mich )*(?:beschlossen|entschieden),? (?P<x>.+)",
        "Beschlossen wurde: {x}",
        "decision",
        0.75,
        "decision",
    ),
    templated(
        r"(?:bitte )?(?P<said>(?:antworte|schreib|sprich|erkläre?|benutze|verwende|nutze|gib)\b.*\b(?:immer"
        r"|nur|nie|niemals|stets|keine|auf (?-i:[A-Z])\w+)\b.*)",
        "Wunsch des Nutzers: {said}",
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
    templated(
        r"(?P<x>(?:montags|dienstags|mittwochs|donnerstags|freitags|samstags|sonntags|zu hause"
        r"|bei uns) (?:gibt es|gibt's|essen wir|trinken wir)"
        r"(?: bei uns)? (?:kein\w*|nie|nur) .+)",
        "Beim Nutzer gilt: {x}",
        "preference",
        0.75,
        "directive",
    ),
    templated(rf"ich (?P<verb>\w+e|bin) {OBJECT}", SUBJECT + " {verb} {object}", "plan", 0.65, "plan", dated=True),
    templated(rf"{FIRST_PERSON} {OBJECT}", SUBJECT + " {verb} {object}", "fact", 0.5, topics=TOPICS),
    templated(
        r"ich (?P<verb>komme|gehe) (?P<object>(?:ursprünglich )?(?:aus|in die) .+)",
        SUBJECT + " {verb} {object}",
        "fact",
        0.6,
        "home",
    ),
    templated(
        r"meine? (?!meinung\b|frage\b|güte\b|schuld\b)(?P<x>\w+) (?P<y>(?:ist|sind|war|hat|haben|heißt|wohnt|lebt|arbeitet"
        r"|liebt|mag|spielt) "
        rf"{OBJECT})",
        "{x} des Nutzers {y}",
        "fact",
        0.6,
        topics=TOPICS,
    ),
)

# Beginnings of sentences without "ich": "Bin jetzt in Ulm", "hab zwei Kinder".
DROPPED = re.compile(
    r"^(bin|hab|habe|wohne|lebe|arbeite|zahle|ziehe|nehme|trinke|esse|studiere|fahre|spiele|lerne|suche|vertrage|darf|mag|muss) "
    r"(?!(?:ich|du|er|sie|es|wir|ihr)\b)",
    re.IGNORECASE,
)


def with_subject(text: str) -> str:
    return DROPPED.sub(lambda found: f"ich {found[1].lower()} ", text)


FIRST = r"(?:ich|wir|mein|meine|unser|unsere)"
GERMAN = LanguageRules(
    code="de",
    normalise=with_subject,
    reword=reword,
    subject=SUBJECT,
    pronoun="er",
    third=third_person_verb,
    lead_in=starting(
        r"(?:[\w ]{2,30}:\s+(?=(?:ich|wir|mein|meine)\b)|"
        r"(?:hallo|hi|hey|moin|servus|guten (?:tag|morgen|abend)|also|ja|nein|ok|okay|übrigens|danke|oh"
        r"|ach ja|naja|nun|gut"
        r"|super"
        r"|ach|und|aber|außerdem|zur info|korrektur|eigentlich|ehrlich gesagt|klar|sicher|tut mir leid|toll"
        r"|schön|wow|nun ja)"
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
        r"|,? (?:aber|und(?= (?:ab|nächste|kommende))) "
        r"(?=(?:am|im|ab|seit|nächste\w*|kommende\w*)\b[\w. ]{0,20}? \w+ (?:ich|wir)\b)"
    ),
    question=starting(
        r"(?:kannst du|könntest du|kann ich|soll ich|was|wie|wo|wer|wann|warum|wieso|welche\w*|gibt es"
        r"|hast du|bist du|ist das|weißt du|darf ich|können wir)\b"
    ),
    doubtful=anywhere(r"\b(?:ich glaube|ich denke|wahrscheinlich|vermutlich|ungefähr|glaub ich)\b"),
    unreal=anywhere(
        r"\b(?:vielleicht|eventuell|(?<!auch )wenn ich|falls|würde|hätte|wäre|angenommen|stell dir vor|möglicherweise)\b"
    ),
    casual=anywhere(rf"{POINTING}\b"),
    doubt="nicht sicher",
    changes=CHANGES,
    rules=RULES,
)
