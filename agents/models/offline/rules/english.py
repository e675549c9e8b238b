"""English: how its sentences come apart, and the order in which its rules are tried."""

from agents.models.offline.rules.english_changes import CHANGES
from agents.models.offline.rules.english_facts import FACTS
from agents.models.offline.rules.english_feelings import FEELINGS
from agents.models.offline.rules.english_plans import PLANS
from agents.models.offline.rules.english_preferences import PREFERENCES
from agents.models.offline.rules.english_projects import PROJECTS
from agents.models.offline.rules.rule import Tongue, anywhere, starting
from agents.models.offline.rules.thirdperson import expanded, third_person

ASKING = (
    "what|when|where|who|whom|whose|why|which|how|can you|could you|can I|can we|could I|could we"
    "|would you|will you|do you|does|did"
    "|is there|are there|is it|is this|is that|are you|should I|should we|shall|may I|am I|do I"
    "|do we|have you|any"
)
LEADS = (
    r"I think(?: that)?|I guess(?: that)?|I believe(?: that)?|I suppose(?: that)?|probably|hopefully"
    r"|as far as I know|now|then|basically|"
    r"hi|hello|hey|well|oh|ah|ok|okay|so|and|but|also|plus|yes|yeah|yep|no|nope|sure|right|great"
    r"|thanks|thank you|cool|sorry|hmm|um"
    r"|actually|anyway|btw|by the way|fyi|for the record|for your information|for context"
    r"|just so you know|heads up|quick note|note"
    r"|update|correction|important|reminder|one more thing|to be clear|honestly|personally"
    r"|in general|as I said|as mentioned|as you know"
    r"|good morning|good evening|good afternoon|hi there|hello there|hey there|in fact|turns out"
    r"|first of all|first|second|finally"
    r"|I've changed my mind|I have changed my mind|change of plans?|on second thought|luckily"
    r"|unfortunately|sadly|good news|big news"
)
REMEMBER = (
    r"(?:please |pls |also )*(?:remember|note|keep in mind|be aware|don't forget|do not forget"
    r"|bear in mind|remind yourself)(?: that)?"
    r"|(?:I |we )?(?:just )?(?:want(?:ed)? to|should) (?:mention|add|note|say)(?: that)?"
    r"|you should know(?: that)?|I should mention(?: that)?"
    r"|(?:I |we )?(?:already )?(?:said|mentioned|told you)(?: before| earlier)?(?: that)?|for me"
    r"(?: personally)?|the thing is(?: that)?"
)
FRONTED = (
    r"(?P<front>(?:tomorrow|today|tonight|yesterday|nowadays|these days|currently|since then|(?:on"
    r"|in|next|this|last|from|starting|at|by|every|after|before|until|for|as of)"
    r" [^,]{1,40}?)),? (?=(?:I|we|my|our|the)\b)(?P<rest>.+)"
)

ENGLISH = Tongue(
    code="en",
    normalise=expanded,
    reword=third_person,
    lead_in=starting(
        rf"(?:[\w',\s]{{2,30}}:\s+(?=(?:I|we|my|our)\b)|(?:{LEADS})(?:\s*[,:;!.…–—-]+\s*|\s+(?=(?:I|we|my"
        r"|our|the|it|this|please|actually|remember|always|never|let us|from now)\b))|"
        rf"(?:{REMEMBER})[:,]?\s+)"
    ),
    fronted=starting(FRONTED),
    clause_break=anywhere(
        r",? so (?=(?:keep|please|do not|the|that|it|this|no|be|make)\b)|(?:,? (?:and|but|so|also|though"
        r"|plus)|[;–—]|,| -) (?=(?:also |now |then )?(?:I|we|my|our)\b(?! (?:think|guess|believe),?$)|"
        rf"(?:{ASKING}|let us|please|thanks|never|always)\b)"
    ),
    question=starting(rf"(?:(?:and|but|so) )?(?:{ASKING}|do not you|is my|are my|was|were)\b"),
    doubtful=anywhere(
        r"\b(?:I think|I guess|I believe|I suppose|I feel like|probably|not sure|kind of|sort of"
        r"|as far as I know|if I recall|hopefully)\b"
    ),
    unreal=anywhere(
        r"\b(?:maybe|perhaps|possibly|might|if (?:I|we|you|he|she|it|they|someone|the)\b|I wish|imagine"
        r"|suppose|pretend|hypothetical\w*|let us say|say I|as if"
        r"|what if|in theory|in (?:the|my|a) (?:story|novel|game|book|dream|movie|film)|would have"
        r"|could have|joking|just kidding|jk|sarcas\w+|unless|example)\b"
    ),
    casual=anywhere(
        r"(?:it|this|that|these|those|your|you|him|her|them|they|he|she|what you|how|the idea"
        r"|the sound of|hearing|to hear|to know|to ask|to see"
        r"|to get|everything|nothing|something|anything|all of|both|one|another|some|more|when you"
        r"|where this|so (?:far|much))\b"
    ),
    doubt="not certain",
    changes=CHANGES,
    rules=(*FACTS, *PREFERENCES, *PLANS, *PROJECTS),
    feelings=FEELINGS,
)
