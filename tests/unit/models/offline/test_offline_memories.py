"""Offline rules for memories: compaction, ratings and short texts."""

import pytest
from msgspec.structs import replace

from agents.models.answers.summaries import estimated_tokens
from agents.models.offline.provider import MAX_COMPARED, OfflineProvider
from agents.models.offline.rules.engine.languages import is_another_language
from agents.models.offline.rules.importance.compaction import decide_by_rules
from agents.models.offline.rules.importance.condensing import short_text_by_rules
from agents.models.offline.rules.importance.rating import MAX_BY_FREQUENCY, frequency, rating_by_rules
from agents.models.port import MemoryToRate
from agents.models.prompts.compaction import Decision
from schemas.extraction import importance
from schemas.policies.policies import DEFAULT_POLICY
from tests.builders.slices import known


def decision(*texts: str, max_chars: int = 200) -> Decision:
    return decide_by_rules([known(text) for text in texts], max_chars)


@pytest.mark.parametrize(
    ("texts", "goes", "why"),
    [
        (("User lives in Berlin.", "User likes tea.", "User lives in Lyon."), 1, "outdated"),
        (("User likes coffee.", "User likes tea.", "User does not like coffee."), 1, "outdated"),
        (("User prefers light mode.", "User likes tea.", "User prefers dark mode."), 1, "outdated"),
        (("The demo is on 2026-05-01.", "User likes tea.", "The demo is on 2026-05-08."), 1, "outdated"),
        (("User plays chess with Ada on Sundays.", "User likes tea.", "User plays chess."), 3, "part of"),
        (("User plays chess.", "User likes tea.", "User plays chess with Ada on Sundays."), 1, "part of"),
    ],
)
def test_compaction_rules_delete_an_outdated_memory_or_one_contained_in_another(
    texts: tuple[str, ...], goes: int, why: str
) -> None:
    found = decision(*texts)
    assert (found.action, found.memory) == ("delete", goes) and why in found.reason


def test_compaction_rules_take_a_home_for_outdated_only_by_a_move_to_a_place() -> None:
    assert "outdated" in decision("User moved to Leeds.", "User likes tea.", "User moved to Lyon.").reason
    assert "outdated" not in decision("User moved to Leeds.", "User likes tea.", "User moved to decaf.").reason


def test_compaction_rules_do_not_treat_a_memory_with_a_number_as_part_of_one_without() -> None:
    found = decision("User has 2 sons.", "User has sons who play chess in the same club.", max_chars=20)
    assert "part of" not in found.reason


def test_two_memories_become_one_only_where_the_text_fits() -> None:
    texts = ("User trains for the Lisbon marathon.", "User likes tea.", "User runs the Lisbon marathon in May.")
    merged = decision(*texts)
    assert (merged.action, merged.memory, merged.absorbs) == ("edit", 1, 3)
    assert merged.text == "User trains for the Lisbon marathon. User runs the Lisbon marathon in May."
    assert decision(*texts, max_chars=60).action == "delete"


def test_the_same_memories_give_the_same_decision() -> None:
    texts = [f"User owns item {number} of the {number % 7} sets." for number in range(60)]
    assert decision(*texts) == decision(*texts)


def test_rules_rate_danger_to_life_as_critical_and_trivia_below_100_points() -> None:
    vital = rating_by_rules(
        MemoryToRate(
            text="User is allergic to nuts; their wife died of it and they are in panic.", kind="person", references=99
        )
    )
    assert importance.band(vital.points) == "critical"
    assert rating_by_rules(MemoryToRate(text="The weather was sunny.", kind="fact")).points < 100


def test_feelings_and_close_people_raise_the_rating() -> None:
    plain = rating_by_rules(MemoryToRate(text="User met a colleague.", kind="event")).points
    close = rating_by_rules(MemoryToRate(text="User met their sister.", kind="event")).points
    deep = rating_by_rules(MemoryToRate(text="User mourns their sister.", kind="event")).points
    assert plain < close < deep


def test_frequency_points_grow_with_references_up_to_a_bound() -> None:
    assert frequency(0) == frequency(-3) == 0.0
    assert frequency(1) < frequency(3) < frequency(7) < frequency(10**6) == MAX_BY_FREQUENCY


def test_shortening_prefers_feelings_if_the_policy_enables_them() -> None:
    full = "User bought 3 lamps from Ikea for the flat. User felt lonely in it. User owns 12 chairs by Thonet."
    assert "lonely" not in short_text_by_rules(full, 50, False, estimated_tokens)
    assert "lonely" in short_text_by_rules(full, 50, True, estimated_tokens)


def test_a_sentence_that_is_too_long_is_cut_after_a_word() -> None:
    text = short_text_by_rules("User moved " + "from house to house " * 50, 100, False, estimated_tokens)
    assert len(text) <= 100 and text.endswith(("house…", "to…", "from…"))


@pytest.mark.parametrize(
    ("text", "source", "another"),
    [
        (
            "User lives in Turin.",
            "Ich wohne in Turin und arbeite bei der Bahn.",
            False,
        ),  # a name and a verb prove nothing
        ("User lives in the city and is happy with it.", "Ich wohne in Turin und arbeite bei der Bahn.", True),
        ("Nutzer wohnt in Turin und arbeitet bei der Bahn.", "Ich wohne in Turin und arbeite bei der Bahn.", False),
        ("User lives in Turin.", "我住在都灵。", True),
        ("用户住在都灵 (Turin)。", "我住在都灵。", False),
        ("[PASSWORD]", "我住在都灵。", False),
        ("2026-03-01", "I moved on the first of March.", False),
    ],
)
def test_a_different_language_is_detected_only_if_the_evidence_is_clear(text: str, source: str, another: bool) -> None:
    assert is_another_language(text, source) is another


def unlike(number: int) -> str:
    """A text that has no word of another one's."""
    stem = "".join(chr(ord("a") + int(digit)) for digit in f"{number:04}")
    return f"{stem}king {stem}ling {stem}ding"


async def test_compaction_of_many_memories_compares_only_the_newest_and_the_least_important() -> None:
    """Each is compared with each while nothing else of the process goes on."""
    said = known("User plays chess with Ada on Sundays.", memory_id="newest")
    repeated = replace(said, memory_id="repeated", importance=0.9)
    trifles = [replace(known(unlike(n), memory_id=f"t{n}"), importance=0.1) for n in range(MAX_COMPARED)]
    assert (await OfflineProvider().compact([repeated, *trifles, said], DEFAULT_POLICY)).memory_id == "t0"
    few = [repeated, *trifles[: MAX_COMPARED - 2], said]
    assert (await OfflineProvider().compact(few, DEFAULT_POLICY)).memory_id in ("repeated", "newest")
