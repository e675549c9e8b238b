"""No byte of a local-only conversation leaves the machine."""

import asyncio

import anthropic
import pytest

from agents.models.claude.provider import ClaudeProvider
from agents.models.ollama.provider import OllamaProvider
from schemas.addresses import is_loopback
from schemas.errors import Rejected, Retryable
from schemas.policies.policies import Policy
from tests.builders.slices import knowing, slice_of
from tests.servers.messages import KEY, MessagesServer

SECRET = Policy(name="secret", local_only=True)
SLICE = slice_of("I live in Turin.")


class Listener:
    """A server that counts what it is sent, on every address of this machine."""

    def __init__(self) -> None:
        self.received = 0
        self._open: dict[asyncio.StreamWriter, asyncio.Task[None] | None] = {}

    async def __aenter__(self) -> "Listener":
        self._server = await asyncio.start_server(self._read, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for writer, reading in self._open.items():
            writer.transport.abort()
            await asyncio.wait([reading])
        await self._server.wait_closed()

    async def _read(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open[writer] = asyncio.current_task()
        while data := await reader.read(65_536):
            self.received += len(data)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://127.0.0.1:11434", True),
        ("http://127.8.0.1", True),
        ("http://[::1]:8000/v1", True),
        ("http://localhost:11434", True),
        ("http://ollama.localhost", True),
        ("https://api.anthropic.com", False),
        ("http://10.0.0.7:11434", False),
        ("http://0.0.0.0:11434", False),
        ("http://127.0.0.1.example.com", False),
        ("http://localhost@example.com", False),
        ("http://[::ffff:10.0.0.7]", False),
        ("http://[", False),
        ("127.0.0.1", False),
        ("", False),
    ],
)
def test_only_addresses_of_this_machine_are_loopback(url: str, expected: bool) -> None:
    assert is_loopback(url) is expected


@pytest.mark.parametrize("provider", ["claude", "ollama"])
async def test_no_byte_of_a_local_only_conversation_is_sent_to_a_remote_address(provider: str) -> None:
    # The name is a loopback address that is not known for one, as a host of the outside is: were it sent, it would arrive.
    async with Listener() as listener:
        url = f"http://2130706433:{listener.port}"
        questions = (
            ClaudeProvider("claude-test-1", api_key=KEY, base_url=url, max_retries=0, timeout_s=1.0)
            if provider == "claude"
            else OllamaProvider("llama-test", url, timeout_s=1.0)
        )
        assert questions.leaves_machine
        for asking in (questions.extract(SLICE, knowing(policy=SECRET)), questions.summarise(SLICE, SECRET)):
            with pytest.raises(Rejected) as caught:
                await asking
            assert caught.value.reason == "must_stay"
        assert listener.received == 0
        with pytest.raises(Retryable, match=r"did not answer|could not be reached"):
            await questions.extract(SLICE, knowing())
        assert listener.received > 0
        await questions.close()


async def test_a_local_only_conversation_may_use_an_api_on_this_machine(server: MessagesServer) -> None:
    provider = ClaudeProvider("claude-test-1", api_key=KEY, base_url=server.url)
    answer = await provider.extract(SLICE, knowing(policy=SECRET))
    await provider.close()
    assert len(answer.proposals) == 1


async def test_requests_to_this_machine_bypass_the_proxy_of_the_environment(
    server: MessagesServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with Listener() as listener:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{listener.port}")
        provider = ClaudeProvider("claude-test-1", api_key=KEY, base_url=server.url)
        answer = await provider.extract(SLICE, knowing(policy=SECRET))
        await provider.close()
        assert len(answer.proposals) == 1 and listener.received == 0


async def test_the_public_anthropic_api_counts_as_a_remote_provider() -> None:
    client = anthropic.AsyncAnthropic(api_key=KEY, base_url="https://api.anthropic.com")
    assert ClaudeProvider("claude-test-1", client=client).leaves_machine
    await client.close()
