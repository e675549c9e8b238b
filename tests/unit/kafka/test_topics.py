"""Configuration of created topics: retention, cleanup and replication."""

import pytest

from deploy.settings import Settings, load
from schemas.documents import asyncapi
from schemas.errors import Misconfigured
from schemas.kafka import topics
from streams.kafka.topics import DAY_MS, TopicSettings, problems, specs

KEPT = {
    "chat.messages": 30,
    "chat.conversations.ended": 30,
    "memory.window-control": 7,
    "memory.extraction-requests": 7,
    "memory.candidates": 7,
    "memory.commands": 30,
    "memory.policies": None,
    "memory.events": 30,
    "memory.state": None,
    "memory.activity": 7,
    "memory.dead-letters": 90,
}


def configs(settings: TopicSettings) -> dict[str, dict[str, str]]:
    return {spec.name: spec.configs() for spec in specs(settings)}


def test_topics_have_the_documented_retention_and_cleanup_policies():
    made = configs(TopicSettings())
    for name, days in KEPT.items():
        if days is None:
            assert (made[name]["cleanup.policy"], "retention.ms" in made[name]) == ("compact", False)
        else:
            assert (made[name]["cleanup.policy"], made[name]["retention.ms"]) == ("delete", str(days * DAY_MS))
    assert made.keys() - KEPT.keys() == {TopicSettings().changelog}
    assert made[TopicSettings().changelog]["cleanup.policy"] == "compact"


def test_the_asyncapi_document_states_the_same_retention():
    for name, channel in asyncapi.document("1.0.0")["channels"].items():
        documented = channel["bindings"]["kafka"]["topicConfiguration"]
        days = KEPT[name]
        assert documented == (
            {"cleanup.policy": ["compact"]}
            if days is None
            else {"cleanup.policy": ["delete"], "retention.ms": days * DAY_MS}
        )


@pytest.mark.parametrize(("replication", "in_sync"), [(1, "1"), (2, "2"), (3, "2"), (5, "2")])
def test_min_insync_replicas_is_two_if_the_replication_allows_it(replication: int, in_sync: str):
    made = configs(TopicSettings(replication=replication))
    assert len(made) == 12
    assert {each["min.insync.replicas"] for each in made.values()} == {in_sync}


def test_retention_is_configured_by_topic_name_without_the_prefix():
    settings = Settings(topic_prefix="a.", kept_days={topics.MESSAGES: 3})
    made = configs(settings.topics())
    assert made["a.chat.messages"]["retention.ms"] == str(3 * DAY_MS)
    assert made["a.chat.conversations.ended"]["retention.ms"] == str(30 * DAY_MS)


@pytest.mark.parametrize("name", ["memory.state", "memory.policies", "chat.message", ""])
def test_retention_cannot_be_set_for_compacted_or_unknown_topics(name: str):
    with pytest.raises(Misconfigured, match=r"not a topic whose retention can be set: chat\.messages, "):
        load(kept_days={name: 3})


def test_retention_below_one_day_is_rejected():
    with pytest.raises(Misconfigured, match="KEPT_DAYS"):
        load(kept_days={topics.MESSAGES: 0})


def test_only_topics_that_are_consumed_must_have_the_configured_partition_count():
    """None are ever added to memory.state, however many namespaces there are."""
    wanted = specs(TopicSettings(namespace_partitions=16))
    found = {spec.name: spec.partitions for spec in wanted} | {"memory.state": 8, "memory.events": 8}
    assert problems(wanted, found) == []
    (said,) = problems(wanted, found | {"memory.commands": 8})
    assert "memory.commands has 8 partitions, the settings say 16" in said
    (said,) = problems(wanted, found | {"memory.state": 0})
    assert "memory.state is missing" in said
