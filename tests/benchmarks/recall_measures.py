"""Ranking measures of search results: recall, reciprocal rank and precision."""

import statistics
from collections.abc import Iterable, Sequence
from typing import Any

from agents.retrieval.search import MemorySearch
from schemas.retrieval.searches import Hit, Query
from tests.benchmarks.recall_sets import Question

LIMIT = 10


async def measured(
    retrieval: MemorySearch, questions: Sequence[Question], floor: float | None = None
) -> dict[str, Any]:
    """Of the answered questions: whether the answer is first, among 5, among 10; the mean reciprocal rank; the share of what was
    found that is right, and how many memories that is. Of those without an answer: how often nothing is found."""
    answered: list[tuple[Question, Sequence[Hit]]] = []
    unrelated: list[tuple[Question, Sequence[Hit]]] = []
    for question in questions:
        query = Query(namespaces=(question.namespace,), text=question.text, limit=LIMIT, floor=floor)
        hits = (await retrieval.search(query)).hits
        (answered if question.answers else unrelated).append((question, hits))
    ranks = [rank(question, [hit.memory.memory_id for hit in hits]) for question, hits in answered]
    figures = {
        "questions": len(answered),
        "first": share([at == 1 for at in ranks]),
        "among_5": share([at <= 5 for at in ranks]),
        "among_10": share([at <= LIMIT for at in ranks]),
        "reciprocal_rank": round(statistics.fmean(1 / at for at in ranks), 3),
        "precision": round(statistics.fmean(precision(question, hits) for question, hits in answered), 3),
        "found": round(statistics.fmean(len(hits) for _, hits in answered), 1),
    }
    if unrelated:
        figures |= {"unrelated": len(unrelated), "nothing_found": share([not hits for _, hits in unrelated])}
    return figures


def ranked_at(found: Iterable[tuple[Question, Sequence[str]]]) -> dict[str, float]:
    """Returns how often the answer is among the first hits, and the mean reciprocal rank, over questions with
    answers."""
    ranks = [rank(question, memory_ids) for question, memory_ids in found if question.answers]
    figures = {f"among_{most}": share([at <= most for at in ranks]) for most in (1, 5, LIMIT)}
    return figures | {"reciprocal_rank": round(statistics.fmean(1 / at for at in ranks), 3)}


def rank(question: Question, found: Sequence[str]) -> float:
    """The place by which one of the sets of answers is complete, less what its others take; infinite if none is."""
    places = {memory_id: place for place, memory_id in enumerate(found, start=1)}
    complete = [
        max(places[memory_id] for memory_id in answer) - len(answer) + 1
        for answer in question.answers
        if answer <= places.keys()
    ]
    return min(complete, default=float("inf"))


def precision(question: Question, hits: Sequence[Hit]) -> float:
    right = {memory_id for answer in question.answers for memory_id in answer}
    return sum(hit.memory.memory_id in right for hit in hits) / len(hits) if hits else 0.0


def share(so: Sequence[bool]) -> float:
    return round(sum(so) / len(so), 3)
