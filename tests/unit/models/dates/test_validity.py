"""Start and end of a statement's validity, resolved against the time of the message."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from agents.models.dates.validity import validity
from agents.models.offline.provider import OfflineProvider
from tests.builders.slices import knowing, slice_of

SAID_AT = datetime(2026, 2, 2, 10, tzinfo=UTC)


@pytest.mark.parametrize(
    ("language", "sentence", "since", "until"),
    [
        ("en", "until March I'm in Porto", None, "2026-03-01"),
        ("en", "until the end of March I'm in Porto", None, "2026-04-01"),
        ("en", "until February I'm in Porto", None, "2026-03-01"),
        ("en", "no lifting for me until March 20", None, "2026-03-21"),
        ("en", "my membership runs out on 30 June 2026", None, "2026-07-01"),
        ("en", "our rate is fixed until 2031, 1.9 %", None, "2031-01-01"),
        ("en", "we're moving to Lyon on 2026-06-01", "2026-06-01", None),
        ("en", "we're moving to Lyon at the end of June", "2026-06-30", None),
        ("de", "Ende Juni ziehe ich nach Mainz", "2026-06-30", None),
        ("es", "me mudo a finales de junio", "2026-06-30", None),
        ("en", "from June on I work at Bayer", "2026-06-01", None),
        ("en", "I have lived in Rome since 2019", "2019-01-01", None),
        ("en", "I have lived in Rome since October", "2025-10-01", None),
        ("en", "I moved to Brest in June", "2025-06-01", None),
        ("en", "I started at Bayer on Friday", "2026-01-30", None),
        ("en", "our lift is broken since Friday", "2026-01-30", None),
        ("de", "seit dem 3. Oktober wohne ich in Trier", "2025-10-03", None),
        ("en", "I'm doing an internship in Bern through August", None, "2026-09-01"),
        ("de", "bis einschließlich Mai bin ich in Rom", None, "2026-06-01"),
        ("fr", "je suis à Rome jusqu'en mai inclus", None, "2026-06-01"),
        ("en", "I'm away from Friday to Tuesday", "2026-02-06", "2026-02-11"),
        ("en", "I work from Friday to Sunday", None, None),  # each week
        ("de", "ich arbeite von Freitag bis Sonntag", None, None),
        ("de", "Ich bin im Juni nach Kiel gezogen", "2025-06-01", None),
        ("en", "last year I lived in Rome", "2025-01-01", "2026-01-01"),
        ("en", "I worked there from 2015 to 2019", "2015-01-01", "2020-01-01"),
        ("de", "Ab 1. September ziehe ich nach Mainz", "2026-09-01", None),
        ("de", "bis Ende März bin ich in Porto", None, "2026-04-01"),
        ("de", "seit 2019 wohne ich in Trier", "2019-01-01", None),
        ("fr", "à partir de juin j'habite à Lyon", "2026-06-01", None),
        ("fr", "jusqu'en mars je suis à Porto", None, "2026-03-01"),
        ("es", "hasta marzo vivo en Oporto", None, "2026-03-01"),
        ("es", "a partir de junio trabajo en Bayer", "2026-06-01", None),
        ("en", "I fly to Rome on 2026-04-01", None, None),  # a single event
        ("en", "I visit my mother every March", None, None),
        ("en", "I was born in 1987", None, None),
        ("en", "I may move", None, None),
        ("en", "my flat costs 2000 euros", None, None),
        ("en", "we march until dawn", None, None),
    ],
)
def test_the_validity_period_is_parsed_from_the_statement(
    language: str, sentence: str, since: str | None, until: str | None
) -> None:
    found = validity(sentence, SAID_AT, language)
    assert [moment and f"{moment:%Y-%m-%d}" for moment in (found.valid_from, found.valid_until)] == [since, until]


def test_validity_dates_start_at_midnight_in_the_speakers_time_zone() -> None:
    there = SAID_AT.astimezone(ZoneInfo("Asia/Tokyo"))
    assert validity("from June on I work at Bayer", there, "en").valid_from == datetime(2026, 5, 31, 15, tzinfo=UTC)


async def test_the_offline_provider_sets_the_validity_dates_of_a_statement() -> None:
    (found,) = (await OfflineProvider().extract(slice_of("We're moving to Lyon on 2026-06-01."), knowing())).proposals
    assert found.valid_from is not None and found.valid_from.isoformat() == "2026-05-31T22:00:00+00:00"
    assert found.valid_until is None and found.event_time is not None


@pytest.mark.parametrize(
    ("language", "sentence"),
    [("en", "Petr stays with us from the 5th to 19 April"), ("de", "Petr wohnt vom 5. bis 19. April bei uns")],
)
def test_a_range_of_days_ends_after_its_last_day(language: str, sentence: str) -> None:
    until = validity(sentence, datetime(2026, 3, 2, 9, tzinfo=UTC), language).valid_until
    assert until == datetime(2026, 4, 20, tzinfo=UTC)
