"""Counts the figures of a played scenario and describes each failure in words. Pure."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from msgspec import Struct

from schemas.memories.memories import Memory
from tests.benchmarks.understanding.scenarios import Gold, Scenario, moment
from tests.benchmarks.understanding.statements import Statement

DAY: Final = timedelta(days=1)


class Played(Struct, frozen=True):
    """`seen` are the memories after each session, of any status, by person; `block` is what a prompt is given, the profile and
    the block. `tokens` are those sent and answered, as the model bills them, and `calls` how often it was asked."""

    scenario: Scenario
    seen: tuple[dict[str, tuple[Memory, ...]], ...]
    block: str = ""
    tokens: Counter[str] = Counter()


class Failure(NamedTuple):
    kind: str
    scenario: str
    what: str
    statement: str
    texts: tuple[str, ...] = ()


class Measured:
    """Counts of one scenario. Each figure is a count; `<figure>_of` is what it could be at most."""

    def __init__(self, played: Played) -> None:
        self.counts: Counter[str] = Counter(played.tokens)
        self.failures: list[Failure] = []
        self._played, self._scenario = played, played.scenario
        self._now = played.scenario.over
        self._knows()
        self._stale()
        self._never()
        self._wrong()
        self._misplaced()
        self._once()
        self._junk()

    def _knows(self) -> None:
        for gold, statement in self._scenario.gold:
            live = self._live(statement)
            contained = self._count("contained", bool(live), statement, self._texts(statement.who))
            was_kept = bool(self._ever(statement))
            if was_kept:
                self._count("lost_wrongly", not live, statement, self._ever(statement), bad=True)
            if gold.still and was_kept:
                self._count("ended_early", not live, statement, self._ever(statement), bad=True)
            if gold.detail:
                self._count("details_lost", not contained, statement, self._texts(statement.who), bad=True)
            if gold.always:
                is_in_block = statement.says(self._played.block)
                self._count("constraints_in_block", is_in_block, statement, [self._played.block])
                self.counts["constraints_kept"] += contained
            for figure, right in dates(gold, live):
                self._count(figure, right, statement, [f"{m.text} [{m.valid_from} to {m.valid_until}]" for m in live])

    def _stale(self) -> None:
        """Counts stale statements; one that a text says together with a current one ("moved from Berlin to Lyon") is
        not stale."""
        current = [statement for _, statement in self._scenario.gold]
        for statement in self._scenario.statements("stale"):
            live = [each for each in self._live(statement) if not self._says_any(current, statement.who, each.text)]
            texts = [each.text for each in live]
            self._count("stale_alive", bool(live), statement, texts, bad=True)
            ever = [each for each in self._ever(statement) if not self._says_any(current, statement.who, each)]
            if ever:
                self.counts.update(ended_of=1, ended=int(not live))
                if all(self._live(each) for each in current):
                    self.counts.update(replaced_of=1, replaced=int(not live))

    def _never(self) -> None:
        for statement in self._scenario.statements("never"):
            ever = self._ever(statement)
            self._count("never_kept", bool(ever), statement, ever, bad=True)

    def _wrong(self) -> None:
        figure = "wrong_person" if len(self._scenario.people) > 1 else "wrong_subject"
        for statement in self._scenario.statements("wrong"):
            ever = self._ever(statement)
            self._count(figure, bool(ever), statement, ever, bad=True)

    def _misplaced(self) -> None:
        """Counts statements of others in a person's memory without their names."""
        mine: dict[str, list[Statement]] = {who: [] for who in self._scenario.people}
        for statement in (*(each for _, each in self._scenario.gold), *self._scenario.statements("stale", "may")):
            mine.setdefault(statement.who, []).append(statement)
        for who in self._scenario.people if len(self._scenario.people) > 1 else ():
            for text in sorted(set(self._texts(who))):
                others = [s for other, each in mine.items() if other != who for s in each if self._of(s, text, other)]
                foreign = [s for s in others if not self._names(s.who, text)]
                if foreign and not self._says_any(mine[who], who, text):
                    self._count("wrong_person", True, foreign[0], [f"{who}: {text}"], bad=True)

    def _once(self) -> None:
        for statement in self._scenario.statements("once"):
            live = self._live(statement)
            self._count("repeated", len(live) > 1, statement, [each.text for each in live], bad=True)

    def _junk(self) -> None:
        """Live memories that nothing expects, where the scenario says what may be kept."""
        if self._scenario.open:
            return
        gold = [each for _, each in self._scenario.gold]
        expected = (*gold, *self._scenario.statements("stale", "may", "once", "never", "wrong"))
        for who, memories in self._played.seen[-1].items():
            for memory in memories:
                if self._is_live(memory):
                    junk = not any(self._of(each, memory.text, who) for each in expected if each.who == who)
                    self.counts["memories"] += 1
                    self._count("junk", junk, Statement(who, ()), [memory.text], bad=True)

    def _live(self, statement: Statement) -> list[Memory]:
        now = [each for each in self._played.seen[-1].get(statement.who, ()) if self._is_live(each)]
        return [each for each in now if self._of(statement, text_of(each), statement.who)]

    def _is_live(self, memory: Memory) -> bool:
        over = min((each for each in (memory.valid_until, memory.expires_at) if each is not None), default=None)
        return memory.status == "active" and (over is None or over > self._now)

    def _ever(self, statement: Statement) -> list[str]:
        """The texts that said it at any time, also in memories that ended."""
        return [text for text in self._texts(statement.who) if self._of(statement, text, statement.who)]

    def _texts(self, who: str) -> list[str]:
        kept = (text_of(memory) for after in self._played.seen for memory in after.get(who, ()))
        return list(dict.fromkeys(kept))

    def _of(self, statement: Statement, text: str, who: str) -> bool:
        return statement.says(text, self._scenario.names_of(who))

    def _says_any(self, statements: Iterable[Statement], who: str, text: str) -> bool:
        return any(self._of(each, text, who) for each in statements if each.who == who)

    def _names(self, who: str, text: str) -> bool:
        words = self._scenario.names_of(who)
        return bool(words) and Statement(who, (words,)).says(text)

    def _count(
        self, figure: str, value: bool, statement: Statement, texts: Iterable[str], *, bad: bool = False
    ) -> bool:
        self.counts[f"{figure}_of"] += 1
        self.counts[figure] += value
        if value == bad:
            place = (self._scenario.kind, self._scenario.id)
            self.failures.append(Failure(*place, figure, str(statement), tuple(texts)))
        return value


def text_of(memory: Memory) -> str:
    """Returns the short text of a memory, with the full text if there is one."""
    return memory.text if memory.full_text is None else f"{memory.text} {memory.full_text}"


def dates(gold: Gold, live: Sequence[Memory]) -> Iterator[tuple[str, bool]]:
    """Whether a memory holds from and until when it is said to; a day beside it counts as well, for ends that are exclusive."""
    if gold.from_ is not None:
        yield "dated", any(each.valid_from is not None and near(each.valid_from, gold.from_) for each in live)
    if gold.until is not None:
        yield "dated", any(each.valid_until is not None and near(each.valid_until, gold.until) for each in live)


def near(at: datetime, written: str) -> bool:
    """Within a day of a day, a month or a year."""
    numbers = [int(part) for part in written.split("-")]
    first = moment("-".join([f"{numbers[0]:04}", *(f"{each:02}" for each in (*numbers[1:], 1, 1)[:2])]))
    if len(numbers) == 3:
        after = first + DAY
    elif len(numbers) == 2:
        after = (first + 31 * DAY).replace(day=1)
    else:
        after = first.replace(year=first.year + 1)
    return first - DAY <= at <= after + DAY


def figures(counts: Counter[str]) -> dict[str, int | float | None]:
    """The counts, and the shares that are told of them."""
    shares = {
        "gold_contained": share(counts, "contained"),
        "supersession_recall": share(counts, "ended"),
        "supersession_precision": ratio(counts["ended"], counts["ended"] + counts["lost_wrongly"]),
        "junk_share": share(counts, "junk"),
    }
    return {**dict(sorted(counts.items())), **shares}


def share(counts: Counter[str], figure: str) -> float | None:
    return ratio(counts[figure], counts[f"{figure}_of"])


def ratio(part: int, whole: int) -> float | None:
    return round(part / whole, 3) if whole else None
