"""Detects completed tasks: an assistant reports it, or a user says so."""

from typing import Final

from streams.windows.detectors.rule import END, START, rule

NOT: Final = (
    "not ",
    "isn t ",
    "aren t ",
    "yet ",
    "nicht ",
    "noch nicht ",
    "pas ",
    "no ",
    "almost ",
    "fast ",
    "nearly ",
)
IS: Final = ("is ", "are ", "s ", "is now ", "are now ", "is all ", "was ", "been ")
LATER: Final = r"(?: now| then| for now| for today| too){0,2}(?= ?\n)"

ENGLISH: Final = (
    rule("done", after=(START, "all ", "is ", "s ", "well "), unless=(*NOT, "what s ", "what is ", "be "), then=LATER),
    rule("complete completed", after=("task ", "now ", "work ", "all ", "migration ", *IS), unless=NOT, then=LATER),
    rule("finished", after=(START, "all ", "now ", "task ", "i ve ", "i have ", *IS), unless=NOT, then=LATER),
    rule(
        "successfully",
        after=("i ve ", "i have ", "was ", "were ", "been ", "have ", "has ", START, "now "),
        then=r" (?!failed)\w{2,20}(?:ed|ilt|ten|ent)\b",
    ),
    rule(
        "solved fixed",
        after=("that ", "this ", "is ", "s ", "which ", "are "),
        unless=NOT,
        then=r"(?: it| the \w{1,20}| my \w{1,20})?(?= ?\n)",
    ),
    rule(
        "works",
        after=("that ", "it ", "everything ", "now ", "this "),
        then=r" (?:now|perfectly|again|fine|like a charm)(?= ?\n| thank)",
    ),
    rule("passed", after=("all tests ", "all checks "), then=END),
)
GERMAN: Final = (
    rule("erledigt", after=(START, "ist ", "alles ", "habe ich ", "damit ", "sind "), unless=NOT, then=END),
    rule("fertig", after=(START, "das ", "alles ", "jetzt ", "damit ", "nun "), unless=(*NOT, "ist "), then=END),
    rule("fertig", after=("ist das ", "damit ist das ", "das ist ", "das ist jetzt ", "bin "), unless=NOT, then=END),
    rule("abgeschlossen", after=("ist ", "wurde ", "sind ", "aufgabe ", "damit ", "nun "), unless=NOT, then=END),
    rule("geklappt funktioniert", after=("das hat ", "hat ", "hat jetzt "), unless=NOT, then=END),
)
FRENCH: Final = (
    rule("fait", after=(f"{START}c est ", "voilà c est "), then=END),
    rule("terminé terminée fini finie", after=(START, "est ", "tout est ", "j ai "), unless=NOT, then=END),
    rule("réglé résolu", after=("est ", "c est "), unless=NOT, then=END),
    rule("marche", after=("ça ",), then=r" (?:maintenant|enfin|très bien|parfaitement)\b"),
)
SPANISH: Final = (
    rule("listo hecho", after=(START, "está ", "todo ", "ya está "), unless=NOT, then=END),
    rule("está", after=(f"{START}ya ", "eso ya ", "esto ya "), then=END),
    rule(
        "terminado terminada completado completada",
        after=(START, "he ", "está ", "tarea ", "queda "),
        unless=NOT,
        then=END,
    ),
    rule("funciona", after=("ya ", "ahora sí ", "ahora "), unless=("ya no ",), then=END),
    rule("resuelto", after=("está ", "queda ", START), unless=NOT, then=END),
)
RULES: Final = ENGLISH + GERMAN + FRENCH + SPANISH
