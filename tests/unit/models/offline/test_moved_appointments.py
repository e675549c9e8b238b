"""Appointments that somebody moved are plans with the new day; the rules read them on Monday 2026-03-02."""

import pytest

from tests.unit.models.offline.proposing import proposals


@pytest.mark.parametrize(
    ("sentence", "text", "day"),
    [
        (
            "My dentist moved my appointment to Friday at 9.",
            "User's dentist moved their appointment to 2026-03-06 at 9 (said: Friday).",
            "2026-03-06T08:00:00+00:00",
        ),
        (
            "They moved my interview to Thursday.",
            "User's interview was moved to 2026-03-05 (said: Thursday).",
            "2026-03-05T11:00:00+00:00",
        ),
        (
            "The clinic has rescheduled my operation to 14 April.",
            "The clinic has rescheduled User's operation to 2026-04-14.",
            "2026-04-14T10:00:00+00:00",
        ),
        (
            "Die Fahrt nach Wien verschiebt sich auf den 19. Dezember.",
            "Die Fahrt nach Wien verschiebt sich auf den 2026-12-19.",
            "2026-12-19T11:00:00+00:00",
        ),
        (
            "Mein Zahnarzttermin wurde auf Freitag verschoben.",
            "Zahnarzttermin des Nutzers wurde auf 2026-03-06 verschoben (gesagt: Freitag).",
            "2026-03-06T11:00:00+00:00",
        ),
        (
            "Mein Zahnarzt hat meinen Termin auf den 9. März verlegt.",
            "Zahnarzt des Nutzers hat seinen Termin auf den 2026-03-09 verlegt.",
            "2026-03-09T11:00:00+00:00",
        ),
    ],
)
async def test_a_moved_appointment_is_a_plan_for_its_new_day(sentence: str, text: str, day: str) -> None:
    (found,) = await proposals(sentence)
    assert (found.kind, found.text) == ("plan", text)
    assert found.event_time is not None and found.event_time.isoformat() == day
    assert found.valid_from is None and found.valid_until is None


@pytest.mark.parametrize(
    "sentence",
    ["My sister moved the sofa to the attic.", "They moved my desk to the second floor.", "Der Umzug ist auf Freitag."],
)
async def test_a_thing_that_is_moved_elsewhere_is_no_moved_appointment(sentence: str) -> None:
    assert all("plan" not in each.tags for each in await proposals(sentence))
