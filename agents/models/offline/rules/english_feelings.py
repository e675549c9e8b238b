"""English sentences about the speaker's feelings; used only if the policy wants feelings."""

from agents.models.offline.rules.rule import Rule, starting

FELT = (
    "happy|sad|anxious|afraid|scared|terrified|worried|angry|furious|lonely|proud|ashamed|guilty|relieved|excited|nervous"
    "|stressed"
    "|upset|overwhelmed|exhausted|heartbroken|devastated|grateful|thankful|jealous|hopeful|hopeless|depressed|homesick|in love"
)
DEGREE = r"(?:(?:so|very|really|quite|pretty|terribly|incredibly|still|just|always|often|a bit|a little) )*"
# A mood without a reason is over tomorrow.
REASON = r"(?:about|because|since|that|of|for|with|by|when|whenever|after|over|without|at|in|to)\b.+"

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
