"""Where the conversations of a replay come from: the archive, or what Kafka still holds."""

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

MOST_BYTES: Final = 512 * 1024 * 1024  # of records in memory
# A plan's time goes by when messages say they were said, and the broker finds records by when they were sent: the clock of who
# said it may be ahead of that of who sent it.
CLOCKS_APART: Final = timedelta(hours=1)

Told: TypeAlias = Callable[[], object]


async def plan_conversations(
    generations: Generations, generation: Generation, replayer: Replayer
) -> list[PlannedConversation]:
    """The archive's conversations that concern a generation, those first whose latest messages were said first."""
    conversations = generations.conversations(generation.plan, generation.created_at)
    found = [each async for each, scopes in conversations if replayer.concerns(scopes)]
    return sorted(found, key=lambda each: (each.last_said_at, each.conversation_id))


async def replay_archive(generations: Generations, generation: Generation, replayer: Replayer, told: Told) -> None:
    """All that was planned and is not done."""
    last: PlannedConversation | None = None
    while page := await generations.waiting(generation.generation_id, last):
        for last in page:
            await replayer.add(last, await generations.messages(generation, last.conversation_id))
            told()
    await replayer.finish()


async def replay_kafka(
    log: Log,
    topic: str,
    generations: Generations,
    generation: Generation,
    replayer: Replayer,
    told: Told,
    most_bytes: int = MOST_BYTES,
) -> None:
    """What its topic still holds, in the same order. Raises Misconfigured where that is more than fits in memory."""
    since = generation.plan.since
    positions = await log.since(topic, since - CLOCKS_APART) if since is not None else await log.beginnings(topic)
    conversations = await read(log.chunks(topic, positions), generation, replayer, most_bytes)
    done = await generations.done_of(generation.generation_id, conversations)
    last_said = {name: max(each.message.timestamp for each in said) for name, said in conversations.items()}
    for name in sorted(conversations.keys() - done, key=lambda name: (last_said[name], name)):
        await replayer.add(PlannedConversation(name, last_said[name]), conversations.pop(name))
        told()
    await replayer.finish()


async def read(
    pieces: AsyncIterator[Chunk], generation: Generation, replayer: Replayer, most_bytes: int
) -> dict[str, list[ArchivedMessage]]:
    """What of a topic belongs to the generation, by conversation: by partition and position, each message once."""
    size = 0
    said: dict[str, dict[str, ArchivedMessage]] = defaultdict(dict)
    async for piece in pieces:
        for record in piece.records:
            message = within(record, generation)
            if message is None or message.message_id in said.get(message.conversation_id, ()):
                continue
            size += len(record.value)
            if size > most_bytes:
                raise Misconfigured(
                    f"Kafka holds more than {most_bytes} bytes of that time: say --since and --until, or replay from the archive"
                )
            archived = ArchivedMessage(message=message, partition=piece.partition, position=record.offset)
            said[message.conversation_id][message.message_id] = archived
    found = {name: sorted(messages.values(), key=place) for name, messages in said.items()}
    return {name: messages for name, messages in found.items() if replayer.feeds(messages)}


def place(archived: ArchivedMessage) -> tuple[int, int]:
    return archived.partition, archived.position


def within(record: Any, generation: Generation) -> Message | None:
    """The message of a record, if it is one, of the plan's time, and was there when the replay began."""
    plan = generation.plan
    if record.timestamp > generation.created_at.timestamp() * 1_000:
        return None
    try:
        message = codec.decode_untrusted(record.value, Message)
    except Rejected:
        return None
    early = plan.since is not None and message.timestamp < plan.since
    return None if early or message.timestamp >= plan.until else message
