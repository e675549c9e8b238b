"""What of a conversation is in context: pruned when it calls for that, and why messages left."""

from collections.abc import Collection, Iterable
from itertools import groupby

from schemas.conversations.adjustments import Adjustments
from schemas.conversations.windows import UNDO_CLEAR_S, Cause, Gap, LastPrune, Level, Pruning, Run
from schemas.extraction.requests import ExtractionRequest
from schemas.policies.policies import Policy
from streams.windows.context import gaps, statistics
from streams.windows.context.tally import Tally
from streams.windows.effects import ContextPruned, ContextRestored, ContextWarning, Effect, PruningFailed
from streams.windows.entry import Entry
from streams.windows.extraction import slices
from streams.windows.marks import weighed
from streams.windows.pruning import pruning
from streams.windows.pruning.decision import Decision
from streams.windows.rows.head import REMEMBERED_PRUNINGS, Cleared, Head, Removals
from streams.windows.segments import Segmentation
from streams.windows.terms import Terms
from streams.windows.tokens.accounting import Budget
from streams.windows.traits import MessageTraits

# A conversation that is caught up on is pruned again before the first summary comes: the next request makes one of them.
SUMMARIES_IN_ONE_MARKER = 4
MOST_REASONS = 200  # of one pruning that are told message by message; its runs tell of all
MOST_PROMPTS = 10  # system messages in context
LEVELS: tuple[Level, ...] = ("ok", "warning", "aggressive")


class History:
    """Positions of the window's `entries`: `shown` are in context, in order; `out` left it and wait for their extraction.

    `shown` has the turn of each at hand, made once: every pruning goes through them all.

    `changed`: the row of removals is to be written.
    """

    def __init__(self, head: Head, entries: dict[int, Entry], removals: Removals, adjustments: Adjustments) -> None:
        self._head = head
        self._adjustments = adjustments
        self._entries = entries
        self.removals = removals
        self.out = {position for position in entries if gaps.holds(removals.gaps, position)} if removals.gaps else set()
        self._just_out: list[int] = []
        self.shown = self._in_context()
        self.changed = False

    def _in_context(self) -> dict[int, MessageTraits]:
        there = ((at, entry) for at, entry in self._entries.items() if at not in self.out)
        return {at: weighed(entry.message_traits(), self._adjustments) for at, entry in there}

    def weigh(self, position: int) -> None:
        """What a message was marked or rated has changed."""
        if position in self.shown:
            self.shown[position] = weighed(self._entries[position].message_traits(), self._adjustments)

    def just_out(self) -> list[int]:
        """Positions that left the context since this was last asked for, in order."""
        taken, self._just_out = sorted(set(self._just_out)), []
        return taken

    def turns(self) -> list[MessageTraits]:
        """The messages in context, in order."""
        return list(self.shown.values())

    def take(self, turn: MessageTraits, before: Segmentation, terms: Terms, now: float) -> list[Effect]:
        """A message came in, with the conversation's tasks as they stood `before` it: prunes what it calls for."""
        self.shown[turn.position] = weighed(turn, self._adjustments)
        self._head.tally.add(turn.role, turn.tokens, turn.timestamp)
        if turn.role == "system" and (replaced := self._replaced(turn.position)):
            turns, gaps = self.turns(), self.removals.gaps
            decision = pruning.remove(turns, gaps, terms.budget, replaced, "usage", "repeated")
            return self._apply(decision, terms, now)
        cause = self._cause(turn, before, terms.policy) if turn.role == "user" else None
        if cause is None:
            return self._pruned_if_due(turn.position, terms, now)
        return [*self._warned(turn.position, terms.budget), *self.prune(cause, terms, now)]

    def _cause(self, turn: MessageTraits, before: Segmentation, policy: Policy) -> Cause | None:
        """Whether a session begins with what a user says, which takes an end before it, or a task."""
        head, settings = self._head, policy.window
        resumed = head.ended and not head.resumed and turn.timestamp > head.ended_at
        head.resumed = head.resumed or resumed
        if resumed and settings.prune_at_session_start:
            return "session_start"
        began = turn.segment > before.segment
        return "boundary" if began and settings.prune_at_boundary else None

    def _replaced(self, position: int) -> list[int]:
        """System prompts that a new one stands for: the same said before, or, of very many, the oldest but the first."""
        prompts = [at for at, turn in self.shown.items() if turn.role == "system" and at != position]
        said = self._entries[position].said.content
        same = [at for at in prompts if self._entries[at].said.content == said]
        return same or (prompts[1:2] if len(prompts) >= MOST_PROMPTS else [])

    def _warned(self, position: int, budget: Budget) -> list[Effect]:
        """A notice when the context came to a level higher than the last one told of."""
        head = self._head
        level, told = budget.level(head.tally.used_tokens), head.warned
        head.warned = level
        if LEVELS.index(level) <= LEVELS.index(told):
            return []
        return [ContextWarning(head.scope, position, statistics.of(head.tally, budget, head.last_prune))]

    def prune(self, cause: Cause, terms: Terms, now: float) -> list[Effect]:
        """Prunes as `pruning.prune` decides. Where that fails nothing leaves: a context too large serves better than none."""
        try:
            decision = pruning.prune(self.turns(), self.removals.gaps, terms.budget, now, cause)
        except Exception as exc:  # noqa: BLE001 (the effect tells of it)
            return [PruningFailed(self._head.scope, next(reversed(self.shown), 0), cause, repr(exc))]
        return self._apply(decision, terms, now)

    def clear(self, terms: Terms, now: float) -> list[Effect]:
        """Takes everything out of context but system prompts; told even when nothing was left to take."""
        head = self._head
        undone = Cleared(now + UNDO_CLEAR_S, self.removals.gaps, head.last_prune)
        decision = pruning.clear(self.turns(), self.removals.gaps, terms.budget)
        known = self.removals.cleared
        told = self._apply(decision, terms, now)
        self.removals.cleared = undone if decision.removed else known
        head.cleared_at = now
        return told

    def restore(self, terms: Terms, now: float) -> list[Effect]:
        """Undoes the last clear, if that was not long ago and nothing else has left since; else nothing happens."""
        head, cleared = self._head, self.removals.cleared
        if cleared is None or now > cleared.until:
            return []
        back = [position for position in self.out if self.is_held(position)]
        self.out.difference_update(back)
        self.shown = self._in_context()
        self.removals.gaps, self.removals.cleared = cleared.gaps, None
        head.tally = Tally.of(self.turns(), cleared.gaps)
        head.warned = terms.budget.level(head.tally.used_tokens)
        head.last_prune, head.cleared_at = cleared.last_prune, None
        self.changed = True
        position = next(reversed(self._entries), 0)
        found = statistics.of(head.tally, terms.budget, head.last_prune)
        told = ContextRestored(head.scope, position, len(back), found)
        return [told, *self._pruned_if_due(position, terms, now)]

    def is_held(self, position: int) -> bool:
        """Whether a message out of context stays in the window, for the time that the clear which took it can be undone."""
        cleared = self.removals.cleared
        return cleared is not None and not gaps.holds(cleared.gaps, position)

    def lapse(self, now: float | None = None) -> None:
        """The last clear can no longer be undone: at any rate, or from its time on."""
        cleared = self.removals.cleared
        if cleared is None or (now is not None and now < cleared.until):
            return
        self._just_out += [position for position in self.out if self.is_held(position)]
        self.removals.cleared = None
        self.changed = True

    def _apply(self, decision: Decision, terms: Terms, now: float) -> list[Effect]:
        if not decision.removed and decision.cause != "cleared":
            return []
        head, budget = self._head, terms.budget
        self.lapse()
        before = head.tally.used_tokens
        for position in decision.removed:
            del self.shown[position]
        self._just_out += decision.removed
        self.out.update(decision.removed)
        head.tally = Tally.of(self.turns(), decision.gaps)
        head.warned = budget.level(head.tally.used_tokens)
        head.prunings += 1
        record = Pruning(
            number=head.prunings,
            at=now,
            cause=decision.cause,
            level=decision.level,
            tokens_before=budget.billed(before),
            tokens_after=budget.billed(head.tally.used_tokens),
            removed=tuple(runs(decision)),
        )
        head.last_prune = LastPrune(now, decision.cause, len(decision.removed))
        self.removals.gaps = decision.gaps
        self.removals.prunings = (*self.removals.prunings, record)[-REMEMBERED_PRUNINGS:]
        self.changed = True
        return [self._pruned(decision, record, budget), *self._summaries(decision, terms.policy, now)]

    def gone(self, positions: Iterable[int], left: tuple[str, ...]) -> None:
        """Messages out of context left the window altogether; `left` are the digests that are remembered now."""
        self.out.difference_update(positions)
        self.removals.left = left
        self.changed = True

    def erase(self, gone: Collection[int]) -> None:
        """These messages are no longer in the window, and nothing says any more what left before them."""
        self.lapse()
        self.shown = {position: turn for position, turn in self.shown.items() if position not in gone}
        self.out.difference_update(gone)
        self._just_out = [position for position in self._just_out if position not in gone]
        first = next(iter(self._entries), None)
        left = [gap for gap in self.removals.gaps if first is not None and gap.last >= first]
        self.removals.gaps = tuple(gaps.summarised(gap, "", 0) for gap in left)
        self.removals.prunings = ()
        self._head.tally = Tally.of(self.turns(), self.removals.gaps)
        self._head.warned, self._head.last_prune = "ok", None
        self.changed = True

    def _pruned(self, decision: Decision, record: Pruning, budget: Budget) -> ContextPruned:
        head = self._head
        latest = decision.removed[-MOST_REASONS:]
        reasons = {self._entries[at].said.message_id: decision.reasons[at] for at in latest}
        position = next(reversed(self._entries), 0)
        return ContextPruned(head.scope, position, record, reasons, statistics.of(head.tally, budget, head.last_prune))

    def _summaries(self, decision: Decision, policy: Policy, now: float) -> Iterable[ExtractionRequest]:
        """A request for each gap that messages came to."""
        if not policy.window.summarise or decision.cause == "cleared":
            return
        for gap in decision.gaps:
            left = [self._entries[at] for at in decision.removed if gap.first <= at <= gap.last]
            if left:
                yield slices.summary_request(left, gap, self._head, policy, now)

    def summarised(self, part: Gap, known: str | None, terms: Terms, now: float) -> list[Effect]:
        """A part of a gap was summarised; nothing happens when no gap holds it any more, or its marker says that already.

        A summary takes room: it may call for pruning as a message does.
        """
        found = next((gap for gap in self.removals.gaps if gap.first <= part.first and part.last <= gap.last), None)
        if found is None or part.summary in found.summary:
            return []
        most_tokens = SUMMARIES_IN_ONE_MARKER * terms.policy.window.summary_tokens
        said = gaps.with_summary(found, part, known, most_tokens)
        self.removals.gaps = tuple(said if gap is found else gap for gap in self.removals.gaps)
        self._head.tally.remove(self.removals.gaps)
        self.changed = True
        return self._pruned_if_due(part.last, terms, now)

    def held_to(self, terms: Terms, now: float) -> list[Effect]:
        """Prunes what calls for it on terms that have changed."""
        return self._pruned_if_due(next(reversed(self.shown), 0), terms, now)

    def _pruned_if_due(self, position: int, terms: Terms, now: float) -> list[Effect]:
        """Tells of a level that was reached at a position, and prunes what is over it."""
        tally = self._head.tally
        if terms.calm(len(self.shown), tally.used_tokens):  # there are no more of them than messages in context
            self._head.warned = "ok"
            return []
        told = self._warned(position, terms.budget)
        if pruning.due(tally.message_count, tally.used_tokens, terms.budget):
            told += self.prune("usage", terms, now)
        return told


def runs(decision: Decision) -> Iterable[Run]:
    """What left, in runs of messages that left for the same reason with none between them that stayed."""
    everything = sorted(decision.reasons)
    removed = set(decision.removed)
    for (left, reason), run in groupby(everything, key=lambda at: (at in removed, decision.reasons[at])):
        if left:
            positions = list(run)
            yield Run(reason, positions[0], positions[-1], len(positions))
