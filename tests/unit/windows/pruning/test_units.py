"""Units are questions with their answers and calls with their results, whatever order they come in."""

from msgspec import structs

from schemas.conversations.windows import Gap
from streams.windows.detectors.traits import CASUAL, CORRECTION, ERROR
from streams.windows.pruning.units import MAX_CALLS, MAX_RESULTS, PAIR_REACH, group_units
from streams.windows.traits import MessageTraits
from tests.fakes.message_traits import exchanges, turn


def places(*turns: MessageTraits, min_recent: int = 1) -> list[list[int]]:
    return [unit.places for unit in group_units(turns, [0.5] * len(turns), min_recent)]


def call(position: int, *ids: str) -> MessageTraits:
    return turn(position, "assistant", calls=ids)


def result(position: int, of: str | None) -> MessageTraits:
    return turn(position, "tool", answers=of)


def test_a_question_and_its_answer_are_one():
    assert places(*exchanges(2)) == [[0, 1], [2, 3]]


def test_of_two_questions_the_last_belongs_to_the_answer_and_of_two_answers_the_first_to_the_question():
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


def test_a_question_that_its_task_leaves_without_words_belongs_to_the_last_call():
    said = (turn(0), call(1, "a"), result(2, "a"), call(3, "b"), result(4, "b"))
    assert places(*said) == [[0], [1, 2], [3, 4]], "the task goes on"
    assert places(*said, turn(5, segment=1)) == [[0, 3, 4], [1, 2], [5]]


def test_a_question_that_is_answered_in_words_does_not_belong_to_a_call():
    said = (turn(0), call(1, "a"), turn(2, "assistant"), call(3, "b"), turn(4, segment=1))
    assert places(*said) == [[0, 2], [1], [3], [4]]


def test_a_system_message_belongs_to_none_and_parts_none():
    assert places(turn(0, "system"), turn(1), turn(2, "system"), turn(3, "assistant")) == [[1, 3]]


def test_an_id_that_is_used_again_ties_only_to_the_latest_call():
    assert places(call(0, "x"), result(1, "x"), call(2, "x"), result(3, "x")) == [[0, 1], [2, 3]]


def test_a_result_that_comes_before_its_call_waits_for_it():
    assert places(result(0, "x"), turn(1), call(2, "x")) == [[0, 2], [1]]


def test_results_without_a_call_stand_alone():
    assert places(result(0, "x"), result(1, None)) == [[0], [1]]


def test_calls_of_one_message_beyond_a_bound_are_tied_to_no_result():
    calls = [f"c{number}" for number in range(MAX_CALLS + 1)]
    said = (call(0, *calls), *(result(place, each) for place, each in enumerate(calls, start=1)))
    assert places(*said) == [[*range(MAX_CALLS + 1)], [MAX_CALLS + 1]]


def test_results_of_one_call_beyond_a_bound_stand_alone_whether_they_come_before_or_after_it():
    results = [result(place, "x") for place in range(1, MAX_RESULTS + 2)]
    assert places(call(0, "x"), *results) == [[*range(MAX_RESULTS + 1)], [MAX_RESULTS + 1]]
    early = [result(place, "x") for place in range(MAX_RESULTS + 1)]
    tied = [*range(MAX_RESULTS), MAX_RESULTS + 1]
    assert sorted(places(*early, call(MAX_RESULTS + 1, "x"))) == [tied, [MAX_RESULTS]]


def test_the_last_ones_are_protected_with_what_belongs_to_them():
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


def test_without_an_error_a_correction_is_paired_with_what_it_follows():
    assert corrected(0, 0, CORRECTION) == [False, True, True]


def test_an_error_too_far_back_is_not_what_a_correction_corrects():
    found = corrected(ERROR, *[0] * PAIR_REACH, CORRECTION)
    assert not found[0] and found[-2:] == [True, True]


def test_a_correction_corrects_nothing_of_another_task():
    assert corrected(ERROR, 0, CORRECTION, segment_of_last=1) == [False, False, True]


def failed(position: int, of: str) -> MessageTraits:
    return turn(position, "tool", traits=ERROR, answers=of)


def repaired(*turns: MessageTraits) -> list[int]:
    units = group_units(turns, [0.5] * len(turns), 1)
    return [place for unit in units if unit.corrects for place in unit.places]


def test_a_failed_call_is_paired_with_the_next_call_of_its_task():
    assert repaired(turn(0), call(1, "a"), failed(2, "a"), call(3, "b"), result(4, "b"), call(5, "c")) == [1, 2, 3, 4]


def test_each_retry_that_fails_is_paired_with_the_next():
    said = (call(0, "a"), failed(1, "a"), call(2, "b"), failed(3, "b"), call(4, "c"), result(5, "c"))
    assert repaired(*said) == [0, 1, 2, 3, 4, 5]
    assert [unit.removal_place for unit in group_units(said, [0.5] * 6, 1)] == [0, 2, 2]


def test_what_a_user_says_between_a_failed_call_and_the_next_is_part_of_the_repair():
    assert repaired(turn(0), call(1, "a"), failed(2, "a"), turn(3), call(4, "b")) == [1, 2, 3, 4]


def test_a_call_after_a_correction_is_none():
    said = (call(0, "a"), failed(1, "a"), turn(2, traits=CORRECTION), turn(3, "assistant"), call(4, "b"))
    assert repaired(*said) == [0, 1, 2, 3]


def test_a_call_in_another_task_or_far_behind_repairs_nothing():
    another = turn(3, "assistant", calls=("b",), segment=1)
    assert repaired(call(0, "a"), failed(1, "a"), turn(2, segment=1), another) == []
    talk = exchanges(PAIR_REACH // 2, 2)
    assert repaired(call(0, "a"), failed(1, "a"), *talk, call(2 + PAIR_REACH, "b")) == []


def test_a_person_who_speaks_of_an_error_has_made_no_call():
    assert repaired(turn(0, traits=ERROR), call(1, "a")) == []


def interleaved(*turns: MessageTraits) -> list[MessageTraits]:
    """The same conversation on a partition that it shares with twenty others."""
    return [structs.replace(each, position=20 * each.position) for each in turns]


def test_other_conversations_of_a_partition_do_not_come_between_a_failed_call_and_its_retry():
    said = (call(0, "a"), failed(1, "a"), turn(2), call(3, "b"), result(4, "b"), turn(5, "assistant"))
    assert repaired(*interleaved(*said)) == repaired(*said) == [0, 1, 2, 5, 3, 4]


def test_other_conversations_of_a_partition_do_not_come_between_an_error_and_its_correction():
    units = group_units(interleaved(*errors(ERROR, 0, 0, 0, CORRECTION)), [0.5] * 5, 1)
    assert [unit.corrects for unit in units] == [True, False, False, False, True]


def errors(*traits: int) -> list[MessageTraits]:
    return [turn(place, traits=each) for place, each in enumerate(traits)]


def test_messages_that_left_still_count_for_how_far_apart_two_messages_are():
    far = [turn(0, traits=ERROR), *exchanges(PAIR_REACH, 1), turn(40, traits=CORRECTION)]
    assert not group_units(far, [0.5] * len(far), 1)[0].corrects
    near = [far[0], *far[-3:]]
    left = (Gap(1, far[-4].position, len(far) - 4, 0),)
    assert not group_units(near, [0.5] * len(near), 1, left)[0].corrects


def test_an_error_and_a_correction_that_others_left_between_stay_a_pair():
    near = [turn(0, traits=ERROR), turn(400), turn(800, traits=CORRECTION)]
    assert group_units(near, [0.5] * 3, 1, (Gap(20, 380, 5, 0),))[0].corrects
