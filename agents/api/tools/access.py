"""The namespaces that agent tools may read, write to and delete in."""

from collections.abc import Iterable, Mapping

from msgspec import Struct

from agents.api.tools.ports import MemoryReader
from schemas.errors import Rejected
from schemas.memories.memories import Memory
from schemas.policies.kinds import DEFAULT_KINDS, Kind
from schemas.policies.namespaces import parse_name
from schemas.policies.policies import PolicySelector


class ToolAccess(Struct, frozen=True, kw_only=True):
    """The permissions of a tool set. Tools read `namespaces`, create memories in `writable` (by default in the first) and
    delete in `deletable`. `actor` is the name stored with changes. `kinds`, `new_kinds` (whether models may make kinds)
    and `text_chars` (length limit of a short text) come from the policies. `users` maps each personal namespace to the id
    of its user, who is stored as the source of new memories."""

    namespaces: tuple[str, ...]
    writable: tuple[str, ...] = ()
    deletable: tuple[str, ...] = ()
    actor: str = "agent"
    kinds: tuple[Kind, ...] = DEFAULT_KINDS
    new_kinds: bool = False
    text_chars: int = 200
    users: Mapping[str, str] = {}


def tool_access(
    policies: PolicySelector, namespaces: tuple[str, ...], writable: tuple[str, ...], actor: str
) -> ToolAccess:
    """Returns the permissions for these namespaces under their policies. Kinds of all policies are combined."""
    governing = [policies.governing(namespace) for namespace in namespaces]
    kinds = {kind.name: kind for policy in governing for kind in policy.described_kinds}
    return ToolAccess(
        namespaces=namespaces,
        writable=writable,
        deletable=tuple(each for each in writable if policies.governing(each).delete_tool),
        actor=actor,
        kinds=tuple(kinds.values()),
        new_kinds=any(policy.unknown_kinds == "create" for policy in governing),
        users=users_by_namespace(policies, writable),
        text_chars=min((policy.max_text_chars for policy in governing), default=200),
    )


def users_by_namespace(policies: PolicySelector, namespaces: Iterable[str]) -> dict[str, str]:
    """Returns the user id of each namespace that belongs to one person by its policy's templates."""
    named_users = (
        (namespace, scope.user_id)
        for namespace in namespaces
        for template in policies.governing(namespace).namespaces
        if (scope := parse_name(template, namespace)) is not None
    )
    return {namespace: user_id for namespace, user_id in named_users if user_id is not None}


def chosen_namespaces(namespace: str, allowed: tuple[str, ...]) -> tuple[str, ...]:
    """Returns the namespace that the model named, or all allowed ones if it named none. Raises Rejected for any other."""
    if namespace and namespace not in allowed:
        raise Rejected(
            "forbidden", f"There is no memory space {namespace!r} here; the memory spaces are: {', '.join(allowed)}."
        )
    return (namespace,) if namespace else allowed


async def readable_memory(memories: MemoryReader, memory_id: str, allowed: tuple[str, ...]) -> Memory:
    """Returns a memory of these namespaces that is not deleted. Raises Rejected, whether the memory does not exist or is
    elsewhere."""
    memory = (await memories.by_ids((memory_id,))).get(memory_id)
    if memory is None or memory.namespace not in allowed or memory.status == "deleted":
        raise Rejected("unknown", f"There is no memory {memory_id!r}; search_memories returns valid ids.")
    return memory
