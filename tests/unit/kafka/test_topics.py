"""How topics are made: what a deployment chooses of them, and what they are kept for."""

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


def test_topics_are_kept_as_long_as_the_table_says():
    made = configs(TopicSettings())
    for name, days in KEPT.items():
        if days is None:
            assert (made[name]["cleanup.policy"], "retention.ms" in made[name]) == ("compact", False)
        else:
            assert (made[name]["cleanup.policy"], made[name]["retention.ms"]) == ("delete", str(days * DAY_MS))
    assert made.keys() - KEPT.keys() == {TopicSettings().changelog}
    assert made[TopicSettings().changelog]["cleanup.policy"] == "compact"


def test_the_published_description_says_the_same():
    for name, channel in asyncapi.document("1.0.0")["channels"].items():
        told = channel["bindings"]["kafka"]["topicConfiguration"]
        days = KEPT[name]
        assert told == (
            {"cleanup.policy": ["compact"]}
            if days is None
            else {"cleanup.policy": ["delete"], "retention.ms": days * DAY_MS}
        )


@pytest.mark.parametrize(("replication", "in_sync"), [(1, "1"), (2, "2"), (3, "2"), (5, "2")])
def test_what_is_confirmed_is_on_two_brokers_where_there_are_two(replication: int, in_sync: str):
    made = configs(TopicSettings(replication=replication))
    assert len(made) == 12
    assert {each["min.insync.replicas"] for each in made.values()} == {in_sync}


def test_a_deployment_chooses_how_long_by_the_topics_name_whatever_its_prefix():
    settings = Settings(topic_prefix="a.", kept_days={topics.MESSAGES: 3})
    made = configs(settings.topics())
    assert made["a.chat.messages"]["retention.ms"] == str(3 * DAY_MS)
    assert made["a.chat.conversations.ended"]["retention.ms"] == str(30 * DAY_MS)


@pytest.mark.parametrize("name", ["memory.state", "memory.policies", "chat.message", ""])
def test_what_is_compacted_or_unknown_has_no_time_of_its_own(name: str):
    with pytest.raises(Misconfigured, match=r"not a topic whose retention can be set: chat\.messages, "):
        load(kept_days={name: 3})


def test_nothing_is_kept_for_less_than_a_day():
    with pytest.raises(Misconfigured, match="KEPT_DAYS"):
        load(kept_days={topics.MESSAGES: 0})


def test_partitions_of_topics_that_are_only_written_may_be_others():
    """None are ever added to memory.state, however many namespaces there are."""
    wanted = specs(TopicSettings(namespace_partitions=16))
    found = {spec.name: spec.partitions for spec in wanted} | {"memory.state": 8, "memory.events": 8}
    assert problems(wanted, found) == []
    (said,) = problems(wanted, found | {"memory.commands": 8})
    assert "memory.commands has 8 partitions, the settings say 16" in said
    (said,) = problems(wanted, found | {"memory.state": 0})
    assert "memory.state is missing" in said
