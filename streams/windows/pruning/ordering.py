"""The order in which units leave a context.

Units marked expendable go first. Completed tasks go before any part of the current one, under every strategy; units marked
important after those; an error and its correction last, oldest first, so that no error outlives its correction. Within a
rank the strategies differ.
"""

from collections.abc import Iterable, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Final

from schemas.conversations.window_settings import Strategy
from streams.windows.pruning.units import Unit

EXPENDABLE: Final = -1
COMPLETED: Final = 0
LASTING: Final = 1  # in a completed task: directives beyond it, and messages that a model rates as needed later
CURRENT: Final = 2
FRAMING: Final = 3  # the topic and the directives of the current task
IMPORTANT: Final = 4
CORRECTED: Final = 5

PLACE_WEIGHT: Final = 0.3  # with hybrid: the advantage in importance of the newest unit over the oldest
# With hybrid, units with users' messages rank above others, and tool steps below: later messages need the first more often,
# and of tool steps mostly the results. (Labelled conversations; deploy/docs/window-measurements.md.)
USERS_WEIGHT: Final = 0.3
STEPS_WEIGHT: Final = 0.3
SPECIFIC_WEIGHT: Final = 0.3  # added for specific statements, which are most of what later messages need

Ranked = tuple[int, Unit]


def ranked(units: Sequence[Unit], strategy: Strategy, current: int) -> list[Ranked]:
    """Each unit with its rank; `current` is the number of the current task."""
    opening = next((unit for unit in units if unit.segment == current), None)
    return [(_rank(unit, strategy, current, unit is opening), unit) for unit in units]


def _rank(unit: Unit, strategy: Strategy, current: int, opening: bool) -> int:
    if unit.expendable:
        return EXPENDABLE
    if unit.corrects:
        return CORRECTED
    if unit.important:
        return IMPORTANT
    if unit.segment != current:
        return LASTING if (unit.lasting or unit.needed_later) and strategy != "rolling_window" else COMPLETED
    framing = unit.directive or (opening and not unit.casual)
    return FRAMING if framing and strategy == "hybrid" else CURRENT


def removal_batches(candidates: Sequence[Ranked], strategy: Strategy, size: int) -> list[list[Ranked]]:
    """The candidates in batches, in the order of removal. `size` is the window's, in messages.

    With `hybrid` each completed task is one batch, as half a task is of little use.
    """
    first = [each for each in candidates if each[0] == EXPENDABLE]
    whole = [each for each in candidates if strategy == "hybrid" and each[0] == COMPLETED]
    single = [each for each in candidates if each[0] > COMPLETED or (strategy != "hybrid" and each[0] == COMPLETED)]
    tasks = groupby(sorted(whole, key=lambda each: (each[1].segment, each[1].places[0])), lambda each: each[1].segment)
    batches = [list(task) for _, task in tasks]
    return one_by_one(first, strategy, size) + batches + one_by_one(single, strategy, size)


def one_by_one(candidates: Iterable[Ranked], strategy: Strategy, size: int) -> list[list[Ranked]]:
    """The candidates one by one, except that a retry leaves together with its error."""
    keyed = sorted([(_key(each, strategy, size), each) for each in candidates], key=itemgetter(0))
    return [[each for _, each in batch] for _, batch in groupby(keyed, itemgetter(0))]


def _key(candidate: Ranked, strategy: Strategy, size: int) -> tuple[int, float, int]:
    """Sorts by rank, then value, then age; only units that leave together have equal keys."""
    rank, unit = candidate
    place = unit.removal_place
    if strategy == "rolling_window" or rank == CORRECTED:
        return rank, 0.0, place
    if strategy == "importance":
        return rank, unit.score, place
    said = USERS_WEIGHT * unit.users + SPECIFIC_WEIGHT * unit.specific - STEPS_WEIGHT * unit.steps
    return rank, unit.score + said + PLACE_WEIGHT * place / size, place
