"""Tells of passages that Qdrant takes for wrong: they are in PostgreSQL, and found by their words alone."""

from agents.dead_letters.writer import PREFIX
from schemas.kafka import topics
from schemas.kafka.records import Outgoing, Publisher
from sinks.passages.vectors import PassagePoint
from sinks.vectors.port import PointsRefused


class RefusedPassages:
    """Writes a dead letter for each, without what was said."""

    def __init__(self, publisher: Publisher) -> None:
        self._publisher = publisher

    async def tell(self, point: PassagePoint, refused: PointsRefused) -> None:
        await self._publisher.publish([letter(point, refused)])


def letter(point: PassagePoint, refused: PointsRefused) -> Outgoing:
    told = {"reason": "refused", "detail": str(refused), "stage": "passages", "topic": "vectors"}
    headers = tuple((PREFIX + name, value.encode("utf-8", "replace")) for name, value in told.items())
    return Outgoing(topic=topics.DEAD_LETTERS, key=point.passage_id.encode(), value=b"", headers=headers)
