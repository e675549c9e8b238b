"""Units are questions with answers and calls with results, in any order of arrival."""

from msgspec import structs

from schemas.conversations.windows import Gap
from streams.windows.detectors.traits import CASUAL, CORRECTION, ERROR
from streams.windows.pruning.units import MAX_CALLS, MAX_MESSAGES_APART, MAX_RESULTS, group_units
from streams.windows.traits import MessageTraits
from tests.fakes.message_traits import exchanges, turn


def places(*turns: MessageTraits, min_recent: int = 1) -> list[list[int]]:
    return [unit.places for unit in group_units(turns, [0.5] * len(turns), min_recent)]


def call(position: int, *ids: str) -> MessageTraits:
    return turn(position, "assistant", calls=ids)


def result(position: int, of: str | None) -> MessageTraits:
    return turn(position, "tool", answers=of)


def test_a_question_and_its_answer_form_one_unit():
    assert places(*exchanges(2)) == [[0, 1], [2, 3]]


def test_the_last_of_several_questions_is_paired_with_the_first_of_several_answers():
    assert places(turn(0), turn(1), turn(2, "assistant"), turn(3, "assistant")) == [[0], [1, 2], [3]]


def test_the_steps_between_question_and_answer_are_units_of_their_own():
    said = (
        turn(0),
        call(1, "a"),
        result(2, "a"),
        call(3, "b", "c"),
        result(4, "b"),
        result(5, "c"),
        turn(6, "assistant"),
    )
    assert places(*said) == [[0, 6], [1, 2], [3, 4, 5]]


def test_a_question_whose_task_ends_without_a_text_answer_is_paired_with_the_last_call():
    said = (turn(0), call(1, "a"), result(2, "a"), call(3, "b"), result(4, "b"))
    assert places(*said) == [[0], [1, 2], [3, 4]], "the task goes on"
    assert places(*said, turn(5, segment=1)) == [[0, 3, 4], [1, 2], [5]]


def test_a_question_with_a_text_answer_is_not_paired_with_a_call():
    said = (turn(0), call(1, "a"), turn(2, "assistant"), call(3, "b"), turn(4, segment=1))
    assert places(*said) == [[0, 2], [1], [3], [4]]


def test_a_system_message_belongs_to_no_unit_and_splits_none():
    assert places(turn(0, "system"), turn(1), turn(2, "system"), turn(3, "assistant")) == [[1, 3]]


def test_a_result_with_a_reused_call_id_is_paired_only_with_the_latest_call():
    assert places(call(0, "x"), result(1, "x"), call(2, "x"), result(3, "x")) == [[0, 1], [2, 3]]


def test_a_result_that_precedes_its_call_is_paired_with_it():
    assert places(result(0, "x"), turn(1), call(2, "x")) == [[0, 2], [1]]


def test_results_without_a_call_form_units_of_their_own():
    assert places(result(0, "x"), result(1, None)) == [[0], [1]]


def test_calls_of_one_message_beyond_the_bound_are_paired_with_no_result():
    calls = [f"c{number}" for number in range(MAX_CALLS + 1)]
    said = (call(0, *calls), *(result(place, each) for place, each in enumerate(calls, start=1)))
    assert places(*said) == [[*range(MAX_CALLS + 1)], [MAX_CALLS + 1]]


def test_results_of_one_call_beyond_the_bound_form_own_units_before_and_after_the_call():
    results = [result(place, "x") for place in range(1, MAX_RESULTS + 2)]
    assert places(call(0, "x"), *results) == [[*range(MAX_RESULTS + 1)], [MAX_RESULTS + 1]]
    early = [result(place, "x") for place in range(MAX_RESULTS + 1)]
    tied = [*range(MAX_RESULTS), MAX_RESULTS + 1]
    assert sorted(places(*early, call(MAX_RESULTS + 1, "x"))) == [tied, [MAX_RESULTS]]


def test_the_latest_messages_are_protected_together_with_the_rest_of_their_unit():
    units = group_units(exchanges(4), [0.5] * 8, 3)
    assert [unit.protected for unit in units] == [False, False, True, True]
    assert all(unit.protected for unit in group_units(exchanges(1), [0.5] * 2, 10))
    assert group_units([], [], 10) == []


def test_a_unit_has_the_traits_and_the_best_score_of_its_messages():
    (unit,) = group_units([turn(0, traits=CASUAL), turn(1, "assistant", traits=ERROR)], [0.3, 0.8], 1)
    assert (unit.score, unit.has_error, unit.casual) == (0.8, True, False)


def corrected(*traits: int, segment_of_last: int = 0) -> list[bool]:
    turns = [turn(place, traits=each) for place, each in enumerate(traits)]
    turns[-1] = turn(len(traits) - 1, traits=traits[-1], segment=segment_of_last)
    return [unit.corrects for unit in group_units(turns, [0.5] * len(turns), 1)]


def test_a_correction_is_paired_with_the_nearest_error_of_its_task():
    assert corrected(ERROR, 0, ERROR, 0, CORRECTION) == [False, False, True, False, True]


def test_a_correction_without_an_error_is_paired_with_the_preceding_message():
    assert corrected(0, 0, CORRECTION) == [False, True, True]


def test_a_correction_is_not_paired_with_an_error_too_far_back():
    found = corrected(ERROR, *[0] * MAX_MESSAGES_APART, CORRECTION)
    assert not found[0] and found[-2:] == [True, True]


def test_a_correction_is_not_paired_with_an_error_of_another_task():
    assert corrected(ERROR, 0, CORRECTION, segment_of_last=1) == [False, False, True]


def failed(position: int, of: str) -> MessageTraits:
    return turn(position, "tool", traits=ERROR, answers=of)


def repaired(*turns: MessageTraits) -> list[int]:
    units = group_units(turns, [0.5] * len(turns), 1)
    return [place for unit in units if unit.corrects for place in unit.places]


def test_a_failed_call_is_paired_with_the_next_call_of_its_task():
    assert repaired(turn(0), call(1, "a"), failed(2, "a"), call(3, "b"), result(4, "b"), call(5, "c")) == [1, 2, 3, 4]


def test_each_failed_retry_is_paired_with_the_next_retry():
    said = (call(0, "a"), failed(1, "a"), call(2, "b"), failed(3, "b"), call(4, "c"), result(5, "c"))
    assert repaired(*said) == [0, 1, 2, 3, 4, 5]
    assert [unit.removal_place for unit in group_units(said, [0.5] * 6, 1)] == [0, 2, 2]


def test_a_user_message_between_a_failed_call_and_its_retry_is_part_of_the_repair():
    assert repaired(turn(0), call(1, "a"), failed(2, "a"), turn(3), call(4, "b")) == [1, 2, 3, 4]


def test_a_call_after_a_correction_is_not_part_of_the_repair():
    said = (call(0, "a"), failed(1, "a"), turn(2, traits=CORRECTION), turn(3, "assistant"), call(4, "b"))
    assert repaired(*said) == [0, 1, 2, 3]


def test_a_call_in_another_task_or_far_behind_repairs_nothing():
    another = turn(3, "assistant", calls=("b",), segment=1)
    assert repaired(call(0, "a"), failed(1, "a"), turn(2, segment=1), another) == []
    talk = exchanges(MAX_MESSAGES_APART // 2, 2)
    assert repaired(call(0, "a"), failed(1, "a"), *talk, call(2 + MAX_MESSAGES_APART, "b")) == []


def test_a_user_message_about_an_error_is_not_treated_as_a_failed_call():
    assert repaired(turn(0, traits=ERROR), call(1, "a")) == []


def interleaved(*turns: MessageTraits) -> list[MessageTraits]:
    """The same conversation on a partition that it shares with twenty others."""
    return [structs.replace(each, position=20 * each.position) for each in turns]


def test_interleaved_conversations_on_a_partition_do_not_separate_a_failed_call_from_its_retry():
    said = (call(0, "a"), failed(1, "a"), turn(2), call(3, "b"), result(4, "b"), turn(5, "assistant"))
    assert repaired(*interleaved(*said)) == repaired(*said) == [0, 1, 2, 5, 3, 4]


def test_interleaved_conversations_on_a_partition_do_not_separate_an_error_from_its_correction():
    units = group_units(interleaved(*errors(ERROR, 0, 0, 0, CORRECTION)), [0.5] * 5, 1)
    assert [unit.corrects for unit in units] == [True, False, False, False, True]


def errors(*traits: int) -> list[MessageTraits]:
    return [turn(place, traits=each) for place, each in enumerate(traits)]


def test_removed_messages_still_count_towards_the_distance_between_two_messages():
    far = [turn(0, traits=ERROR), *exchanges(MAX_MESSAGES_APART, 1), turn(40, traits=CORRECTION)]
    assert not group_units(far, [0.5] * len(far), 1)[0].corrects
    near = [far[0], *far[-3:]]
    left = (Gap(1, far[-4].position, len(far) - 4, 0),)
    assert not group_units(near, [0.5] * len(near), 1, left)[0].corrects


def test_an_error_and_a_correction_stay_paired_after_a_few_messages_between_them_were_removed():
    near = [turn(0, traits=ERROR), turn(400), turn(800, traits=CORRECTION)]
    assert group_units(near, [0.5] * 3, 1, (Gap(20, 380, 5, 0),))[0].corrects
