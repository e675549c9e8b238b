"""Units: messages that stay or leave together. A question with its answer, a tool call with its results."""

from collections.abc import Iterable, Sequence
from typing import Final

from msgspec import Struct

from schemas.conversations.windows import Gap
from streams.windows.detectors.traits import (
    CASUAL,
    CORRECTION,
    DIRECTIVE,
    ERROR,
    LASTING,
    SPECIFIC,
    TOOL_CALL,
    TOOL_RESULT,
)
from streams.windows.traits import MessageTraits

PAIR_REACH: Final = 16  # messages of the conversation, at most, from an error to its correction
AWAITED: Final = 8  # from this rating on
MOST_CALLS: Final = 64  # of one message that are tied to their results
MOST_RESULTS: Final = 8  # of one call; there is one, unless a service tells of progress or repeats itself


class Unit(Struct):
    """Places (from 0, in the window) of messages that go together, and what they are together.

    `score` is that of the most important of them, `casual` says that all of them are. `directive`: one of them says how
    things are to be done, `lasting`: in later tasks too. `corrects`: one of them is a correction, or is what a correction
    corrects. `leaves_at` is the place in whose turn it leaves, among units that are otherwise equal: its first one, or,
    where only the error before it makes it a correction, that error's. `users`: a user said one of them; `steps`: none is
    more than a tool call or its result; `specific`: a user states something specific in one of them. `expendable`:
    one of them was marked so, and none is important. `awaited`: a model says that later messages need one of them.
    """

    places: list[int]
    leaves_at: int
    segment: int
    score: float
    errs: bool
    corrects: bool
    casual: bool
    directive: bool
    lasting: bool
    important: bool
    protected: bool
    users: bool
    steps: bool
    specific: bool
    expendable: bool
    awaited: bool


def group_units(
    turns: Sequence[MessageTraits], scores: Sequence[float], min_recent: int, gaps: Sequence[Gap] = ()
) -> list[Unit]:
    """The units of a window, oldest first; system messages belong to none.

    Those with one of the last `min_recent` messages are protected, those with a pinned one, and the question that is not
    answered yet. `gaps` say, in
    order, how many messages left in between: how far apart two messages are does not change when others leave.
    """
    places = [place for place, turn in enumerate(turns) if turn.role != "system"]
    recent = places[-min_recent] if len(places) >= min_recent else 0
    roots, question = _roots(turns, places)
    together: dict[int, list[int]] = {}
    for place, root in zip(places, roots, strict=True):
        together.setdefault(root, []).append(place)
    units = {root: _unit(turns, scores, tied, recent) for root, tied in together.items()}
    if question is not None:
        units[question].protected = True
    ordered = list(units.values())
    numbers = _numbers(turns, gaps)
    _pair_corrections(numbers, ordered)
    if any(turn.role == "tool" and turn.traits & ERROR for turn in turns):
        _pair_retries([(turns[place], numbers[place], units[root]) for place, root in zip(places, roots, strict=True)])
    return ordered


def _numbers(turns: Sequence[MessageTraits], gaps: Sequence[Gap]) -> list[int]:
    """Which message of its conversation each one is. Positions do not tell: other conversations share their partition."""
    if not gaps:
        return list(range(len(turns)))
    numbers: list[int] = []
    left = at = 0
    for place, turn in enumerate(turns):
        while at < len(gaps) and gaps[at].first < turn.position:
            left += gaps[at].count
            at += 1
        numbers.append(place + left)
    return numbers


def _unit(turns: Sequence[MessageTraits], scores: Sequence[float], places: list[int], recent: int) -> Unit:
    any_of, all_of, score, important = 0, CASUAL, 0.0, False
    users, steps, pinned, expendable, awaited = False, True, False, False, False
    for place in places:
        turn = turns[place]
        any_of |= turn.traits
        all_of &= turn.traits
        important = important or turn.important
        pinned = pinned or turn.mark == "pinned"
        expendable = expendable or turn.mark == "expendable"
        awaited = awaited or (turn.rating is not None and turn.rating >= AWAITED)
        users = users or turn.role == "user"
        steps = steps and turn.traits & (TOOL_CALL | TOOL_RESULT) != 0
        if scores[place] > score:
            score = scores[place]
    return Unit(
        places=places,
        leaves_at=places[0],
        segment=turns[places[0]].segment,
        score=score,
        errs=any_of & ERROR != 0,
        corrects=any_of & CORRECTION != 0,
        casual=all_of != 0,
        directive=any_of & DIRECTIVE != 0,
        lasting=any_of & LASTING != 0,
        important=important,
        protected=pinned or places[-1] >= recent,
        users=users,
        steps=steps,
        specific=any_of & SPECIFIC != 0,
        expendable=expendable and not important,
        awaited=awaited,
    )


def _roots(turns: Sequence[MessageTraits], places: Sequence[int]) -> tuple[list[int], int | None]:
    """For each place the first place of its unit; and that of the question that waits for its answer, if one does.

    A question belongs to its answer, the assistant's next message that calls no tool: the steps in between are units of
    their own, so that the question can outlive them. Where a task is over without such an answer, its last call is the
    answer. A result belongs to the latest call of its id before it, so that ids that a provider uses again tie nothing
    together that does not belong together; a result that arrives before its call waits for it. Calls of one message and results
    of one call are counted up to a bound: a unit may be protected, and must not be the whole conversation.
    """
    root = list(range(len(turns)))
    called: dict[str, list[int]] = {}  # the place of each call, once for every result that it may still have
    waiting: dict[str, list[int]] = {}
    asked: int | None = None  # the place of the last question without an answer
    step: int | None = None  # that of the last call since
    segment = -1
    for place in places:
        turn = turns[place]
        if turn.segment != segment:
            if asked is not None and step is not None:
                _tie(root, asked, step)
            asked = step = None
            segment = turn.segment
        if turn.role == "user":
            asked, step = place, None
        elif turn.role == "assistant" and turn.calls:
            step = place
        elif turn.role == "assistant" and asked is not None:
            _tie(root, asked, place)
            asked = None
        if turn.calls:
            for call in turn.calls[:MOST_CALLS]:
                called[call] = [place] * MOST_RESULTS
                for result in waiting.pop(call, [])[:MOST_RESULTS]:
                    _tie(root, result, called[call].pop())
        if turn.answers is None:
            continue
        if turn.answers not in called:
            waiting.setdefault(turn.answers, []).append(place)
        elif called[turn.answers]:
            _tie(root, called[turn.answers].pop(), place)
    return [_root(root, place) for place in places], None if asked is None else _root(root, asked)


def _tie(root: list[int], one: int, other: int) -> None:
    one, other = _root(root, one), _root(root, other)
    root[max(one, other)] = min(one, other)


def _root(root: list[int], place: int) -> int:
    while root[place] != place:
        root[place] = root[root[place]]
        place = root[place]
    return place


def _pair_corrections(numbers: Sequence[int], units: Sequence[Unit]) -> None:
    """Marks with each correction what it corrects: the nearest error of its task, else the unit right before it."""
    corrections = [at for at, unit in enumerate(units) if unit.corrects]
    for at in corrections:
        if units[at].errs:
            continue
        first = numbers[units[at].places[0]] - PAIR_REACH
        before = units[max(0, at - PAIR_REACH) : at]
        task = [unit for unit in before if unit.segment == units[at].segment]
        errors = [unit for unit in task if unit.errs and numbers[unit.places[-1]] >= first]
        if task:
            (errors or task)[-1].corrects = True


def _pair_retries(said: Iterable[tuple[MessageTraits, int, Unit]]) -> None:
    """Marks failed calls with the next call of their task and what users said in between, unless that is a correction.

    Nothing but the error makes these a correction, so they leave with it; a retry that fails leaves with the one after it.
    """
    failed: list[Unit] = []
    repair: list[Unit] = []
    last, segment = 0, -1
    for turn, number, unit in said:
        if turn.segment != segment or turn.traits & CORRECTION or number > last + PAIR_REACH:
            failed, segment = [], turn.segment
        if turn.role == "tool" and turn.traits & ERROR:
            failed.append(unit)
            repair, last = [], number
        elif failed and turn.calls:
            _mark_repair(failed, [*repair, unit])
            failed = []
        elif turn.role == "user":
            repair.append(unit)


def _mark_repair(failed: Sequence[Unit], repair: Sequence[Unit]) -> None:
    for unit in failed:
        unit.corrects, unit.leaves_at = True, max(unit.leaves_at, unit.places[0])
    last = max(unit.leaves_at for unit in failed)
    for unit in repair:
        unit.leaves_at = max(unit.leaves_at, last) if unit.corrects else last
        unit.corrects = True
