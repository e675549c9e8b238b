"""What a command stores of the credentials in it: nothing."""

from datetime import UTC, datetime
from typing import Any

from agents.curation.credentials import without_credentials
from schemas.requests import Command

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
SECRET = "the password is EXAMPLE-pw1"
SAFE = "the password is [PASSWORD]"


def command(**fields: Any) -> Command:
    return Command(command_id="c", kind="create", namespace="n", at=NOON, **fields)


def test_no_text_of_a_command_keeps_a_credential() -> None:
    told = command(text=SECRET, context=SECRET, full_text=SECRET, reason=SECRET, tags=("wifi", SECRET))
    expected = command(text=SAFE, context=SAFE, full_text=SAFE, reason=SAFE, tags=("wifi",))
    assert without_credentials(told) == expected


def test_what_a_command_does_not_change_stays_unsaid() -> None:
    assert without_credentials(command()) == command()
    assert without_credentials(command(text="", tags=())) == command(text="", tags=())


def test_personal_data_that_somebody_writes_by_hand_stays() -> None:
    told = command(text="Anna is reached at anna@example.org.")
    assert without_credentials(told) == told
