"""English facts about a project or a team, stated by a member or in notes about "the user"."""

from agents.models.offline.rules.engine.rule import Rule, starting

THING = (
    r"(?:api|app|application|service|services|server|servers|database|db|deploys?|deployments?"
    r"|releases?|build|builds|pipeline|project|repo|repository|backend|back end|frontend|front end"
    r"|site|website"
    r"|staging|production|prod|cluster|sprint|sprints|deadline|budget|team|client|customer|customers"
    r"|code|codebase|domain|domains|webhook|webhooks|queue|cache|infrastructure|stack|tests"
    r"|test suite|ci|branch|monorepo"
    r"|port|endpoint|version|office|standups?|stand-ups?|meetings?|retro|company|shop|store"
    r"|warehouse|kitchen|contract|subscription|plan|invoices?|account|report|newsletter|launch|logs"
    r"|backups?|window|library|schema|migration)"
)
DOES = (
    r"(?:runs?|is running|uses?|is hosted|are hosted|is written|is built|are built|deploys?|freezes?"
    r"|is frozen|is due|are due|listens?|lives?|live|is called|is named|starts?|ends?|launches"
    r"|goes live|go live|moved"
    r"|needs?|requires?|must|has to|have to|ships?|expires?|is stored|are stored|is kept|is based"
    r"|is deployed|are deployed|happens?|is managed|consists|supports?|talks? to|depends?|closes?"
    r"|opens?|is capped|is limited"
    r"|renews?|costs?|has \w+ (?:people|engineers|developers|members|employees|nodes|replicas"
    r"|services)|is on|is at|are on|should be|takes|rotates?|follows?|was moved|was pushed"
    r"|is blocked)"
)

PROJECTS = (
    Rule(
        pattern=starting(
            rf"(?:the|our|my|this) (?:[\w-]+ ){{0,3}}?{THING} (?:(?:now|always|still|only|currently|also"
            rf"|no longer|never|all|at \w+|in \w+|for \w+) )*{DOES}\b.+"
        ),
        kind="fact",
        importance=0.65,
        confidence=0.8,
        tags=("project",),
    ),
    # Notes in the third person: others may state wishes and facts of a team, but not the user's person, family and home: such
    # a profile is most often a model's own invention.
    Rule(
        pattern=starting(
            r"(?:the )?(?P<who>user|customer|client)(?: has| have| had)?(?: always| usually| now| strongly"
            r"| also)* (?P<wish>(?:prefers|wants|needs|does not want|decided|asked for|requires)\b.+)"
        ),
        kind="preference",
        importance=0.55,
        confidence=0.6,
        tags=("preference",),
        text="User {wish}.",
    ),
    Rule(
        pattern=starting(
            rf"(?:the )?user'?s'? (?P<what>(?:[\w-]+ ){{0,2}}?{THING} (?:(?:now|always|still|only|currently"
            rf"|no longer|never) )*{DOES}\b.+)"
        ),
        kind="fact",
        importance=0.6,
        confidence=0.6,
        tags=("project",),
        text="User's {what}.",
    ),
)
