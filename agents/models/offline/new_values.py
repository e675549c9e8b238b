"""Tells a correction ("scratch that, it's 40 people, not 30") from a wish to forget: another value follows the same phrase."""

import re
from typing import Final

from agents.models.dates.words import MONTHS
from agents.models.offline.corrections import FORMS, MAX_WORDS, NAME
from agents.models.offline.rules.engine.sentences import is_question

# Not "delete that from your memory", "don't save that": these are about what is stored.
TAKES_BACK: Final = re.compile(
    r"\b(?:forget|unlearn|disregard|ignore|scratch|strike|scrap|never ?mind|take|vergiss|vergesst|vergess?en|vergisst|nehme"
    r"|oubli\w+|retire|olvid\w+|retiro)\b(?!.*\bfrom\b|.*\b(?:de (?:ta|votre|tu)|aus|von) \w)",
    re.IGNORECASE,
)
SCRATCHES: Final = re.compile(r"\b(?:scratch|strike|scrap) that$", re.IGNORECASE)
# Reasons to forget.
PRIVATE: Final = re.compile(
    r"\b(?:privat\w*|privée?s?|privad[oa]s?|person(?:al|nel)\w*|persönlich\w*|secret\w*|geheim\w*|confiden\w+|vertraulich\w*"
    r"|embarrass\w*|asham\w*|peinlich|schäm\w*|honte|vergüenza|business|regret\w*|between us|unter uns|entre (?:nous|nosotros)"
    r"|shouldn't|supposed|hätte|n'aurais|debí|no(?:body| one)|any(?:body|one)|niemand\w*|personne|nadie|because|and I'?m"
    r"|remember|stored?|saved?|keep|record\w*|forget\w*|delet\w+|tell|told|telling|talk\w*|know|find out|reads?|quiet|promised?"
    r"|trust|uncomfortable|want you"
    r"|wiss\w+|weiß|erfahr\w*|speicher\w*|erzähl\w*|savoir|sache|retiens|sepa|guard\w+)\b",
    re.IGNORECASE,
)
# A person's age, the time of day, and a count of others are reasons as well.
AGE_OR_TIME: Final = re.compile(
    r"\W*(?:(?:I|he|she|we|they)(?:'m|'s|'re| am| is| are| was| were)|ich (?:bin|war)|(?:sie|er) (?:ist|war)|j'(?:ai|avais)"
    r"|(?:elle|il) a|teng[oa]|tiene|tenía|there(?:'s| is| are| were)|it(?:'s| is) \d{1,2} ?[ap]m|es ist \d{1,2} Uhr|il est \d"
    r"|son las \d)\b"
    r"|.*\b(?:ago|years? old|jahre? (?:her|alt)|surprise|überraschung|sorpresa)\b",
    re.IGNORECASE,
)
DECIDED: Final = re.compile(r"\b(?:decided (?:on|to)|go(?:ing)? (?:with|for)|instead)\b", re.IGNORECASE)
LEADING: Final = r"\W*(?:(?:no|sorry|actually|wait|and|but|nein|und|non|et|y|perdón)\b[\s,]+){0,3}"
MEANT: Final = re.compile(
    rf"{LEADING}(?:(?:I|we) (?:mean|meant|should have said)\b"
    r"(?! (?:it|that|this|really|no|nothing|well|to|what|all|every\w*|my|the (?:whole|last)|please|serious\w*|for)\b)"
    r"|(?:let's )?make (?:it|that)\b(?! (?:clear|sure|known|go|stop|disappear|vanish)\b)|let's say\b(?! (?:it|we|I)\b)"
    r"|ich mein(?:e|te)\b(?! (?:es|das|ja|alles|die|meine?)\b)|sagen wir"
    r"|je (?:veux|voulais) dire(?! (?:tout|mon|ma|mes)\b)|disons|mettons|qu(?:ise|ería|iero) decir(?! (?:todo|mi|mis)\b)"
    r"|digamos)\s+\w",
    re.IGNORECASE,
)
MONTH: Final = "|".join(sorted({name for names in MONTHS.values() for name in names.split()} - {"may", "march"}))
# "Once" is eleven in Spanish, "may" and "march" are verbs.
VALUE: Final = "|".join(
    (
        *(f"(?!once\\b){each.pattern}" for each in FORMS if each is not NAME),
        rf"\b(?:\d{{1,2}} ?(?:[ap]m|h\d*)|{MONTH}|(?-i:May|March))\b",
    )
)
# "It's room 204", "we'll be seven", "son 40 personas", "the train leaves at 7:12".
VERB: Final = (
    r"(?:'(?:s|re|m|ll be)|\b(?:is|are|am|was|were|be|costs?|leaves?|starts?|ends?|ist|sind|bin|war|waren|kostet|fährt|beginnt"
    r"|endet|es(?:t|t de)?|sera|serons|sont|suis|coûte|part|commence|finit|son|será|seremos|soy|cuesta|sale|empieza|termina))\b"
)
STATES_VALUE: Final = re.compile(
    rf"{LEADING}(?:[\w'-]+ ){{0,4}}?[\w'-]*?{VERB}(?! been\b)(?: (?!not\b)[^\W\d]+){{0,3}}? (?:{VALUE})", re.IGNORECASE
)
IS_VALUE: Final = re.compile(rf"{LEADING}(?:(?:better|at|on|in|um|am|à|el|le) )?(?:{VALUE})", re.IGNORECASE)
# Behind "not": people, among them the assistant, and judgements.
NO_VALUE: Final = (
    r"you|yours?|me|mine|I|he|she|we|they|hers?|his|theirs|ours|us|them|an? (?:ai|bot)|the (?:ai|bot)|claude|chatgpt|for|true"
    r"|right|important|relevant|public|something|that|this|now|today|here|wahr|wichtig|vrai|verdad|ich|mich|mir|du|dich|dir|er|sie|wir|uns"
    r"|euch|für|moi|toi|lui|elle|nous|vous|pour|yo|mí|tú|ti|él|ella|nosotros|usted|para"
)
CONTRAST: Final = re.compile(
    r"\w,? (?:instead of (?!my\b)|rather than (?!my\b)|statt|anstatt|sondern|plutôt que|au lieu d[eu']|en vez de) ?\w"
    rf"|\w, (?:(?:and |et |y )?(?:not|nicht|pas|no)) (?!(?:{NO_VALUE})\b)(?:[\w'-]+ ){{0,3}}[\w'.-]+\W*$",
    re.IGNORECASE,
)


def gives_new_value(phrase: str, behind: str, *, is_next: bool) -> bool:
    """Whether the words `behind` a phrase that takes the previous message back, such as "forget that", give another value. In
    doubt they do not, above all if they are the next sentence (`is_next`)."""
    if not TAKES_BACK.search(phrase) or is_question(behind) or PRIVATE.search(behind):
        return False
    if not 0 < len(behind.split()) <= MAX_WORDS:
        return False
    if MEANT.match(behind) or CONTRAST.search(behind):
        return True
    scratches = SCRATCHES.search(phrase) is not None
    if not AGE_OR_TIME.match(behind) and (STATES_VALUE.match(behind) or IS_VALUE.match(behind)):
        return scratches or not is_next
    return scratches and not is_next and DECIDED.search(behind) is not None
