"""Participants of conversations, in a list."""

from collections.abc import Collection

from sinks.archive.participants import Participant


class FakeParticipants:
    def __init__(self, *known: Participant) -> None:
        self.known = known

    async def of(self, conversations: Collection[str]) -> list[Participant]:
        return [each for each in self.known if each.scope.conversation_id in conversations]
