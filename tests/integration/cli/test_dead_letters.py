"""`memstream dead-letters` lists and replays records to a running worker."""

import asyncio
from typing import Any

from agents.dead_letters.writer import MAX_COPIED_BYTES, dead_letter
from deploy.wiring import connections
from schemas import codec
from schemas.errors import Rejected
from schemas.kafka import topics
from schemas.kafka.records import Outgoing
from tests.builders.slices import MONDAY
from tests.command_line import Done, lines, run
from tests.deployment import Deployment, Event, eventually
from tests.integration.conftest import TRACE, Deploy

MESSAGE = {"message_id": "c-1", "role": "user", "content": "I am allergic to peanuts.", "app_id": "a", "user_id": "u"}
AT = {"conversation_id": "c", "timestamp": "2026-03-01T10:00:00Z"}
RIGHT = codec.encode(AT | MESSAGE)


async def memstream(deployment: Deployment, *args: str) -> Done:
    return await asyncio.to_thread(run, deployment.settings, deployment.directory, "dead-letters", *args)


async def put_aside(deployment: Deployment, *said: tuple[bytes, str]) -> list[Any]:
    """Each (value, reason) is published with a key, a trace and an empty key's partition, and given up by an earlier version."""
    await deployment.publish(*(Event(topics.MESSAGES, "c", value, TRACE) for value, _ in said))
    sources = await deployment.records(topics.MESSAGES)
    dead_letters = [
        dead_letter(source, "windows", Rejected(reason, "an earlier version could not"), MONDAY)
        for source, (_, reason) in zip(sources, said, strict=True)
    ]
    async with connections.kafka(deployment.settings) as publisher:
        await publisher.publish(dead_letters)
    return sources


async def listed(deployment: Deployment, *args: str) -> dict[str, str]:
    """The reason by place."""
    return {line["letter"]: line["reason"] for line in lines(await memstream(deployment, "list", "--json", *args))}


async def test_replayed_dead_letters_keep_their_identity_and_create_one_memory_however_often_replayed(deploy: Deploy):
    """The window was there before: the message was too much for it then, and comes again, twice."""
    deployment = await deploy("letters", start_from="now")
    (source,) = await put_aside(deployment, (RIGHT, "too_much"))
    await deployment.worker()
    for args in (("--reason", "too_much"), ("--reason", "too_much", "--again")):
        done = await memstream(deployment, "replay", *args, "--json")
        assert (done.returncode, [line["is"] for line in lines(done)]) == (0, ["replayed"])
    replayed = (await deployment.records(topics.MESSAGES))[1:]
    assert len(replayed) == 2
    for record in replayed:
        assert (record.partition, record.key, record.value, record.headers) == (
            *(source.partition, source.key, source.value),
            source.headers,
        )
    await deployment.publish(Event(topics.ENDED, "c", AT | {"message_count": 1}))
    await deployment.settled()
    (memory,) = await deployment.fetch("SELECT text FROM memories")
    assert "peanuts" in memory["text"]
    assert await deployment.count("messages") == 1


async def test_dead_letters_are_listed_until_settled_and_shown_in_full(deploy: Deploy):
    deployment = await deploy("letters")
    await put_aside(deployment, (RIGHT, "too_much"), (b"\xff", "undecodable"), (b"no", "undecodable"))
    found = await listed(deployment)
    assert sorted(found.values()) == ["too_much", "undecodable", "undecodable"]
    (right,) = [place for place, reason in found.items() if reason == "too_much"]
    (shown,) = lines(await memstream(deployment, "show", right, "--json"))
    assert codec.decode(shown["value"].encode(), dict) == AT | MESSAGE
    assert shown["headers"] == {name: value.decode() for name, value in TRACE}
    table = (await memstream(deployment, "list")).stdout
    assert "an earlier version could not" in table

    assert (await memstream(deployment, "discard", "--reason", "undecodable", "--dry-run")).returncode == 0
    assert len(await listed(deployment)) == 3, "nothing was done"
    assert (await memstream(deployment, "discard", "--reason", "undecodable")).returncode == 0
    assert await listed(deployment) == {right: "too_much"}
    assert len(await listed(deployment, "--all")) == 3
    again = await memstream(deployment, "discard", "--reason", "undecodable")
    assert (again.returncode, "--again" in again.stderr) == (1, True)
    partition, offset = right.split(":")
    assert (await memstream(deployment, "replay", f"{partition}:0-{offset}", "--stage", "windows")).returncode == 0
    assert await listed(deployment) == {}
    assert "no dead letter" in (await memstream(deployment, "list")).stdout


async def test_a_dry_run_of_a_replay_refuses_what_the_replay_refuses(deploy: Deploy):
    deployment = await deploy("letters")
    async with connections.kafka(deployment.settings) as publisher:
        await publisher.publish([Outgoing(topic=topics.POLICIES, key=b"notes", value=b"no policy")])
        (record,) = await deployment.records(topics.POLICIES)
        await publisher.publish([dead_letter(record, "policies", Rejected("invalid", "no policy"), MONDAY)])
    for options in (("--dry-run",), ()):
        done = await memstream(deployment, "replay", "--stage", "policies", *options)
        assert (done.returncode, done.stdout) == (1, "")
        assert "put a valid policy, then discard it" in done.stderr
    assert "no dead letter matches" in (await memstream(deployment, "list", "--stage", "curation")).stdout


async def test_a_dead_letter_by_reference_is_replayed_from_its_source_and_replay_requires_a_selection(deploy: Deploy):
    deployment = await deploy("letters", max_message_bytes=4_194_304)
    large = codec.encode(AT | MESSAGE | {"content": "x" * MAX_COPIED_BYTES})
    settings = deployment.settings
    async with connections.kafka(settings) as publisher:
        await publisher.publish([Outgoing(topic=topics.MESSAGES, key=b"c", value=large, partition=1)])
        (record,) = await deployment.records(topics.MESSAGES)
        await publisher.publish([dead_letter(record, "archive", Rejected("too_large", "then"), MONDAY)])
    nothing = await memstream(deployment, "replay")
    assert (nothing.returncode, "select dead letters by position" in nothing.stderr) == (2, True)
    assert (await memstream(deployment, "replay", "--stage", "archive")).returncode == 0

    async def there_again() -> bool:
        return [each.value for each in await deployment.records(topics.MESSAGES)] == [large, large]

    await eventually(there_again, "the source is published again")
