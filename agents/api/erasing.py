"""Erasing a user: which namespaces are theirs alone, which they share, and a receipt of what went and what stays."""

from collections.abc import Collection, Iterable
from typing import Literal, Protocol

from msgspec import Struct

from schemas.messages import Moment, Scope
from schemas.namespaces import OWN_NAMESPACE, quote_part, read_back, render, shortened
from schemas.policies import Choosing
from sinks.owners import MOST, User

KEPT = (
    "Kafka: chat.messages, chat.conversations.ended, requests and candidates keep what was said until their retention ends.",
    "Dead letters about the user stay until their retention ends, 90 days by default.",
    "A window that is open keeps its messages until it is forgotten; no memory of them comes into an erased namespace.",
    "What models consumed stays booked, without a word of what was said.",
)
PERSONAL = ("{user_id}", "{conversation_id}")


class Kept(Protocol):
    """What is kept of a user (sinks.owners.Owners). Every method raises Retryable."""

    async def scopes(self, user: User) -> tuple[Scope, ...]: ...

    async def named(self, part: str) -> tuple[str, ...]: ...

    async def held_in(self, namespaces: Collection[str]) -> dict[str, dict[str, int]]: ...

    async def said(self, user: User) -> dict[str, int]: ...

    async def from_conversations(self, namespace: str, conversation_ids: Collection[str]) -> int: ...


class ErasedNamespace(Struct, frozen=True, kw_only=True):
    """What the namespace held when its erasure was asked for, and what is left of it; `pending`: it will be erased, and
    `/v1/commands/{command_id}` tells when it is."""

    namespace: str
    command_id: str
    status: Literal["accepted", "rejected", "pending"]
    held: dict[str, int]
    left: dict[str, int]


class SharedNamespace(Struct, frozen=True, kw_only=True):
    """A namespace of others too. `memories` of it came, at least in part, from the user's conversations: they stay, to be deleted
    one by one, or with the namespace."""

    namespace: str
    memories: int


class Receipt(Struct, frozen=True, kw_only=True):
    """What was erased of a user, and what was not. `said` is of all apps that were meant; so is what is `left` of it.
    Where it is not `whole`, there are more conversations or namespaces than were looked at: ask again."""

    user: User
    at: Moment
    whole: bool
    erased: tuple[ErasedNamespace, ...]
    said: dict[str, int]
    left: dict[str, int]
    shared: tuple[SharedNamespace, ...]
    kept: tuple[str, ...] = KEPT


class Concerned(Struct, frozen=True):
    """The namespaces of a user: theirs `own`, and those that they share; and their conversations. `whole`: there are no more
    than were looked at."""

    own: tuple[str, ...]
    shared: tuple[str, ...]
    conversations: tuple[str, ...]
    whole: bool


async def concerned(kept: Kept, policies: Choosing, user: User) -> Concerned:
    """Under the policies as they are now, and those that bear the user's name, whoever fed them. Raises Retryable."""
    scopes = await kept.scopes(user)
    names = await kept.named(quote_part(user.user_id))
    fed = {name: own for scope in scopes for name, own in fed_by(scope, policies)}
    own = {name for name, is_own in fed.items() if is_own} | {name for name in names if tells(name, policies, user)}
    shared = fed.keys() - own
    conversations = tuple(sorted({scope.conversation_id for scope in scopes}))
    whole = len(scopes) <= MOST and len(names) <= MOST
    return Concerned(tuple(sorted(own)), tuple(sorted(shared)), conversations, whole)


def fed_by(scope: Scope, policies: Choosing) -> Iterable[tuple[str, bool]]:
    """The namespaces that a conversation feeds, and whether each is of its user alone. Where none says the user, what was said is
    found by the conversation's own name."""
    policy = policies.match(scope)
    templates = policy.namespaces if "{user_id}" in "".join(policy.namespaces) else (*policy.namespaces, OWN_NAMESPACE)
    rendered = ((render(template, scope), template) for template in templates)
    for name, template in rendered:
        if name is not None:
            yield shortened(name), any(field in template for field in PERSONAL)


def tells(namespace: str, policies: Choosing, user: User) -> bool:
    """Whether a namespace's name says that it is this user's."""
    scopes = (read_back(template, namespace) for template in policies.governing(namespace).namespaces)
    return any(scope is not None and is_of(scope, user) for scope in scopes)


def is_of(scope: Scope, user: User) -> bool:
    return (
        scope.user_id == user.user_id
        and user.tenant_id in (None, scope.tenant_id)
        and user.app_id in (None, scope.app_id)
    )
