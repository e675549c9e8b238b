"""The rows of a window besides its messages: the head, and the record of messages that left the context."""

from msgspec import Struct, field, structs

from schemas.conversations.messages import Scope
from schemas.conversations.windows import Gap, LastPrune, Level, Pruning
from schemas.policies.policies import Policy
from streams.windows.context.tally import Tally
from streams.windows.segments import Segmentation

REMEMBERED_PRUNINGS = 8  # kept until every consumer has them, whatever crashes


class PendingRequest(Struct, array_like=True, gc=False):
    """An extraction request without an answer, for messages from `first` to `last` (positions, both included).

    It is repeated at `due` (Unix seconds). `background`: it has the background lane. `may_wait`: it may be parked to share a
    model call with other requests.
    """

    request_id: str
    first: int
    last: int
    attempt: int
    due: float
    background: bool = False
    may_wait: bool = False


class HeldEnd(Struct, array_like=True):
    """An end event that is not applied yet: the messages partition must be read to the offset `read_to`; then missing messages
    may arrive until `deadline`. `ended_at` is the event's timestamp. Times are Unix seconds."""

    read_to: int
    deadline: float
    last_message_id: str | None
    message_count: int | None
    ended_at: float = 0.0


class WindowErasure(Struct, frozen=True, array_like=True, gc=False):
    """The latest erasure applied to a window: its time `at` (Unix seconds), and the number of deleted messages."""

    at: float
    messages: int


class Head(Struct, omit_defaults=True):
    """The row that describes a window. `name=` is the name that a field has in stored rows. Times are Unix seconds.

    - `applied`: by logical topic, the offset after the last applied event. `received`: the number of messages added.
    - `listed_chunks`, `first_chunk`, `next_chunk`: the messages are in the chunks that the list names, and in those that exist
      from `first_chunk` to `next_chunk` (exclusive).
    - `first_position`: the position of the first message; earlier messages belong to a window that was deleted.
    - `requested_to`: extraction was requested for every message before this position. `pending` requests have no answer yet.
      `at_request_limit`: further messages wait until a request is answered.
    - `waiting_since`: arrival of the oldest message without a request, 0 for none. `last_message_at`: arrival of the newest
      message. `changed_at`: the last change of any kind.
    - `ended_at`: the timestamp of the end event. `resumed`: a user's message came after the end, and nothing was requested since.
    - `model`: the model that the chat service uses. `prunings` counts prunings; `warned_level` is the level last reported.
    - `other_speakers`: users who said something besides the user of the `scope`. `unattributed_speakers`: those of rows of an
      earlier version, whose messages do not name their user.
    - `owner_names`: the names given beside the user_id of the `scope`, one more than tell guests from that user at most.
    - `last_erasure`: the latest erasure of everybody's messages. `user_erasures`: the latest of each user's messages.
      `returned_speakers`: those of these users who wrote again since.
    """

    scope: Scope
    partition: int
    applied: dict[str, int] = field(default_factory=dict)
    listed_chunks: list[int] = field(default_factory=list, name="sealed")
    first_chunk: int = field(default=0, name="first_row")
    next_chunk: int = field(default=0, name="next_row")
    requested_to: int = field(default=0, name="cut_to")
    pending: list[PendingRequest] = field(default_factory=list, name="asked")
    at_request_limit: bool = field(default=False, name="wanted")
    held_end: HeldEnd | None = field(default=None, name="held")
    ended: bool = False
    ended_at: float = 0.0
    resumed: bool = False
    received: int = 0
    first_position: int = field(default=0, name="opened")
    waiting_since: float = 0.0
    last_message_at: float = field(default=0.0, name="heard_at")
    changed_at: float = field(default=0.0, name="touched_at")
    model: str | None = None
    segmentation: Segmentation = Segmentation()
    tally: Tally = field(default_factory=Tally)
    prunings: int = 0
    last_prune: LastPrune | None = None
    cleared_at: float | None = None
    warned_level: Level = field(default="ok", name="warned")
    last_erasure: WindowErasure | None = field(default=None, name="erased")
    unattributed_speakers: list[str] = field(default_factory=list, name="others")
    other_speakers: list[str] = field(default_factory=list, name="people")
    user_erasures: dict[str, WindowErasure] = field(default_factory=dict, name="partly")
    returned_speakers: list[str] = field(default_factory=list)
    owner_names: list[str] = field(default_factory=list)

    @property
    def speakers(self) -> tuple[Scope, ...]:
        """The conversation's scope once for each user who sent a message."""
        others = (
            structs.replace(self.scope, user_id=user_id)
            for user_id in (*self.unattributed_speakers, *self.other_speakers)
        )
        return (self.scope, *others)

    @property
    def shown_scope(self) -> Scope:
        """The conversation's scope for readers: after the erasure of the user's messages it names another user, or none, until
        the user writes again."""
        gone = self.user_erasures.keys() - set(self.returned_speakers)
        left = (scope for scope in self.speakers if scope.user_id not in gone)
        return next(left, structs.replace(self.scope, user_id=None))

    @property
    def in_group(self) -> bool:
        """Whether several users sent messages."""
        return bool(self.other_speakers or self.unattributed_speakers)

    @property
    def has_removals(self) -> bool:
        """Whether the window has a row of removals."""
        return self.prunings > 0 or self.last_erasure is not None or bool(self.user_erasures)

    @property
    def finished(self) -> bool:
        """Whether no message waits for extraction, no request for an answer, and no end event is held."""
        return not (self.waiting_since or self.pending or self.held_end)

    def expires_at(self, policy: Policy) -> float:
        """When a finished window may be deleted (Unix seconds). A conversation without an end event counts as abandoned after
        `triggers.abandoned_s` without a message."""
        over = (
            self.changed_at if self.ended else max(self.changed_at, self.last_message_at + policy.triggers.abandoned_s)
        )
        return over + policy.grace_s

    def extracted(self, position: int) -> bool:
        """Whether the message at a position needs no further extraction."""
        return position < self.requested_to and not any(
            request.first <= position <= request.last for request in self.pending
        )

    @property
    def extracted_to(self) -> int:
        """The position before which every message is extracted."""
        return min((request.first for request in self.pending), default=self.requested_to)


class Undoable(Struct, array_like=True):
    """The state before a prune or clear by hand, to which it can be undone `until` then (Unix seconds).

    `pruning` is the one to undo; None in rows of an earlier version, where it is a clear.
    """

    until: float
    gaps: tuple[Gap, ...] = ()
    last_prune: LastPrune | None = None
    cleared_at: float | None = None
    pruning: Pruning | None = None


class Removals(Struct, array_like=True):
    """The record of messages that left the context. It is a row of its own because it changes only when messages leave.

    `gaps` are the places where messages left, `prunings` the latest ones, and `removed_digests` the digests of messages that also
    left the window. The window keeps the messages that an `undoable` pruning removed.
    """

    gaps: tuple[Gap, ...] = ()
    prunings: tuple[Pruning, ...] = ()
    removed_digests: tuple[str, ...] = ()
    undoable: Undoable | None = None
