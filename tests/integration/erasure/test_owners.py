"""Stored data of a user, exports, and statistics of a namespace on a real database."""

from typing import TYPE_CHECKING
from uuid import uuid4

from msgspec import structs

from agents.api.access.erasure import erasure_scope
from agents.api.access.user_export import ExportedData, user_export_pages
from agents.api.http.line_splitter import split_lines
from agents.api.memories.exports import export_pages
from agents.api.memories.imports import Import
from schemas.codec import decode
from schemas.conversations.user_settings import User
from schemas.extraction.candidates import Source
from schemas.memories.commands import Command
from schemas.memories.memories import Memory
from schemas.policies.policies import Policies, Policy
from sinks.archive.messages import Archive, ArchivedMessage
from sinks.erasure.owners import Owners
from sinks.memories.access_counts import Access, Accesses
from sinks.memories.exports import Exports
from sinks.memories.reader import Memories
from sinks.memories.statistics import NamespaceStatistics
from sinks.windows.projection import Windows
from tests.builders.archived_messages import archived_message
from tests.builders.slices import slice_of
from tests.fakes.windows import a_state
from tests.integration.curation_bench import NOON
from tests.integration.erasure.erasing import store_answer

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from tests.integration.curation_bench import Bench

POLICIES = Policies((Policy(name="both", namespaces=("{app_id}/{user_id}", "{app_id}")),))


def said(user_id: str, app_id: str = "notes") -> ArchivedMessage:
    whose = {"message_id": uuid4().hex, "app_id": app_id, "user_id": user_id}
    return archived_message(f"with {user_id}", 1, feeds=(f"{app_id}/{user_id}",), **whose)


async def test_namespaces_of_a_user_are_found_counted_and_erased_without_affecting_other_users(bench: "Bench") -> None:
    owners, curator = Owners(bench.pool), bench.curator_under(POLICIES)
    await Archive(bench.pool).store([said("mara"), said("anna")])
    mine = Source(conversation_id="with mara", message_id="1", timestamp=NOON)
    await curator.curate(bench.batch(bench.candidate("User skis", sources=(mine,)), namespace="notes/mara"))
    await curator.curate(bench.batch(bench.candidate("Mara skis", sources=(mine,)), namespace="notes"))
    await curator.curate(bench.batch("User sails", namespace="notes/anna"))
    user = User(user_id="mara")
    found = await erasure_scope(owners, POLICIES, user)
    assert (found.own, found.shared, found.conversations) == (("notes/mara",), ("notes",), ("with mara",))
    assert await owners.count_memories("notes", found.conversations) == 1
    assert (await owners.stored_counts(["notes/mara", "notes"]))["notes/mara"]["memories"] == 1
    assert (await owners.archived_counts(user))["messages"] == 1
    await curator.apply_command(Command(command_id="p", kind="purge", namespace="notes/mara", at=NOON))
    assert [set(held.values()) for held in (await owners.stored_counts(["notes/mara"])).values()] == [{0}]
    assert (await owners.archived_counts(user))["messages"] == 0
    assert (await owners.stored_counts(["notes/anna"]))["notes/anna"]["memories"] == 1
    assert (await erasure_scope(owners, POLICIES, User(user_id="mara", app_id="other"))).own == ()


async def test_namespaces_that_only_contain_the_id_are_read_in_pages_and_left_out(bench: "Bench") -> None:
    names = [f"notes/a{number:04}" for number in range(2_100)]
    await bench.pool.execute("INSERT INTO namespaces SELECT unnest($1::text[])", [*names, "notes/a", "zoo/a"])
    found = await erasure_scope(Owners(bench.pool), POLICIES, User(user_id="a"))
    assert (found.own, found.shared) == (("notes/a", "zoo/a"), ())


async def test_the_erasure_scope_includes_namespaces_of_others_in_shared_conversations(bench: "Bench") -> None:
    mara, anna = said("mara"), said("anna")
    both = structs.replace(anna, message=structs.replace(anna.message, conversation_id="with mara"))
    await Archive(bench.pool).store([mara, both, said("otto")])
    found = await erasure_scope(Owners(bench.pool), POLICIES, User(user_id="mara"))
    assert found.own == ("notes/mara",)
    assert found.shared == ("conversation/with mara", "notes", "notes/anna")
    assert found.conversations == ("with mara",)


async def test_an_answer_counts_for_a_namespace_only_while_it_has_proposals_for_it(bench: "Bench") -> None:
    owners, shared = Owners(bench.pool), ("notes/mara", "notes/anna")
    group = structs.replace(slice_of("I sail"), request_id="group", namespaces=shared)
    await store_answer(bench.pool, group, {"text": "User sails", "namespaces": ["notes/anna"]})
    await store_answer(bench.pool, structs.replace(group, request_id="emptied"))
    counts = await owners.stored_counts(shared)
    assert [counts[name]["answers"] for name in shared] == [0, 1]
    await store_answer(bench.pool, structs.replace(group, request_id="earlier"), {"text": "User skis"})
    counts = await owners.stored_counts(shared)
    assert [counts[name]["answers"] for name in shared] == [1, 2]


async def test_an_erased_window_is_not_counted(bench: "Bench") -> None:
    owners, windows, full = Owners(bench.pool), Windows(bench.pool), a_state("c", 1)
    await windows.project([full])
    assert (await owners.archived_counts(User(user_id="user")))["windows"] == 1
    empty = structs.replace(full.statistics, total_messages=0)
    await windows.project([structs.replace(full, revision=2, statistics=empty)])
    assert (await owners.archived_counts(User(user_id="user")))["windows"] == 0


async def test_an_export_is_imported_unchanged_and_only_once(bench: "Bench") -> None:
    for number in range(5):
        await bench.remember(f"User owns thing number {number}", tags=("things",))
    exports = Exports(bench.pool)
    pages = [page async for page in export_pages(exports, "n", ("active",), with_versions=True)]
    before = [decode(line, Memory) for page in pages for line in page.splitlines()]
    assert len(before) == 5
    await bench.curator.apply_command(Command(command_id="p", kind="purge", namespace="n", at=NOON))
    outcomes = []

    async def send(commands: "Sequence[Command]") -> None:
        outcomes.extend([await bench.curator.apply_command(command) for command in commands])

    async def chunks() -> "AsyncIterator[bytes]":
        for page in pages:
            yield page

    later = NOON.replace(hour=13)
    for import_id in ("one", "one", "two"):
        run = Import("n", import_id, "an operator", lambda: later, send)
        assert (await run.run(split_lines(chunks()))).accepted == 5
    assert [outcome.change for outcome in outcomes] == ["created"] * 10 + [None] * 5
    assert [outcome.repeated for outcome in outcomes[5:10]] == [True] * 5
    after = await bench.memories.by_ids([memory.memory_id for memory in before])
    for memory in before:
        now = after[memory.memory_id]
        kept = ("text", "kind", "tags", "importance", "confidence", "created_at", "created_by", "sources", "language")
        assert [getattr(now, name) for name in kept] == [getattr(memory, name) for name in kept]
        assert now.version == 1


async def test_namespace_statistics_count_memories_versions_and_reads(bench: "Bench") -> None:
    first = await bench.remember("User has a dog", tags=("pets",), importance=0.4)
    await bench.remember("User likes tea", kind="preference", tags=("drinks",), importance=0.8)
    gone = await bench.remember("User has a cat", tags=("pets",))
    await bench.curator.apply_command(
        Command(command_id="d", kind="delete", namespace="n", at=NOON, memory_id=gone.memory_id)
    )
    await Accesses(bench.pool).add({first.memory_id: Access(3, NOON)})
    statistics = await NamespaceStatistics(bench.pool).of("n")
    assert (statistics.live, statistics.statuses, statistics.kinds) == (2, {"active": 2}, {"fact": 1, "preference": 1})
    assert (statistics.tags, statistics.versions, statistics.sequence) == ({"drinks": 1, "pets": 1}, 4, 4)
    assert (statistics.mean_importance, statistics.reads, statistics.last_read_at) == (0.6, 3, NOON)
    empty = await NamespaceStatistics(bench.pool).of("nobody")
    assert (empty.live, empty.sequence, empty.mean_importance) == (0, 0, None)


async def test_an_export_of_a_user_has_the_users_messages_and_the_contents_of_deleted_memories(bench: "Bench") -> None:
    curator = bench.curator_under(POLICIES)
    archive, exports = Archive(bench.pool), Exports(bench.pool)
    mara, anna = said("mara"), said("anna")
    both = structs.replace(anna, message=structs.replace(anna.message, conversation_id="with mara"))
    await archive.store([mara, both])
    mine = Source(conversation_id="with mara", message_id="1", timestamp=NOON, user_id="mara")
    await curator.curate(bench.batch(bench.candidate("User skis", sources=(mine,)), namespace="notes/mara"))
    (memory,) = await Memories(bench.pool).in_namespace("notes/mara")
    await curator.apply_command(
        Command(command_id="d", kind="delete", namespace="notes/mara", memory_id=memory.memory_id, at=NOON)
    )
    user = User(user_id="mara")
    scope = await erasure_scope(Owners(bench.pool), POLICIES, user)
    pages = [page async for page in user_export_pages(exports, archive, user, scope)]
    memories, messages = [], []
    for line in b"".join(pages).splitlines():
        record = decode(line, ExportedData)
        memories += [record.memory] if record.memory else []
        messages += [record.message] if record.message else []
    assert [(each.status, each.text, len(each.versions)) for each in memories] == [("deleted", "User skis", 2)]
    assert messages == [mara.message]


async def test_an_export_of_a_user_reads_many_conversations_in_pages_and_knows_their_guests(bench: "Bench") -> None:
    archive = Archive(bench.pool)
    messages = [
        archived_message(f"talk {number:04}", 1, app_id="notes", user_id="mara", name="Mara") for number in range(1_100)
    ]
    replies = [
        archived_message(f"talk {number:04}", 2, app_id="notes", user_id=None, role="assistant")
        for number in (1_098, 1_099)
    ]
    guest = archived_message("talk 1099", 3, app_id="notes", user_id=None, name="Rob")
    await archive.store([*messages, *replies, guest])
    user = User(user_id="mara")
    scope = await erasure_scope(Owners(bench.pool), POLICIES, user)
    pages = [page async for page in user_export_pages(Exports(bench.pool), archive, user, scope)]
    exported = [decode(line, ExportedData).message for line in b"".join(pages).splitlines()]
    assert exported == [*(each.message for each in messages[:1_099]), replies[0].message, messages[1_099].message]
