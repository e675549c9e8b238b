"""English decisions, plans and insights."""

from agents.models.offline.rules.engine.rule import Rule, starting

# Next steps of the conversation itself.
CHAT = (
    r"(?:sleep|bed|start|check|try|see|look|do|let|get back|send|ask|think|test|give|read|restart|take a look|be (?:back|right"
    r"|honest|there|fine"
    r"|ok|able)|wait|need|say|tell|go ahead|go now|go to (?:bed|sleep)|have to|paste|share|run|report|open|click|follow|talk"
    r"|chat|text|keep|hang|head|admit|end up|use (?:it|that|this))"
)
VAGUE = (
    r"(?!it\b|this\b|that\b|these\b|those\b|them\b|your\b|the (?:first|second|third|last|other|one|latter|former)\b)"
)
SOON = r"(?:(?:also|now|really|finally|probably|just|still|then|already|all|both|actually|currently|definitely|only|first) )*+"

PLANS = (
    Rule(
        pattern=starting(
            rf"(?:I|we) (?:have )?{SOON}(?:decided|agreed|chose|chosen|settled|picked|opted|resolved|committed) "
            rf"(?!up\b){VAGUE}.+"
        ),
        kind="decision",
        importance=0.75,
        confidence=0.9,
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
            r"(?:I|we) (?:will|(?:am|are) going to|are going|am going) (?:go with|use|stick with|stick to|adopt|switch to"
            rf"|migrate to|drop|ditch|standardi[sz]e on|with) {VAGUE}(?P<object>.+)"
        ),
        kind="decision",
        importance=0.75,
        tags=("decision",),
    ),
    Rule(
        pattern=starting(
            rf"(?:I|we) {SOON}(?:(?:am|are) {SOON}(?:planning (?:to|on|a)|going to (?=(?:be|become|move|buy|start|study|marry"
            rf"|get|quit|visit|travel|graduate|apply|learn|school|college|open|write)\b)|hoping to (?!{CHAT}\b)"
            rf"|aiming to|thinking (?:of|about) \w+ing)|(?:plan|intend|aim) (?:to|on) (?!{CHAT}\b))(?P<object>.+)"
        ),
        kind="plan",
        importance=0.6,
        confidence=0.8,
        tags=("plan",),
    ),
    # Any statement with a future date, unless it is about the conversation.
    Rule(
        pattern=starting(
            rf"(?:I|we) {SOON}(?:(?:am|are|will|shall|have to|need to|must) {SOON})?(?:be )?"
            rf"(?!{CHAT}\b)(?!(?:\w+ed|had|went|was|got|did|made|saw|took|came|left|met|bought|think|hope|wish|guess|wonder"
            rf"|mean|know|might|would|could|should|can|cannot|sure|not|have (?:a"
            rf"|an|some"
            r"|one) (?:\w+ )?(?:questions?|ideas?|problems?|troubles?)|looking|excited)\b)(?P<object>\w.+)"
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
        pattern=starting(
            rf"(?:I|we) (?:have )?{SOON}(?:recently )?(?:learned|learnt|realised|realized|found out|figured out|discovered"
            rf"|noticed"
            r"|concluded) (?:that|how|the hard way)\b ?(?P<object>.+)"
        ),
        kind="insight",
        importance=0.6,
        tags=("insight",),
    ),
    Rule(
        pattern=starting(
            r"(?:the |our )?(?:root cause|(?:actual|real|underlying) problem|lesson|takeaway|culprit|key insight|fix|cause)"
            r" (?:of [^,]{2,60}? )?(?:is|was|turned out to be) .+"
        ),
        kind="insight",
        importance=0.65,
        tags=("insight",),
    ),
    Rule(
        pattern=starting(r"(?:it )?turns out (?:that )?(?P<finding>(?:I|we|my|our|the)\b.+)"),
        kind="insight",
        importance=0.6,
        confidence=0.75,
        tags=("insight",),
        text="It turned out that {finding}.",
    ),
)
