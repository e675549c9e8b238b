"""Fakes for the operators' views: a pipeline with lag, failing providers, dead letters."""

from datetime import timedelta

from schemas import codec
from schemas.kafka import topics
from sinks.metrics.pipeline_state import ParkedRequests, ProviderState, UnderWay
from streams.kafka.lag import StageLag, TopicLag
from streams.kafka.topics import STAGES
from tests.api import NOON, Api

SECRET = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789"
BEHIND = {topics.MESSAGES: 1_204, topics.REQUESTS: 37}


def a_stage(stage: str, *, running: bool = True) -> StageLag:
    lags = tuple(TopicLag(topic=topic, records=BEHIND.get(topic, 0), most=0) for topic in STAGES[stage])
    return StageLag(stage=stage, records=sum(each.records for each in lags), running=running, topics=lags)


def a_pipeline(api: Api) -> None:
    api.pipeline.stages = tuple(a_stage(stage, running=stage != "passages") for stage in STAGES)
    api.pipeline.states = (
        ProviderState(provider="claude", breaker="open", available=False, workers=2, at=NOON),
        ProviderState(provider="offline", breaker=None, available=True, workers=2, at=NOON),
    )
    api.pipeline.waiting = (
        ParkedRequests(lane="background", reason="budget", requests=41, batched=0, oldest_at=NOON - timedelta(hours=3)),
        ParkedRequests(lane="background", reason="batch", requests=12, batched=12, oldest_at=NOON - timedelta(hours=1)),
    )
    api.pipeline.now_under_way = UnderWay(calls=3, outbox=2, outbox_since=NOON)


def dead_letters(api: Api) -> list[str]:
    """The places of three."""
    said = codec.encode({"conversation_id": "talk", "message_id": "talk-1", "content": f"my key is {SECRET}"})
    return [
        api.letter_topic.add_letter(said, detail="content: it has 90,000 characters, and 64,000 may be"),
        api.letter_topic.add_letter(b"{", reason="undecodable", detail="it is no JSON: unexpected end of data"),
        api.letter_topic.add_letter(
            b'{"namespace": "app/ada"}',
            stage="curation",
            reason="unknown",
            detail="no memory of this id",
            topic=topics.COMMANDS,
        ),
    ]


def an_installation(api: Api) -> None:
    a_pipeline(api)
    dead_letters(api)
