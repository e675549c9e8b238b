"""The ends of the messages topic: records before them are older than an erasure, whatever a sender's clock says."""

from deploy.settings import Settings
from schemas.kafka import topics
from streams.kafka.record_removal import log_ends


async def message_ends(settings: Settings) -> dict[int, int]:
    """The current ends of the partitions of the messages topic. Raises Retryable."""
    names = settings.topics()
    client, topic = settings.cluster().client(), names.physical(topics.MESSAGES)
    return await log_ends(client, topic, names.conversation_partitions)
