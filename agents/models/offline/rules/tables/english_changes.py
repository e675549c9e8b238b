"""English sentences about a change from one state to another, or the end of a state: the memory is the transition."""

from agents.models.offline.rules.engine.rule import Rule, starting

END = (
    r"(?=$|[,;.!(]| (?:for|because|since|as|at|in|on|last|this|next|and|but|so|when|after|due|now"
    r"|these|from|to)\b)"
)
HAVE = r"(?:have )?(?:just |recently |finally |now |also )*"

CHANGES = (
    Rule(
        pattern=starting(
            rf"(?:I|we) {HAVE}(?:am |are )?(?:moved|moving|relocated|relocating) (?:\w+ ){{0,3}}?from "
            rf"(?P<old>.+?) to (?P<new>.+?){END}"
        ),
        kind="fact",
        importance=0.75,
        confidence=0.9,
        tags=("home",),
    ),
    Rule(
        pattern=starting(
            rf"(?:I|we) {HAVE}(?:am |are )?(?:switch(?:ed|ing)|chang(?:ed|ing)|migrat(?:ed|ing)|went|going"
            rf"|convert(?:ed|ing)) (?:(?:\w+ ){{0,3}}?)"
            rf"(?:over )?from (?P<old>.+?) to (?P<new>.+?){END}"
        ),
        kind="preference",
        importance=0.7,
        confidence=0.9,
        tags=("change",),
    ),
    Rule(
        pattern=starting(
            r"(?:I|we) (?:no longer|do not|stopped|quit|gave up|have stopped|have quit|am done|used to)"
            r"(?: \w+){0,3}? (?P<old>[^,;]+?)"
            r"(?: any ?more| any longer)?(?:[,;]| and| but| so)+ (?:now )?(?:I|we) (?:now |have )?(?:am "
            r"|are )?(?:\w+ ){1,3}?(?P<new>[^,;]+?) (?:now|instead|these days)\b"
        ),
        kind="preference",
        importance=0.7,
        confidence=0.9,
        tags=("change",),
    ),
    Rule(
        pattern=starting(
            r"(?:I|we) (?:no longer|do not|am not|are not) (?!know\b|think\b)(?:\w+ )(?P<old>.+?)(?: any ?more| any longer)$|"
            r"(?:I|we) no longer \w+ (?:at |in |for |with )?(?P<old2>.+)$"
        ),
        kind="preference",
        importance=0.65,
        tags=("change",),
    ),
    # A standing wish that is withdrawn.
    Rule(
        pattern=starting(
            r"(?:please |pls )?no more (?!(?:questions?|thanks|time|problems?|ideas?|than|or|excuses)\b)"
            r"(?P<old>[\w-]+)(?: please)?(?=$|,)"
        ),
        kind="preference",
        importance=0.65,
        confidence=0.8,
        tags=("change",),
        text="User wants no more {old}.",
    ),
    Rule(
        pattern=starting(
            rf"(?:I|we) {HAVE}(?:stopped|quit|gave up|given up) (?:(?:using|drinking|eating|playing|taking"
            rf"|working (?:at|for)|going to|doing) )?(?P<old>.+?){END}"
        ),
        kind="fact",
        importance=0.65,
        tags=("change",),
    ),
    Rule(
        pattern=starting(
            r"(?:the |our |my )?(?:user's |users' )?(?P<subject>[\w\s'-]{2,60}?) (?:has |have |was |were "
            r"|got |has been )?(?:just )?(?:moved|changed|shifted|postponed|pushed(?: back)?|brought forward"
            r"|rescheduled|renamed|increased|decreased|raised|lowered|went up|went down|delayed) from "
            r"(?P<old>.+?) to (?P<new>.+?)"
            r"(?=$|[,;.!(]| (?:after|because|since|due|as)\b)"
        ),
        kind="fact",
        importance=0.75,
        confidence=0.8,
        tags=("project", "change"),
    ),
    Rule(
        pattern=starting(
            r"(?:the|our|my) (?P<subject>[\w\s'-]{2,50}?) (?:should be|is|must be|needs to be|was meant to be|has to be|runs on"
            r"|listens on|uses"
            r"|lives (?:in|on|at)) (?P<new>[^,]+?)(?:, not|,? instead of|,? rather than) (?P<old>\S+(?: \S+){0,4})$"
        ),
        kind="fact",
        importance=0.75,
        confidence=0.85,
        tags=("correction",),
    ),
)
