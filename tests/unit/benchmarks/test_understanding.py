"""The figures of bench-understanding are counted correctly, and its scenarios are well formed."""

from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from msgspec import ValidationError, convert

from schemas.memories.memories import Memory
from tests.benchmarks.understanding import ablation
from tests.benchmarks.understanding.measures import Measured, Played, figures
from tests.benchmarks.understanding.run import failures, figures_of_half
from tests.benchmarks.understanding.scenarios import HALVES, ONE, Scenario, scenarios
from tests.benchmarks.understanding.statements import Statement
from tests.builders.memories import a_memory

ALL = scenarios()
KINDS = sorted({scenario.kind for scenario in ALL})
SAID_AT = datetime(2026, 3, 2, 18, tzinfo=UTC)


def a_scenario(*talk: str, **fields: Any) -> Scenario:
    return convert({"id": "s", "kind": "moves", "talk": talk or ("u: hello",)} | fields, Scenario)


def counted(scenario: Scenario, *after: dict[str, list[Memory]] | list[Memory], block: str = "") -> Counter[str]:
    """Counts the memories after each session; a list holds those of a single person."""
    seen = (each if isinstance(each, dict) else {ONE: each} for each in after)
    played = Played(scenario, tuple({who: tuple(those) for who, those in each.items()} for each in seen), block)
    return Measured(played).counts


def memory(text: str, **fields: Any) -> Memory:
    return a_memory(text, SAID_AT, **fields)


class TestStatements:
    @pytest.mark.parametrize(
        ("written", "text"),
        [
            ("lyon live|moved", "User moved to Lyon."),
            ("munchen", "Wohnt in München"),
            ("01512233445", "User's number is 0151 2233-445"),
            ("4 birthday", "The birthday is on May 4th"),
            ("new_york", "User ran in New York"),
            ("*garten", "Der Schrebergarten"),
            ("lyon !user|paris", "In Lyon"),
            ("user lyon", "Der Nutzer wohnt in Lyon"),
        ],
    )
    def test_a_statement_matches_a_text_with_all_its_terms(self, written: str, text: str) -> None:
        assert Statement.read(written, ONE).says(text)

    @pytest.mark.parametrize(
        ("written", "text"),
        [
            ("lyon live", "User visits Lyon."),
            ("lyon !sister", "User's sister lives in Lyon"),
            ("eat", "A great day"),
            ("4 birthday", "The birthday is on May 14th"),
            ("01512233445", "User's number is 0151 2233446"),
            ("m shirt", "My shirt"),
            ("user lyon", "His sister lives in Lyon"),
        ],
    )
    def test_a_statement_does_not_match_a_text_that_lacks_a_term(self, written: str, text: str) -> None:
        assert not Statement.read(written, ONE).says(text)


class TestMeasures:
    def test_a_known_fact_counts_as_contained_and_a_missing_one_does_not(self) -> None:
        found = counted(a_scenario(knows=["lyon", "tea"]), [memory("User lives in Lyon")])
        assert (found["contained"], found["contained_of"]) == (1, 2)

    def test_a_fact_that_was_superseded_wrongly_counts_as_lost(self) -> None:
        found = counted(
            a_scenario(knows=[{"say": "lyon", "still": True}]),
            [memory("In Lyon")],
            [memory("In Lyon", status="superseded")],
        )
        assert (found["contained"], found["lost_wrongly"], found["ended_early"]) == (0, 1, 1)

    def test_a_stale_fact_in_a_live_memory_is_counted(self) -> None:
        scenario = a_scenario(knows=["lyon"], stale=["berlin"])
        found = counted(scenario, [memory("User lives in Berlin"), memory("User lives in Lyon")])
        assert (found["stale_alive"], found["ended"], found["ended_of"]) == (1, 0, 1)
        assert (found["replaced"], found["replaced_of"]) == (0, 1)

    def test_a_stale_fact_does_not_count_toward_replacement_if_the_current_fact_is_missing(self) -> None:
        found = counted(a_scenario(knows=["lyon"], stale=["berlin"]), [memory("User lives in Berlin")])
        assert (found["ended_of"], found["replaced_of"]) == (1, 0)

    @pytest.mark.parametrize(
        "over", [{"status": "superseded"}, {"valid_until": SAID_AT + timedelta(minutes=5)}, {"status": "deleted"}]
    )
    def test_a_superseded_or_expired_stale_fact_counts_as_ended(self, over: dict[str, Any]) -> None:
        scenario = a_scenario(knows=["lyon"], stale=["berlin"])
        found = counted(scenario, [memory("User lives in Berlin", **over), memory("User lives in Lyon")])
        assert (found["stale_alive"], found["ended"], found["ended_of"]) == (0, 1, 1)

    def test_a_stale_fact_whose_validity_ends_in_the_future_counts_as_alive(self) -> None:
        later = memory("In Berlin", valid_until=SAID_AT + timedelta(days=9))
        assert counted(a_scenario(stale=["berlin"]), [later])["stale_alive"] == 1

    def test_a_memory_with_both_the_past_and_the_current_fact_is_not_stale(self) -> None:
        found = counted(a_scenario(knows=["lyon"], stale=["berlin"]), [memory("User moved from Berlin to Lyon")])
        assert (found["stale_alive"], found["contained"]) == (0, 1)

    def test_a_fact_that_must_never_be_stored_counts_even_if_deleted(self) -> None:
        found = counted(a_scenario(never=["mars"]), [memory("User lives on Mars", status="deleted")])
        assert found["never_kept"] == 1

    def test_a_fact_about_another_subject_is_wrong(self) -> None:
        found = counted(a_scenario(wrong=["dog mia"]), [memory("User's dog is called Mia")])
        assert (found["wrong_subject"], found["wrong_person"]) == (1, 0)

    def test_a_fact_stored_in_the_memory_of_another_person_is_wrong(self) -> None:
        group = a_scenario("ada: I live in Berlin", "bob: No nuts!", knows=["ada: berlin", "bob: nut"])
        right = {"ada": [memory("User lives in Berlin")], "bob": [memory("User eats no nuts")]}
        swapped = {"ada": right["bob"], "bob": right["ada"]}
        assert counted(group, right)["wrong_person"] == 0
        assert counted(group, swapped)["wrong_person"] == 2
        assert counted(group, swapped)["contained"] == 0

    def test_an_allowed_statement_about_another_person_by_name_is_not_misplaced(self) -> None:
        group = a_scenario("ada: Bob eats no nuts", "bob: no nuts", knows=["bob: nut"], may=["ada: bob"])
        assert counted(group, {"ada": [memory("Bob eats no nuts")], "bob": []})["wrong_person"] == 0

    def test_a_memory_that_matches_no_expectation_is_junk(self) -> None:
        scenario = a_scenario(knows=["lyon"], may=["tea"])
        found = counted(scenario, [memory("In Lyon"), memory("Likes tea"), memory("It is late")])
        assert (found["junk"], found["memories"]) == (1, 3)

    def test_a_fact_stored_twice_counts_as_repeated(self) -> None:
        twice = [memory("In Lyon"), memory("À Lyon", memory_id="2")]
        assert counted(a_scenario(once=["lyon"]), twice)["repeated"] == 1
        assert counted(a_scenario(once=["lyon"]), twice[:1])["repeated"] == 0

    def test_a_detail_that_is_in_no_live_memory_is_lost(self) -> None:
        rex = a_scenario(knows=[{"say": "rex labrador", "detail": True}])
        assert counted(rex, [memory("User has a dog, Rex")])["details_lost"] == 1
        assert counted(rex, [memory("User's dog Rex is a labrador")])["details_lost"] == 0

    def test_a_constraint_counts_only_if_it_is_in_the_context_block(self) -> None:
        nuts = a_scenario(knows=[{"say": "peanut", "always": True}], ask="What shall I cook?")
        kept = [memory("No peanuts")]
        assert counted(nuts, kept, block="- No peanuts")["constraints_in_block"] == 1
        assert counted(nuts, kept, block="- Likes tea")["constraints_in_block"] == 0

    @pytest.mark.parametrize(
        ("said", "at", "right"),
        [
            ("2026-06-01", datetime(2026, 6, 1, tzinfo=UTC), 1),
            ("2026-06-01", datetime(2026, 6, 4, tzinfo=UTC), 0),
            ("2026-06", datetime(2026, 6, 30, tzinfo=UTC), 1),
            ("2026-06", datetime(2026, 9, 1, tzinfo=UTC), 0),
            ("2031", datetime(2032, 1, 1, tzinfo=UTC), 1),
            ("2026-06-01", None, 0),
        ],
    )
    def test_a_validity_date_counts_as_right_within_a_day(self, said: str, at: datetime | None, right: int) -> None:
        until = a_scenario(knows=[{"say": "lyon", "until": said}])
        begins = a_scenario(knows=[{"say": "lyon", "from": said}])
        assert counted(begins, [memory("In Lyon", valid_from=at)])["dated"] == right
        if at is None or at > until.over:
            assert counted(until, [memory("In Lyon", valid_until=at)])["dated"] == right

    def test_shares_are_relative_to_what_was_possible(self) -> None:
        counts = Counter(contained=3, contained_of=4, ended=2, ended_of=4, lost_wrongly=1, junk=1, junk_of=10)
        shares = figures(counts)
        assert (shares["gold_contained"], shares["supersession_recall"], shares["junk_share"]) == (0.75, 0.5, 0.1)
        assert shares["supersession_precision"] == round(2 / 3, 3)


class TestReport:
    def test_failures_of_the_held_out_half_are_counted_but_not_listed(self) -> None:
        each = [a_scenario(id=half, half=half, knows=["lyon"]) for half in HALVES]
        found = [(one, Measured(Played(one, ({ONE: ()},)))) for one in each]
        assert [failure.scenario for failure in failures(found, ())] == ["development"]
        assert figures_of_half(found, "held_out")["contained_of"] == 1


class TestData:
    def test_the_dataset_has_enough_scenarios_of_every_kind(self) -> None:
        kinds = Counter(scenario.kind for scenario in ALL)
        assert sum(kinds.values()) >= 300
        assert len(kinds) >= 20
        assert min(kinds.values()) >= 15

    def test_scenario_ids_are_unique_and_both_halves_have_all_kinds(self) -> None:
        assert len({scenario.id for scenario in ALL}) == len(ALL)
        for half in HALVES:
            assert {s.kind for s in scenarios(halves=(half,))} == {s.kind for s in ALL}

    @pytest.mark.parametrize("kind", KINDS)
    def test_scenario_messages_are_in_order_and_statements_refer_to_existing_speakers_and_candidates(
        self, kind: str
    ) -> None:
        for scenario in of_kind(kind):
            messages = [message for session in scenario.sessions for message in session]
            assert 1 <= len(messages) <= 10, scenario.id
            assert messages == sorted(messages, key=lambda message: message.timestamp), scenario.id
            fields = ("stale", "never", "wrong", "once", "may")
            statements = [*(each for _, each in scenario.gold), *scenario.statements(*fields)]
            assert {each.who for each in statements} <= {*scenario.people}, scenario.id
            if any(gold.always for gold, _ in scenario.gold):
                assert scenario.ask, scenario.id
            for number, each in enumerate(scenario.oracle):
                assert said_by(scenario)[each.of] is not None, scenario.id
                named = (*each.contradicts, *(other for other in (each.refines, each.repeats) if other is not None))
                assert all(other < number for other in named), scenario.id

    @pytest.mark.parametrize("kind", KINDS)
    def test_oracle_candidates_contain_every_expected_fact_and_nothing_wrong(self, kind: str) -> None:
        for scenario in (each for each in of_kind(kind) if each.oracle):
            by = said_by(scenario)
            kept: dict[str, list[Memory]] = {who: [] for who in scenario.people}
            ended = {number for each in scenario.oracle for number in each.contradicts}
            for number, each in enumerate(scenario.oracle):
                if number not in ended:
                    kept[by[each.of] or ""].append(memory(each.text, memory_id=str(number)))
            found = counted(scenario, kept)
            missing = found["contained_of"] - found["contained"]
            assert missing == len(still_in_force(scenario, kept)), scenario.id
            unwanted = (found["wrong_person"], found["wrong_subject"], found["never_kept"], found["junk"])
            assert unwanted == (0, 0, 0, 0), scenario.id

    def test_a_scenario_with_an_unknown_field_is_refused(self) -> None:
        with pytest.raises(ValidationError):
            a_scenario(knwos=[])


def of_kind(kind: str) -> list[Scenario]:
    return [scenario for scenario in ALL if scenario.kind == kind]


def said_by(scenario: Scenario) -> dict[int, str | None]:
    """The user who said a message, by its number; None where no user did."""
    messages = (message for session in scenario.sessions for message in session)
    numbered = (each for each in messages if not each.message_id.endswith("-call"))
    return {int(each.message_id.removeprefix("m")): each.user_id for each in numbered}


def still_in_force(scenario: Scenario, kept: dict[str, list[Memory]]) -> list[Statement]:
    """Returns missing statements that a candidate with a future date contradicts, but must not end yet."""
    early = {number for each in scenario.oracle if each.from_ for number in each.contradicts}
    texts = [scenario.oracle[number].text for number in early]
    missing = (each for _, each in scenario.gold if not any(each.says(m.text) for m in kept[each.who]))
    return [each for each in missing if any(each.says(text) for text in texts)]


@pytest.mark.parametrize("group", ablation.GROUPS)
def test_a_group_of_rules_has_its_lines_counted_and_can_be_left_out(group: str) -> None:
    files, patches = ablation.GROUPS[group]

    assert all(ablation.lines((each,)) for each in files)
    with ablation.away(patches):
        pass
