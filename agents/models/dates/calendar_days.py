"""Days of the calendar by their names: weekdays, months, seasons, and spans from today."""

from datetime import date, timedelta

from agents.models.dates.words import ABBREVIATIONS, LAST, MONTHS, NEXT, SEASONS

# A day and month without a year that are further in the past mean the next year.
PAST_WITHOUT_YEAR = timedelta(days=120)


def calendar_day(words: dict[str, str], today: date, language: str) -> date | None:
    """The day of `day`, `month` and perhaps `year` in `words`; None if there is no such day. Without a year the day is of this
    year, or of the next year if it is long over."""
    month = MONTHS[language].split().index(ABBREVIATIONS.get(language, {}).get(words["month"], words["month"])) + 1
    if "year" in words:
        return day_or_none(int(words["year"]), month, int(words["day"]))
    this_year = day_or_none(today.year, month, int(words["day"]))
    if this_year is not None and today - this_year > PAST_WITHOUT_YEAR:
        return day_or_none(today.year + 1, month, int(words["day"]))
    return this_year


def weekday(index: int, which: str, today: date) -> date:
    """The first day after today with the weekday `index` (0 is Monday). "Next" is never tomorrow; "last" is the latest such day
    before today.

    Speakers differ on "next Friday"; the memory therefore quotes the original words.
    """
    if which in LAST:
        return today - timedelta(days=(today.weekday() - index) % 7 or 7)
    ahead = (index - today.weekday()) % 7 or 7
    return today + timedelta(days=ahead + 7 if ahead == 1 and which in NEXT else ahead)


def season(name: str, step: int, today: date) -> date:
    """The first day of a season: of this year's for the `step` 0, of the latest one that is over for -1, of the next one to begin
    for 1. Until March, this year's winter is the one that began last year."""
    begins = SEASONS[name]
    year = today.year - (name == "winter" and today.month < 3)
    if step < 0 and today < shifted(date(year, begins, 1), "month", 3):
        year -= 1
    if step > 0 and date(year, begins, 1) <= today:
        year += 1
    return date(year, begins, 1)


def shifted(day: date, unit: str, count: int) -> date:
    """The day `count` units later. A month without that day gives its last day."""
    if unit in ("day", "week", "weekend"):
        return day + timedelta(days=count * (1 if unit == "day" else 7))
    months = day.year * 12 + day.month - 1 + count * (12 if unit == "year" else 1)
    for last in range(day.day, 27, -1):
        found = day_or_none(months // 12, months % 12 + 1, last)
        if found is not None:
            return found
    return date(months // 12, months % 12 + 1, min(day.day, 28))


def first_of(day: date, unit: str) -> date:
    """The first day of the day's week, weekend, month or year."""
    if unit in ("week", "weekend"):
        return day - timedelta(days=day.weekday()) + timedelta(days=5 if unit == "weekend" else 0)
    return day.replace(day=1, month=day.month if unit == "month" else 1)


def day_or_none(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None
