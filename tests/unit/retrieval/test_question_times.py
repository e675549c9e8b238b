"""Detection of times named in a query."""

from datetime import UTC, datetime, timedelta

import pytest

from agents.retrieval.passage_ranking import in_spans
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
        ("What did Ada do on Sunday?", (2024, 1, 28), (2024, 1, 29)),
        ("What did Ada do the day before yesterday?", (2024, 1, 26), (2024, 1, 27)),
        ("What does Ada do tomorrow?", (2024, 1, 29), (2024, 1, 30)),
        ("Where is Ada next week?", (2024, 1, 29), (2024, 2, 5)),
        ("Where is Ada this winter?", (2023, 12, 1), (2024, 3, 1)),
        ("Where was Ada last winter?", (2022, 12, 1), (2023, 3, 1)),
        ("Where was Ada between March and May?", (2023, 3, 1), (2023, 6, 1)),
        ("Where was Ada from November to January?", (2023, 11, 1), (2024, 2, 1)),
        ("Where was Ada between October and January 2021?", (2020, 10, 1), (2021, 2, 1)),
        ("Where was Ada between October 2020 and January?", (2020, 10, 1), (2021, 2, 1)),
    ],
)
def test_a_time_expression_in_a_query_is_parsed_as_a_time_span(
    question: str, start: tuple[int, int, int], end: tuple[int, int, int]
) -> None:
    assert spans(question, ASKED_AT) == [(datetime(*start, tzinfo=UTC), datetime(*end, tzinfo=UTC))]


@pytest.mark.parametrize(
    ("question", "start"),
    [
        ("What did Ada cook since March?", (2023, 3, 1)),
        ("What did Ada cook since 2022?", (2022, 1, 1)),
        ("What did Ada cook since last Friday?", (2024, 1, 26)),
        ("What did Ada cook since Friday?", (2024, 1, 26)),
        ("What did Ada cook since the day before yesterday?", (2024, 1, 26)),
        ("What did Ada cook after the 3rd of December?", (2023, 12, 4)),
        ("What did Ada cook after March?", (2023, 4, 1)),
    ],
)
def test_a_span_since_or_after_a_time_reaches_to_the_question(question: str, start: tuple[int, int, int]) -> None:
    assert spans(question, ASKED_AT) == [(datetime(*start, tzinfo=UTC), ASKED_AT)]


@pytest.mark.parametrize(
    ("question", "end"),
    [
        ("Where did Ada live before June 2023?", (2023, 6, 1)),
        ("Where did Ada live before 2023?", (2023, 1, 1)),
        ("Where did Ada live until the 3rd of December?", (2023, 12, 3)),
        ("Where did Ada live before yesterday?", (2024, 1, 27)),
        ("What does Ada finish before Friday?", (2024, 2, 2)),
    ],
)
def test_a_span_before_or_until_a_time_ends_with_its_beginning(question: str, end: tuple[int, int, int]) -> None:
    assert spans(question, ASKED_AT) == [(datetime(1, 1, 1, tzinfo=UTC), datetime(*end, tzinfo=UTC))]


@pytest.mark.parametrize("lead", ["the day before", "two weeks after", "shortly before", "just after"])
def test_a_time_near_a_date_is_not_everything_before_or_after_it(lead: str) -> None:
    [(start, end)] = spans(f"What happened {lead} 3 January 2024?", ASKED_AT)
    assert (start, end) == (datetime(2024, 1, 3, tzinfo=UTC), datetime(2024, 1, 4, tzinfo=UTC))


@pytest.mark.parametrize(
    ("question", "start", "days"),
    [
        ("Was hat Ada vorgestern gekocht?", (2024, 1, 26), 1),
        ("Was hat Ada am 3. März 2023 gekocht?", (2023, 3, 3), 1),
        ("Was hat Ada am Freitag gekocht?", (2024, 1, 26), 1),
        ("Was hat Ada letzte Woche gekocht?", (2024, 1, 15), 7),
        ("Qu'a-t-elle fait hier ?", (2024, 1, 27), 1),
        ("Qu'a-t-elle fait avant-hier ?", (2024, 1, 26), 1),
        ("¿Qué cocinó anteayer?", (2024, 1, 26), 1),
        ("¿Qué cocinó la semana pasada?", (2024, 1, 15), 7),
    ],
)
def test_days_in_german_french_and_spanish_are_parsed_as_time_spans(
    question: str, start: tuple[int, int, int], days: int
) -> None:
    first = datetime(*start, tzinfo=UTC)
    assert spans(question, ASKED_AT) == [(first, first + timedelta(days=days))]


@pytest.mark.parametrize("asked_at", ["0001-01-01", "0001-01-03", "0001-03-01", "9999-12-30", "9999-12-31"])
@pytest.mark.parametrize(
    "question",
    [
        *("yesterday", "tomorrow", "friday", "since friday", "before friday", "next week", "last week", "next year"),
        *("two weeks ago", "several months ago", "in december", "last winter", "next winter", "between may and march"),
    ],
)
def test_questions_at_the_limits_of_the_calendar_do_not_fail(question: str, asked_at: str) -> None:
    found = spans(question, datetime.fromisoformat(asked_at).replace(tzinfo=UTC))
    assert in_spans([datetime.max.replace(tzinfo=UTC), ASKED_AT], found).shape == (2,)


def test_a_span_of_several_months_ago_is_the_month_around_that_day() -> None:
    assert spans("What did I cook several months ago?", ASKED_AT) == spans("What did I cook 3 months ago?", ASKED_AT)
    assert len(spans("What did I cook several months ago?", ASKED_AT)) == 1


def test_a_span_of_two_weeks_ago_is_the_week_around_that_day() -> None:
    [(start, end)] = spans("What did I cook two weeks ago?", ASKED_AT)
    assert (start.day, end.day) == (11, 18) and (end - start).days == 7


def test_a_query_with_two_dates_has_two_spans() -> None:
    assert [start.day for start, _ in spans("Between January 3 and January 5, who called?", ASKED_AT)] == [3, 5]


@pytest.mark.parametrize("question", ["What does Ada like?", "Who came on the 31st of February?", "May I come in?"])
def test_a_query_without_a_time_expression_has_no_span(question: str) -> None:
    assert spans(question, ASKED_AT) == []
