"""The topics that memstream creates."""

from typing import Annotated

from pydantic import BaseModel, Field, field_validator

from schemas.kafka.topics import KEPT_DAYS
from streams.kafka.topics import TopicSettings


class TopicFields(BaseModel):
    topic_prefix: str = Field("", pattern=r"^[A-Za-z0-9._-]*$", description="prefix of every topic and group name")
    conversation_partitions: int = Field(8, ge=1, le=1000, description="partitions of the topics keyed by conversation")
    namespace_partitions: int = Field(8, ge=1, le=1000, description="partitions of the topics keyed by namespace")
    replication: int = Field(
        1,
        ge=1,
        le=10,
        description="replication factor of topics that memstream creates; from 2 on, a write needs two replicas "
        "in sync",
    )
    max_message_bytes: int = Field(
        1_048_576,
        ge=524_288,
        description="largest message that a chat service may publish; memstream's own topics accept four times that",
    )
    kept_days: dict[str, Annotated[int, Field(ge=1, le=36_500)]] = Field(
        default_factory=dict,
        description='days that topics which memstream creates keep their records, as JSON by name: {"chat.messages": 3}; '
        "else as schemas/generated/topics.md says",
    )

    @field_validator("kept_days")
    @classmethod
    def topics_are_kept_for_a_time(cls, kept: dict[str, int]) -> dict[str, int]:
        """Compacted topics keep the latest record of each key forever: deleted ones could not be restored."""
        possible = [name for name, days in KEPT_DAYS.items() if days is not None]
        if unknown := sorted(kept.keys() - set(possible)):
            raise ValueError(f"{unknown[0]} is not a topic whose retention can be set: {', '.join(possible)}")
        return kept

    def topics(self) -> TopicSettings:
        return TopicSettings(
            prefix=self.topic_prefix,
            conversation_partitions=self.conversation_partitions,
            namespace_partitions=self.namespace_partitions,
            replication=self.replication,
            max_message_bytes=self.max_message_bytes,
            kept_days=self.kept_days,
        )
