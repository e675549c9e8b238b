"""Commands without credentials: a person's own correction stores no password either."""

from msgspec.structs import replace

from agents.llm.scrub import scrub
from schemas.requests import Command


def without_credentials(command: Command) -> Command:
    """Placeholders stand for credentials and card numbers in each of its texts; tags that hold one are left out.

    Personal data stays: which namespace a policy feeds is known, not which policy a namespace has, and who writes an address
    into a memory by hand means it.
    """
    return replace(
        command,
        text=cleaned(command.text),
        context=cleaned(command.context),
        full_text=cleaned(command.full_text),
        reason=cleaned(command.reason),
        tags=command.tags and tuple(tag for tag in command.tags if not scrub(tag).found),
    )


def cleaned(text: str | None) -> str | None:
    return text and scrub(text).text
