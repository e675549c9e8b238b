"""The context size of Ollama requests is large enough, never shrinks, and no prompt is truncated silently."""

import asyncio

import pytest
from msgspec import structs

from agents.models.ollama.calls import CONTEXT_STEP, OllamaCalls, min_tokens, window_for
from agents.models.ollama.provider import OllamaProvider
from schemas.errors import Rejected
from schemas.extraction.requests import ExtractionRequest
from tests.builders.slices import knowing, slice_of
from tests.servers.ollama import MODEL, OllamaServer
from tests.unit.models.ollama.asking import DIGITS, LONG, SLICE, raised_at


async def test_the_context_window_is_large_enough_for_the_slice_and_its_answer(
    server: OllamaServer, provider: OllamaProvider
) -> None:
    await provider.extract(LONG, knowing())
    (body,) = server.seen
    window = body["options"]["num_ctx"]
    prompt = sum(len(message["content"]) for message in body["messages"])
    assert window > prompt / 4 + OllamaCalls.max_reply_tokens and window % CONTEXT_STEP == 0
    assert (body["truncate"], body["shift"]) == (False, False)


async def test_the_context_window_never_shrinks_between_calls(server: OllamaServer, provider: OllamaProvider) -> None:
    for request in (SLICE, LONG, SLICE):
        await provider.extract(request, knowing())
    small, large, after = (body["options"]["num_ctx"] for body in server.seen)
    assert small < large == after


async def test_a_slice_with_more_tokens_than_estimated_is_retried_in_the_largest_window() -> None:
    async with OllamaServer(chars_per_token=1) as server:
        provider = OllamaProvider(MODEL, server.url, timeout_s=60.0)
        answer = await provider.extract(slice_of("I live in Turin.", "My number is " + "7" * 9_000), knowing())
        await provider.close()
    assert [item.text for item in answer.proposals] == ["User lives in Turin."]
    assert [body["options"]["num_ctx"] for body in server.seen][-2:] == [12_288, 32_768]


async def test_concurrent_slices_beyond_the_estimate_are_each_retried_in_the_largest_window() -> None:
    async with OllamaServer(chars_per_token=1) as server:
        provider = OllamaProvider(MODEL, server.url, timeout_s=60.0, concurrency=3)
        wide = slice_of("I live in Turin.", "My number is " + "7" * 9_000)
        answers = await asyncio.gather(*(provider.extract(wide, knowing()) for _ in range(3)))
        await provider.close()
    assert [len(answer.proposals) for answer in answers] == [1, 1, 1]
    assert [body["options"]["num_ctx"] for body in server.seen].count(32_768) == 3


async def test_a_slice_larger_than_the_window_is_shortened_with_a_note_in_the_prompt(server: OllamaServer) -> None:
    provider = OllamaProvider(MODEL, server.url, timeout_s=60.0, max_window_tokens=8_192)
    answer = await provider.extract(LONG, knowing())
    await provider.close()
    assert answer.provider == "ollama" and len(server.seen) == 1
    assert "characters left out" in server.seen[0]["messages"][-1]["content"]


async def test_a_prompt_beyond_the_context_length_of_the_model_is_rejected() -> None:
    async with OllamaServer(trained=4_096) as server:
        provider = OllamaProvider(MODEL, server.url, timeout_s=60.0)
        with pytest.raises(Rejected) as caught:
            await provider.extract(LONG, knowing())
        assert len((await provider.extract(SLICE, knowing())).proposals) == 2
        await provider.close()
    assert caught.value.reason == "too_large"


async def test_the_older_error_message_for_an_overlong_prompt_is_recognised(server: OllamaServer) -> None:
    server.script("overlong", "overlong")
    error = await raised_at(server.url)
    assert isinstance(error, Rejected) and error.reason == "too_large"


@pytest.mark.parametrize("slice_request", [LONG, DIGITS], ids=["words", "digits"])
async def test_a_prompt_silently_truncated_by_an_old_server_is_rejected_as_too_large(
    slice_request: ExtractionRequest,
) -> None:
    uncounted = tuple(structs.replace(message, tokens=1) for message in slice_request.messages)
    async with OllamaServer(refuses=False) as server:
        provider = OllamaProvider(MODEL, server.url, timeout_s=60.0, max_window_tokens=8_192)
        with pytest.raises(Rejected, match="Ollama read 8192 of at least") as caught:
            await provider.extract(structs.replace(slice_request, messages=uncounted), knowing())
        await provider.close()
    assert caught.value.reason == "too_large"


async def test_a_prompt_of_which_the_server_read_only_half_is_rejected_as_too_large(server: OllamaServer) -> None:
    server.script("shortened", "shortened")
    error = await raised_at(server.url)
    assert isinstance(error, Rejected) and error.reason == "too_large"


@pytest.mark.parametrize(
    ("prompt", "expected"), [(0, 4_096), (1, 8_192), (4_096, 8_192), (9_000, 16_384), (99_000, 32_768)]
)
def test_window_grows_in_steps_up_to_the_largest(prompt: int, expected: int) -> None:
    assert window_for(prompt, 4_096, 32_768) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", 0),
        ("I live in Turin.", 4),
        ('{"kind":"fact","text":"don\'t"}', 4),
        ("    ====   7777 ────", 0),
        ("Привет, мир", 2),
        ("हिन्दी में", 2),
        ("我住在都灵。我住", 1),
    ],
)
def test_the_lower_bound_of_tokens_counts_words_or_three_characters(text: str, expected: int) -> None:
    assert min_tokens(text) == expected
