"""Removes secrets and personal data from commands, also from a user's own corrections."""

from msgspec.structs import replace

from agents.privacy.scrub import storable
from schemas.extraction.requests import Command
from schemas.policies.policies import Privacy


def scrub_command(command: Command, privacy: Privacy) -> Command:
    """Placeholders stand for credentials, card numbers and what `privacy` names in each of its texts; such tags are left out."""

    def cleaned(text: str | None) -> str | None:
        return text and storable(text, privacy)

    return replace(
        command,
        text=cleaned(command.text),
        context=cleaned(command.context),
        full_text=cleaned(command.full_text),
        reason=cleaned(command.reason),
        tags=command.tags and tuple(tag for tag in command.tags if cleaned(tag) == tag),
    )
