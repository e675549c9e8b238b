"""Detects a user who turns to another task: such a message begins a segment of the conversation.

`SWITCHES` also end the task before; `BEGINS` may also open a step of a larger task.
"""

import re
from typing import Final

from streams.windows.detectors.rule import START, rule

THEN: Final = (START, "ok ", "okay ", "great ", "good ", "thanks ", "perfect ", "so ", "and ", "right ", "fine ")
NUN: Final = (START, "ok ", "gut ", "super ", "danke ", "prima ", "so ", "und ")
BON: Final = (START, "bien ", "bon ", "merci ", "parfait ", "et ", "ok ")
BIEN: Final = (START, "bien ", "vale ", "gracias ", "perfecto ", "y ", "ok ")

BEGINS: Final = (
    rule(
        "now",
        after=THEN,
        then=r" (?:let s|lets|let us) (?:work on|turn to|switch|talk about|do|look at|tackle|start|begin|plan|write|build)\b",
    ),
    rule(
        "now",
        after=THEN,
        then=r" (?:(?:i|we) (?:want|need|d like|would like|have to|will)|for the|on to|onto|the next)\b",
    ),
    rule("let lets", after=THEN, then=r"(?: s| us)? now (?:do|work|start|turn)\b"),
    rule("next", after=THEN, then=r" (?:up|i (?:want|need|d|would)|we (?:need|should|will)|let s|can you|please)\b"),
    rule(
        "jetzt nun",
        after=NUN,
        then=r" (?:lass uns|machen wir|kommen wir|zu|zum|zur|geht es|möchte ich|brauche ich|würde ich)\b",
    ),
    rule("nächstes", after=(f"{START}als ",)),
    rule(
        "maintenant",
        after=BON,
        then=r" (?:passons|on (?:va|passe)|je (?:veux|voudrais)|parlons|travaillons|occupons)\b",
    ),
    rule("ahora", after=BIEN, then=r" (?:vamos|pasemos|quiero|necesito|hablemos|toca|trabajemos|tenemos que)\b"),
)
SWITCHES: Final = (
    rule("let lets now", after=THEN, then=r"(?: let)?(?: s| us)? (?:move on|switch to|talk about something)\b"),
    rule("moving", after=THEN, then=r" on\b"),
    rule("next", after=THEN, then=r" (?:topic|task|subject|project|item|question|matter)\b"),
    rule(
        "new+topic new+task new+subject different+topic different+question different+subject different+task different+note "
        "another+topic another+task another+subject another+note other+news",
        after=(START, "a ", "on a ", "on ", "to a ", "in "),
        unless=("is a ", "have a "),
        then=r" ?(?:\n|please|now|for you|but|what|how|can)",
    ),
    rule("unrelated", after=(START, "something ", "completely ", "totally "), then=r"[ \n]"),
    rule("change", after=(START, "a "), then=r" (?:of )?(?:the )?(?:topic|subject)\b"),
    rule("switching", after=THEN, then=r" (?:to|topics?)\b"),
    rule(
        "nächstes nächste nächster",
        after=(*NUN, "das ", "die ", "der "),
        then=r" (?:thema|aufgabe|punkt|frage|projekt)\b",
    ),
    rule(
        "neues anderes neue andere",
        after=(*NUN, "ein ", "eine "),
        then=r" (?:thema|aufgabe|frage|projekt)(?: ?\n| bitte)",
    ),
    rule("themenwechsel", after=(START,)),
    rule("kommen", after=NUN, then=r" wir (?:nun |jetzt )?(?:zu|zum|zur)\b"),
    rule("passons", after=BON, then=r" (?:maintenant )?(?:à|au|aux)\b"),
    rule("autre", after=(*BON, "une ", "un "), then=r" (?:sujet|chose|question|tâche|projet) ?\n"),
    rule("nouveau nouvelle", after=(*BON, "un ", "une "), then=r" (?:sujet|tâche|projet|question) ?\n"),
    rule("changeons", after=BON, then=r" de sujet\b"),
    rule("pasemos", after=BIEN, then=r" (?:ahora )?(?:a|al)\b"),
    rule("cambiando", after=BIEN, then=r" de tema\b"),
    rule("otro otra nuevo nueva siguiente", after=BIEN, then=r" (?:tema|cosa|tarea|pregunta|proyecto) ?\n"),
)

# These open a task once the one before was marked complete; otherwise they are ordinary messages.
OPENING: Final = re.compile(
    r"\n ?(?:(?:ok|okay|great|good|nice|thanks?|thank you|perfect|cool|gut|super|danke|prima|merci|parfait|bien|vale|gracias"
    r"|perfecto)[ \n]{1,2}){0,3}(?:now|next|then|another|let s|lets|can you|could you|i (?:want|need|d like|would like)|we need"
    r"|help me|please|write|create|build|fix|add|jetzt|nun|als nächstes|kannst du|könntest du|ich (?:möchte|brauche|will)"
    r"|hilf mir|bitte|maintenant|ensuite|peux tu|pouvez vous|je (?:veux|voudrais)|aide moi|ahora|después|puedes|podrías"
    r"|quiero|necesito|ayúdame)\b(?! also| auch| aussi| también)"
)
