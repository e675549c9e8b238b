"""Removes secrets and personal data from commands and wishes, also from a user's own words."""

from msgspec.structs import replace

from agents.privacy.scrub import storable
from schemas.extraction.candidates import CandidateBatch
from schemas.memories.commands import Command
from schemas.policies.policies import Privacy


def scrub_command(command: Command, privacy: Privacy) -> Command:
    """The command with placeholders for credentials, card numbers, and the data that `privacy` names, in all texts. Tags with
    such content are removed."""

    def cleaned(text: str | None) -> str | None:
        return text and storable(text, privacy)

    return replace(
        command,
        text=cleaned(command.text),
        context=cleaned(command.context),
        full_text=cleaned(command.full_text),
        reason=cleaned(command.reason),
        new_kinds=command.new_kinds
        and tuple(replace(kind, description=cleaned(kind.description) or "") for kind in command.new_kinds),
        tags=command.tags and tuple(tag for tag in command.tags if cleaned(tag) == tag),
    )


def scrub_wishes(batch: CandidateBatch, privacy: Privacy) -> CandidateBatch:
    """The batch with the same placeholders in its wishes, as memories have them."""

    def cleaned(text: str | None) -> str | None:
        return text and storable(text, privacy)

    wishes = (
        replace(
            wish,
            statement=cleaned(wish.statement),
            topic=cleaned(wish.topic),
            named_as=cleaned(wish.named_as),
            said=cleaned(wish.said),
        )
        for wish in batch.wishes
    )
    return replace(batch, wishes=tuple(wishes)) if batch.wishes else batch
