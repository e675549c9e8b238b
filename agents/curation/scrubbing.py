"""Commands without what may not be stored: a person's own correction stores no password either."""

from msgspec.structs import replace

from agents.llm.scrub import storable
from schemas.policies import Privacy
from schemas.requests import Command


def scrubbed(command: Command, privacy: Privacy) -> Command:
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
