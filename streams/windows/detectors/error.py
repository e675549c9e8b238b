"""Detects errors: program output, and people who say that something does not work. Statements of no error do not count.

A long text that mentions errors, such as a prompt or source code, reports none, unless it has typical output of a failed
program, or begins or ends with the error.
"""

from typing import Final

from streams.windows.detectors.rule import START, rule

MAX_WORDS: Final = 150  # in a message in which any mention of an error counts
END_CHARS: Final = 100  # at each end of a longer message, where any mention counts too

NONE: Final = (
    *("no ", "any ", "without ", " 0 ", "\n0 ", "zero ", "not an ", "trial and ", "of ", "handle ", "handles "),
    *(
        "keine ",
        "kein ",
        "keinen ",
        "ohne ",
        "aucune ",
        "pas d ",
        "sans ",
        "ningún ",
        "ningun ",
        "sin ",
        "hay ",
        "and ",
    ),
)
NOT_TALKED_ABOUT: Final = (
    r"(?! (?:handl\w{1,6}|messages|codes|boundar\w{1,4}|rates?|bars?|margins?|free|count|logs?|budget)\b)"
    r"(?!(?: ?\n ?| )(?:null|none|false|0)\b)"
)
SOME: Final = (
    *("the ", "these ", "those ", "many ", "several ", "some ", "get ", "getting ", "got ", "with ", "following "),
    *("1 ", "2 ", "3 ", "4 ", "5 ", "6 ", "7 ", "8 ", "9 ", "0 ", "les ", "des ", "los ", "die ", "unos "),
)
EXCEPTIONS: Final = (
    "valueerror typeerror keyerror attributeerror indexerror runtimeerror importerror modulenotfounderror oserror "
    "ioerror nameerror syntaxerror zerodivisionerror assertionerror referenceerror rangeerror filenotfounderror "
    "timeouterror connectionerror permissionerror unicodedecodeerror recursionerror memoryerror "
    "nullpointerexception illegalargumentexception illegalstateexception ioexception sqlexception runtimeexception "
    "imagepullbackoff crashloopbackoff errimagepull oomkilled segfault sigsegv enoent eacces econnrefused etimedout "
    "eaddrinuse errno traceback stacktrace panicked"
)

CODE: Final = ("raise ", "except ", "error ", "throw ", "throws ", "new ", "catch ", "class ", "isinstance ", "import ")

# Typical program output: reports an error in a text of any length.
TRACES: Final = (
    rule(EXCEPTIONS, unless=CODE),
    rule("error", after=(START,), then=NOT_TALKED_ABOUT),
    rule("err fatal", after=(START, "npm "), then=r"[ \n]"),
    rule("panic", after=(START, "kernel ")),
    rule("trace", after=("stack ",)),
    rule("fault", after=("segmentation ", "page ")),
    rule("dumped", after=("core ",)),
    rule("found", after=("command not ", "module not ", "404 not ", "404\n not ", "symbol not ")),
    rule("directory", after=("no such file or ",)),
    rule("denied", after=("permission ", "access ")),
    rule("refused", after=("connection ",)),
    rule("timeout", after=("gateway ", "connection ", "read ")),
    rule("reference", after=("undefined ",)),
    rule("gateway", after=("bad ",)),
    rule("code status", after=("exit ", "exited with ", "exit_"), then=r" [1-9]"),
    rule("server", after=("internal ",), then=r" error\b"),
    rule("unhandled uncaught", then=r" \w"),
)
PROGRAMS: Final = (
    *TRACES,
    rule("error", unless=NONE, then=NOT_TALKED_ABOUT),
    rule("errors", after=SOME, unless=NONE),
    rule("exception exceptions", unless=(*NONE, "the only "), then=r"(?! (?:handl\w{1,6}|to|of|for)\b)"),
    rule("failed", unless=(*NONE, "not ", "never ")),
    rule("failure failures", after=SOME, unless=NONE),
    rule("timed+out", unless=("not ",)),
    rule("out+of+memory"),
)
ENGLISH: Final = (
    rule("crashes crashed crashing", unless=("not ", "never ", "stock ", "market ")),
    rule(
        "work", after=("doesn t ", "doesnt ", "does not ", "don t ", "won t ", "didn t ", "not "), unless=("i don t ",)
    ),
    rule("works", after=("no longer ", "never ", "nothing ")),
    rule("working", after=("not ", "isn t ", "stopped ", "aren t ", "wasn t ")),
    rule(
        "broken",
        after=("is ", "are ", "s ", "still ", "seems ", "build ", "again "),
        then=r"(?! (?:down into|heart)\b)",
    ),
    rule("fails", unless=("if it ", "when it ", "never ", "what if ", "if one ")),
    rule("wrong", after=("went ", "goes ", "going ")),
    rule("freezes hangs", after=("it ", "app ", "page ", "screen ", "program ", "always ", "just ")),
    rule("bug", after=("found a ", "is a ", "s a ", "same ", "another ", "fix this ", "fix the ")),
)
GERMAN: Final = (
    rule("fehler", unless=(*NONE, "mein ", "null "), then=r"(?! (?:frei|behandlung|quote)\b)"),
    rule("fehlermeldung fehlermeldungen fehlercode", unless=(*NONE, "gute ", "guten ", "verständliche ")),
    rule("funktioniert klappt", then=r"(?: \w{1,20}){0,3} nicht\b"),
    rule("geht", then=r"(?: \w{1,20}){0,2} (?:nicht mehr|kaputt)\b"),
    rule("stürzt", then=r"(?: \w{1,30}){0,5} ab\b"),
    rule("abgestürzt fehlgeschlagen kaputt", unless=("nicht ", "nie ")),
    rule("fehl", after=("schlägt ", "schlug ")),
)
FRENCH: Final = (
    rule("erreur erreurs", unless=(*NONE, "pas une ", "d ", "éviter les "), then=r"(?! de ma part\b)"),
    rule("erreur", after=("message d ", "code d ")),
    rule("marche fonctionne", after=("ne ", "ça ", "n "), then=r" (?:pas|plus)\b"),
    rule("plante", after=("ça ", "application ", "programme ", "logiciel ")),
    rule("échoué échoue", unless=("pas ", "jamais ")),
    rule("panne", after=("en ", "tombé en ")),
)
SPANISH: Final = (
    rule("errores", after=SOME, unless=NONE),
    rule("funciona sirve", after=("no ", "no me ", "ya no ")),
    rule("falla falló", after=("me ", "se ", "que ", "esto ", "siempre ", START), unless=("no ",)),
    rule("cuelga bloquea", after=("se ", "se me ")),
    rule("excepción", unless=(*NONE, "la ", "con ")),
    rule("roto rota", after=("está ",)),
)
PEOPLE: Final = ENGLISH + GERMAN + FRENCH + SPANISH
RULES: Final = PROGRAMS + PEOPLE
