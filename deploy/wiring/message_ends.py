"""Where chat services' messages end: what lies before is older than an erasure, whatever a sender's clock says."""

from deploy.settings import Settings
from schemas.kafka import topics
from streams.kafka.rewriting import log_ends


async def message_ends(settings: Settings) -> dict[int, int]:
    """Where the partitions of the messages topic end now. Raises Retryable."""
    names = settings.topics()
    client, topic = settings.cluster().client(), names.physical(topics.MESSAGES)
    return await log_ends(client, topic, names.conversation_partitions)
