"""Provider, model and usage of an answer are stored with the extraction."""

import pytest
from msgspec import structs

from agents.extraction.extractor import Extractor
from agents.models.auto import AutoProvider
from agents.models.claude.provider import ClaudeProvider
from agents.models.offline.provider import OfflineProvider
from agents.models.ollama.provider import OllamaProvider
from schemas import codec, ids
from schemas.extraction.candidates import CandidateBatch
from schemas.kafka import topics
from schemas.policies.policies import Policies, Policy
from sinks.extraction.answers import Extractions
from sinks.postgres.connection import Pool
from tests.builders.slices import slice_of
from tests.fakes.clock import utc
from tests.fakes.provider import FakeRelated
from tests.fakes.publisher import FakePublisher
from tests.servers.messages import KEY, MessagesServer

NOBODY = "http://127.0.0.1:9"
SECRET = Policy(name="secret", local_only=True)


def numbered_request(number: int, policy: str = "default"):
    request = slice_of("I live in Turin.", "I prefer tea.")
    return structs.replace(request, request_id=ids.derive("run", number), policy=policy, namespaces=("n",))


@pytest.mark.parametrize(
    ("policy", "provider", "model"), [("default", "claude", "claude-test-1"), ("secret", "offline", "rules-3")]
)
async def test_provider_model_and_usage_of_an_answer_are_stored(
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
            await extractor.answer(numbered_request(number, policy), f"worker/{number}", lambda: True)
        await extractor.close()
        await auto.close()
        assert bool(server.seen) is (provider == "claude")
    stored = [
        await pool.fetchrow(
            "SELECT provider, model, usage::text FROM extractions WHERE request_id = $1",
            numbered_request(number).request_id,
        )
        for number in (1, 2)
    ]
    assert [(row["provider"], row["model"]) for row in stored] == [(provider, model)] * 2
    first, second = (codec.decode(row["usage"].encode(), dict[str, int]) for row in stored)
    if provider == "claude":
        assert first["cache_write_tokens"] > 0 and second["cache_read_tokens"] == first["cache_write_tokens"]
    batches = [codec.decode(record.value, CandidateBatch) for record in publisher.on(topics.CANDIDATES)]
    assert [batch.provider for batch in batches] == [provider] * 2
