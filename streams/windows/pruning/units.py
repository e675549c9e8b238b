"""Units: messages that stay or leave together, such as a tool call with its results."""

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

MAX_MESSAGES_APART: Final = 16  # the most messages of the conversation from an error to its correction
NEEDED_LATER_RATING: Final = 8  # the least rating (0 to 10)
MAX_CALLS: Final = 64  # of one message, that are tied to their results
MAX_RESULTS: Final = 8  # of one call: usually one, more if a service reports progress or repeats a result


class Unit(Struct):
    """`places` (from 0, in the window) of messages that stay or leave together, and their combined properties.

    `score` is the highest score of a message. These hold if one message has the property: `has_error`; `corrects` (it is a
    correction, or what a correction corrects); `directive`; `lasting` (a directive beyond its task); `users` (a user sent it);
    `specific` (a user states something specific); `expendable` (marked so, and no message is important); `needed_later` (by a
    model's rating). These hold if every message has it: `casual`; `steps` (a tool call or a result). Among units that are
    otherwise equal `removal_place` gives the order: the unit's first place, or the error's for a repair of it.
    """

    places: list[int]
    removal_place: int
    segment: int
    score: float
    has_error: bool
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
    needed_later: bool


def group_units(
    turns: Sequence[MessageTraits], scores: Sequence[float], min_recent: int, gaps: Sequence[Gap] = ()
) -> list[Unit]:
    """The units of a window, oldest first; system messages belong to none.

    Protected are units with one of the last `min_recent` messages, those with a pinned message, and an unanswered question.
    `gaps`, in order, count the messages that left before, so that the distance of two messages does not change by pruning.
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


def group_steps(turns: Sequence[MessageTraits]) -> list[list[int]]:
    """Groups of places, oldest first: a tool call with its results is one group, any other message another. System messages
    are left out."""
    tools = [place for place, turn in enumerate(turns) if turn.calls or turn.answers is not None]
    roots = dict(zip(tools, _roots(turns, tools)[0], strict=True))
    together: dict[int, list[int]] = {}
    for place, turn in enumerate(turns):
        if turn.role != "system":
            together.setdefault(roots.get(place, place), []).append(place)
    return list(together.values())


def _numbers(turns: Sequence[MessageTraits], gaps: Sequence[Gap]) -> list[int]:
    """The number of each message in its conversation. Positions have holes: other conversations share the partition."""
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
    users, steps, pinned, expendable, needed_later = False, True, False, False, False
    for place in places:
        turn = turns[place]
        any_of |= turn.traits
        all_of &= turn.traits
        important = important or turn.important
        pinned = pinned or turn.mark == "pinned"
        expendable = expendable or turn.mark == "expendable"
        needed_later = needed_later or (turn.rating is not None and turn.rating >= NEEDED_LATER_RATING)
        users = users or turn.role == "user"
        steps = steps and turn.traits & (TOOL_CALL | TOOL_RESULT) != 0
        if scores[place] > score:
            score = scores[place]
    return Unit(
        places=places,
        removal_place=places[0],
        segment=turns[places[0]].segment,
        score=score,
        has_error=any_of & ERROR != 0,
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
        needed_later=needed_later,
    )


def _roots(turns: Sequence[MessageTraits], places: Sequence[int]) -> tuple[list[int], int | None]:
    """For each place the first place of its unit, and the first place of the unanswered question's unit, if there is one.

    A question belongs to its answer: the assistant's next message without a tool call. The steps in between are units of their
    own, so that the question can stay without them. If the task ends without such an answer, its last call is the answer. A
    result belongs to the latest earlier call with its id, as providers reuse ids; a result that arrives before its call waits for
    it. Calls of a message and results of a call are bounded, so that a protected unit cannot be the whole conversation.
    """
    root = list(range(len(turns)))
    called: dict[str, list[int]] = {}  # the place of each call, once for each result that it may still get
    waiting: dict[str, list[int]] = {}
    question: int | None = None  # the place of the last unanswered question
    step: int | None = None  # the place of the last call since the question
    segment = -1
    for place in places:
        turn = turns[place]
        if turn.segment != segment:
            if question is not None and step is not None:
                _tie(root, question, step)
            question = step = None
            segment = turn.segment
        if turn.role == "user":
            question, step = place, None
        elif turn.role == "assistant" and turn.calls:
            step = place
        elif turn.role == "assistant" and question is not None:
            _tie(root, question, place)
            question = None
        if turn.calls:
            for call in turn.calls[:MAX_CALLS]:
                called[call] = [place] * MAX_RESULTS
                for result in waiting.pop(call, [])[:MAX_RESULTS]:
                    _tie(root, result, called[call].pop())
        if turn.answers is None:
            continue
        if turn.answers not in called:
            waiting.setdefault(turn.answers, []).append(place)
        elif called[turn.answers]:
            _tie(root, called[turn.answers].pop(), place)
    return [_root(root, place) for place in places], None if question is None else _root(root, question)


def _tie(root: list[int], one: int, other: int) -> None:
    one, other = _root(root, one), _root(root, other)
    root[max(one, other)] = min(one, other)


def _root(root: list[int], place: int) -> int:
    while root[place] != place:
        root[place] = root[root[place]]
        place = root[place]
    return place


def _pair_corrections(numbers: Sequence[int], units: Sequence[Unit]) -> None:
    """Marks the unit that each correction corrects: the nearest error of its task, otherwise the unit before it."""
    corrections = [at for at, unit in enumerate(units) if unit.corrects]
    for at in corrections:
        if units[at].has_error:
            continue
        first = numbers[units[at].places[0]] - MAX_MESSAGES_APART
        before = units[max(0, at - MAX_MESSAGES_APART) : at]
        task = [unit for unit in before if unit.segment == units[at].segment]
        errors = [unit for unit in task if unit.has_error and numbers[unit.places[-1]] >= first]
        if task:
            (errors or task)[-1].corrects = True


def _pair_retries(turns: Iterable[tuple[MessageTraits, int, Unit]]) -> None:
    """Marks failed calls, and their repair: the next call of the task with the user's messages in between.

    A repair leaves together with its error, and a failed retry with the next one.
    """
    failed: list[Unit] = []
    repair: list[Unit] = []
    last, segment = 0, -1
    for turn, number, unit in turns:
        if turn.segment != segment or turn.traits & CORRECTION or number > last + MAX_MESSAGES_APART:
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
        unit.corrects, unit.removal_place = True, max(unit.removal_place, unit.places[0])
    last = max(unit.removal_place for unit in failed)
    for unit in repair:
        unit.removal_place = max(unit.removal_place, last) if unit.corrects else last
        unit.corrects = True
