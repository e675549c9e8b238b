"""Lists the conversations that a caller may read, latest message first, in pages of bounded cost."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Final, Protocol

from msgspec import Struct

from agents.conversations.owners import may_read_all, namespaces_of, scope_of
from schemas.conversations.messages import Scope
from schemas.conversations.windows import Phase, WindowPlace, WindowSummary
from schemas.policies.namespaces import UNKNOWN
from schemas.policies.policies import Policy, PolicySelector

QUERY_SIZES: Final = (200, 1_000, 1_000, 1_000, 1_000)  # windows read by the queries for one page
MAX_MESSAGES: Final = 200_000  # of the conversations whose speakers are read for one page

Allowed = Callable[[str], bool]


class ListedWindows(Protocol):
    """sinks.windows.projection.Windows."""

    async def latest(self, limit: int, after: WindowPlace | None) -> tuple[WindowSummary, ...]: ...

    async def latest_among(
        self, users: Collection[str], conversations: Collection[str], limit: int, after: WindowPlace | None
    ) -> tuple[WindowSummary, ...]: ...


class Speakers(Protocol):
    """sinks.archive.messages.Archive."""

    async def scopes_of(self, conversations: Collection[str]) -> dict[str, tuple[Scope, ...]]: ...


class ConversationQuery(Struct, frozen=True, kw_only=True):
    """Selects conversations that feed a `namespace`, have a speaker, and are in a phase; all that are given must match."""

    namespace: str | None = None
    user_id: str | None = None
    phase: Phase | None = None
    after: WindowPlace | None = None
    limit: int = 50


class Restriction(Struct, frozen=True):
    """Restricts the search to conversations of `users`, and to `conversations` by id."""

    users: set[str]
    conversations: set[str]


class ListedConversation(Struct, frozen=True):
    """A conversation in a list; `namespaces` are all that it feeds under the current policies."""

    scope: Scope
    namespaces: tuple[str, ...]
    policy: Policy
    window: WindowSummary


class ListPage(Struct, frozen=True):
    """`next_place` is the place of the next page, None at the end. A page may be incomplete although more follow."""

    conversations: tuple[ListedConversation, ...]
    next_place: WindowPlace | None


class ConversationList:
    """Reads windows by their last message and leaves out those that the caller may not read, as `Conversations.find` does."""

    def __init__(self, windows: ListedWindows, speakers: Speakers, policies: PolicySelector) -> None:
        self._windows = windows
        self._speakers = speakers
        self._policies = policies

    async def page(self, query: ConversationQuery, allowed: Allowed) -> ListPage:
        """A page of conversations whose namespaces are all `allowed`. Raises Retryable."""
        found: list[ListedConversation] = []
        place, messages, restriction = query.after, 0, self._restriction(query)
        for most in QUERY_SIZES:
            windows = await self._matching_windows(restriction, most, place)
            fitting = [each for each in windows if self._may_match(each, query, allowed, restriction)]
            for batch in batches(fitting, query.limit + 1):
                messages += count_messages(batch)
                found += [each for each in await self._known(batch) if fits(each, query, allowed)]
                if len(found) > query.limit:
                    return ListPage(tuple(found[: query.limit]), found[query.limit - 1].window.place)
                if messages >= MAX_MESSAGES:
                    return ListPage(tuple(found), batch[-1].place)
            if len(windows) < most:
                return ListPage(tuple(found), None)
            place = windows[-1].place
        return ListPage(tuple(found), place)

    def _restriction(self, query: ConversationQuery) -> Restriction | None:
        """The users and conversations that the query restricts the search to; None if it does not."""
        if query.user_id is not None:
            return Restriction({query.user_id}, set())
        scopes = self._policies.scopes_feeding(query.namespace) if query.namespace else ()
        if not scopes or any(scope.user_id is None and scope.conversation_id == UNKNOWN for scope in scopes):
            return None
        named = {scope.conversation_id for scope in scopes} - {UNKNOWN}
        return Restriction({scope.user_id for scope in scopes if scope.user_id}, named)

    async def _matching_windows(
        self, restriction: Restriction | None, most: int, after: WindowPlace | None
    ) -> Sequence[WindowSummary]:
        if restriction is None:
            return await self._windows.latest(most, after)
        return await self._windows.latest_among(restriction.users, restriction.conversations, most, after)

    def _may_match(
        self, window: WindowSummary, query: ConversationQuery, allowed: Allowed, restriction: Restriction | None
    ) -> bool:
        """Whether the window alone allows a match. Further speakers can only remove rights; a namespace that names no user
        is fed by the conversation, not by them."""
        if query.phase is not None and window.phase != query.phase:
            return False
        own = namespaces_of(window.scope, (), self._policies)
        return may_read_all(allowed, own) and (
            restriction is not None or query.namespace is None or query.namespace in own
        )

    async def _known(self, windows: Sequence[WindowSummary]) -> list[ListedConversation]:
        """The conversations with messages. After an erasure neither the window nor the archive has any; a late end event alone
        opens an empty window of a conversation that the archive has."""
        scopes = await self._speakers.scopes_of([each.scope.conversation_id for each in windows])
        known = ((each, scopes.get(each.scope.conversation_id, ())) for each in windows)
        return [self._listed(each, said) for each, said in known if said or each.statistics.total_messages]

    def _listed(self, window: WindowSummary, message_scopes: Sequence[Scope]) -> ListedConversation:
        scope = scope_of(window.scope.conversation_id, window.scope, message_scopes)
        return ListedConversation(
            scope, namespaces_of(scope, message_scopes, self._policies), self._policies.match(scope), window
        )


def fits(found: ListedConversation, query: ConversationQuery, allowed: Allowed) -> bool:
    return may_read_all(allowed, found.namespaces) and (query.namespace is None or query.namespace in found.namespaces)


def batches(windows: Iterable[WindowSummary], size: int) -> Iterator[list[WindowSummary]]:
    """Batches of up to `size` windows, fewer where their conversations are long."""
    batch: list[WindowSummary] = []
    for window in windows:
        batch.append(window)
        if len(batch) == size or count_messages(batch) >= MAX_MESSAGES:
            yield batch
            batch = []
    if batch:
        yield batch


def count_messages(windows: Iterable[WindowSummary]) -> int:
    """The number of messages in these windows."""
    return sum(each.statistics.total_messages for each in windows)
