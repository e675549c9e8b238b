"""Numbers messages in their conversations, within the transaction that stores their passages."""

from collections.abc import Iterable, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any, TypeAlias

from sinks.archive.messages import ArchivedMessage
from sinks.passages.ordinals import Numbered, Place, is_within, ordinals
from sinks.postgres.connection import Connection, storable
from sinks.postgres.queries import query

MessageKey: TypeAlias = tuple[str, str]  # conversation_id, message_id, as PostgreSQL stores them


def message_key(archived: ArchivedMessage) -> MessageKey:
    return storable(archived.message.conversation_id), storable(archived.message.message_id)


async def number(connection: Connection, messages: Iterable[ArchivedMessage]) -> dict[MessageKey, int]:
    """The ordinal of each message in its conversation; a message with passages keeps its ordinal. The caller holds the locks
    of the messages' partitions."""
    places = {message_key(each): Place(each.message.timestamp, each.partition, each.position) for each in messages}
    keys = sorted(places)
    known = await connection.fetch(query("passages", "numbers"), *map(list, zip(*keys, strict=True)))
    numbers = {(row["conversation_id"], row["message_id"]): row["ordinal"] for row in known}
    fresh = [key for key in keys if key not in numbers]
    ends = await _ends(connection, sorted({conversation for conversation, _ in fresh}))
    for conversation, group in groupby(fresh, itemgetter(0)):
        new = {message_id: places[conversation, message_id] for _, message_id in group}
        numbers |= await _placed(connection, conversation, new, ends.get(conversation, []))
    return numbers


async def _placed(
    connection: Connection, conversation: str, new: dict[str, Place], ends: Sequence[Numbered]
) -> dict[MessageKey, int]:
    known = ends
    if is_within(new, ends):
        known = numbered(await connection.fetch(query("passages", "all_numbered"), conversation))
    given, moved = ordinals(new, known)
    if moved:
        await connection.execute(query("passages", "move"), conversation, list(moved), list(moved.values()))
    return {(conversation, message_id): ordinal for message_id, ordinal in given.items()}


async def _ends(connection: Connection, conversations: Sequence[str]) -> dict[str, list[Numbered]]:
    rows = await connection.fetch(query("passages", "ends"), conversations)
    return {name: numbered(group) for name, group in groupby(rows, itemgetter("conversation_id"))}


def numbered(rows: Iterable[Any]) -> list[Numbered]:
    return [
        Numbered(row["message_id"], row["ordinal"], Place(row["said_at"], row["partition"], row["position"]))
        for row in rows
    ]
