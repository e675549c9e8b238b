"""Model tokens of `resolve` for a bench-llm row: its questions while conversations become memories, one after the other."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import structs

from agents.extraction.records import candidate_batches
from agents.models.offline.provider import OfflineProvider
from agents.models.port import Context, Resolution
from agents.models.prompts import resolving
from schemas.conversations.messages import Message
from schemas.extraction.candidates import Candidate, CandidateBatch
from schemas.extraction.requests import ExtractionRequest
from schemas.memories.memories import Memory
from schemas.policies.policies import Policy
from sinks.classification.sentences import OnnxSentenceClassifier
from streams.windows.tokens.counting import TokenCounter
from tests.benchmarks.understanding.play import Clock, Stage, stage

Conversations = Sequence[tuple[Message, ...]]
Slices = Callable[[Sequence[Message]], Sequence[ExtractionRequest]]


class Counting(OfflineProvider):
    """The provider `offline`, which counts the tokens of the questions of `resolve` and gives no verdicts."""

    def __init__(self, counter: TokenCounter, classifier: OnnxSentenceClassifier) -> None:
        super().__init__(counter, classifier)
        self._counter = counter
        self.calls = self.candidates = self.memories = self.prompt_tokens = self.static_tokens = 0

    async def resolve(
        self, candidates: Sequence[Candidate], memories: Sequence[Memory], policy: Policy, batch: CandidateBatch
    ) -> Resolution:
        question = resolving.question(candidates, memories, policy, batch, self._counter)
        self.static_tokens = sum(map(self._counter, (question.stable, question.policy, json.dumps(question.schema))))
        self.prompt_tokens += self._counter(question.user_prompt)
        self.calls += 1
        self.candidates += len(candidates)
        self.memories += len(memories)
        return await super().resolve(candidates, memories, policy, batch)


async def measured_resolving(
    rows: Mapping[str, Conversations], policy: Policy, counter: TokenCounter, slices: Slices
) -> dict[str, dict[str, Any]]:
    """By row the tokens of `resolve`, beside an extraction of which `slices` are the requests of a conversation."""
    policy = structs.replace(policy, resolve=True)
    classifier = OnnxSentenceClassifier()
    try:
        async with stage(compare=False) as on:
            found: dict[str, dict[str, Any]] = {}
            for row, talks in rows.items():
                provider = Counting(counter, classifier)
                extracted = [await remembered(row, said, on, provider, policy, slices) for said in talks]
                raw = sum(counter(message.content) for said in talks for message in said)
                found[row] = figures(provider, sum(extracted), raw)
            return found
    finally:
        classifier.close()


async def remembered(
    row: str, said: Sequence[Message], on: Stage, provider: Counting, policy: Policy, slices: Slices
) -> int:
    """Extracts and curates a conversation. Returns the number of its candidates."""
    clock, candidates = Clock(said[-1].timestamp), 0
    curator = on.curator(policy, clock, provider)
    for request in slices([of_person(row, message, said[0]) for message in said]):
        answer = await provider.extract(request, Context(policy=policy))
        for batch in candidate_batches(request, answer, clock.at):
            await curator.curate(batch)
            candidates += len(batch.candidates)
    return candidates


def of_person(row: str, message: Message, first: Message) -> Message:
    """The message in a conversation that begins with `first`. A person's memories have a namespace of their own in each row."""
    person = message.conversation_id
    return structs.replace(
        message,
        conversation_id=f"{row}/{person}/{first.message_id}",
        app_id=row,
        user_id=person if message.role == "user" else None,
    )


def figures(provider: Counting, candidates: int, raw_tokens: int) -> dict[str, Any]:
    """`cached` counts the prompt's constant part once."""
    static, prompts = provider.static_tokens, provider.prompt_tokens
    uncached = prompts + provider.calls * static
    return {
        "candidates": candidates,
        "calls": provider.calls,
        "compared_candidates": provider.candidates,
        "memories_per_call": round(provider.memories / max(1, provider.calls), 1),
        "static_tokens": static,
        "input_per_candidate": round((prompts + static) / max(1, provider.candidates), 1),
        "input_per_candidate_uncached": round(uncached / max(1, provider.candidates), 1),
        "input_per_raw_token": round((prompts + static) / raw_tokens, 3),
        "input_per_raw_token_uncached": round(uncached / raw_tokens, 3),
    }
