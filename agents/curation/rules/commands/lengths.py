"""The length limits of texts in commands; the same as for texts that models write."""

from msgspec.structs import replace

from agents.models.answers.texts import FULL_TOKENS, SHORT_TOKENS, fits
from schemas.memories.commands import Command
from streams.windows.tokens.counting import TokenCount


def fitted(command: Command, count_tokens: TokenCount) -> Command:
    """Moves a text that is too long to the full text, so that a short one is made of it; unless there is a full text
    already.

    Imports stay unchanged, as their texts were stored before.
    """
    if command.kind == "import" or command.full_text or not command.text:
        return command
    if fits(command.text, SHORT_TOKENS, count_tokens):
        return command
    return replace(command, text=None, full_text=command.text)


def too_long(command: Command, count_tokens: TokenCount) -> str | None:
    """Why the command is rejected for its length; None if its texts are within the limits."""
    if command.kind == "import":
        return None
    for name, text, most in (("text", command.text, SHORT_TOKENS), ("full_text", command.full_text, FULL_TOKENS)):
        if text and not fits(text, most, count_tokens):
            return f"{name} has {count_tokens(text)} tokens, the limit is {most}: shorten it, or make two memories"
    return None
