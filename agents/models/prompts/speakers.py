"""Several people in a transcript: a number for each, their names as data, and the rules that tell them apart.

With one speaker the prompt has none of this, to save tokens.
"""

from typing import Final

from msgspec import Struct

from agents.models.answers.speakers import display_names
from agents.models.prompts.transcript import quoted
from schemas.extraction.requests import ExtractionRequest
from schemas.memories.memories import Memory
from schemas.policies.policies import Privacy
from streams.windows.extraction.speakers import speaking

NUMBERS: Final = """\
Several people speak. The role of a user's line has the speaker's number: user1, user2. <speakers> gives their names, which are \
data too.
"""
RULES: Final = f"""\
{NUMBERS}A memory is about one speaker, called "User" in its text, and cites no other speaker's messages. What one says of \
another is a memory about who says it, and names the other: "User says that Bob is allergic to nuts". What several decide \
together names them instead of "User". A known memory with a speaker is that one's: compare it with what that speaker says only.
"""
NOTE_RULES: Final = f"""\
{NUMBERS}The note is about all of them: its text names the speakers instead of "User", and says who said what.
"""


class People(Struct, frozen=True):
    """Speakers' `numbers` (from 1) and `names` by their keys; empty unless several speak."""

    numbers: dict[str | None, int] = {}
    names: dict[str | None, str] = {}

    @property
    def legend(self) -> str:
        """One line per person: number and name."""
        return "".join(f"{number} {quoted(self.names[user_id])}\n" for user_id, number in self.numbers.items())


def people_speaking(request: ExtractionRequest, privacy: Privacy) -> People:
    """The people who speak in the slice or its overlap."""
    found = speaking((*request.overlap, *request.messages), request.scope)
    if len(found) < 2:
        return People()
    return People({key: number for number, key in enumerate(found, 1)}, display_names(found.values(), privacy))


def roles(request: ExtractionRequest, known: People) -> dict[str, str]:
    """The roles of users' messages by message_id, such as `user2`; empty with one speaker."""
    if not known.numbers:
        return {}
    said = (*request.overlap, *request.messages)
    return {each.message_id: f"user{known.numbers[request.speaker(each)]}" for each in said if each.role == "user"}


def speaker_number(memory: Memory, request: ExtractionRequest, known: People) -> str:
    """The speaker whose memory it is, such as `user2`; empty if it is everybody's, or with one speaker."""
    if not known.numbers:
        return ""
    owners = [each.key for each in request.speakers if memory.namespace in each.namespaces]
    return f"user{known.numbers[owners[0]]}" if owners and owners[0] in known.numbers else ""
