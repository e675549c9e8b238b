"""Agreement of importance and pruning with labels of messages and conversations, and its lower bounds.

`labelled_importance.json` and `labelled_conversations.json` were written for this test, by whoever wrote the rules and
before writing them; the rules were tuned on one half of them and not on the other. `labelled_memorybank.json` labels real
messages of the public MemoryBank data set, by their place in it, likewise in two halves.

`labelled_conversations_fresh.json` was held out as a whole. Whoever wrote it knew what the documentation says of the rules,
and the older labels, but not the rules themselves or their words. All of it was written and labelled before any rule was
run over it, with what a careful reader needs to understand or to answer a later message; neither changed since. Three weights
of `hybrid`, what counts as specific, and some words of directives and corrections were chosen afterwards, with every other of its
conversations in view; the documentation had named three sentences of the others that are found since.

A short conversation here would just fill its model's context if nothing left. In tighter windows the last ten messages,
which never leave, are most of what there is room for, and no strategy has much of a choice. Fresh ones are longer, and are
followed in several windows.
"""

import logging
import random
from collections.abc import Callable
from functools import cache
from statistics import fmean

import pytest

from schemas.conversations.window_settings import WindowSettings
from streams.windows.context import gaps as gaps_
from streams.windows.detectors.detect import detect
from streams.windows.pruning import ordering
from streams.windows.pruning.pruning import prune
from streams.windows.segments import Segmentation, segmentation_after
from streams.windows.tokens.accounting import Budget
from streams.windows.traits import MessageTraits
from tests.unit.windows.pruning.labels import HALVES, band, labelled

report = logging.getLogger(__name__).info  # pytest --log-cli-level=INFO shows the figures
STRATEGIES = ("rolling_window", "importance", "hybrid")
APART = 20  # positions from one message to the next: so many conversations share the partition
OVERFULL = 1.0  # of a conversation's tokens are its model's context: it would be filled if nothing left
# With `hybrid`, by the share of a fresh conversation's tokens that its model's context is: which share of what is needed is
# there, at least, and how many of those that left are needed, at most. Measured, with two needs of 94 to spare: the aims are
# 0.9 and 0.05, and are missed.
FRESH = [(1.25, 0.89, 0.07), (1.0, 0.77, 0.12), (0.85, 0.62, 0.15), (0.7, 0.45, 0.17), (0.5, 0.18, 0.21)]
# By the same share: by how much more of what is needed is there than if units left in a random order. Measured, with two
# needs to spare; at 1.0 it is what is aimed for.
AHEAD = [(1.25, 0.04), (1.0, 0.15), (0.85, 0.14), (0.7, 0.12), (0.5, 0.05)]
SEEDS = 10


detected = cache(detect)  # the same messages are followed a thousand times


class Followed:
    """A labelled conversation, pruned as it goes on: what was needed and there, what was begun, what left."""

    def __init__(self, messages: list[dict], strategy: str, share: float = OVERFULL) -> None:
        self._tokens = [max(12, len(each["text"])) for each in messages]  # labelled messages are shorter than real ones
        self._budget = Budget.of(WindowSettings(strategy=strategy), int(share * sum(self._tokens)))
        self._state, self.turns, self.gaps = Segmentation(), [], ()
        self._places: dict[str, int] = {}
        self.needed: list[bool] = []
        self.began: list[int] = []
        for place, message in enumerate(messages):
            self._arrive(place, message)

    def _arrive(self, place: int, message: dict) -> None:
        at, before = message["minute"] * 60.0, self._state.segment
        found = detected(message["role"], message["text"], "call" in message)
        self._state = segmentation_after(
            self._state, message["role"], found.traits, at, message["text"], self._budget.settings.task_gap_s
        )
        began = self._state.segment != before
        self.began += [place] if began else []
        self.turns.append(self._turn(place, message, found))
        decision = prune(self.turns, self.gaps, self._budget, at, "boundary" if began else "usage")
        retained = set(decision.retained)
        self.turns, self.gaps = [each for each in self.turns if each.position in retained], decision.gaps
        if "label" in message:
            self._places[message["label"]] = APART * place
        self.needed += [not gaps_.holds(self.gaps, self._places[label]) for label in message.get("needs", ())]

    def _turn(self, place: int, message: dict, found) -> MessageTraits:
        return MessageTraits(
            position=APART * place,
            message_id=str(place),
            role=message["role"],
            timestamp=message["minute"] * 60.0,
            tokens=self._tokens[place],
            traits=found.traits,
            fingerprint=found.fingerprint,
            segment=self._state.segment,
            calls=(message["call"],) if "call" in message else (),
            answers=message.get("answers"),
            rating=message.get("rating") if message["role"] != "system" else None,
        )


def followed(conversations: list[dict], strategy: str, share: float = OVERFULL) -> list[Followed]:
    return [Followed(each["messages"], strategy, share) for each in conversations]


def coherence(conversations: list[dict], strategy: str, share: float = OVERFULL) -> tuple[float, float]:
    return figures(followed(conversations, strategy, share))


def figures(seen: list[Followed]) -> tuple[float, float]:
    """Returns the share of needed messages that were kept, and the share of removed messages that were needed."""
    needed = [there for each in seen for there in each.needed]
    left = sum(gaps_.count(each.gaps) for each in seen)
    return needed.count(True) / len(needed), needed.count(False) / left


@pytest.mark.parametrize("half", HALVES)
def test_conversations_stay_coherent_after_pruning(half):
    kept = {strategy: coherence(labelled("conversations", half), strategy) for strategy in STRATEGIES}
    for strategy in STRATEGIES:
        report("%s half, %s: coherence %.2f, needed among pruned %.2f", half, strategy, *kept[strategy])
    coherent, missed = kept["hybrid"]
    assert coherent >= 0.9
    assert missed <= 0.05
    assert coherent > kept["rolling_window"][0]


@pytest.mark.parametrize(("share", "least_coherent", "max_missed"), FRESH)
def test_fresh_conversations_stay_as_coherent_as_documented(share, least_coherent, max_missed):
    held_out, fresh = labelled("conversations", "held_out"), labelled("conversations_fresh", "held_out")
    found = {}
    for strategy in STRATEGIES:
        old, new = followed(held_out, strategy, share), followed(fresh, strategy, share)
        sets = {
            "held-out half": old,
            "fresh": new,
            "fresh, conversations in view": new[::2],
            "fresh, the others": new[1::2],
            "both": old + new,
        }
        for name, some in sets.items():
            found[name, strategy] = figures(some)
            report(
                "%s, %.2f, %s: coherence %.3f, needed among pruned %.3f", name, share, strategy, *found[name, strategy]
            )
    coherent, missed = found["fresh", "hybrid"]
    assert coherent >= least_coherent
    assert missed <= max_missed


@pytest.mark.parametrize(("share", "ahead"), AHEAD)
def test_pruning_keeps_fresh_conversations_more_coherent_than_removal_in_random_order(share, ahead, monkeypatch):
    fresh = labelled("conversations_fresh", "held_out")
    coherent, _ = coherence(fresh, "hybrid", share)
    by_chance = []
    for seed in range(SEEDS):
        chance = random.Random(seed)
        monkeypatch.setattr(
            ordering, "removal_batches", lambda units, *_, chance=chance: [[unit] for unit in shuffled(units, chance)]
        )
        by_chance.append(coherence(fresh, "hybrid", share))
    report(
        "fresh, %.2f, random: coherence %.3f, needed among pruned %.3f",
        share,
        *map(fmean, zip(*by_chance, strict=True)),
    )
    assert coherent >= fmean(kept for kept, _ in by_chance) + ahead


@pytest.mark.parametrize(("found", "false", "ahead"), [(1.0, 0.0, 0.3), (0.8, 0.2, 0.2), (0.6, 0.2, 0.1)])
def test_ratings_of_messages_needed_later_make_pruning_keep_more_of_them(found, false, ahead):
    """As a model would give them that finds a share of what is needed later, and takes a share of the rest for it. No model
    was asked: what is needed is known from the labels. Without ratings 0.787 of it is kept, in a random order 0.635."""
    fresh = labelled("conversations_fresh", "held_out")
    kept = [coherence([rated(each, found, false, seed) for each in fresh], "hybrid")[0] for seed in range(SEEDS)]
    report("fresh, 1.00, %.0f %% found, %.0f %% false: coherence %.3f", 100 * found, 100 * false, fmean(kept))
    assert fmean(kept) >= 0.635 + ahead


@pytest.mark.parametrize(("found", "false", "least"), [(1.0, 0.0, 1.0), (0.8, 0.2, 0.77), (0.6, 0.2, 0.67)])
def test_simulated_ratings_identify_messages_needed_later_better_than_rule_based_importance(found, false, least):
    """Balanced: of what users and assistants say, the shares of the needed and of the rest that are taken for it."""
    fresh = labelled("conversations_fresh", "held_out")
    by_ratings = [
        balanced([rated(each, found, false, seed) for each in fresh], lambda message: message["rating"] >= 8)
        for seed in range(SEEDS)
    ]
    by_rules = balanced(fresh, lambda message: band(message["role"], message["text"]) == "high")
    report("fresh, %.0f %% found: balanced %.3f, by rules %.3f", 100 * found, fmean(by_ratings), by_rules)
    assert fmean(by_ratings) >= least > by_rules


def balanced(conversations: list[dict], taken: Callable[[dict], bool]) -> float:
    verdicts: dict[bool, list[bool]] = {True: [], False: []}
    for each in conversations:
        needs = {label for message in each["messages"] for label in message.get("needs", ())}
        for message in each["messages"]:
            if message["role"] in ("user", "assistant") and "call" not in message:
                needed = message.get("label") in needs
                verdicts[needed].append(taken(message) == needed)
    return fmean(map(fmean, verdicts.values()))


def rated(conversation: dict, found: float, false: float, seed: int) -> dict:
    """With the ratings of what a message needs: 9 of what is taken for needed, 3 of what is not."""
    chance = random.Random(f"{conversation['name']} {seed}")
    needs = {label for each in conversation["messages"] for label in each.get("needs", ())}
    messages = []
    for each in conversation["messages"]:
        taken = chance.random() < (found if each.get("label") in needs else false)
        messages.append(each | {"rating": 9 if taken else 3})
    return conversation | {"messages": messages}


def shuffled(units: list, chance: random.Random) -> list:
    return chance.sample(units, len(units))


@pytest.mark.parametrize(
    ("name", "half"), [("conversations", "tuning"), ("conversations", "held_out"), ("conversations_fresh", "held_out")]
)
def test_detected_task_beginnings_match_the_labels(name, half):
    conversations = labelled(name, half)
    for conversation, seen in zip(conversations, followed(conversations, "hybrid"), strict=True):
        assert seen.began == [place for place, each in enumerate(conversation["messages"]) if each.get("task")]
