"""Commands are stored without credentials, and without personal data that a policy names."""

from datetime import UTC, datetime
from typing import Any

from agents.curation.rules.commands.scrubbing import scrub_command
from schemas.memories.commands import Command
from schemas.policies.policies import Privacy

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
SECRET = "the password is EXAMPLE-pw1"
SAFE = "the password is [PASSWORD]"


def command(**fields: Any) -> Command:
    return Command(command_id="c", kind="create", namespace="n", at=NOON, **fields)


def test_no_text_of_a_command_keeps_a_credential() -> None:
    unscrubbed = command(text=SECRET, context=SECRET, full_text=SECRET, reason=SECRET, tags=("wifi", SECRET))
    expected = command(text=SAFE, context=SAFE, full_text=SAFE, reason=SAFE, tags=("wifi",))
    assert scrub_command(unscrubbed, Privacy()) == expected


def test_scrubbing_leaves_unset_and_empty_command_fields_unchanged() -> None:
    assert scrub_command(command(), Privacy()) == command()
    assert scrub_command(command(text="", tags=()), Privacy()) == command(text="", tags=())


def test_personal_data_is_scrubbed_only_if_the_policy_of_the_namespace_requires_it() -> None:
    unscrubbed = command(text="Anna is reached at anna@example.org.", tags=("anna@example.org",))
    assert scrub_command(unscrubbed, Privacy()) == unscrubbed
    assert scrub_command(unscrubbed, Privacy(scrub=("email",))) == command(text="Anna is reached at [EMAIL].", tags=())
