"""English: splitting of sentences, rules for feelings, and the order of all rules."""

from agents.models.offline.rules.engine.rule import LanguageRules, Rule, anywhere, starting
from agents.models.offline.rules.tables.english_changes import CHANGES
from agents.models.offline.rules.tables.english_plans import PLANS
from agents.models.offline.rules.tables.english_preferences import PREFERENCES
from agents.models.offline.rules.tables.english_projects import PROJECTS
from agents.models.offline.rules.tables.english_statements import IDENTITY, STATEMENTS
from agents.models.offline.rules.tables.english_third_person import expanded, third_person

ASKING = (
    "what|when|where|who|whom|whose|why|which|how|can you|could you|can I|can we|could I|could we"
    "|would you|will you|do you|does|did"
    "|is there|are there|is it|is this|is that|are you|should I|should we|shall|may I|am I|do I"
    "|do we|have you|any"
)
LEADS = (
    r"I think(?: that)?|I guess(?: that)?|I believe(?: that)?|I suppose(?: that)?|probably|hopefully"
    r"|as far as I know|now that|now|then|basically|"
    r"hi|hello|hey|well|oh|ah|ok|okay|so|and|but|also|plus|yes|yeah|yep|no|nope|sure|right|great"
    r"|thanks|thank you|cool|sorry|hmm|um"
    r"|actually|anyway|btw|by the way|fyi|for the record|for your information|for context"
    r"|just so you know|heads up|quick note|note"
    r"|update|correction|important|reminder|one more thing|to be clear|honestly|personally"
    r"|in general|as I said|as mentioned|as you know"
    r"|good morning|good evening|good afternoon|hi there|hello there|hey there|in fact|turns out"
    r"|first of all|first|second|finally"
    r"|I've changed my mind|I have changed my mind|change of plans?|on second thought|luckily"
    r"|unfortunately|sadly|good news|big news|lol|haha\w*|o+h+|a+h+|a+w+|h+m+|true|nice|awesome|amazing|wow|same|damn|man|dude"
    r"|cool"
    r"|though|because|cause|currently|as for me|me too|for me|like|definitely|exactly|congrats|good|very nice|that is \w+"
)
REMEMBER = (
    r"(?:please |pls |also )*(?:remember|note|keep in mind|be aware|don't forget|do not forget"
    r"|bear in mind|remind yourself)(?: that)?"
    r"|(?:I |we )?(?:just )?(?:want(?:ed)? to|should) (?:mention|add|note|say)(?: that)?"
    r"|you should know(?: that)?|I should mention(?: that)?"
    r"|(?:I |we )?(?:already )?(?:said|mentioned|told you)(?: before| earlier)?(?: that)?|for me"
    r"(?: personally)?|the thing is(?: that)?"
)
# Words before a colon that announce another text, not a statement of the speaker.
ANOTHERS_TEXT = (
    r"[^:]{0,30}\b(?:repeat|write|sing|song|goes|begins?|starts?|reads?|text|poem|line|quote|lyrics|caption|tweet|post|letter"
    r"|story"
    r"|motto|sentence|phrase|example|title|prompt|following|words|joke|after me)\b"
)
FRONTED = (
    r"(?P<front>(?:tomorrow|today|tonight|yesterday|nowadays|these days|currently|since then|(?:on"
    r"|in|next|this|last|from|starting|at|by|every|after|before|until|for|as of)"
    r" [^,]{1,40}?)),? (?=(?:I|we|my|our|the)\b)(?P<rest>.+)"
)
# Objects that need the conversation to be understood, or that are about the person addressed.
POINTING = (
    r"(?:it|this(?! (?:morning|evening|week|month|year|summer|winter|spring|fall|autumn|weekend))|these|those|them|him"
    r"|her(?! \w)"
    r"|they|he|she|both|some more|(?:all )?(?:of )?(?:his|its|their)|the same|the other|the one|there)"
)
CASUAL = (
    r" ?[\[(<]|[^,;]*\b(?:you|your|yours|yourself|ur|u)\b|[^,;]*?\b(?:it(?! (?:is|was|has|\w+s)\b)|them|those|these"
    r"|there(?! (?:is|are|was|were)\b)"
    r"|this(?! (?:morning|evening|week|month|year|summer|winter|spring|fall|autumn|weekend)\b)"
    r"|that (?:game|movie|book|show|field|place|part|one|kind|stuff|thing|song|guy|class|time|day))\b"
    rf"| ?(?:(?:just|up|on|with|at|to|in|for|about|of|like|doing|out|into|from|off|all|over|back|by|getting"
    rf"|being) ){{0,2}}{POINTING}\b"
    r"| ?(?:that(?! (?:I|my)\b)|what|how|everything|nothing|something|anything|another|one|more|when|where|so (?:far|much)"
    r"|hearing"
    r"|to (?:hear|know|ask|see|get|be (?:here|honest))|too|the (?:idea|sound|way|story|plot|characters?|message|concept|dialogue"
    r"|animation|ending|look|vibes?|atmosphere|lyrics|beat|art|graphics|writing|name|picture|photo|feeling|part|fact))\b"
)

FELT = (
    "happy|sad|anxious|afraid|scared|terrified|worried|angry|furious|lonely|proud|ashamed|guilty|relieved|excited|nervous"
    "|stressed"
    "|upset|overwhelmed|exhausted|heartbroken|devastated|grateful|thankful|jealous|hopeful|hopeless|depressed|homesick|in love"
)
DEGREE = r"(?:(?:so|very|really|quite|pretty|terribly|incredibly|still|just|always|often|a bit|a little) )*"
# A mood without a reason is over tomorrow.
REASON = r"(?:about|because|since|that|of|for|with|by|when|whenever|after|over|without|at|in|to)\b.+"
# Used only if the policy wants feelings.
FEELINGS = (
    Rule(
        pattern=starting(
            rf"I (?:am|was|have been|feel|felt|am feeling|have been feeling|got|get) {DEGREE}(?:{FELT}) {REASON}"
        ),
        kind="emotion",
        importance=0.6,
        tags=("feeling",),
    ),
    Rule(
        pattern=starting(r"I (?:really |still |often )*(?:miss|dread|am grieving|am mourning) (?P<object>.+)"),
        kind="emotion",
        importance=0.6,
        tags=("feeling",),
    ),
)

ENGLISH = LanguageRules(
    code="en",
    normalise=expanded,
    reword=third_person,
    subject="User",
    pronoun="User",
    lead_in=starting(
        rf"(?:(?!{ANOTHERS_TEXT})[\w',\s]{{2,30}}:\s+(?=(?:I|we|my|our)\b)|(?:{LEADS})(?:\s*[,:;!.…–—-]+\s*|\s+(?=(?:I|we|my"
        r"|our|the|it|this|please|actually|remember|always|never|let us|from now)\b))|"
        rf"(?:{REMEMBER})[:,]?\s+)"
    ),
    fronted=starting(FRONTED),
    # Before a time, "but" always begins a clause of its own; "and" may add to the one before ("I met Ana in Rome and in 2010 I
    # married her"), and breaks only before a time from which on something changes. So in the other languages.
    clause_break=anywhere(
        r",? so (?=(?:keep|please|do not|the|that|it|this|no|be|make)\b)|(?:,? (?:and|but|so|also|though"
        r"|plus)|[;–—]|,| -) (?=(?:also |now |then )?(?:I|we|my|our)\b(?! (?:think|guess|believe),?$)|"
        rf"(?:{ASKING}|let us|please|thanks|never|always)\b)"
        r"|,? (?:but|and(?= (?:from|next|as of|starting)\b)) "
        r"(?=(?:in|from|next|this|on|as of|starting|since)\b[\w ]{0,20}?,? (?:I|we)\b)"
    ),
    question=starting(rf"(?:(?:and|but|so) )?(?:{ASKING}|do not you|is my|are my|was|were)\b"),
    doubtful=anywhere(
        r"\b(?:I think|I guess|I believe|I suppose|I feel like|probably|not sure|kind of|sort of"
        r"|as far as I know|if I recall|hopefully)\b"
    ),
    unreal=anywhere(
        r"\b(?:maybe|perhaps|possibly|might|(?<!even )if (?:I|we|you|he|she|it|they|someone|the)\b|I wish|imagine"
        r"|suppose|pretend|hypothetical\w*|let us say|say I|as if"
        r"|what if|in theory|would have"
        r"|could have|joking|just kidding|jk|sarcas\w+|unless|example)\b"
    ),
    casual=anywhere(CASUAL),
    doubt="not certain",
    changes=CHANGES,
    rules=(*IDENTITY, *PREFERENCES, *PLANS, *PROJECTS, *STATEMENTS),
    feelings=FEELINGS,
)
