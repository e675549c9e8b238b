"""Agents' experiences without a model: the task, the tools used, and the outcome, each in its speaker's words."""

from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct

from agents.models.answers.drafts import Draft
from agents.models.offline.rules.engine.injection import is_injection
from agents.models.offline.rules.engine.rule import anywhere
from agents.models.offline.statements import language_rules, readable_beginning, safe_sentences
from schemas.extraction.requests import SliceMessage

OUTCOME: Final = anywhere(
    r"\b(?:fixed|solved|resolved|works now|worked|passes|passed|succeeds|succeeded|done|deployed|merged|created|updated|corrected"
    r"|opened|closed|booked|ordered|shipped|refunded|replaced|scheduled|decided|agreed"
    r"|installed|completed|failed"
    r"|could not|cannot be|timed out|behoben|gelöst|funktioniert|bestanden|erledigt|erstellt|fehlgeschlagen"
    r"|konnte nicht|geholfen|korrigiert|geschlossen|eröffnet|gebucht|bestellt|erstattet|vereinbart|beschlossen|entschieden"
    r"|corrigé\w*|résolue?s?|fonctionne|réussi\w*|terminée?s?|échoué\w*|n'a pas pu|corregid[oa]|resuelt[oa]"
    r"|funciona|completad[oa]"
    r"|falló|no se pudo|ouvert\w*|fermée?s?|réservée?s?|commandée?s?|rembours\w+|décidé\w*|convenu\w*"
    r"|abiert[oa]|cerrad[oa]|reservad[oa]|pedid[oa] nuev[oa]|reembols\w+|decidid[oa]|acordad[oa])\b"
)
LABELS: Final = {
    "en": ("Task", "Steps", "Outcome"),
    "de": ("Aufgabe", "Schritte", "Ergebnis"),
    "fr": ("Tâche", "Étapes", "Résultat"),
    "es": ("Tarea", "Pasos", "Resultado"),
}
TASK_CHARS: Final = 140
MAX_STEPS: Final = 8
CONFIDENCE, IMPORTANCE = 0.7, 0.6


class TaskTurn(Struct):
    """A user's message and the numbered messages up to the user's next one. Numbers are those of the slice, from 1."""

    number: int
    task_message: SliceMessage
    answers: list[tuple[int, SliceMessage]]


def experiences(messages: Sequence[SliceMessage]) -> Iterator[Draft]:
    """A draft for each task with tool calls and a stated outcome."""
    for turn in turns(messages):
        steps = list(dict.fromkeys(call.name for _, message in turn.answers for call in message.tool_calls))[:MAX_STEPS]
        task, ended = (
            next(trusted_sentences(turn.task_message), None),
            outcome([message for _, message in turn.answers]),
        )
        if not steps or task is None or ended is None or len(task) > TASK_CHARS:
            continue
        rules = language_rules(task, turn.task_message.language)
        language = rules.code if rules else "en"
        first, second, third = LABELS[language]
        answer_numbers = [number for number, message in turn.answers if message.role == "assistant"]
        yield Draft(
            kind="experience",
            text=f"{first}: {task.rstrip('.!')}. {second}: {', '.join(steps)}. {third}: {ended.rstrip('.!')}.",
            messages=[turn.number, *answer_numbers],
            confidence=CONFIDENCE,
            importance=IMPORTANCE,
            tags=["experience"],
            language=language,
        )


def turns(messages: Sequence[SliceMessage]) -> list[TaskTurn]:
    found: list[TaskTurn] = []
    for number, message in enumerate(messages, start=1):
        if message.role == "user":
            found.append(TaskTurn(number, message, []))
        elif found and message.role in ("assistant", "tool"):
            found[-1].answers.append((number, message))
    return found


def outcome(answers: Sequence[SliceMessage]) -> str | None:
    """The assistant's last sentence that states the outcome."""
    assistant_messages = [message for message in answers if message.role == "assistant"]
    sentences = [sentence for message in assistant_messages for sentence in trusted_sentences(message)]
    return next((each for each in reversed(sentences) if OUTCOME.search(each) and not each.endswith("?")), None)


def trusted_sentences(message: SliceMessage) -> Iterator[str]:
    """The message's sentences without secrets; none of a message that addresses a model."""
    content = readable_beginning(message.content)
    return iter(()) if is_injection(content) else safe_sentences(content)
