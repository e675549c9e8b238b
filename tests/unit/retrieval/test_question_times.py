"""Detection of times named in a query."""

from datetime import UTC, datetime

import pytest

from agents.retrieval.question_times import spans

ASKED_AT = datetime(2024, 1, 28, 12, tzinfo=UTC)  # a Sunday


@pytest.mark.parametrize(
    ("question", "start", "end"),
    [
        ("What did Ada eat on 17.01.2024?", (2024, 1, 17), (2024, 1, 18)),
        ("What did Ada eat on 2024-01-17?", (2024, 1, 17), (2024, 1, 18)),
        ("What did Ada eat on 01/17/2024?", (2024, 1, 17), (2024, 1, 18)),
        ("What did Ada eat on 29 Dec 2023?", (2023, 12, 29), (2023, 12, 30)),
        ("What did Ada eat on the 10th of January 2024?", (2024, 1, 10), (2024, 1, 11)),
        ("What did Ada eat on May 7, 2023?", (2023, 5, 7), (2023, 5, 8)),
        ("What happened on March 15th?", (2023, 3, 15), (2023, 3, 16)),
        ("Where was Ada in May 2023?", (2023, 5, 1), (2023, 6, 1)),
        ("Where was Ada in December?", (2023, 12, 1), (2024, 1, 1)),
        ("Where was Ada last summer?", (2023, 6, 1), (2023, 9, 1)),
        ("Where was Ada in the winter of 2022?", (2022, 12, 1), (2023, 3, 1)),
        ("What did Ada do in 2022?", (2022, 1, 1), (2023, 1, 1)),
        ("What did Ada do yesterday?", (2024, 1, 27), (2024, 1, 28)),
        ("What did Ada do on Monday?", (2024, 1, 22), (2024, 1, 23)),
    ],
)
def test_a_time_expression_in_a_query_is_parsed_as_a_time_span(
    question: str, start: tuple[int, int, int], end: tuple[int, int, int]
) -> None:
    assert spans(question, ASKED_AT) == [(datetime(*start, tzinfo=UTC), datetime(*end, tzinfo=UTC))]


def test_a_span_of_two_weeks_ago_is_the_week_around_that_day() -> None:
    [(start, end)] = spans("What did I cook two weeks ago?", ASKED_AT)
    assert (start.day, end.day) == (11, 18) and (end - start).days == 7


def test_a_query_with_two_dates_has_two_spans() -> None:
    assert [start.day for start, _ in spans("Between January 3 and January 5, who called?", ASKED_AT)] == [3, 5]


@pytest.mark.parametrize("question", ["What does Ada like?", "Who came on the 31st of February?", "May I come in?"])
def test_a_query_without_a_time_expression_has_no_span(question: str) -> None:
    assert spans(question, ASKED_AT) == []
