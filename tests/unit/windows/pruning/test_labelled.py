"""How well importance and pruning agree with people: figures on labelled messages and conversations, with their bounds.

`labelled_importance.json` and `labelled_conversations.json` were written for this test, by whoever wrote the rules and
before writing them; the rules were tuned on one half of them and not on the other. `labelled_memorybank.json` labels real
messages of the public MemoryBank data set, by their place in it, likewise in two halves.

`labelled_conversations_fresh.json` was held out as a whole. Whoever wrote it knew what the documentation says of the rules,
and the older labels, but not the rules themselves or their words. All of it was written and labelled before any rule was
run over it, with what a careful reader needs to understand or to answer a later message; neither changed since. Three weights
of `hybrid` and what counts as specific were chosen afterwards, with every other of its conversations in view.

A short conversation here would just fill its model's context if nothing left. In tighter windows the last ten messages,
which never leave, are most of what there is room for, and no strategy has much of a choice. Fresh ones are longer, and are
followed in several windows.
"""

import json
import logging
import random
from pathlib import Path
from statistics import fmean

import pytest

from schemas.conversations.window_settings import WindowSettings
from streams.windows.context import gaps as gaps_
from streams.windows.detectors.detect import detect
from streams.windows.detectors.traits import names
from streams.windows.pruning import ordering
from streams.windows.pruning.importance import base_importance
from streams.windows.pruning.pruning import prune
from streams.windows.segments import Segmentation, following
from streams.windows.tokens.accounting import Budget
from streams.windows.traits import MessageTraits
from tests import public_data

report = logging.getLogger(__name__).info  # pytest --log-cli-level=INFO shows the figures

HERE = Path(__file__).parent
HALVES = ["tuning", "held_out"]
STRATEGIES = ("rolling_window", "importance", "hybrid")
APART = 20  # positions from one message to the next: so many conversations share the partition
OVERFULL = 1.0  # of a conversation's tokens are its model's context: it would be filled if nothing left
# With `hybrid`, by the share of a fresh conversation's tokens that its model's context is: which share of what is needed is
# there, at least, and how many of those that left are needed, at most. Measured, with two needs of 94 to spare: the aims are
# 0.9 and 0.05, and are missed.
FRESH = [(1.25, 0.88, 0.08), (1.0, 0.75, 0.13), (0.85, 0.6, 0.15), (0.7, 0.41, 0.18), (0.5, 0.19, 0.21)]
# By the same share: by how much more of what is needed is there than if units left in a random order. Measured, with two
# needs to spare; at 1.0 it is what is aimed for.
AHEAD = [(1.25, 0.04), (1.0, 0.15), (0.85, 0.14), (0.7, 0.12), (0.5, 0.05)]
SEEDS = 10
UNLABELLED = {"task_begins", "task_switches", "specific"}  # traits that the labels of single messages do not know
# The share of each label's messages whose importance agrees with it, at least, and of all. What was written for the rules is
# found; of small talk among real messages, and of anything but plain ones in fresh conversations, little is, and no less may be.
WRITTEN = {"high": 0.9, "normal": 0.9, "low": 0.9, "all": 0.9}
SAID_FRESH = {"high": 1 / 12, "normal": 0.95, "low": 12 / 33, "all": 0.9}
REAL = {"normal": 0.9, "low": 6 / 16, "all": 0.8}


def labelled(name: str, half: str) -> list[dict]:
    return [each for each in json.loads((HERE / f"labelled_{name}.json").read_text()) if each["half"] == half]


def band(role: str, text: str) -> str:
    tenths = base_importance(detect(role, text).traits)
    return "high" if tenths >= 7 else "low" if tenths <= 3 else "normal"


def agreement(which: str, labels: list[tuple[str, str]]) -> dict[str, float]:
    """Of pairs of a label and what was found: which share of each label's was found, and of `all`."""
    of = {name: [found for label, found in labels if label == name] for name in ("high", "normal", "low")}
    shares = {name: found.count(name) / len(found) for name, found in of.items() if found}
    for name, share in shares.items():
        report("%s, labelled %s: %.3f of %d agreed", which, name, share, len(of[name]))
    return shares | {"all": sum(label == found for label, found in labels) / len(labels)}


def at_least(shares: dict[str, float], floors: dict[str, float]) -> None:
    """A band by itself too: of what is labelled most is normal, and who always says so agrees with most labels."""
    assert shares.keys() == floors.keys()
    assert {name: share for name, share in shares.items() if share < floors[name]} == {}


@pytest.mark.parametrize("half", HALVES)
def test_importance_agrees_with_labels(half):
    labels = [(each["band"], band(each["role"], each["text"])) for each in labelled("importance", half)]
    at_least(agreement(f"{half} half", labels), WRITTEN)


def test_importance_agrees_with_labels_of_fresh_conversations():
    """Calls and results are important whatever they say, so what is said is asked for by itself."""
    messages = [each for one in labelled("conversations_fresh", "held_out") for each in one["messages"]]
    said = [each for each in messages if each["role"] in ("user", "assistant") and "call" not in each]
    labels = [(each["band"], band(each["role"], each["text"])) for each in said]
    at_least(agreement("fresh", labels), SAID_FRESH)


@pytest.mark.parametrize("half", HALVES)
def test_detectors_find_the_labelled_traits_and_no_others(half):
    found = expected = right = 0
    for each in labelled("importance", half):
        traits = set(names(detect(each["role"], each["text"]).traits)) - UNLABELLED
        found, expected, right = (
            found + len(traits),
            expected + len(each["traits"]),
            right + len(traits & set(each["traits"])),
        )
    report("%s half: precision %.2f, recall %.2f", half, right / found, right / expected)
    assert right / found >= 0.9
    assert right / expected >= 0.9


@pytest.mark.parametrize("half", HALVES)
def test_importance_agrees_with_labels_of_real_messages(half):
    people = json.loads(public_data.required("memorybank", "memory_bank_en.json").read_text())
    labels = []
    for each in labelled("memorybank", half):
        text = people[each["person"]]["history"][each["day"]][each["turn"]][each["part"]]
        labels.append((each["band"], band("user" if each["part"] == "query" else "assistant", text)))
    at_least(agreement(f"{half} half, real messages", labels), REAL)


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
        found = detect(message["role"], message["text"], "call" in message)
        self._state = following(
            self._state, message["role"], found.traits, at, message["text"], self._budget.settings.task_gap_s
        )
        began = self._state.segment != before
        self.began += [place] if began else []
        self.turns.append(self._turn(place, message, found))
        decision = prune(self.turns, self.gaps, self._budget, at, "boundary" if began else "usage")
        self.turns, self.gaps = [each for each in self.turns if each.position in set(decision.kept)], decision.gaps
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
    """Of what is needed, the share that is there; of the messages that left, the share that is needed and missed."""
    seen = followed(conversations, strategy, share)
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


@pytest.mark.parametrize(("share", "least_coherent", "most_missed"), FRESH)
def test_fresh_conversations_stay_as_coherent_as_documented(share, least_coherent, most_missed):
    held_out, fresh = labelled("conversations", "held_out"), labelled("conversations_fresh", "held_out")
    sets = {
        "held-out half": held_out,
        "fresh": fresh,
        "fresh, conversations in view": fresh[::2],
        "fresh, the others": fresh[1::2],
        "both": held_out + fresh,
    }
    for name, some in sets.items():
        for strategy in STRATEGIES:
            figures = coherence(some, strategy, share)
            report("%s, %.2f, %s: coherence %.3f, needed among pruned %.3f", name, share, strategy, *figures)
    coherent, missed = coherence(fresh, "hybrid", share)
    assert coherent >= least_coherent
    assert missed <= most_missed


@pytest.mark.parametrize(("share", "ahead"), AHEAD)
def test_fresh_conversations_stay_more_coherent_than_in_a_random_order(share, ahead, monkeypatch):
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
def test_ratings_of_what_later_messages_need_keep_more_of_it(found, false, ahead):
    """As a model would give them that finds a share of what is needed later, and takes a share of the rest for it. No model
    was asked: what is needed is known from the labels. Without ratings 0.787 of it is kept, in a random order 0.635."""
    fresh = labelled("conversations_fresh", "held_out")
    kept = [coherence([rated(each, found, false, seed) for each in fresh], "hybrid")[0] for seed in range(SEEDS)]
    report("fresh, 1.00, %.0f %% found, %.0f %% false: coherence %.3f", 100 * found, 100 * false, fmean(kept))
    assert fmean(kept) >= 0.635 + ahead


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
def test_tasks_begin_where_the_labels_say(name, half):
    conversations = labelled(name, half)
    for conversation, seen in zip(conversations, followed(conversations, "hybrid"), strict=True):
        assert seen.began == [place for place, each in enumerate(conversation["messages"]) if each.get("task")]


def test_small_talk_has_hardly_a_directive_an_error_or_a_correction():
    """All of MemoryBank, talk with a companion: 1,132 messages in English, as many in Chinese."""
    for language in ("en", "cn"):
        people = json.loads(public_data.required("memorybank", f"memory_bank_{language}.json").read_text())
        turns = [each for person in people.values() for day in person["history"].values() for each in day]
        false = [
            each[part]
            for each in turns
            for part, role in (("query", "user"), ("response", "assistant"))
            if base_importance(detect(role, each[part]).traits) >= 7
        ]
        assert len(false) <= len(turns) // 100
