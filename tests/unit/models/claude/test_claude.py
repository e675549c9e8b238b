"""The Claude provider, through the real SDK, against a local Messages server with the API's faults."""

import json

import pytest
from msgspec import structs

from agents.models.claude.calls import ClaudeCalls
from agents.models.claude.provider import ClaudeProvider
from agents.models.prompts.questions import MIN_ANSWER_TOKENS
from schemas.conversations.window_settings import WindowSettings
from schemas.errors import Rejected
from schemas.policies.policies import Policy
from tests.builders.slices import knowing, said, slice_of
from tests.servers.messages import KEY, MessagesServer
from tests.unit.models.claude.claude_asking import SLICE, draft, provider_at


async def test_slice_becomes_proposals_with_the_ids_of_its_messages(server: MessagesServer) -> None:
    provider = provider_at(server)
    answer = await provider.extract(SLICE, knowing())
    await provider.close()
    assert [(item.text, item.message_ids) for item in answer.proposals] == [
        ("User is allergic to peanuts.", ("m1",)),
        ("User prefers tea over coffee.", ("m2",)),
    ]
    assert (answer.provider, answer.model, answer.rejected) == ("claude", "claude-test-1", {})


async def test_second_call_reads_the_stable_prompt_part_from_the_cache_written_by_the_first_call(
    server: MessagesServer,
) -> None:
    provider = provider_at(server)
    first = await provider.extract(SLICE, knowing())
    second = await provider.extract(slice_of("I live in Turin."), knowing())
    await provider.close()
    assert first.usage.cache_write_tokens > 0 and first.usage.cache_read_tokens == 0
    assert second.usage.cache_read_tokens == first.usage.cache_write_tokens and second.usage.cache_write_tokens == 0
    assert second.usage.input_tokens > 0 and second.usage.output_tokens > 0


async def test_related_memories_are_sent_as_numbers_and_returned_as_memory_ids(server: MessagesServer) -> None:
    provider = provider_at(server)
    server.script("text:" + json.dumps({"memories": [draft(contradicts=2), draft(text="User eats nuts.", repeats=9)]}))
    answer = await provider.extract(SLICE, knowing("User likes chess.", "User eats peanuts."))
    await provider.close()
    assert answer.proposals[0].contradicts == "User eats peanuts."
    assert answer.proposals[1].repeats is None
    assert '\n2 "User eats peanuts."' in server.seen[0]["messages"][0]["content"]


async def test_an_empty_answer_is_accepted_without_proposals(server: MessagesServer) -> None:
    provider = provider_at(server)
    answer = await provider.extract(slice_of("Thanks, bye!"), knowing())
    await provider.close()
    assert answer.proposals == () and answer.rejected == {}
    assert len(server.seen) == 1


async def test_an_answer_without_content_is_repaired_once_and_then_rejected(server: MessagesServer) -> None:
    provider = provider_at(server)
    server.script("empty", "rules", "empty", "empty")
    answer = await provider.extract(SLICE, knowing())
    with pytest.raises(Rejected) as caught:
        await provider.extract(SLICE, knowing())
    await provider.close()
    assert len(answer.proposals) == 2
    assert caught.value.reason == "unreadable"
    assert len(server.seen) == 4


async def test_unknown_content_blocks_and_stop_reasons_are_ignored(server: MessagesServer) -> None:
    text = json.dumps({"type": "text", "text": json.dumps({"memories": [draft()]})})
    body = f'"content": [{{"type": "musing", "words": 3}}, {text}], "stop_reason": "rested", "model": "claude-test-1"'
    server.script(f'json:{{"type": "message", {body}, "usage": {{"input_tokens": 3, "output_tokens": 2}}}}')
    provider = provider_at(server)
    answer = await provider.extract(SLICE, knowing())
    await provider.close()
    assert [item.text for item in answer.proposals] == ["User is allergic to peanuts."]
    assert (answer.usage.input_tokens, answer.usage.cache_read_tokens) == (3, 0)


async def test_a_truncated_answer_is_requested_again_with_more_output_tokens(server: MessagesServer) -> None:
    provider = provider_at(server)
    server.script("truncated")
    answer = await provider.extract(SLICE, knowing())
    await provider.close()
    assert len(answer.proposals) == 2
    assert [body["max_tokens"] for body in server.seen] == [MIN_ANSWER_TOKENS, ClaudeCalls.max_reply_tokens]
    assert answer.usage.cache_read_tokens > 0 and answer.usage.cache_write_tokens > 0


async def test_answer_truncated_twice_is_rejected(server: MessagesServer) -> None:
    provider = provider_at(server)
    server.script("truncated", "truncated")
    with pytest.raises(Rejected) as caught:
        await provider.extract(SLICE, knowing())
    await provider.close()
    assert caught.value.reason == "truncated"


@pytest.mark.parametrize("reply", ["I have extracted two memories.", '{"facts": []}', "", '{"memories": "none"}', "[1"])
async def test_unreadable_answer_is_repaired_once(server: MessagesServer, reply: str) -> None:
    provider = provider_at(server)
    server.script(f"text:{reply}")
    answer = await provider.extract(SLICE, knowing())
    await provider.close()
    assert len(answer.proposals) == 2
    assert [message["role"] for message in server.seen[1]["messages"]] == ["user", "assistant", "user"]


async def test_answer_unreadable_twice_is_rejected_and_not_taken_for_an_empty_one(server: MessagesServer) -> None:
    provider = provider_at(server)
    server.script("text:sorry", "text:still sorry")
    with pytest.raises(Rejected) as caught:
        await provider.extract(SLICE, knowing())
    await provider.close()
    assert caught.value.reason == "unreadable"


async def test_valid_drafts_of_a_broken_answer_are_kept_after_a_failed_repair(server: MessagesServer) -> None:
    provider = provider_at(server)
    broken = f'text:Here you are: {{"memories": [{json.dumps(draft())}, {{"kind": "fact", "te'
    server.script(broken, "text:no")
    answer = await provider.extract(SLICE, knowing())
    await provider.close()
    assert [item.text for item in answer.proposals] == ["User is allergic to peanuts."]
    assert answer.rejected == {"unreadable": 1}


@pytest.mark.parametrize("fault", [{"kind": "recipe"}, {"confidence": 7}, {"importance": "high"}, {"messages": "1"}])
async def test_drafts_that_violate_the_schema_are_requested_once_more(
    server: MessagesServer, fault: dict[str, object]
) -> None:
    provider = provider_at(server)
    server.script("text:" + json.dumps({"memories": [draft(), draft(text="User likes tea.") | fault]}))
    answer = await provider.extract(SLICE, knowing())
    await provider.close()
    assert len(server.seen) == 2 and len(answer.proposals) == 2 and answer.rejected == {}


async def test_drafts_that_violate_the_schema_twice_are_counted_and_the_other_drafts_are_kept(
    server: MessagesServer,
) -> None:
    provider = provider_at(server)
    broken = "text:" + json.dumps({"memories": [draft(), draft(text="User likes tea.", kind="recipe")]})
    server.script(broken, broken)
    answer = await provider.extract(SLICE, knowing())
    await provider.close()
    assert [item.text for item in answer.proposals] == ["User is allergic to peanuts."]
    assert len(server.seen) == 2 and answer.rejected == {"kind": 1}


async def test_drafts_that_cite_unknown_messages_are_counted_and_not_requested_again(server: MessagesServer) -> None:
    provider = provider_at(server)
    server.script("text:" + json.dumps({"memories": [draft(), draft(messages=[99])]}))
    answer = await provider.extract(SLICE, knowing())
    await provider.close()
    assert len(server.seen) == 1 and answer.rejected == {"provenance": 1}


async def test_a_slice_with_a_one_megabyte_message_is_shortened_and_answered(server: MessagesServer) -> None:
    provider = provider_at(server)
    pasted = structs.replace(said("lorem ipsum " * 90_000, 2), tokens=270_000)
    answer = await provider.extract(slice_of("I live in Turin.", pasted), knowing())
    await provider.close()
    assert [item.text for item in answer.proposals] == ["User lives in Turin."]
    assert len(json.dumps(server.seen[0])) < 120_000


async def test_base_url_of_the_environment_is_honoured(server: MessagesServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    provider = ClaudeProvider("claude-test-1")
    assert await provider.unavailable_reason() is None
    answer = await provider.extract(SLICE, knowing())
    await provider.close()
    assert len(answer.proposals) == 2


async def test_messages_are_rated_if_the_policy_enables_ratings(server: MessagesServer) -> None:
    rating = Policy(name="rating", window=WindowSettings(rate_messages=True))
    provider = provider_at(server)
    server.script("text:" + json.dumps({"memories": [draft()], "ratings": [{"message": 2, "importance": 8}]}))
    assert (await provider.extract(SLICE, knowing(policy=rating))).ratings == {"m2": 8}
    server.script("text:" + json.dumps({"memories": [draft()]}))
    assert (await provider.extract(SLICE, knowing(policy=rating))).ratings == {}
    await provider.close()
    assert len(server.seen) == 2
