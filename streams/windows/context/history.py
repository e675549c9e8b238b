"""The messages of a window that are in context: prunes them when necessary, and keeps the reasons."""

from collections.abc import Collection, Iterable
from itertools import groupby

from msgspec import structs

from schemas.conversations.adjustments import Adjustments
from schemas.conversations.windows import UNDO_S, Cause, Gap, LastPrune, Level, Pruning, Run
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
from streams.windows.rows.head import REMEMBERED_PRUNINGS, Head, Removals, Undoable
from streams.windows.segments import Segmentation
from streams.windows.terms import Terms
from streams.windows.tokens.accounting import Budget
from streams.windows.traits import MessageTraits

# While a backlog is read, a window is pruned again before its first summary arrives: the marker then has several summaries.
SUMMARIES_IN_ONE_MARKER = 4
MAX_REASONS = 200  # reasons by message in the effect of one pruning; its runs cover all messages
MAX_SYSTEM_PROMPTS = 10  # system messages in context
LEVELS: tuple[Level, ...] = ("ok", "warning", "aggressive")
BY_HAND: tuple[Cause, ...] = ("manual", "cleared")


class History:
    """Positions of the window's `entries`: `shown` are in context, in order; `out` left it and wait for extraction.

    `shown` keeps the traits of each message, as every pruning reads them all. `changed` is set when the row of removals must
    be written.
    """

    def __init__(self, head: Head, entries: dict[int, Entry], removals: Removals, adjustments: Adjustments) -> None:
        self._head = head
        self._adjustments = adjustments
        self._entries = entries
        self.removals = removals
        self.removed = (
            {position for position in entries if gaps.holds(removals.gaps, position)} if removals.gaps else set()
        )
        self._newly_removed: list[int] = []
        self.in_context = self._load_context()
        self.changed = False

    def _load_context(self) -> dict[int, MessageTraits]:
        there = ((at, entry) for at, entry in self._entries.items() if at not in self.removed)
        return {at: weighed(entry.message_traits(), self._adjustments) for at, entry in there}

    def weigh(self, position: int) -> None:
        """Applies a changed mark or rating of a message."""
        if position in self.in_context:
            self.in_context[position] = weighed(self._entries[position].message_traits(), self._adjustments)

    def newly_removed(self) -> list[int]:
        """Positions that left the context since the last call, in order."""
        taken, self._newly_removed = sorted(set(self._newly_removed)), []
        return taken

    def messages_in_context(self) -> list[MessageTraits]:
        """The messages in context, in order."""
        return list(self.in_context.values())

    def take(self, turn: MessageTraits, before: Segmentation, terms: Terms, now: float) -> list[Effect]:
        """Adds a message, given the segmentation `before` it, and prunes if necessary."""
        self.in_context[turn.position] = weighed(turn, self._adjustments)
        self._head.tally.add(turn.role, turn.tokens, turn.timestamp)
        if turn.role == "system" and (replaced := self._replaced(turn.position)):
            return self._replace(replaced, terms, now)
        cause = self._cause(turn, before, terms.policy) if turn.role == "user" else None
        if cause is None:
            return self._pruned_if_due(turn.position, terms, now)
        return [*self._warning(turn.position, terms.budget), *self.prune(cause, terms, now)]

    def _cause(self, turn: MessageTraits, before: Segmentation, policy: Policy) -> Cause | None:
        """The cause of pruning on a user's message: a new session (after an end), a new task, or none."""
        head, settings = self._head, policy.window
        resumed = head.ended and not head.resumed and turn.timestamp > head.ended_at
        head.resumed = head.resumed or resumed
        if resumed and settings.prune_at_session_start:
            return "session_start"
        began = turn.segment > before.segment
        return "boundary" if began and settings.prune_at_boundary else None

    def _replaced(self, position: int) -> list[int]:
        """System prompts that a new one replaces: equal earlier ones, or, above a limit, the second oldest one."""
        prompts = [at for at, turn in self.in_context.items() if turn.role == "system" and at != position]
        content = self._entries[position].message.content
        same = [at for at in prompts if self._entries[at].message.content == content]
        return same or (prompts[1:2] if len(prompts) >= MAX_SYSTEM_PROMPTS else [])

    def _replace(self, replaced: list[int], terms: Terms, now: float) -> list[Effect]:
        """Removes system prompts that a new one replaces. Many services send theirs with each request, so this does not end the
        undo period; an undo does not restore these prompts."""
        decision = pruning.remove(
            self.messages_in_context(), self.removals.gaps, terms.budget, replaced, "usage", "repeated"
        )
        undoable = self.removals.undoable
        effects = self._apply(decision, terms, now)
        if undoable is not None:
            kept = [at for at in self._entries if at not in replaced and not gaps.holds(undoable.gaps, at)]
            removed_gaps = [gaps.of(self._entries[at].message_traits()) for at in replaced]
            undoable.gaps, undoable.last_prune = (
                gaps.merge_adjacent([*undoable.gaps, *removed_gaps], kept),
                self._head.last_prune,
            )
            self.removals.undoable = undoable
        return effects

    def _warning(self, position: int, budget: Budget) -> list[Effect]:
        """A warning when the context has reached a higher level than the last one reported."""
        head = self._head
        level, known_level = budget.level(head.tally.used_tokens), head.warned_level
        head.warned_level = level
        if LEVELS.index(level) <= LEVELS.index(known_level):
            return []
        return [ContextWarning(head.scope, position, statistics.of(head.tally, budget, head.last_prune))]

    def prune(self, cause: Cause, terms: Terms, now: float) -> list[Effect]:
        """Prunes as `pruning.prune` decides. If that fails, nothing leaves: too large a context is better than none."""
        try:
            decision = pruning.prune(self.messages_in_context(), self.removals.gaps, terms.budget, now, cause)
        except Exception as exc:  # noqa: BLE001 (the effect tells of it)
            return [PruningFailed(self._head.scope, next(reversed(self.in_context), 0), cause, repr(exc))]
        return self._apply(decision, terms, now)

    def clear(self, terms: Terms, now: float) -> list[Effect]:
        """Removes everything but system prompts from the context; reports even when nothing was left to remove."""
        effects = self._apply(pruning.clear(self.messages_in_context(), self.removals.gaps, terms.budget), terms, now)
        self._head.cleared_at = now
        return effects

    def restore(self, terms: Terms, now: float, requested_at: float) -> list[Effect]:
        """Undoes the last clear if it is recent and nothing else has left since; otherwise does nothing."""
        head, undoable = self._head, self.removals.undoable
        if undoable is None or min(now, requested_at) > undoable.until:
            return []
        back = [position for position in self.removed if self.is_undoable(position)]
        self.removed.difference_update(back)
        self.in_context = self._load_context()
        self.removals.gaps, self.removals.undoable = undoable.gaps, None
        head.tally = Tally.of(self.messages_in_context(), undoable.gaps)
        head.warned_level = terms.budget.level(head.tally.used_tokens)
        head.last_prune, head.cleared_at = undoable.last_prune, undoable.cleared_at
        self._note_undone(undoable.pruning, now)
        position = next(reversed(self._entries), 0)
        found = statistics.of(head.tally, terms.budget, head.last_prune)
        effect = ContextRestored(head.scope, position, len(back), found, undoable.pruning)
        return [effect, *self._pruned_if_due(position, terms, now)]

    def _note_undone(self, undone: Pruning | None, now: float) -> None:
        self.changed = True
        if undone is not None:
            others = [each for each in self.removals.prunings if each.number != undone.number]
            noted = [*others[1 - REMEMBERED_PRUNINGS :], structs.replace(undone, undone_at=now)]
            self.removals.prunings = tuple(sorted(noted, key=lambda each: each.number))

    def is_undoable(self, position: int) -> bool:
        """Whether a message out of context stays in the window because its clear can be undone."""
        undoable = self.removals.undoable
        return undoable is not None and not gaps.holds(undoable.gaps, position)

    def end_undo(self, now: float | None = None) -> None:
        """Ends the undo period of the last prune or clear by hand: at once, or, given `now`, if it is over by then."""
        undoable = self.removals.undoable
        if undoable is None or (now is not None and now < undoable.until):
            return
        self._newly_removed += [position for position in self.removed if self.is_undoable(position)]
        self.removals.undoable = None
        self.changed = True

    def _apply(self, decision: Decision, terms: Terms, now: float) -> list[Effect]:
        if not decision.removed and decision.cause != "cleared":
            return []
        head, budget = self._head, terms.budget
        undoable = (
            None if decision.removed else self.removals.undoable
        )  # a pruning that removes nothing does not end an undo
        if decision.removed and decision.cause in BY_HAND:
            undoable = Undoable(now + UNDO_S, self.removals.gaps, head.last_prune, head.cleared_at)
        self.end_undo()
        before = head.tally.used_tokens
        for position in decision.removed:
            del self.in_context[position]
        self._newly_removed += decision.removed
        self.removed.update(decision.removed)
        head.tally = Tally.of(self.messages_in_context(), decision.gaps)
        head.warned_level = budget.level(head.tally.used_tokens)
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
        if undoable is not None and decision.removed:
            undoable.pruning = record
        head.last_prune = LastPrune(now, decision.cause, len(decision.removed))
        self.removals.gaps, self.removals.undoable = decision.gaps, undoable
        self.removals.prunings = (*self.removals.prunings, record)[-REMEMBERED_PRUNINGS:]
        self.changed = True
        return [self._pruned(decision, record, budget), *self._summaries(decision, terms.policy, now)]

    def forget(self, positions: Iterable[int], digests: tuple[str, ...]) -> None:
        """Notes that messages out of context left the window; `digests` are all digests to keep."""
        self.removed.difference_update(positions)
        self.removals.removed_digests = digests
        self.changed = True

    def erase(self, erased: Collection[int]) -> None:
        """Removes erased messages, and every record of earlier removals."""
        self.end_undo()
        self.in_context = {position: turn for position, turn in self.in_context.items() if position not in erased}
        self.removed.difference_update(erased)
        self._newly_removed = [position for position in self._newly_removed if position not in erased]
        first = next(iter(self._entries), None)
        left = [gap for gap in self.removals.gaps if first is not None and gap.last >= first]
        self.removals.gaps = tuple(gaps.summarised(gap, "", 0) for gap in left)
        self.removals.prunings = ()
        self._head.tally = Tally.of(self.messages_in_context(), self.removals.gaps)
        self._head.warned_level, self._head.last_prune = "ok", None
        self.changed = True

    def _pruned(self, decision: Decision, record: Pruning, budget: Budget) -> ContextPruned:
        head = self._head
        latest = decision.removed[-MAX_REASONS:]
        reasons = {self._entries[at].message.message_id: decision.reasons[at] for at in latest}
        position = next(reversed(self._entries), 0)
        return ContextPruned(head.scope, position, record, reasons, statistics.of(head.tally, budget, head.last_prune))

    def _summaries(self, decision: Decision, policy: Policy, now: float) -> Iterable[ExtractionRequest]:
        """A summary request for each gap that grew."""
        if not policy.window.summarise or decision.cause == "cleared":
            return
        for gap in decision.gaps:
            left = [self._entries[at] for at in decision.removed if gap.first <= at <= gap.last]
            if left:
                yield slices.summary_request(left, gap, self._head, policy, now)

    def summarised(self, part: Gap, known: str | None, terms: Terms, now: float) -> list[Effect]:
        """Adds the summary of a part of a gap; does nothing if no gap contains the part, or its marker has the summary
        already.

        A summary takes room, so it may cause pruning as a message does.
        """
        max_tokens = SUMMARIES_IN_ONE_MARKER * terms.policy.window.summary_tokens
        undoable, summarised = self.removals.undoable, gaps.with_part(self.removals.gaps, part, known, max_tokens)
        if undoable is not None:
            before, undoable.gaps = undoable.gaps, gaps.with_part(undoable.gaps, part, known, max_tokens)
            self.changed = self.changed or before != undoable.gaps
        if summarised == self.removals.gaps:
            return []
        self.removals.gaps = summarised
        self._head.tally.remove(summarised)
        self.changed = True
        return self._pruned_if_due(part.last, terms, now)

    def prune_if_due(self, terms: Terms, now: float) -> list[Effect]:
        """Prunes if changed terms call for it."""
        return self._pruned_if_due(next(reversed(self.in_context), 0), terms, now)

    def _pruned_if_due(self, position: int, terms: Terms, now: float) -> list[Effect]:
        """Reports a level reached at a position, and prunes what exceeds it."""
        tally = self._head.tally
        if terms.surely_ok(len(self.in_context), tally.used_tokens):  # an upper bound: system prompts are included
            self._head.warned_level = "ok"
            return []
        effect = self._warning(position, terms.budget)
        if pruning.due(tally.message_count, tally.used_tokens, terms.budget):
            effect += self.prune("usage", terms, now)
        return effect


def runs(decision: Decision) -> Iterable[Run]:
    """Removed messages in runs: neighbours that left for the same reason."""
    everything = sorted(decision.reasons)
    removed = set(decision.removed)
    for (left, reason), run in groupby(everything, key=lambda at: (at in removed, decision.reasons[at])):
        if left:
            positions = list(run)
            yield Run(reason, positions[0], positions[-1], len(positions))
