"""The tools that create and delete memories: they send commands and wait briefly for the outcomes."""

from uuid import uuid4

from msgspec import Struct

from agents.api.memories.commands import status_path
from agents.api.tools.access import ToolAccess, chosen_namespaces, readable_memory
from agents.api.tools.definitions import CreateMemory, DeleteMemory
from agents.api.tools.ports import ToolPorts
from agents.api.tools.results import CreateResult, DeleteResult, PendingResult
from agents.models.answers.texts import UnusableText, without_secrets
from schemas import codec
from schemas.errors import Rejected
from schemas.memories.commands import Command
from schemas.policies.kinds import Kind
from schemas.policies.policies import Privacy


class MemoryChanges:
    """Creates and deletes memories where `access` allows it. Raises Retryable, and Rejected with a sentence for the model."""

    def __init__(self, access: ToolAccess, ports: ToolPorts) -> None:
        self._access = access
        self._ports = ports

    async def create(self, arguments: CreateMemory) -> Struct:
        kinds = self._kinds(arguments)
        text, full_text = self._texts(arguments)
        require_no_mere_secret(full_text or text or "")
        namespace = chosen_namespaces(arguments.namespace, self._access.writable)[0]
        user_id = self._access.users.get(namespace)
        command = Command(
            command_id=str(uuid4()),
            kind="create",
            namespace=namespace,
            at=self._ports.clock(),
            actor=self._access.actor,
            reason="as a tool",
            text=text,
            memory_kind=kinds[0] if kinds else None,
            kinds=kinds[1:] or None,
            tags=arguments.tags,
            context=arguments.context or None,
            full_text=full_text,
            importance=arguments.importance,
            told_by=None if user_id is None else (user_id,),
            new_kinds=self._new_kinds(arguments, kinds) or None,
        )
        outcome = await self._ports.commands.send_and_wait(command)
        if outcome is None:
            return PendingResult(command_id=command.command_id, ask=status_path(command))
        if outcome.status == "rejected":
            raise Rejected("rejected", f"The memory was not created: {outcome.reason}.")
        return CreateResult(memory_id=outcome.memory_id or "", change=outcome.change or "created")

    async def delete(self, arguments: DeleteMemory) -> Struct:
        memory = await readable_memory(self._ports.memories, arguments.memory_id, self._access.namespaces)
        if memory.namespace not in self._access.deletable:
            raise Rejected("forbidden", f"Memories of {memory.namespace!r} cannot be deleted here.")
        command = Command(
            command_id=str(uuid4()),
            kind="delete",
            namespace=memory.namespace,
            at=self._ports.clock(),
            actor=self._access.actor,
            reason=f"as a tool: {arguments.reason}" if arguments.reason else "as a tool",
            memory_id=memory.memory_id,
        )
        outcome = await self._ports.commands.send_and_wait(command)
        if outcome is None:
            return PendingResult(
                command_id=command.command_id, ask=status_path(command), note="The memory will be deleted in a moment."
            )
        if outcome.status == "rejected":
            raise Rejected("rejected", f"The memory was not deleted: {outcome.reason}.")
        return DeleteResult(memory_id=memory.memory_id)

    def _kinds(self, arguments: CreateMemory) -> tuple[str, ...]:
        names = tuple(dict.fromkeys((arguments.kind, *arguments.kinds) if arguments.kind else arguments.kinds))
        known = [kind.name for kind in self._access.kinds]
        unknown = next((name for name in names if name not in known), None)
        if unknown is not None and not self._access.new_kinds:
            raise Rejected("unknown", f"There is no kind {unknown!r}; the kinds are: {', '.join(known)}.")
        return names

    def _new_kinds(self, arguments: CreateMemory, names: tuple[str, ...]) -> tuple[Kind, ...]:
        """Returns the first kind that the policies do not define, with the model's description and icon."""
        known = {kind.name for kind in self._access.kinds}
        unknown = [name for name in names if name not in known][:1]
        if not (arguments.kind_description or arguments.kind_icon):
            return ()
        fields = {"description": arguments.kind_description, "icon": arguments.kind_icon}
        return tuple(codec.convert({"name": name} | fields, Kind) for name in unknown)

    def _texts(self, arguments: CreateMemory) -> tuple[str | None, str | None]:
        """Returns the short text and the full text. For content that is too long, the curator makes a short text."""
        if arguments.text:
            return arguments.text, arguments.full_text or arguments.content or None
        if len(arguments.content) <= self._access.text_chars:
            return arguments.content, arguments.full_text or None
        return None, arguments.content


def require_no_mere_secret(content: str) -> None:
    """Raises Rejected `secret` for content that is little more than a credential or a card number."""
    try:
        without_secrets(content, Privacy())
    except UnusableText as exc:
        raise Rejected("secret", "Passwords, keys and card numbers are not stored: leave them out.") from exc
