"""The rows of a conversation's window besides its messages: the head that describes it, and what left its context."""

from msgspec import Struct, field, structs

from schemas.conversations.messages import Scope
from schemas.conversations.windows import Gap, LastPrune, Level, Pruning
from streams.windows.context.tally import Tally
from streams.windows.segments import Segmentation

REMEMBERED_PRUNINGS = 8  # of those, what has not been told elsewhere survives any crash


class Requested(Struct, array_like=True, gc=False):
    """A slice that is on its way through the LLM stage, in the `background` if need be; `due` is when it is asked for
    again (Unix seconds)."""

    request_id: str
    first: int
    last: int
    attempt: int
    due: float
    background: bool = False


class HeldEnd(Struct, array_like=True):
    """An end event that waits: until the messages partition is read to `read_to`, then for stragglers until `deadline`."""

    read_to: int
    deadline: float
    last_message_id: str | None
    message_count: int | None
    said_at: float = 0.0


class Erased(Struct, frozen=True, array_like=True, gc=False):
    """The latest erasure that a window has been through: `at` is its moment (Unix seconds), `messages` is how many went."""

    at: float
    messages: int


class Head(Struct, omit_defaults=True):
    """`applied` holds, by logical topic, the offset after the last event applied; `cut_to` the position cut up to.

    Its messages rest in numbered rows: those that `sealed` lists, and whichever exist from `first_row` up to `next_row`.

    More was to be asked for than may be on its way at a time: `wanted`. `ended_at` is when the conversation said that it
    ended; `resumed`: a new session has begun since, and nothing of it was asked for yet. When the oldest message came in that
    waits to be asked for is `waiting_since`, when the newest came in `heard_at`, when anything changed `touched_at`. Its
    first message is at position `opened`: what was said before belongs to a window that was forgotten. `model` is the one the
    chat service uses. `prunings` counts how often messages left the context; `warned` is the level last told of. All times
    are Unix seconds. `others` said something too, besides the user of the `scope`; of those in `untold` the messages do not say
    which are theirs, as rows of an earlier version did not. `partly`: by user, the latest erasure of what that one said.
    """

    scope: Scope
    partition: int
    applied: dict[str, int] = field(default_factory=dict)
    sealed: list[int] = field(default_factory=list)
    first_row: int = 0
    next_row: int = 0
    cut_to: int = 0
    asked: list[Requested] = field(default_factory=list)
    wanted: bool = False
    held: HeldEnd | None = None
    ended: bool = False
    ended_at: float = 0.0
    resumed: bool = False
    received: int = 0
    opened: int = 0
    waiting_since: float = 0.0
    heard_at: float = 0.0
    touched_at: float = 0.0
    model: str | None = None
    segmentation: Segmentation = Segmentation()
    tally: Tally = field(default_factory=Tally)
    prunings: int = 0
    last_prune: LastPrune | None = None
    cleared_at: float | None = None
    warned: Level = "ok"
    erased: Erased | None = None
    untold: list[str] = field(default_factory=list, name="others")
    others: list[str] = field(default_factory=list, name="people")
    partly: dict[str, Erased] = field(default_factory=dict)

    @property
    def speakers(self) -> tuple[Scope, ...]:
        """The scope, of each user who said something."""
        others = (structs.replace(self.scope, user_id=user_id) for user_id in (*self.untold, *self.others))
        return (self.scope, *others)

    @property
    def in_group(self) -> bool:
        """Whether others than the user of the scope said something."""
        return bool(self.others or self.untold)

    @property
    def has_removals(self) -> bool:
        """Whether there is a row of what left."""
        return self.prunings > 0 or self.erased is not None or bool(self.partly)

    def extracted(self, position: int) -> bool:
        """Whether the message at a position needs no further extraction."""
        return position < self.cut_to and not any(asked.first <= position <= asked.last for asked in self.asked)

    @property
    def extracted_to(self) -> int:
        """The position before which every message is extracted."""
        return min((asked.first for asked in self.asked), default=self.cut_to)


class Cleared(Struct, array_like=True):
    """What a clear by hand can be undone to, `until` when (Unix seconds): the gaps and the last pruning before it."""

    until: float
    gaps: tuple[Gap, ...] = ()
    last_prune: LastPrune | None = None


class Removals(Struct, array_like=True):
    """A row of its own, as it changes only when messages leave: where they were in the context, the latest prunings, and
    digests of the messages that left the window altogether. While a clear can be undone, what it took stays in the window."""

    gaps: tuple[Gap, ...] = ()
    prunings: tuple[Pruning, ...] = ()
    left: tuple[str, ...] = ()
    cleared: Cleared | None = None
