"""Sources of the conversations of a replay: the archive, or what Kafka still holds."""

from collections import defaultdict
from collections.abc import AsyncIterator, Callable
from datetime import timedelta
from typing import Any, Final, TypeAlias

from agents.replay.replayer import Replayer
from schemas import codec
from schemas.conversations.messages import Message
from schemas.errors import Misconfigured, Rejected
from schemas.replay.generations import Generation
from sinks.archive.messages import ArchivedMessage
from sinks.replay.generations import Generations, PlannedConversation
from streams.kafka.log import Chunk, Log

MAX_BYTES: Final = 512 * 1024 * 1024  # of records in memory
# A plan selects by the messages' own timestamps, the broker by record timestamps. The clock behind the former may be ahead.
MAX_CLOCK_SKEW: Final = timedelta(hours=1)

OnProgress: TypeAlias = Callable[[], object]


async def plan_conversations(
    generations: Generations, generation: Generation, replayer: Replayer
) -> list[PlannedConversation]:
    """The archived conversations that concern a generation, in the order of their latest messages."""
    conversations = generations.conversations(generation.plan, generation.created_at)
    found = [each async for each, scopes in conversations if replayer.concerns(scopes)]
    return sorted(found, key=lambda each: (each.last_said_at, each.conversation_id))


async def replay_archive(
    generations: Generations, generation: Generation, replayer: Replayer, on_progress: OnProgress
) -> None:
    """Replays the planned conversations that are not done."""
    last: PlannedConversation | None = None
    while page := await generations.waiting(generation.generation_id, last):
        for last in page:
            await replayer.add(last, await generations.messages(generation, last.conversation_id))
            on_progress()
    await replayer.finish()


async def replay_kafka(
    log: Log,
    topic: str,
    generations: Generations,
    generation: Generation,
    replayer: Replayer,
    on_progress: OnProgress,
    max_bytes: int = MAX_BYTES,
) -> None:
    """Replays the conversations that the topic still has, in the same order. Raises Misconfigured if they exceed the memory
    limit."""
    since = generation.plan.since
    positions = await log.since(topic, since - MAX_CLOCK_SKEW) if since is not None else await log.beginnings(topic)
    conversations = await read(log.chunks(topic, positions), generation, replayer, max_bytes)
    done = await generations.done_of(generation.generation_id, conversations)
    last_said = {name: max(each.message.timestamp for each in messages) for name, messages in conversations.items()}
    for name in sorted(conversations.keys() - done, key=lambda name: (last_said[name], name)):
        await replayer.add(PlannedConversation(name, last_said[name]), conversations.pop(name))
        on_progress()
    await replayer.finish()


async def read(
    pieces: AsyncIterator[Chunk], generation: Generation, replayer: Replayer, max_bytes: int
) -> dict[str, list[ArchivedMessage]]:
    """The topic's messages that belong to the generation, by conversation: in the order of partition and position, each
    once."""
    size = 0
    messages: dict[str, dict[str, ArchivedMessage]] = defaultdict(dict)
    async for piece in pieces:
        for record in piece.records:
            message = replayed_message(record, generation)
            if message is None or message.message_id in messages.get(message.conversation_id, ()):
                continue
            size += len(record.value)
            if size > max_bytes:
                raise Misconfigured(
                    f"Kafka holds more than {max_bytes} bytes of this period: narrow it with --since and --until, "
                    "or replay from the archive"
                )
            archived = ArchivedMessage(message=message, partition=piece.partition, position=record.offset)
            messages[message.conversation_id][message.message_id] = archived
    found = {name: sorted(messages.values(), key=place) for name, messages in messages.items()}
    return {name: messages for name, messages in found.items() if replayer.feeds(messages)}


def place(archived: ArchivedMessage) -> tuple[int, int]:
    return archived.partition, archived.position


def replayed_message(record: Any, generation: Generation) -> Message | None:
    """The message of a record; None if it is invalid, outside of the plan's time, or newer than the start of the replay."""
    plan = generation.plan
    if record.timestamp > generation.created_at.timestamp() * 1_000:
        return None
    try:
        message = codec.decode_untrusted(record.value, Message)
    except Rejected:
        return None
    early = plan.since is not None and message.timestamp < plan.since
    return None if early or message.timestamp >= plan.until else message
