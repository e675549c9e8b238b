"""English facts about the speaker: name, work, home, health, family, pets, languages, tools, habits."""

from agents.models.offline.rules.rule import Rule, starting

ADV = (
    r"(?:(?:really|absolutely|definitely|usually|generally|mostly|mainly|still|also|currently|now"
    r"|just|both|recently|never|always) )*"
)
COUNT = r"(?:an?|one|two|three|four|five|six|\d+|no|another|twin|both)"
KIN = (
    r"(?:wife|husband|partner|spouse|girlfriend|boyfriend|fianc[ée]e?|mother|mom|mum|father|dad"
    r"|parents|sister|brother|sisters|brothers|siblings?|twins?|son|sons"
    r"|daughter|daughters|kids?|child|children|baby|grandmother|grandfather|grandma|grandpa|grandson"
    r"|granddaughter|aunt|uncle|cousin|niece|nephew"
    r"|mother-in-law|father-in-law|roommate|flatmate|stepson|stepdaughter)"
)
PET = (
    r"(?:dogs?|cats?|puppy|puppies|kittens?|horses?|parrots?|rabbits?|hamsters?|guinea pigs?"
    r"|goldfish|fish|tortoises?|turtles?|chickens?|ponies|pony|bird|birds|snakes?)"
)
CONDITION = (
    r"(?:vegan|vegetarian|pescatarian|gluten[- ]free|lactose[- ]intolerant|left-handed"
    r"|colou?r-?blind|deaf|blind|dyslexic|diabetic|celiac|coeliac|pregnant|hard of hearing"
    r"|halal|kosher|hypoglyc\w+|epileptic|asthmatic|short-sighted|a wheelchair user)"
)
ILLNESS = (
    r"(?:celiac|coeliac|diabetes|asthma|adhd|hay fever|migraines?|arthritis|epilepsy|dyslexia"
    r"|high blood pressure|insomnia|eczema|allerg\w+|[\w-]+ (?:allergy|intolerance)|a condition)"
)
ROLE = (
    r"(?:nurse|doctor|student|lawyer|chef|cook|artist|architect|pilot|vet|barista|freelancer|founder"
    r"|ceo|cto|analyst|consultant|scientist|journalist|pharmacist|dentist"
    r"|electrician|musician|technician|physician|librarian|vegetarian|accountant|assistant|sysadmin"
    r"|intern|apprentice|parent|mother|father|night owl|early bird|morning person"
    r"|carpenter|plumber|baker|engineer|[a-z-]*(?:developer|designer|manager|teacher|writer"
    r"|programmer|researcher|lecturer|photographer|trainer|farmer|driver|owner|player|runner|swimmer"
    r"|director|professor|translator|editor|author|actor|instructor|coordinator|administrator"
    r"|operator|ologist|therapist|economist|cyclist|climber|gardener|beekeeper|retiree))"
)

FACTS = (
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
            r"(?:(?:please )?call me|I go by|everyone calls me|you can call me|I am called) "
            r"(?P<name>(?-i:[A-ZÀ-Þ])[\w'-]+)(?= |$|[,.;])"
        ),
        kind="preference",
        importance=0.75,
        confidence=0.9,
        tags=("name",),
        text="User wants to be called {name}.",
    ),
    Rule(
        pattern=starting(r"I am (?-i:[A-ZÀ-Þ])[\w'-]+ (?:from|at|with) (?-i:[A-ZÀ-Þ])"),
        kind="fact",
        importance=0.7,
        tags=("name",),
    ),
    Rule(
        pattern=starting(
            rf"I am {ADV}(?:(?:severely|very|deathly|mildly|slightly|highly|not) )*(?:allergic|intolerant"
            r"|sensitive) to .+"
        ),
        kind="fact",
        importance=0.9,
        confidence=0.95,
        tags=("health", "allergy"),
    ),
    Rule(
        pattern=starting(
            r"I (?:have|suffer from|was diagnosed with|have been diagnosed with|developed) (?:an? )?"
            rf"(?:\w+ ){{0,2}}?{ILLNESS}\b"
        ),
        kind="fact",
        importance=0.85,
        confidence=0.9,
        tags=("health",),
    ),
    Rule(
        pattern=starting(rf"I am {ADV}(?:not )?(?:a )?{CONDITION}\b"),
        kind="fact",
        importance=0.8,
        confidence=0.9,
        tags=("health",),
    ),
    Rule(
        pattern=starting(
            r"I (?:cannot|do not|never|must not) (?:eat|drink|have|tolerate) (?!it\b|that\b|this\b|to\b"
            r"|any\b idea|time\b|access\b|much\b|a clue).+"
        ),
        kind="fact",
        importance=0.75,
        tags=("diet",),
    ),
    Rule(pattern=starting(r"I am \d{1,3}(?: years old)?$"), kind="fact", importance=0.5, tags=("age",)),
    Rule(
        pattern=starting(r"my birthday is .+|I was born (?:on|in) .+"),
        kind="fact",
        importance=0.6,
        confidence=0.9,
        tags=("birthday",),
        timeless=True,
    ),
    Rule(
        pattern=starting(
            rf"I {ADV}(?:live|am living|am based|reside|grew up|come from|am from|have lived|lived) (?:(?!"
            r"(?:with it|for)\b).)+"
        ),
        kind="fact",
        importance=0.7,
        confidence=0.9,
        tags=("home",),
    ),
    Rule(
        pattern=starting(r"(?:I|we) (?:have )?(?:just |recently )?(?:moved|relocated) (?:back )?to (?P<new>.+)"),
        kind="fact",
        importance=0.75,
        confidence=0.9,
        tags=("home",),
    ),
    Rule(
        pattern=starting(
            r"my (?:new |current |home |work )?(?:address|hometown|time ?zone|home town|native language"
            r"|mother tongue|first language|pronouns) (?:is|are) .+"
        ),
        kind="fact",
        importance=0.7,
        confidence=0.9,
        tags=("home",),
    ),
    Rule(
        pattern=starting(
            rf"I {ADV}(?:work|am working|worked|have worked|have been working) (?:as|at|for|in|with|from"
            r"|remotely|part-time|full-time|nights|night shifts|four days|\d days) ?(?!it\b|this\b|that\b).*"
        ),
        kind="fact",
        importance=0.7,
        confidence=0.9,
        tags=("work",),
    ),
    Rule(
        pattern=starting(
            rf"I am {ADV}(?:not )?an? (?:(?!(?:bit|little|fan|lot|huge|big|beginner)\b)[\w-]+ ){{0,3}}?{ROLE}\b"
        ),
        kind="fact",
        importance=0.7,
        tags=("work",),
    ),
    Rule(
        pattern=starting(
            rf"I {ADV}(?:started (?:a new job|working|at)|joined|founded|co-founded|graduated|studied|study"
            r"|teach|volunteer|freelance|retired|got (?:promoted|hired|laid off|a new job|a job)"
            r"|was promoted|run a|own a|lead (?:a|the)|manage (?:a|the)) ?.*"
        ),
        kind="fact",
        importance=0.65,
        tags=("work",),
    ),
    Rule(
        pattern=starting(
            r"my (?:new |current |old )?(?:job|employer|company|boss|manager|role|title|job title|profession"
            r"|occupation|team lead|start-?up) (?:is|was|has|wants|works|moved|changed)\b .+"
        ),
        kind="fact",
        importance=0.65,
        tags=("work",),
    ),
    Rule(
        pattern=starting(
            rf"(?:I|we) (?:also )?(?:have|adopted|got|have adopted|have got) (?:{COUNT} )?"
            rf"(?:[\w-]+ ){{0,3}}?{PET}\b(?! (?:question|issue|food)s?).*"
        ),
        kind="fact",
        importance=0.6,
        tags=("pets",),
    ),
    Rule(
        pattern=starting(rf"(?:I|we) (?:also )?(?:have|am raising|had) (?:{COUNT} )?(?:[\w-]+ ){{0,2}}?{KIN}\b.*"),
        kind="fact",
        importance=0.7,
        tags=("family",),
    ),
    Rule(
        pattern=starting(
            rf"my (?:\w+ )?(?:{KIN}|{PET})(?:'s)? (?:name )?(?:and I )?(?:[\w'-]+ )?(?:is|are|was|has|have"
            r"|works|lives|loves|likes|hates|speaks|plays|studies|turns|turned|got|moved|goes|cannot|does"
            r"|named|called|died|started|prefers|had|needs)\b.*"
        ),
        kind="fact",
        importance=0.65,
        tags=("family",),
    ),
    Rule(
        pattern=starting(
            rf"I am {ADV}(?:married|engaged|divorced|widowed|retired|expecting|self-employed|unemployed"
            r"|a single (?:parent|mother|father|mom|dad))\b.*|I got (?:married|engaged|divorced)\b.*"
        ),
        kind="fact",
        importance=0.7,
        tags=("family",),
    ),
    Rule(pattern=starting(r"I used to (?!it\b|this\b|that\b).+"), kind="fact", importance=0.5, tags=("past",)),
    Rule(
        pattern=starting(
            rf"I {ADV}(?:speak|am fluent in|am a native speaker of) (?:(?:some|a little|a bit of|fluent|good"
            r"|basic|only) )*(?-i:[A-Z]).+"
        ),
        kind="fact",
        importance=0.6,
        tags=("languages",),
    ),
    Rule(
        pattern=starting(
            rf"I am {ADV}(?:learning|studying|training for|writing a|building|working on) (?!it\b|this\b"
            r"|that\b|how\b).+"
        ),
        kind="fact",
        importance=0.55,
        tags=("goals",),
    ),
    Rule(
        pattern=starting(
            rf"(?:I|we) {ADV}(?:use|am using|are using|code in|program in|develop (?:on|in|with)|deploy (?:to"
            r"|with|on)|drive an?|ride an?|play (?:the )?|write (?:code in )?(?-i:[A-Z])|run (?-i:[A-Z])"
            r"|host|own|subscribe to|bought|sold|read)(?:\b|(?<= ))"
            r" ?(?!it\b|this\b|that\b|your\b|these\b|those\b|them\b|the (?:command|code|link|following|same"
            r"|one|docs)\b).+"
        ),
        kind="fact",
        importance=0.55,
        tags=("tools",),
    ),
    Rule(
        pattern=starting(
            rf"I {ADV}(?:go|wake|get|meditate|train|swim|cycle|bike|run|walk|exercise|practi[sc]e|cook|travel"
            r"|commute|fast|volunteer|play|meet|write|drink|eat|sleep|have)\b.*\b(?:every (?!time)\w+|each "
            r"(?:day|week|morning)|daily|weekly|(?:on )?(?:mon|tues|wednes|thurs|fri|satur|sun)days|twice a"
            r"|once a|three times a|in the mornings?|at night)\b.*"
        ),
        kind="fact",
        importance=0.5,
        tags=("habits",),
    ),
)
