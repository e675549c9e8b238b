"""Agreement of importance and detectors with labels of single messages; `test_labelled.py` describes the labels."""

import json
import logging

import pytest

from streams.windows.detectors.detect import detect
from streams.windows.detectors.traits import names
from streams.windows.pruning.importance import base_importance
from tests import public_data
from tests.unit.windows.pruning.labels import HALVES, band, labelled

report = logging.getLogger(__name__).info  # pytest --log-cli-level=INFO shows the figures
UNLABELLED = {"task_begins", "task_switches", "specific"}  # traits that the labels of single messages do not know
# The share of each label's messages whose importance agrees with it, at least, and of all. What was written for the rules is
# found; of small talk among real messages, and of anything but plain ones in fresh conversations, little is, and no less may be.
WRITTEN = {"high": 0.9, "normal": 0.9, "low": 0.9, "all": 0.9}
SAID_FRESH = {"high": 7 / 12, "normal": 0.95, "low": 12 / 33, "all": 0.9}
REAL = {"normal": 0.9, "low": 7 / 16, "all": 0.8}


def agreement(which: str, labels: list[tuple[str, str]]) -> dict[str, float]:
    """Returns the share of correctly found labels, for each label and for `all`."""
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


def test_at_most_one_percent_of_small_talk_is_detected_as_important():
    """Uses all of MemoryBank, conversations with a companion: 1,132 messages in English, as many in Chinese."""
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
