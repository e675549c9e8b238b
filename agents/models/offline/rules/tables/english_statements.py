"""English statements about the speaker: properties, possessions, abilities, habits, events and people.

One general rule covers all topics: a verb, and an object that others understand. The topic (`TOPICS`) gives the importance.
"""

from agents.models.offline.rules.engine.rule import Rule, Topic, anywhere, starting

ADV = (
    r"(?:(?:really|absolutely|definitely|usually|generally|mostly|mainly|still|also|currently|now|just|both|recently|never"
    r"|always|often|sometimes|actually|finally|already|only|typically|even|personally|once|simply|rarely|normally|kinda|sorta"
    r"|honestly|first|almost|constantly|seldom|occasionally) )*+"
)
KIN = (
    r"(?:wife|husband|partner|spouse|girlfriend|boyfriend|gf|bf|fianc[ée]e?|mother|mom|mum|father|dad|parents?|sisters?"
    r"|brothers?|siblings?|twins?|sons?|daughters?|kids?|child|children|baby|grand(?:mother|father|ma|pa|son|daughter|parents"
    r"|kids|children)|aunt|uncle|cousins?|niece|nephew|(?:mother|father|sister|brother)-in-law|roommates?|flatmates?"
    r"|step(?:son|daughter|mom|dad)|best friend|family)"
)
PET = (
    r"(?:dogs?|cats?|pupp(?:y|ies)|kittens?|horses?|parrots?|rabbits?|hamsters?|guinea pigs?|goldfish|fish|tortoises?|turtles?"
    r"|chickens?|pon(?:y|ies)|birds?|snakes?|pets?)"
)
HEALTH = (
    r"(?:allerg\w+|intoleran\w+|celiac|coeliac|diabet\w+|asthma\w*|adhd|hay fever|migraines?|arthritis|epilep\w+|dyslexi\w+"
    r"|high blood pressure|insomnia|eczema|colou?r[- ]?blind|deaf|blind|pregnant|hard of hearing|wheelchair|cancer"
    r"|(?:have|suffer from|diagnosed with) (?:an? )?[\w-]+ condition)"
)
# Verbs that state nothing about the speaker: about the conversation, wishes of the moment, and modal verbs.
SAYS_NOTHING = (
    r"(?:think|thought|guess|guessed|believe|suppose|hope|hoped|hoping|wish|wished|dream|dreamed|dreamt|wonder|wondered|mean"
    r"|meant|see|saw|know|knew"
    r"|understand|understood|agree|agreed|disagree|bet|doubt|assume|imagine|appreciate|thank|apologi[sz]e|say|said|tell|told"
    r"|ask|asked|need|needed|want|wanted|try|tried|hear|heard|remember|forgot|forget|can|cannot|could|would|should|may|might"
    r"|must|shall|will|do|did|does|am|was|were|are|feel|felt|look|looked|get|gotta|gonna|let|notice|noticed|figured?|recommend"
    r"|suggest|promise|swear|care|sound|seem|miss|missed|have|had|has|be|been|come|came|keep|kept|go|please|not|to|and|or|if"
    r"|ended up|used|decided|took|take|give|gave|put|call|called|saying|use|rather|liked|loved|add|click|run|ran|copy|paste"
    r"|install|type|received?|noted)"
)
NO_THING = (
    r"(?:(?:an?|any|some|another|one|two|few|the|no|much|more|so|many|enough|a lot of|little|couple|of|quick|good|great|bad"
    r"|other|further|follow-up) )*"
)
TALK = (
    r"(?:questions?|ideas?|problems?|issues?|doubts?|clue|points?|feelings?|suggestions?|requests?|tasks?|time|fun|access"
    r"|luck|errors?|trouble|look|say|chance|choice|thoughts?|blast|day|night|evening|morning|weekend|week|file|code|list|data"
    r"|yet|been (?:waiting|busy|thinking|looking|trying|feeling|wondering|great|good|well|there|so|using|getting|having|doing"
    r"|really|told"
    r"|to it|meaning)|text|sentence|paragraph|dataset|table|function|script|string|array|query|document|app idea|ever|never"
    r"|got|to|it|not"
    r"|no|always|read|heard|seen|tried|done|noticed)"
)
# Lasting properties; others are moods or places of the moment.
TRAIT = (
    r"(?:an?|the (?!same|one|only one|first|last)|one of|from|based|into|in (?:an?|my (?:\w+ )?(?:year|twenties|thirties"
    r"|forties|fifties|\ds)|the"
    r" (?:army|navy|military|air force|\w+ grade|\w+ (?:team|choir|band|business|industry))|(?:\w+ )?(?:school|college"
    r"|university|grade)|love"
    r" with)|at (?:an? |the )?(?:\w+ )?(?:school|college|university)|on (?:the|an?) (?:\w+ )?(?:team|diet|medication|board)|\d+"
    r"|(?:\w+teen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)|single|married|divorced|engaged|widowed|separated"
    r"|retired|expecting|pregnant|(?:un|self-)?employed|freelance|vegan|vegetarian|pescatarian|gluten|lactose|diabetic|epileptic"
    r"|asthmatic|dyslexic|allergic|intolerant|sensitive to|celiac|colou?r[- ]?blind|blind|deaf|hard of hearing|left-handed"
    r"|disabled"
    r"|gay|straight|bisexual|trans|tall|short|bald|blonde?|overweight|religious|christian|catholic|muslim|jewish|hindu|buddhist"
    r"|atheist|athletic|shy|introverted|extroverted|creative|picky|lazy|outgoing|clumsy|originally|native|fluent|born|half"
    r"|obsessed|addicted|afraid of|scared of|terrified of|good (?:at|with)|bad (?:at|with)|fond|keen|interested|passionate"
    r"|named|called|with (?-i:[A-Z])[\w-]+.* now|now with (?-i:[A-Z])"
    r"|(?-i:[A-Z])\w+ (?:by|from|and|born|on)|[a-z]*(?:ish|ese|ian|ean|ican)|french|german|greek|dutch|swiss|thai)"
)
LASTING = (
    r"(?:learning|studying|training|majoring|dating|raising|saving|working|living|teaching|building|writing|renovating|running"
    r"|restoring|volunteering|attending|taking (?:an?|\w+ classes|lessons)|practi[sc]ing|seeing a|recovering|caring|owning"
    r"|planning|getting (?:married|divorced|a (?:dog|cat|puppy|degree|phd))|considering|moving|trying to (?:quit|lose|learn"
    r"|become|stop|cut|get pregnant))"
)
# Past events: any regular verb, and these.
HAPPENED = (
    rf"(?:(?!{SAYS_NOTHING}\b)\w{{2,}}ed|went|flew|bought|sold|got (?!home|back|off|up|here|it|to|out|done|some time|a chance)"
    rf"|met|won"
    r"|lost|broke|quit|grew|was born|became|made (?!sure)|built|wrote|learnt|taught|ran (?:a|my|the)|drove|rode|left|began|hurt"
    r"|caught|ate|drank|read|spent|fell|chose|swam|sang|stole|saw|had (?!to|been|it|that|no|fun|so)"
    r"|took (?:an?|my|up|the)|have been (?:to|in|an?|married|with|working|living|playing|studying|learning|training|teaching"
    r"|diagnosed)|have (?:\w{2,}ed|had an?|written|won|lost|always|never (?!heard|seen|tried|had|thought|really|done"
    r"|been (?:more|so"
    r"|there))\w+)|was (?:an?|the|diagnosed|raised|married|adopted|promoted|fired|laid off|hired|accepted|in (?:the|an?)|on the"
    r"|at (?:the|an?)))"
)

LIKES = (
    r"I (?:\w+ ){0,4}?(?:like|love|enjoy|adore|favou?r|hate|dislike|detest|despise|loathe)\b"
    r"|I (?:\w+ ){0,3}?(?:cannot stand|fan of|into|keen on|fond of|obsessed with)\b|I (?:\w+ )?find\b"
    r"|my (?:[\w-]+ ){0,2}?(?:favou?rites?|preferred|go-to|default|usual)\b"
)
TOPICS = (
    Topic(tags=("preference",), importance=0.6, kind="preference", about=starting(LIKES)),
    Topic(tags=("health", "allergy"), importance=0.9, about=anywhere(r"\b(?:allerg|intoleran)")),
    Topic(tags=("health",), importance=0.85, about=anywhere(rf"\b{HEALTH}\b")),
    Topic(
        tags=("diet",),
        importance=0.8,
        about=anywhere(
            r"\b(?:vegan|vegetarian|pescatarian|gluten|lactose|halal|kosher|(?:cannot|do not|never|must not) (?:eat|drink))\b"
        ),
    ),
    Topic(
        tags=("home",),
        importance=0.7,
        about=starting(
            r"I (?:\w+ ){0,3}?(?:live|lived|living|reside|based|am from|was born|grew up|come from|moved|moving|relocated)\b"
            r"|my (?:\w+ )?(?:address|home ?town|time ?zone|native language|mother tongue|first language|pronouns)\b"
        ),
    ),
    Topic(
        tags=("work",),
        importance=0.7,
        about=anywhere(
            r"\b(?:work|works|worked|working|job|jobs|career|employ\w+|boss|manager|company|office|promoted|hired|laid off|fired"
            r"|retired|profession|occupation|degree|university|college|graduat\w+|major|student|teach|teacher|nurse|doctor"
            r"|engineer"
            r"|developer|designer|lawyer|chef|founder|freelanc\w+|business|self-employed|unemployed)\b"
        ),
    ),
    Topic(
        tags=("family",),
        importance=0.65,
        about=anywhere(
            rf"\b(?:{KIN}|married|engaged|divorced|widowed|wedding|single (?:parent|mother|father|mom|dad))\b"
        ),
    ),
    Topic(tags=("pets",), importance=0.6, about=anywhere(rf"\b{PET}\b")),
    Topic(tags=("birthday",), importance=0.6, about=anywhere(r"\bbirthday\b")),
    Topic(tags=("languages",), importance=0.6, about=anywhere(r"\b(?:speak|fluent|native speaker)\b")),
)

IDENTITY = (
    Rule(
        pattern=starting(
            r"my (?:full |first |last )?name is (?P<name>(?-i:[A-ZÀ-Þ])[\w'-]*(?: (?-i:[A-ZÀ-Þ])[\w'-]*){0,3})"
        ),
        kind="fact",
        importance=0.8,
        confidence=0.95,
        tags=("name",),
        text="User's name is {name}.",
    ),
    Rule(
        pattern=starting(
            r"(?:(?:please )?(?:call me|(?:address|refer to) me as)|I go by|everyone calls me|you can call me|I am called) "
            r"(?P<name>(?:(?:Dr|Prof|Mr|Mrs|Ms)\.? )?(?-i:[A-ZÀ-Þ])[\w'-]+)(?= |$|[,.;])"
        ),
        kind="preference",
        importance=0.75,
        confidence=0.9,
        tags=("name",),
        text="User wants to be called {name}.",
    ),
    Rule(
        pattern=starting(r"my pronouns are (?P<x>[\w/ ]{2,30}?)(?=$|[,.;])"),
        kind="preference",
        importance=0.75,
        confidence=0.9,
        tags=("name",),
        text="User's pronouns are {x}.",
    ),
    Rule(
        pattern=starting(r"my (?:\w+ )?birthday is .+|I was born (?:on|in) .+"),
        kind="fact",
        importance=0.6,
        confidence=0.9,
        tags=("birthday",),
        timeless=True,
    ),
)
STATEMENTS = (
    # Properties without "I am": "Vegan here", "Type 1 diabetic".
    Rule(
        pattern=starting(
            r"(?P<object>(?:(?:strict|lifelong|type [12]|red-green|severely|mostly) )*(?:diabetic|vegan|vegetarian|pescatarian"
            r"|co?eliac|(?:lactose|gluten)[- ]intolerant|colou?r[- ]?blind|deaf|blind|allergic to [\w ]{3,30}))"
            r"(?: here)?(?=$|,| since\b| for \w+ years)"
        ),
        kind="fact",
        importance=0.8,
        topics=TOPICS,
        text="User is {object}.",
    ),
    Rule(
        pattern=starting(
            rf"I am {ADV}(?P<object>(?:[\w-]+ ){{0,2}}?(?:colou?r[- ]?blind|diabetic|intolerant to .+))(?=$|,)"
        ),
        kind="fact",
        importance=0.85,
        topics=TOPICS,
        text="User is {object}.",
    ),
    Rule(
        pattern=starting(rf"(?:I|we) {ADV}(?:have )?(?:{ADV})?(?:moved|relocated) (?:back )?to (?P<new>.+)"),
        kind="fact",
        importance=0.75,
        confidence=0.9,
        tags=("home",),
    ),
    # Properties.
    Rule(
        pattern=starting(
            rf"I am {ADV}(?:not )?(?:(?:very|severely|deathly|slightly|highly|super|fully|only|mostly"
            rf"|the proud) )*(?=(?:{LASTING}|{TRAIT})\b)"
            r"(?P<object>.+)"
        ),
        kind="fact",
        importance=0.5,
        topics=TOPICS,
    ),
    # Possessions.
    Rule(
        pattern=starting(rf"(?:I|we) {ADV}(?:do not |never )?have (?!{NO_THING}{TALK}\b)(?P<object>.+)"),
        kind="fact",
        importance=0.5,
        topics=TOPICS,
    ),
    # Abilities.
    Rule(
        pattern=starting(
            r"I (?:can|cannot|could never) (?P<object>(?:(?:really|also|actually) )?(?:stand|play|speak|sing|dance|cook|bake"
            r"|swim"
            r"|ski|code"
            r"|drive|eat|drink|have|tolerate|ride|draw|paint|sew|knit|juggle|surf|read|write)\b.+)"
        ),
        kind="fact",
        importance=0.5,
        topics=TOPICS,
    ),
    # Events and past places.
    Rule(
        pattern=starting(
            rf"(?:I|we) {ADV}{HAPPENED} ?\b(?!(?:an?|some|any|the|no|one) (?:\w+ )?{TALK}\b)(?P<object>\S+ \S.+)"
        ),
        kind="fact",
        importance=0.4,
        tags=("event",),
        topics=TOPICS,
    ),
    Rule(pattern=starting(r"I used to (?P<object>.+)"), kind="fact", importance=0.5, tags=("past",), topics=TOPICS),
    Rule(
        pattern=starting(
            r"I (?:\w+ )?want to (?P<object>(?:be|become|travel|visit|own|learn|move|open|start|have (?:an?|kids)|get married"
            r"|retire|go to|live|work|study|write a|buy a)\b.+)"
        ),
        kind="fact",
        importance=0.5,
        tags=("goals",),
        topics=TOPICS,
    ),
    # Habits.
    Rule(
        pattern=starting(
            rf"I {ADV}(?:do not |no longer )?{ADV}(?!{SAYS_NOTHING}\b)(?!\w+(?:ed|ing|ly)\b)\w+(?P<object> .+)"
        ),
        kind="fact",
        importance=0.5,
        topics=TOPICS,
    ),
    Rule(
        pattern=starting(rf"I {ADV}(?:go|come|get up|use|run|love|take|keep)\b (?!{SAYS_NOTHING}\b)(?P<object>.+)"),
        kind="fact",
        importance=0.45,
        topics=TOPICS,
    ),
    # The speaker's people, animals and things.
    Rule(
        pattern=starting(rf"my (?:\w+ ){{0,2}}?(?:{KIN}|{PET})(?:'s)?\b(?P<object> .+ .+)"),
        kind="fact",
        importance=0.6,
        topics=TOPICS,
    ),
    Rule(
        pattern=starting(
            r"my (?!(?:point|question|bad|apologies|guess|mistake|pleasure|thoughts?|understanding|problem|issue|code|error"
            r"|day|evening|night"
            r"|week|weekend|morning|opinion|answer|name|only|response|goodness|god|friend)\b)(?:[\w'-]+ ){1,4}?(?:is|are|was"
            r"|were|has)"
            r" (?P<object>.+)"
        ),
        kind="fact",
        importance=0.5,
        topics=TOPICS,
    ),
)
