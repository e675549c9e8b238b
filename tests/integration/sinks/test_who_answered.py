"""Who answered a request, and what it cost, is stored with the run."""

import pytest
from msgspec import structs

from agents.extractor import Extractor
from agents.llm.auto import AutoProvider
from agents.llm.claude import ClaudeProvider
from agents.llm.offline import OfflineProvider
from agents.llm.ollama import OllamaProvider
from schemas import codec, ids, topics
from schemas.policies import Policies, Policy
from schemas.requests import CandidateBatch
from sinks.extractions import Extractions
from sinks.postgres import Pool
from tests.fakes.clock import utc
from tests.fakes.provider import FakeRelated
from tests.fakes.publisher import FakePublisher
from tests.messages_server import KEY, MessagesServer
from tests.slices import slice_of

NOBODY = "http://127.0.0.1:9"
SECRET = Policy(name="secret", local_only=True)


def asked(number: int, policy: str = "default"):
    request = slice_of("I live in Turin.", "I prefer tea.")
    return structs.replace(request, request_id=ids.derive("run", number), policy=policy, namespaces=("n",))


@pytest.mark.parametrize(
    ("policy", "provider", "model"), [("default", "claude", "claude-test-1"), ("secret", "offline", "rules-1")]
)
async def test_provider_model_and_bill_of_whoever_answered_are_stored(
    pool: Pool, policy: str, provider: str, model: str
) -> None:
    publisher = FakePublisher()
    async with MessagesServer() as server:
        ollama = OllamaProvider("llama-test", NOBODY)
        claude = ClaudeProvider("claude-test-1", api_key=KEY, base_url=server.url)
        claude.leaves_machine = True  # as the API does
        auto = AutoProvider([ollama, claude, OfflineProvider()])
        extractor = Extractor(Extractions(pool), auto, FakeRelated(), publisher, Policies((SECRET,)), utc)
        for number in (1, 2):
            await extractor.answer(asked(number, policy), f"worker/{number}", lambda: True)
        await extractor.close()
        await auto.close()
        assert bool(server.seen) is (provider == "claude")
    stored = [
        await pool.fetchrow(
            "SELECT provider, model, usage::text FROM extractions WHERE request_id = $1", asked(number).request_id
        )
        for number in (1, 2)
    ]
    assert [(row["provider"], row["model"]) for row in stored] == [(provider, model)] * 2
    first, second = (codec.decode(row["usage"].encode(), dict[str, int]) for row in stored)
    if provider == "claude":
        assert first["cache_write_tokens"] > 0 and second["cache_read_tokens"] == first["cache_write_tokens"]
    told = [codec.decode(record.value, CandidateBatch) for record in publisher.on(topics.CANDIDATES)]
    assert [batch.provider for batch in told] == [provider] * 2
