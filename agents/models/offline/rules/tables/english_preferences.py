"""English preferences and standing directives to the assistant."""

from agents.models.offline.rules.engine.rule import Rule, starting

ADV = (
    r"(?:(?:really|absolutely|definitely|always|usually|generally|mostly|still|also|now|just"
    r"|strongly|particularly|especially|totally|personally|much|never|actually|quite|honestly|kinda|only) )*+"
)
SAYING = (
    r"(?:answer|reply|respond|write|speak|talk|explain|address|greet|sign|format|translate"
    r"|summari[sz]e|show|give|use|include|add|send|call|ask|start|end|keep|quote|cite|convert|list"
    r"|book|suggest|recommend|schedule|remind|put|write|refer|mention|assume|round|avoid|skip"
    r"|contact|email|charge|deliver|ship|notify|phone|text)"
)
STYLE = (
    r"(?:emojis?|bullet points?|bullets|jargon|tables?|exclamation marks?|small talk|markdown"
    r"|abbreviations|headings|apologi[sz]\w*|slang|caps|long answers|phone calls?|marketing emails?"
    r"|newsletters?)"
)

# Excludes wishes that hold once.
THIS_ONCE = r"(?!.*\b(?:yet|right now|for now|today|tonight|tomorrow|this (?:time|one|week)|until)\b)"
LANGUAGES = (
    r"English|German|French|Spanish|Italian|Portuguese|Dutch|Polish|Swedish|Danish|Japanese|Chinese|Turkish|Russian"
)

PREFERENCES = (
    Rule(
        pattern=starting(
            rf"(?:from now on|in (?:the )?future"
            rf"|going forward)[,:]? (?:only )?(?:in )?(?P<language>{LANGUAGES})(?: only)?(?: please)?$"
        ),
        kind="preference",
        importance=0.8,
        confidence=0.9,
        tags=("directive", "language"),
        text="User wants the assistant to answer in {language} from now on.",
    ),
    Rule(
        pattern=starting(
            r"(?:please |pls )?(?P<wish>keep (?:it|things|everything) (?:very )?(?:short|brief|simple|concise"
            r"|formal|informal|casual"
            r"|to the point)\b.*|(?:end|begin|start|finish|sign) (?:every|each|all) (?:of )?(?:your )?"
            r"(?:answer|message|reply|mail|e-?mail|text)\w* .+)"
        ),
        kind="preference",
        importance=0.75,
        confidence=0.85,
        tags=("directive",),
        text="User wants the assistant to {wish}.",
    ),
    Rule(
        pattern=starting(
            rf"{THIS_ONCE}(?:please |pls )?(?:do not|never) (?:ever )?(?P<wish>(?:schedule|plan|book|suggest"
            rf"|recommend|offer|send|serve"
            r"|show|put) (?:me |us )?(?:any\w*|things|meetings?|appointments?|calls?|[\w-]+ (?:on|before|after"
            r"|with|at))\b.+)"
        ),
        kind="preference",
        importance=0.8,
        tags=("directive",),
        text="User wants the assistant to never {wish}.",
    ),
    Rule(
        pattern=starting(
            rf"{THIS_ONCE}(?:please |pls )?no (?P<wish>(?:[\w/-]+ ){{0,2}}(?:meetings?|calls?|appointments?|charts?"
            rf"|visits?|deliver(?:y|ies))"
            r"(?: (?:on|before|after|at|during|in) .+)?)$"
        ),
        kind="preference",
        importance=0.75,
        tags=("directive",),
        text="User does not want {wish}.",
    ),
    Rule(
        pattern=starting(
            r"(?:please |pls )?(?:from now on|in (?:the )?future|going forward|as of now)[,:]? (?:please )?"
            rf"(?:only |just )?(?P<wish>(?:always |never |do not )?{SAYING}\b.+)"
        ),
        kind="preference",
        importance=0.8,
        confidence=0.9,
        tags=("directive",),
        text="User wants the assistant to {wish} from now on.",
    ),
    Rule(
        pattern=starting(rf"(?:please |pls )?(?P<wish>(?:always|never) {SAYING}\b.+)"),
        kind="preference",
        importance=0.8,
        confidence=0.9,
        tags=("directive",),
        text="User wants the assistant to {wish}.",
    ),
    Rule(
        pattern=starting(
            rf"(?:please |pls )?(?P<wish>{SAYING}\b.+?),? (?:from now on|in (?:the )?future|going forward"
            r"|every time)$"
        ),
        kind="preference",
        importance=0.8,
        confidence=0.9,
        tags=("directive",),
        text="User wants the assistant to {wish} from now on.",
    ),
    Rule(
        pattern=starting(
            r"(?:please |pls )?(?:do not|do not ever|avoid|stop|no|no more|skip) (?:ever )?(?:(?:us|add"
            rf"|includ|send|writ|suggest|mak)(?:e|ing)? )?(?:any |me |the )?(?P<wish>(?:\w+ )?{STYLE}\b.*)"
        ),
        kind="preference",
        importance=0.7,
        confidence=0.8,
        tags=("directive",),
        text="User does not want {wish}.",
    ),
    Rule(
        pattern=starting(
            r"(?:please |pls )?(?:do not|never) (?:ever )?(?P<wish>(?:call|contact|email|text|phone) me .+)"
        ),
        kind="preference",
        importance=0.75,
        tags=("directive",),
        text="User wants the assistant to never {wish}.",
    ),
    Rule(
        pattern=starting(
            r"(?:please |pls )?(?P<wish>(?:answer|reply|respond|write|speak|talk)(?: to me)?"
            r"(?: only)? in (?-i:[A-Z])\w+.*)"
        ),
        kind="preference",
        importance=0.75,
        tags=("directive", "language"),
        text="User wants the assistant to {wish}.",
    ),
    Rule(
        pattern=starting(
            r"(?:please |pls )?(?P<wish>keep (?:your |the |all )?(?:answers|replies|responses|explanations"
            r"|messages|summaries) .+)"
        ),
        kind="preference",
        importance=0.7,
        tags=("directive",),
        text="User wants the assistant to {wish}.",
    ),
    Rule(
        pattern=starting(
            r"I (?:always |do not |never |only |would like |just )*(?:want|need|expect|like)? ?you to "
            r"(?:always |never |only |not |stop |keep |avoid |call me |answer .*always|use )\b.+"
        ),
        kind="preference",
        importance=0.75,
        tags=("directive",),
    ),
    Rule(
        pattern=starting(
            r"I (?:always |do not |never |only )*(?:want|need|expect) (?:all |every |my |any )(?:the )?"
            r"(?:\w+ )?(?:answers?|replies|responses|explanations|summar\w+|invoices?|reports?|e-?mails?"
            r"|units|prices|times|dates|notes|updates|notifications|newsletters)\b.+"
        ),
        kind="preference",
        importance=0.65,
        tags=("directive",),
    ),
    Rule(
        pattern=starting(
            rf"I {ADV}(?:would (?:much )?)?(?:prefer|rather (?:have|use|get|be|work|not|take|pay|meet|talk"
            r"|write)) (?P<object>.+)"
        ),
        kind="preference",
        importance=0.65,
        confidence=0.9,
        tags=("preference",),
    ),
    Rule(
        pattern=starting(rf"I {ADV}(?:do not )want (?!to\b)(?P<object>.+)"),
        kind="preference",
        importance=0.55,
        confidence=0.7,
        tags=("preference",),
    ),
)
