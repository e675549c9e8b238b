"""Applies marks, ratings and settings to a window and its context."""

from collections.abc import Mapping

from schemas.conversations.adjustments import Adjustments, Mark, Marked
from schemas.conversations.window_choices import WindowChoice
from streams.windows.context.history import History
from streams.windows.entry import Entry
from streams.windows.marks import marked


class Adjuster:
    """Changes `adjustments`, which the window's history also reads. `changed` is set when their row must be written."""

    def __init__(self, adjustments: Adjustments, entries: Mapping[int, Entry], history: History) -> None:
        self._adjustments = adjustments
        self._entries = entries
        self._history = history
        self.changed = False

    def mark(self, message_id: str, mark: Mark, *, known: bool) -> Marked:
        """Marks a message. `known`: the message is in the window, or was."""
        in_context = {self._entries[at].message.message_id: self._entries[at] for at in self._history.in_context}
        outcome = marked(self._adjustments, message_id, mark, in_context, known and message_id not in in_context)
        self.changed = True
        if outcome == "applied":
            self._history.weigh(in_context[message_id].position)
        return outcome

    def rate(self, ratings: Mapping[str, int]) -> None:
        """Stores ratings, by message id, of messages in context; others are ignored."""
        for position in self._history.in_context:
            message_id = self._entries[position].message.message_id
            if message_id in ratings:
                self._adjustments.ratings[message_id] = ratings[message_id]
                self.changed = True
                self._history.weigh(position)

    def choose(self, settings: WindowChoice | None) -> None:
        """Stores the conversation's own settings; None or empty settings remove them."""
        self._adjustments.settings = settings if settings != WindowChoice() else None
        self.changed = True

    def adopt(self, settings: WindowChoice | None) -> bool:
        """Stores the user's settings for all their conversations. Returns whether they changed."""
        if settings == self._adjustments.user_settings:
            return False
        self._adjustments.user_settings = settings
        self.changed = True
        return True

    def forget(self, message_id: str) -> None:
        """Drops the mark and the rating of a message that left the window."""
        marks, ratings = self._adjustments.marks, self._adjustments.ratings
        mark, rating = marks.pop(message_id, None), ratings.pop(message_id, None)
        self.changed = self.changed or mark is not None or rating is not None
