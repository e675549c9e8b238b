"""How users ask to have something forgotten, in the languages with rules. `wishes` applies them.

`that`: what was said just before; `stated`: the same, where the message itself states something before. `named`: a `topic`, which
is a noun, or a `clause`, which is a statement. `everything`: all about the speaker. Idioms that only change the subject (`forget
it`, `vergiss es`, `olvídalo`) are in none of them, and neither are words that delete anything but what is remembered: in a chat
about code, `delete that` means a line, unless the user just stated something.
"""

import re
from typing import Literal, TypeAlias

from msgspec import Struct

Kind: TypeAlias = Literal["everything", "that", "stated", "named"]

GAP = r"[\s,.!:;–—-]+"
END = r"(?=\s*(?:$|[.!?,;:)–—]))"
THANKS = r"(?:please|thanks|thank you|bitte|danke|merci|s'il te pla[iî]t|gracias|por favor)"
REST = rf"[^.!?;:–—]{{1,200}}?(?=\s*(?:$|[.!?;:–—]|,? {THANKS}\b))"


class Phrases(Struct, frozen=True):
    """One language's. Every pattern begins behind `polite`; `denied` is found where no such wish is meant; `me` are the
    words for the speaker."""

    code: str
    polite: str
    everything: tuple[str, ...]
    that: tuple[str, ...]
    stated: tuple[str, ...]
    named: tuple[str, ...]
    denied: str
    me: str


def spoken(phrases: Phrases) -> tuple[tuple[Kind, re.Pattern[str]], ...]:
    """Its patterns with what they mean, those that mean more first."""
    kinds: tuple[tuple[Kind, tuple[str, ...]], ...] = (
        ("everything", phrases.everything),
        ("that", phrases.that),
        ("stated", phrases.stated),
        ("named", phrases.named),
    )
    return tuple(
        (kind, re.compile(f"[¿¡]?(?:{phrases.polite}){each}", re.IGNORECASE))
        for kind, listed in kinds
        for each in listed
    )


DROP = r"(?:forget|delete|erase|remove|wipe|clear|drop|purge)"
KNOW = (
    r"you(?:'ve| have| may)? (?:ever )?"
    r"(?:know|known|remember(?:ed)?|stored|saved|learn(?:ed|t)|kept|recorded|noted|heard|have)"
)
MEMORY = r"(?:memor(?:y|ies)|mind|notes?|records?)"
HELD = r"(?:memor(?:y|ies)|notes?|records?|information|info|data|entr(?:y|ies))"

ENGLISH = Phrases(
    code="en",
    polite=(
        r"(?:(?:please|pls|kindly|just|now|then|and|also|ok(?:ay)?|so|but|well|oh|no|nope|hey|hi|hm+|um+|wait|actually"
        r"|sorry"
        rf"|never ?mind|thanks|thank you|one more thing|on second thoughts?|by the way|btw|you know what){GAP})*"
        r"(?:(?:can|could|would|will) you (?:please |kindly |just )*|i(?:'d| would) like you to |i (?:want|need|ask) "
        r"you to "
        r"|you (?:can|may|should|must) |(?:please|just|kindly) )*"
    ),
    everything=(
        rf"{DROP} (?:everything|anything|all|whatever|what|all (?:the )?{HELD})(?: that)? {KNOW}(?: (?:about|on|of) "
        rf"(?:me|us))?{END}",
        rf"{DROP} (?:everything|anything|all|all (?:of )?(?:the )?{HELD})(?: there is)? (?:about|on|of) (?:me|us){END}",
        rf"(?:delete|erase|remove|wipe|clear|purge|forget) (?:(?:all|every|each|any) )?(?:of )?(?:(?:your|the|my|our) )?"
        rf"memor(?:y|ies)(?: (?:you have )?(?:about|on|of) (?:me|us))?{END}",
        rf"(?:delete|erase|remove|wipe|clear|purge) (?:all )?(?:of )?(?:your |the |my )?{HELD} (?:you have |that you "
        rf"have )?(?:about|on|of) (?:me|us){END}",
        rf"(?:delete|erase|remove|wipe|purge) (?:all )?(?:of )?my (?:data|information) (?:that )?{KNOW}{END}",
        rf"forget (?:everything|all)(?: that)? i(?:'ve| have)? (?:ever )?(?:told|said to) you{END}",
        rf"forget me{END}",
    ),
    that=(
        rf"(?:forget|unlearn|disregard|ignore) (?:about )?(?:that|this)(?: one| part| bit| again| now| right away)*(?: "
        rf"(?:please|thanks))?{END}",
        rf"(?:forget|unlearn|disregard|ignore) (?:that )?(?:i|we) (?:just |ever )*(?:said|told you|wrote|mentioned) (?:that"
        rf"|this|it|anything){END}",
        rf"(?:forget|unlearn|disregard|ignore) (?:what|whatever|the (?:last )?things?)(?: that)? (?:i|we)(?:'ve| have)? "
        rf"(?:just |only )*"
        rf"(?:said|told you|wrote|written|mentioned)(?: just)?(?: now| before| there| a (?:moment|minute|second) "
        rf"ago)?{END}",
        rf"(?:forget|unlearn|disregard|ignore) (?:everything|all)(?: that)? (?:i|we)(?:'ve| have)? (?:just|only) "
        rf"(?:said|told "
        rf"you|wrote|written|mentioned){END}",
        rf"(?:{DROP}|disregard|ignore) my (?:last|previous) (?:message|sentence|statement|remark){END}",
        rf"(?:scratch|strike|scrap) that{END}",
        rf"(?:delete|erase|remove|drop) (?:what|everything|all)(?: that)? i(?:'ve| have)? (?:just )?(?:said|told you)(?: just)?"
        rf"(?: now| before)?{END}",
        rf"never ?mind what i (?:just )?said{END}",
        rf"i take (?:that|it) back{END}",
        rf"i take back what i (?:just )?said{END}",
        rf"{DROP} (?:that|this|it) from (?:your )?{MEMORY}{END}",
        rf"(?:do not|don't) (?:save|store|memori[sz]e|keep|record) (?:that|this)(?: in your {MEMORY})?{END}",
        rf"i (?:do not|don't) want you to (?:remember|know|keep|save|store) (?:that|this){END}",
    ),
    stated=(rf"(?:delete|erase|remove|drop) (?:that|this)(?: again)?(?: (?:please|thanks))?{END}",),
    named=(
        rf"(?:never ?mind|scratch|scrap) what i (?:just )?(?:said|told you|mentioned) about (?P<topic>{REST})",
        rf"forget (?:about )?(?:the|that) (?:whole )?(?:thing|part|bit|stuff|story|comment|business) (?:about|with) "
        rf"(?P<topic>{REST})",
        rf"(?:forget|disregard|ignore) (?:that )?(?:i|we) (?:just |ever )*(?:said|told you|mentioned)(?: to you)? (?:that "
        rf")?(?P<clause>(?:i|we|my|our)\b{REST})",
        rf"(?:forget|disregard|ignore) (?:(?:that )?(?:i|we) (?:just |ever )*(?:said|told you|mentioned)|what(?:ever)? (?:i"
        rf"|we)(?:'ve| have)? (?:just |ever )*"
        rf"(?:said|told you|mentioned))(?: anything| something)? about (?P<topic>{REST})",
        rf"(?:forget|disregard|ignore) (?:about )?(?:the fact )?(?:that )?(?P<clause>(?:i|we)\b{REST})",
        rf"(?:forget|disregard|ignore) (?:the fact )?that (?P<clause>(?:my|our)\b{REST})",
        rf"{DROP} (?:everything|anything|all|whatever|what|all (?:the )?{HELD})(?: that)?(?: {KNOW}| i(?:'ve| have)? "
        rf"(?:ever )?(?:told|said to) you)? "
        rf"(?:about|on|regarding|concerning) (?P<topic>{REST})",
        rf"{DROP} (?:(?:your|the|any|all|every) )*{HELD}(?: (?:that )?you have)? (?:of|about|on|regarding) "
        rf"(?P<topic>{REST})",
        rf"{DROP} (?:the|your|any) memory that (?P<clause>(?:i|we|my|our)\b{REST})",
        rf"{DROP} (?P<topic>(?:my|our)\b[^.!?;:–—]{{1,200}}?) from (?:your |the )?{MEMORY}{END}",
        rf"forget (?P<topic>(?:where|how|who|when|which|what) (?:(?:old|tall|much) )?(?:i|we|my|our)\b{REST})",
        rf"forget (?:about )?(?P<topic>(?:my|our)\b{REST})",
        rf"(?:stop (?:remembering|storing)|i (?:do not|don't) want you to (?:remember|know|keep|store)|please (?:do "
        rf"not|don't) (?:remember|store|save))"
        rf" (?:that )?(?P<clause>(?:i|we|my|our)\b{REST})",
    ),
    # For a while only: the speaker wants an exception, not to be forgotten.
    denied=(
        r"\b(?:for (?:now|once|today|tonight|the moment|a (?:moment|second|minute|while|bit))|today|tonight|this time)\b"
        r"|^(?:please )?(?:never|do not|don't) forget\b"
    ),
    me=r"(?:me|myself|us)",
)

FILL = r"(?: (?:bitte|mal|doch|einfach|jetzt|sofort|wieder|auch|schnell|gleich|lieber|alles|ganz))*"
OF_DE = r"(?:über|von|zu)"
KNOW_DE = r"(?:weißt|weisst|wissen|gespeichert ha(?:st|ben)|gemerkt ha(?:st|ben))"
HELD_DE = r"(?:erinnerung(?:en)?|notizen?|daten|informationen|einträge?)"
MEMORY_DE = r"(?:aus|von) (?:deinem|ihrem|deinen|ihren|dem) (?:gedächtnis|speicher|erinnerungen|notizen)"
FORGET_DE = r"(?:vergiss|vergesst|vergessen sie)"
DROP_DE = r"(?:vergiss|vergesst|vergessen sie|lösche?|löscht|löschen sie|entfern(?:e|en sie))"

GERMAN = Phrases(
    code="de",
    polite=(
        r"(?:(?:bitte|also|und|aber|nein|ach|oh|ok(?:ay)?|moment|warte|sorry|entschuldigung|doch|jetzt|dann|danke|na "
        r"gut|übrigens)"
        rf"{GAP})*"
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
        rf"speicher(?:e|n sie)? das{FILL} nicht{END}",
    ),
    stated=(rf"(?:lösche?|lösch|löschen sie){FILL} (?:das|dies){FILL}{END}",),
    named=(
        rf"{FORGET_DE}{FILL} (?:die|diese) (?:sache|geschichte) (?:mit|über|von) (?P<topic>{REST})",
        rf"(?:{FORGET_DE}|(?:kannst|könntest|würdest) du{FILL} vergessen){FILL},? dass (?P<clause>(?:ich|wir|mein\w*"
        rf"|unser\w*)\b{REST})",
        rf"(?:{DROP_DE}|(?:kannst|könntest|würdest) du{FILL} (?:vergessen|löschen)){FILL}(?: alles| das)?,? was (?:du"
        rf"|sie) {OF_DE} "
        rf"(?P<topic>[^.!?;:–—]{{1,200}}?) {KNOW_DE}{END}",
        rf"{FORGET_DE}{FILL},? was ich (?:dir |ihnen )?{OF_DE} (?P<topic>[^.!?;:–—]{{1,200}}?) (?:gesagt|erzählt"
        rf"|geschrieben) habe{END}",
        rf"{DROP_DE}{FILL} alles {OF_DE} (?P<topic>{REST})",
        rf"{DROP_DE}{FILL} (?:deine |ihre |die |alle )*{HELD_DE} (?:an|{OF_DE}) (?P<topic>{REST})",
        rf"{DROP_DE}{FILL} (?P<topic>(?:mein|unser)\w* [^.!?;:–—]{{1,200}}?) {MEMORY_DE}{END}",
        rf"{FORGET_DE}{FILL},? (?P<topic>(?:wo|wie|wer|was|wann) (?:alt )?(?:ich|wir|mein\w*|unser\w*)\b{REST})",
        rf"{FORGET_DE}{FILL} (?P<topic>(?:mein|unser)\w* {REST})",
        rf"(?:kannst|könntest|würdest) du{FILL} (?P<topic>(?:mein|unser)\w* [^.!?;:–—]{{1,200}}?) vergessen{END}",
    ),
    denied=(
        r"^(?:bitte )?(?:vergiss|vergesst|vergessen sie)(?: \w+){0,3}? (?:nicht|nie|niemals)\b"
        r"|\b(?:für (?:heute|jetzt|einen moment)|heute|ausnahmsweise|diesmal)\b"
    ),
    me=r"(?:mich|mir|uns)",
)

OF_FR = r"(?:sur|de|d'|à propos de|au sujet de|concernant)"
KNOW_FR = r"(?:tu sais|vous savez|tu as (?:retenu|enregistré|appris)|vous avez (?:retenu|enregistré))"
FORGET_FR = r"(?:oublie[zrs]?|oubliez)"
DROP_FR = r"(?:oublie[zrs]?|efface[zrs]?|supprime[zrs]?)"
MEMORY_FR = r"de (?:ta|votre) mémoire"
MINE_FR = r"(?:mon|ma|mes|notre|nos)"

FRENCH = Phrases(
    code="fr",
    polite=(
        r"(?:(?:s'il (?:te|vous) pla[iî]t|stp|svp|non|ah|oh|ok|bon|alors|et|mais|attends?|pardon|désolée?|merci|en "
        r"fait|finalement)"
        rf"{GAP})*"
        r"(?:(?:peux-tu|pouvez-vous|pourrais-tu|pourriez-vous|tu peux|vous pouvez|veuillez|je (?:veux|voudrais"
        r"|souhaite) que tu)"
        r"(?: s'il (?:te|vous) pla[iî]t,?)? )?"
    ),
    everything=(
        rf"{DROP_FR} tout ce que {KNOW_FR} {OF_FR} ?(?:moi|nous){END}",
        rf"{DROP_FR} tout (?:sur|de) moi{END}",
        rf"{DROP_FR} (?:tous )?(?:tes|vos|les) souvenirs(?: (?:de|sur) moi)?{END}",
        rf"(?:efface[zrs]?|vide[zrs]?) (?:ta|votre) mémoire{END}",
    ),
    that=(
        rf"{FORGET_FR} (?:ça|ca|cela|ceci){END}",
        rf"{DROP_FR} ce que j'ai (?:dit|raconté|écrit){END}",
        rf"{DROP_FR} ce que je (?:viens de (?:te |vous )?(?:dire|raconter|écrire)|(?:t'ai|vous ai) (?:dit|raconté"
        rf"|écrit)){END}",
        rf"{FORGET_FR} mon dernier message{END}",
        rf"je retire ce que j'ai dit{END}",
        rf"{DROP_FR} (?:ça|cela) {MEMORY_FR}{END}",
        rf"ne (?:retiens|retenez|garde|mémorise) pas (?:ça|cela){END}",
    ),
    stated=(rf"(?:efface[zrs]?|supprime[zrs]?) (?:ça|cela){END}",),
    named=(
        rf"{DROP_FR} (?:de (?:ta|votre) mémoire )?(?:le fait )?que (?P<clause>(?:j'|je\b|nous\b|{MINE_FR}\b){REST})",
        rf"{DROP_FR} ce que (?:j'ai|je t'ai|je vous ai) (?:dit|raconté|écrit) {OF_FR} ?(?P<topic>{REST})",
        rf"{FORGET_FR} (?:l'histoire|cette histoire|le truc|l'affaire) (?:de|du|avec|sur) ?(?P<topic>{REST})",
        rf"{DROP_FR} (?:tout )?ce que (?:{KNOW_FR}|je (?:t'ai|vous ai) dit) {OF_FR} ?(?P<topic>{REST})",
        rf"{DROP_FR} tout (?:sur|à propos de) (?P<topic>{REST})",
        rf"{DROP_FR} (?P<topic>{MINE_FR} [^.!?;:–—]{{1,200}}?) {MEMORY_FR}{END}",
        rf"{FORGET_FR} (?P<topic>(?:où|comment|qui|quand) (?:j'|je\b){REST})",
        rf"{FORGET_FR} (?P<topic>{MINE_FR} {REST})",
    ),
    denied=r"\b(?:pour (?:l'instant|aujourd'hui|ce soir)|aujourd'hui|ce soir)\b",
    me=r"(?:moi|nous)",
)

OF_ES = r"(?:de|sobre|acerca de|del)"
KNOW_ES = r"(?:sabes|sabe|recuerdas|has (?:guardado|aprendido)|tienes)"
FORGET_ES = r"(?:olvid(?:a|e|ar|es|ad))"
DROP_ES = r"(?:(?:olvid|borr)(?:a|e|ar|es|ad)|elimin(?:a|e|ar|es|ad))"
MEMORY_ES = r"de tu memoria"
MINE_ES = r"(?:mis?|nuestr[oa]s?)"

SPANISH = Phrases(
    code="es",
    polite=(
        rf"(?:(?:por favor|ah|oh|ok|bueno|vale|entonces|espera|perdón|perdona|gracias|en realidad){GAP}|(?:no|y"
        rf"|pero)[,.!]\s*)*"
        r"(?:(?:puedes|podrías|puede|podría|quiero que|me gustaría que)(?: por favor)? )?"
    ),
    everything=(
        rf"{DROP_ES} todo lo que {KNOW_ES} {OF_ES} (?:mí|mi|nosotros){END}",
        rf"{DROP_ES} todo (?:sobre|acerca de) (?:mí|mi){END}",
        rf"{DROP_ES} (?:todos )?(?:tus|los) recuerdos(?: (?:de|sobre) (?:mí|mi))?{END}",
        rf"{DROP_ES} (?:toda )?tu memoria{END}",
    ),
    that=(
        rf"{FORGET_ES} (?:eso|esto){END}",
        rf"{DROP_ES} lo que (?:te |le )?(?:acabo de (?:decir|contar|escribir)(?:te)?|he (?:dicho|contado|escrito)"
        rf"|dije|conté|escribí){END}",
        rf"{FORGET_ES} mi último mensaje{END}",
        rf"retiro lo (?:dicho|que dije){END}",
        rf"{DROP_ES} (?:eso|esto) {MEMORY_ES}{END}",
        rf"no (?:guardes|recuerdes|memorices) (?:eso|esto){END}",
    ),
    stated=(rf"(?:borr|elimin)(?:a|e|ar) (?:eso|esto){END}",),
    named=(
        rf"{FORGET_ES} lo que (?:te )?(?:dije|he dicho|conté) {OF_ES} (?P<topic>{REST})",
        rf"{FORGET_ES} lo de(?:l| la| los| las)? (?P<topic>{REST})",
        rf"{FORGET_ES} que (?P<clause>{REST})",
        rf"{DROP_ES} (?:todo )?lo que (?:{KNOW_ES}|te (?:dije|he dicho|conté)) {OF_ES} (?P<topic>{REST})",
        rf"{DROP_ES} todo (?:sobre|acerca de) (?P<topic>{REST})",
        rf"{DROP_ES} (?P<topic>{MINE_ES} [^.!?;:–—]{{1,200}}?) {MEMORY_ES}{END}",
        rf"{FORGET_ES}(?:te)?(?: de)? (?P<topic>(?:dónde|cómo|cuándo) (?:vivo|trabajo|me llamo)\b{REST}?)",
        rf"{FORGET_ES}(?:te)?(?: de)? (?P<topic>{MINE_ES} {REST})",
    ),
    denied=r"\b(?:por (?:ahora|hoy|esta vez)|hoy|esta noche)\b",
    me=r"(?:mí|mi|nosotros)",
)
