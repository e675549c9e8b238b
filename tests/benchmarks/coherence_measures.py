"""Counts the tasks, pairs and questions that remain of a conversation. Counts are summed over conversations before
shares are computed."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from streams.windows.detectors.traits import CORRECTION, DIRECTIVE, ERROR
from streams.windows.pruning.importance import scores
from streams.windows.pruning.units import group_units
from streams.windows.traits import MessageTraits
from tests.benchmarks.coherence_data import Conversation, Question
from tests.benchmarks.coherence_methods import Kept, markers

MARKED = {"errors": ERROR, "corrections": CORRECTION, "directives": DIRECTIVE}
FIGURES = (
    "messages",
    "user_messages",
    "tokens",
    *MARKED,
    "repairs",
    "whole_tasks",
    "intact_pairs",
    "answerable",
    "needed_later",
)


def counted(turns: Sequence[MessageTraits], conversation: Conversation, kept: Kept) -> Counter[str]:
    """Each figure under its name, and under `of_` and its name what it is a share of."""
    counts: Counter[str] = Counter()
    there = kept.positions
    counts["tokens"], counts["of_tokens"] = kept.tokens, sum(turn.tokens for turn in turns)
    counts["markers"] = markers(turns, kept)
    for turn in turns:
        for name in ("messages", *_kinds(turn)):
            counts[f"of_{name}"] += 1
            counts[name] += turn.position in there
    _count_tasks(counts, turns, there)
    _count_pairs(counts, turns, there)
    _count_questions(counts, conversation.questions, there)
    counts["of_repairs"] = len(conversation.repairs)
    counts["repairs"] = sum(repair <= there for repair in conversation.repairs)
    counts["of_needed_later"] = counts["of_messages"] - counts["messages"]
    return counts


def _kinds(turn: MessageTraits) -> list[str]:
    kinds = [name for name, bit in MARKED.items() if turn.traits & bit]
    return ["user_messages", *kinds] if turn.role == "user" else kinds


def _count_tasks(counts: Counter[str], turns: Sequence[MessageTraits], there: frozenset[int]) -> None:
    """Counts complete tasks among those with remaining messages."""
    tasks: dict[int, list[bool]] = {}
    for turn in turns:
        if turn.role != "system":
            tasks.setdefault(turn.segment, []).append(turn.position in there)
    counts["tasks"] += len(tasks)
    counts["of_whole_tasks"] += sum(any(task) for task in tasks.values())
    counts["whole_tasks"] += sum(all(task) for task in tasks.values())


def _count_pairs(counts: Counter[str], turns: Sequence[MessageTraits], there: frozenset[int]) -> None:
    """Counts complete pairs (questions with answers, calls with results) among those with remaining messages."""
    for unit in group_units(turns, scores(turns, turns[-1].timestamp), 1):
        left = [turns[place].position in there for place in unit.places]
        if len(left) > 1 and any(left):
            counts["of_intact_pairs"] += 1
            counts["intact_pairs"] += all(left)


def _count_questions(counts: Counter[str], questions: Sequence[Question], there: frozenset[int]) -> None:
    """Counts questions that the remaining messages answer, and the removed messages that would answer the others."""
    missed: set[int] = set()
    for answers in questions:
        counts["of_answerable"] += 1
        if any(answer <= there for answer in answers):
            counts["answerable"] += 1
        else:
            missed |= answers[0] - there
    counts["needed_later"] = len(missed)


def shares(counts: Counter[str], runs: int) -> dict[str, Any]:
    """FIGURES as shares to three places, None of what there is none of; and numbers, the mean of the runs."""
    figures: dict[str, Any] = {name: _share(counts[name], counts[f"of_{name}"]) for name in FIGURES}
    if not counts["of_answerable"]:
        figures["needed_later"] = None
    numbers = {"tasks": "tasks", "tasks_left": "of_whole_tasks", "markers": "markers"}
    return figures | {name: round(counts[count] / runs, 1) for name, count in numbers.items()}


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 3) if whole else None
