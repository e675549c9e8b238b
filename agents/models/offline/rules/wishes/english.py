"""English phrases of wishes to forget."""

from agents.models.offline.rules.wishes.phrases import ANY, END, GAP, REST, Phrases

DROP = r"(?:forget|delete|erase|remove|wipe|clear|drop|purge)"
KNOW = (
    r"you(?:'ve| have| may)? (?:ever )?"
    r"(?:know|known|remember(?:ed)?|stored|saved|learn(?:ed|t)|kept|recorded|noted|heard|have)"
)
MEMORY = r"(?:memor(?:y|ies)|mind|notes?|records?)"
FACT = (
    r"(?:birth ?da(?:y|te)|date of birth|age|(?:(?:home|postal|e-?mail) )?address|e-?mail|(?:(?:mobile|cell) )?(?:tele)?phone"
    r"(?: number)?|(?:mobile|passport|licen[cs]e|account|social security) number|licen[cs]e plate|salary|wage|income|pay|weight"
    r"|height|(?:shoe|dress|bra) size|diagnosis|illness|disease|disability|medications?|allerg(?:y|ies)|religion|faith|politics"
    r"|political views|sexuality|sexual orientation|gender|ethnicity|nationality|pregnancy|divorce|debts?|employer|home ?town"
    r"|(?:full|real|last|first|maiden) name|name|surname|medical history|blood type)"
)
HELD = r"(?:memor(?:y|ies)|notes?|records?|information|info|data|entr(?:y|ies))"
STATED = (
    r"(?:number|figure|amount|sum|name|address|password|pin|detail|fact|bit|part|remark|comment|sentence|statement|message"
    r"|info(?:rmation)?)"
)
TOLD = r"(?:said|told you|gave you|mentioned|wrote|written|sent|shared)"

ENGLISH = Phrases(
    code="en",
    polite=(
        r"(?:(?:please|pls|kindly|just|now|then|and|also|ok(?:ay)?|so|but|well|oh|no|nope|hey|hi|hm+|um+|wait|actually"
        r"|sorry"
        rf"|never ?mind|thanks|thank you|one more thing|on second thoughts?|by the way|btw|you know what){GAP}){{0,6}}"
        r"(?:(?:can|could|would|will) you (?:please |kindly |just )*|i(?:'d| would) like you to |i (?:want|need|ask) "
        r"you to "
        r"|you (?:can|may|should|must) |(?:please|just|kindly) ){0,3}"
    ),
    everything=(
        rf"{DROP} (?:everything|anything|all|whatever|what|all (?:the )?{HELD})(?: that)? {KNOW}(?: (?:about|on|of) "
        rf"(?:me|us))?{END}",
        rf"{DROP} (?:everything|anything|all|all (?:of )?(?:the )?{HELD})(?: there is)? (?:about|on|of) (?:me|us){END}",
        rf"(?:delete|erase|remove|wipe|clear|purge|forget) (?:(?:all|every|each|any) )?(?:of )?(?:your memor(?:y|ies)"
        rf"|(?:(?:your|the|my|our) )?memor(?:y|ies) (?:you have )?(?:about|on|of) (?:me|us)){END}",
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
        rf"{DROP} (?:that|this) memory{END}",
        rf"please (?:do not|don't|never) remember (?:that|this|it){END}",
        rf"(?:do not|don't|never) remember (?:that|this|it),? (?:please|pl[sz])\b{END}",
        rf"(?:delete|erase|remove|drop) (?:what|everything|all)(?: that)? i(?:'ve| have)? (?:just )?(?:said|told you)(?: just)?"
        rf"(?: now| before)?{END}",
        rf"never ?mind what i (?:just )?said{END}",
        rf"i take (?:that|it) back{END}",
        rf"i take back what i (?:just )?said{END}",
        rf"{DROP} (?:that|this|it) from (?:your )?{MEMORY}{END}",
        rf"(?:do not|don't) (?:save|store|memori[sz]e|keep|record) (?:that|this)(?: in your {MEMORY})?{END}",
        rf"i (?:do not|don't) want you to (?:remember|know|keep|save|store) (?:that|this){END}",
        rf"i(?:'d| would) rather you (?:didn't|did not) (?:remember|know|keep|save|store) (?:that|this|it){END}",
    ),
    stated=(
        rf"(?:delete|erase|remove|drop) (?:that|this)(?: again)?(?: (?:please|thanks))?{END}",
        rf"(?:forget|unlearn) (?:that|this) {STATED}(?: again| now| i (?:just )?{TOLD})?{END}",
        rf"forget the {STATED}(?: that)? i (?:just )?{TOLD}(?: you)?{END}",
    ),
    named=(
        rf"{DROP} (?:everything|anything|all|whatever)(?: that)? (?:i|we)(?:'ve| have)? (?:ever |just )*{TOLD}(?: to you)?"
        rf" (?:about|on|regarding) (?P<topic>{REST})",
        rf"(?:never ?mind|scratch|scrap) what i (?:just )?(?:said|told you|mentioned) about (?P<topic>{REST})",
        rf"forget (?:about )?(?:the|that) (?:whole )?(?:thing|part|bit|stuff|story|comment|business) (?:about|with) "
        rf"(?P<topic>{REST})",
        rf"(?:forget|disregard|ignore) (?:that )?(?:i|we) (?:just |ever )*(?:said|told you|mentioned)(?: to you)? (?:that "
        rf")?(?P<clause>(?:i|we|my|our)\b{REST})",
        rf"(?:{DROP}|disregard|ignore) (?:(?:that )?(?:i|we) (?:just |ever )*(?:said|told you|mentioned)|what(?:ever)? (?:i"
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
        rf"{DROP} (?P<topic>(?:my|our)\b{ANY}{{1,200}}?) from (?:your |the )?{MEMORY}{END}",
        rf"forget (?P<topic>(?:where|how|who|when|which|what) (?:(?:old|tall|much) )?(?:i|we|my|our)\b{REST})",
        rf"forget (?:about )?(?P<topic>(?:my|our)\b{REST})",
        rf"{DROP} (?:everything|anything|all) (?:that(?:'s| is) )?(?:related|connected|to do)(?: to| with) (?P<topic>{REST})",
        rf"(?:(?:do not|don't|never) (?:keep|store|save|remember|record|retain)|stop (?:keeping|storing|saving|recording)) "
        rf"(?:anything|everything|things?|stuff|information|info|data|details"
        rf"|what(?:ever)? i(?:'ve| have)? (?:just )?(?:said|told you|mentioned))(?: {KNOW})? "
        rf"(?:about|on|regarding) (?P<topic>{REST})",
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
    memory=rf"(?:from|out of|in) (?:your (?:(?:long[- ]term|chat) )?(?:{MEMORY}|files?|system|database)|(?:the|my) memory)",
    elsewhere=(
        r"(?:from|in|on|out of|at) (?:(?:the|my|our|this|that|these|those|an?|his|her|their|its) )?(?:[\w'-]+ ){0,2}"
        r"(?:doc(?:ument)?s?|slides?|decks?|presentation|calendar|e?-?mails?|letters?|drafts?|lists?|texts?|spreadsheets?|sheets?|tables?"
        r"|code|files?|folders?|repos?(?:itory)?|reports?|essays?|papers?|pages?|(?:web)?sites?|inbox|phone|computer|laptop|cv|resume|bio"
        r"|profile|speech|story|article|summary|agenda|plan|recipe|order|cart|playlist|album|chapter|paragraph|section|ticket|wiki|blog"
        r"|notes?|database|server|drive|cloud)"
    ),
    facts=(
        rf"(?:forget|delete|erase|remove|wipe|purge) (?P<topic>(?:my|our) (?:\w+'s )?{FACT}){END}",
        rf"(?:do not|don't|never) (?:store|save|keep|record|retain) (?P<topic>(?:my|our) (?:\w+'s )?{FACT}){END}",
    ),
    unasked=(
        rf"(?:do not|don't) remember (?P<topic>(?:my|our) (?:\w+'s )?{FACT}){END}(?!.* (?:exact\w*|any ?more|though|off)\b)",
    ),
)
