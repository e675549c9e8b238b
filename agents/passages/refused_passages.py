"""Reports passages that Qdrant refuses: they stay in PostgreSQL, and search finds them by words alone."""

from agents.dead_letters.writer import PREFIX
from schemas.kafka import topics
from schemas.kafka.records import Outgoing, Publisher
from sinks.passages.vectors import PassagePoint
from sinks.vectors.port import PointsRefused


class RefusedPassages:
    """Writes a dead letter for each, without its text."""

    def __init__(self, publisher: Publisher) -> None:
        self._publisher = publisher

    async def publish(self, point: PassagePoint, refused: PointsRefused) -> None:
        await self._publisher.publish([refused_point_letter(point, refused)])


def refused_point_letter(point: PassagePoint, refused: PointsRefused) -> Outgoing:
    fields = {"reason": "refused", "detail": str(refused), "stage": "passages", "topic": "vectors"}
    headers = tuple((PREFIX + name, value.encode("utf-8", "replace")) for name, value in fields.items())
    return Outgoing(topic=topics.DEAD_LETTERS, key=point.passage_id.encode(), value=b"", headers=headers)
