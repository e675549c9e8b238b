"""English decisions, plans and insights."""

from agents.models.offline.rules.rule import Rule, starting

CHAT = (
    r"(?:check|try|see|look|do|let|get back|send|ask|think|test|give|read|restart|take a look"
    r"|be back|wait|need|say|tell|go ahead|go now|have to|paste|share|run|report|be (?:right|honest"
    r"|there|fine|ok)|do that|open|click|follow|use (?:it|that|this))"
)
VAGUE = (
    r"(?!it\b|this\b|that\b|these\b|those\b|them\b|your\b|the (?:first|second|third|last|other|one"
    r"|latter|former)\b)"
)
GOING = (
    r"(?:flying|traveling|travelling|moving|launching|starting|meeting|visiting|releasing"
    r"|getting married|taking|having|leaving|going|hosting|presenting|running|shipping|deploying"
    r"|migrating|driving|attending|interviewing|giving|joining|expecting|seeing|returning"
    r"|coming back|celebrating)"
)
EVENTFUL = (
    r"(?:launch|fly|release|ship|go live|start|leave|move|meet|present|travel|deploy|migrate|return"
    r"|begin|open|have|get|run|visit|freeze|demo|drive|see|finish|take)"
)

PLANS = (
    Rule(
        pattern=starting(
            r"(?:I|we) (?:have )?(?:finally |just |all |now |also |already )*(?:decided|agreed|chose|chosen"
            r"|settled|picked|opted|resolved|committed) (?:(?:to|on|for|that|not|against|the|with|it)\b"
            r"|\w).+"
        ),
        kind="decision",
        importance=0.75,
        confidence=0.9,
        tags=("decision",),
    ),
    Rule(
        pattern=starting(r"(?:the |our |my )(?:final )?(?:decision|choice|verdict) (?:is|was)(?: to| that)? .+"),
        kind="decision",
        importance=0.75,
        tags=("decision",),
    ),
    Rule(
        pattern=starting(
            r"(?:ok |okay )?let us (?P<choice>(?:go with|use|stick with|stick to|adopt|switch to|migrate to"
            rf"|move to|standardi[sz]e on|settle on) {VAGUE}.+)"
        ),
        kind="decision",
        importance=0.7,
        tags=("decision",),
        text="User decided to {choice}.",
    ),
    Rule(
        pattern=starting(
            r"(?:I|we) (?:will|are going to|am going to|are going|am going) (?:go with|use|stick with"
            rf"|stick to|adopt|switch to|migrate to|drop|ditch|standardi[sz]e on|with) {VAGUE}.+"
        ),
        kind="decision",
        importance=0.75,
        tags=("decision",),
    ),
    Rule(
        pattern=starting(rf"(?:I|we) (?:have )?(?:booked|scheduled|signed up for|registered for|reserved) {VAGUE}.+"),
        kind="plan",
        importance=0.65,
        tags=("plan",),
    ),
    Rule(
        pattern=starting(
            r"(?:I|we) (?:am|are) (?:also |now |really |finally |probably )*(?:planning (?:to|on|a)"
            rf"|going to (?!{CHAT}\b)\w+|hoping to (?!{CHAT}\b)|aiming to) {VAGUE}?.*|(?:I|we) (?:also )?"
            rf"(?:plan|intend|aim) to (?!{CHAT}\b).+"
        ),
        kind="plan",
        importance=0.6,
        confidence=0.8,
        tags=("plan",),
    ),
    Rule(
        pattern=starting(rf"(?:I|we) (?:am|are) (?:also |now |finally |both )*{GOING}\b.*"),
        kind="plan",
        importance=0.65,
        confidence=0.85,
        tags=("plan",),
        dated=True,
    ),
    Rule(
        pattern=starting(rf"(?:I|we) (?:will|shall) (?:also |then |finally )*(?!{CHAT}\b)(?:be )?\w+.*"),
        kind="plan",
        importance=0.65,
        confidence=0.8,
        tags=("plan",),
        dated=True,
    ),
    Rule(
        pattern=starting(
            rf"(?:I|we) (?:also )?{EVENTFUL}\b(?! (?:a|some|one) (?:\w+ )?(?:questions?|ideas?|problems?|troubles?)\b).*"
        ),
        kind="plan",
        importance=0.65,
        confidence=0.8,
        tags=("plan",),
        dated=True,
    ),
    Rule(
        pattern=starting(
            r"(?:my|our|the) (?!weather\b|sun\b)(?:[\w'-]+ ){1,5}?(?:is|are|will be|starts?|begins?|ends?|takes place|happens"
            r"|goes live|ships|launches|opens|has been moved to|was moved to|moved to|got moved to|is due"
            r"|expires?|arrives?|leaves|departs) .*"
        ),
        kind="plan",
        importance=0.65,
        confidence=0.8,
        tags=("plan",),
        dated=True,
    ),
    Rule(
        pattern=starting(r"(?:the|our|my) (?:plan|goal|aim|idea|target) (?:is|for \w+ is|this year is) (?:to|that) .+"),
        kind="plan",
        importance=0.6,
        tags=("plan",),
    ),
    Rule(
        pattern=starting(
            r"(?:I|we) (?:have )?(?:just |finally |recently )*(?:learned|learnt|realised|realized|found out"
            r"|figured out|discovered|noticed|concluded) (?:(?:that|how|the hard way)\b ?).+"
        ),
        kind="insight",
        importance=0.6,
        tags=("insight",),
    ),
    Rule(
        pattern=starting(
            r"(?:the |our )?(?:root cause|actual problem|real problem|underlying problem|trick|lesson"
            r"|takeaway|culprit|key insight|fix|cause) (?:of [^,]{2,60}? )?(?:is|was|turned out to be) .+"
        ),
        kind="insight",
        importance=0.65,
        tags=("insight",),
    ),
    Rule(
        pattern=starting(r"(?:it )?turns out (?:that )?(?P<finding>.+)"),
        kind="insight",
        importance=0.6,
        confidence=0.75,
        tags=("insight",),
        text="It turned out that {finding}.",
    ),
    Rule(
        pattern=starting(
            r"I (?:have )?f(?:ound|ind) (?:that )?.+ (?:works? (?:better|best)|helps?|is faster|makes?)\b.*"
        ),
        kind="insight",
        importance=0.6,
        tags=("insight",),
    ),
)
