"""Units: messages that stay or leave together. A question with its answer, a tool call with its results."""

from collections.abc import Iterable, Sequence
from typing import Final

from msgspec import Struct

from streams.windows.detectors.traits import CASUAL, CORRECTION, DIRECTIVE, ERROR
from streams.windows.turn import Turn

PAIR_REACH: Final = 8  # units back, at most, that a correction looks for the error it corrects


class Unit(Struct):
    """Places (from 0, in the window) of messages that go together, and what they are together.

    `score` is that of the most important of them, `casual` says that all of them are. `corrects`: one of them is a
    correction, or is what a correction corrects.
    """

    places: list[int]
    segment: int
    score: float
    errs: bool = False
    corrects: bool = False
    casual: bool = True
    directive: bool = False
    important: bool = False
    protected: bool = False


def grouped(turns: Sequence[Turn], scores: Sequence[float], min_recent: int) -> list[Unit]:
    """The units of a window, oldest first; system messages belong to none.

    Those with one of the last `min_recent` messages are protected.
    """
    places = [place for place, turn in enumerate(turns) if turn.role != "system"]
    recent = places[-min_recent] if len(places) >= min_recent else 0
    units: dict[int, Unit] = {}
    for place, root in zip(places, _roots(turns, places), strict=True):
        unit = units.get(root)
        if unit is None:
            unit = units[root] = Unit([], turns[place].segment, 0.0)
        _add(unit, place, turns[place], scores[place])
        unit.protected = unit.protected or place >= recent
    ordered = list(units.values())
    _pair_corrections(ordered)
    return ordered


def _add(unit: Unit, place: int, turn: Turn, score: float) -> None:
    traits = turn.traits
    unit.places.append(place)
    unit.score = max(unit.score, score)
    unit.casual = unit.casual and bool(traits & CASUAL)
    unit.errs = unit.errs or bool(traits & ERROR)
    unit.corrects = unit.corrects or bool(traits & CORRECTION)
    unit.directive = unit.directive or bool(traits & DIRECTIVE)
    unit.important = unit.important or turn.important


def _roots(turns: Sequence[Turn], places: Iterable[int]) -> list[int]:
    """For each place the first place of its unit.

    A question belongs to its answer, the assistant's next message that calls no tool: the steps in between are units of
    their own, so that the question can outlive them. A result belongs to the latest call of its id before it, so that
    ids that a provider uses again tie nothing together that does not belong together; a result that arrives before its
    call waits for it.
    """
    root: dict[int, int] = {}
    called: dict[str, int] = {}
    waiting: dict[str, list[int]] = {}
    asked: int | None = None  # the place of the last question without an answer
    for place in places:
        turn = turns[place]
        root[place] = place
        if turn.role == "user":
            asked = place
        if asked is not None and turn.role == "assistant" and not turn.calls:
            _tie(root, asked, place)
            asked = None
        for call in turn.calls:
            called[call] = place
            for result in waiting.pop(call, ()):
                _tie(root, result, place)
        if turn.answers in called:
            _tie(root, called[turn.answers], place)
        elif turn.answers is not None:
            waiting.setdefault(turn.answers, []).append(place)
    return [_root(root, place) for place in root]


def _tie(root: dict[int, int], one: int, other: int) -> None:
    first, second = sorted((_root(root, one), _root(root, other)))
    root[second] = first


def _root(root: dict[int, int], place: int) -> int:
    while root[place] != place:
        root[place] = root[root[place]]
        place = root[place]
    return place


def _pair_corrections(units: Sequence[Unit]) -> None:
    """Marks with each correction what it corrects: the nearest error of its task, else the unit right before it."""
    corrections = [at for at, unit in enumerate(units) if unit.corrects]
    for at in corrections:
        if units[at].errs or at == 0:
            continue
        before = units[max(0, at - PAIR_REACH) : at]
        task = [unit for unit in before if unit.segment == units[at].segment]
        corrected = next((unit for unit in reversed(task) if unit.errs), task[-1] if task else None)
        if corrected is not None:
            corrected.corrects = True
