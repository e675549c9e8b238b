"""The status of the pipeline over HTTP."""

from datetime import timedelta

from sinks.metrics.pipeline_state import ParkedRequests, ProviderState, UnderWay
from streams.kafka.lag import StageLag, TopicLag
from tests.api import NOON, Api

PIPELINE = "/v1/pipeline"


def a_pipeline(api: Api) -> None:
    lag = TopicLag(topic="chat.messages", records=7, most=5)
    api.pipeline.stages = (StageLag(stage="windows", records=7, running=True, topics=(lag,)),)
    api.pipeline.states = (ProviderState(provider="claude", breaker="open", available=False, workers=2, at=NOON),)
    parked = ParkedRequests(lane="background", reason="budget", requests=3, batched=0, oldest_at=NOON)
    api.pipeline.waiting = (parked,)
    api.pipeline.now_under_way = UnderWay(calls=2, outbox=1, outbox_since=NOON - timedelta(seconds=9))


async def test_the_pipeline_status_needs_the_right_to_read_everything_and_reports_every_part(api: Api):
    a_pipeline(api)
    api.letter_topic.add_letter()
    assert (await api.client(read="app/*").get(PIPELINE)).status_code == 403
    body = (await api.client(read="*").get(PIPELINE)).json()
    assert body["stages"] == [
        {
            "stage": "windows",
            "records": 7,
            "running": True,
            "topics": [{"topic": "chat.messages", "records": 7, "most": 5}],
        }
    ]
    assert [(each["provider"], each["breaker"], each["workers"]) for each in body["providers"]] == [
        ("claude", "open", 2)
    ]
    assert [(each["lane"], each["reason"], each["requests"]) for each in body["parked"]] == [
        ("background", "budget", 3)
    ]
    assert (body["under_way"]["calls"], body["under_way"]["outbox"]) == (2, 1)
    assert [each["limit"] for each in body["budget"]] == ["tokens_per_day"]
    assert (body["dead_letters"], body["missing"]) == (1, {})


async def test_a_part_of_the_pipeline_status_that_fails_is_listed_as_missing_beside_the_others(api: Api):
    a_pipeline(api)
    api.pipeline.brokers_down = api.letter_topic.down = True
    body = (await api.client(read="*").get(PIPELINE)).json()
    assert sorted(body["missing"]) == ["dead_letters", "stages"]
    assert "brokers" in body["missing"]["stages"]
    assert (body["stages"], body["dead_letters"], body["under_way"]["calls"]) == ([], None, 2)


async def test_the_broker_status_is_cached_across_requests(api: Api):
    client = api.client(read="*")
    for _ in range(5):
        await client.get(PIPELINE)
    assert api.pipeline.calls == 1
    api.seconds += 60
    await client.get(PIPELINE)
    assert api.pipeline.calls == 2
