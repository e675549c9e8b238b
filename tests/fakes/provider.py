"""A provider with scripted answers that counts its calls."""

import asyncio
from collections import Counter, deque
from collections.abc import Callable, Sequence

from agents.models.port import (
    Answer,
    Compaction,
    Context,
    MeasuredCall,
    MemoryToRate,
    Proposal,
    Rating,
    Resolution,
    ShortText,
    Summary,
    Verdict,
)
from schemas.extraction.candidates import Candidate, CandidateBatch
from schemas.extraction.requests import ExtractionRequest
from schemas.memories.memories import Memory
from schemas.policies.policies import Policy


class FakeProvider:
    """One proposal or summary per slice. Each call takes `takes_s`; `failures` are raised by the next calls, one each, at
    their end. Answers report `calls` model calls."""

    name = "fake"
    leaves_machine = False
    shares_calls = True

    def __init__(self, takes_s: float = 1.0) -> None:
        self.takes_s = takes_s
        self.call_counts: Counter[str] = Counter()
        self.contexts: list[Context] = []
        self.summarised: list[tuple[ExtractionRequest, Policy]] = []
        self.failures: deque[Exception] = deque()
        self.slow: dict[str, float] = {}
        self.together: list[list[str]] = []
        self.together_failures: deque[Exception] = deque()
        self.calls: tuple[MeasuredCall, ...] = ()
        self.rejected: dict[str, int] = {}
        self.ratings: dict[str, int] = {}
        self.running = self.most = 0
        self.wrong: str | None = None
        self.verdicts: Callable[[Sequence[Candidate], Sequence[Memory]], tuple[Verdict, ...]] = lambda said, known: ()
        self.closed = False

    async def extract(self, request: ExtractionRequest, context: Context) -> Answer:
        self.contexts.append(context)
        text = await self._text(request)
        proposal = Proposal(kind="fact", text=text, message_ids=(request.messages[0].message_id,), confidence=0.9)
        return Answer(
            provider=self.name,
            model="fake-1",
            proposals=(proposal,),
            rejected=self.rejected,
            calls=self.calls,
            ratings=self.ratings,
        )

    async def extract_together(self, slices: Sequence[tuple[ExtractionRequest, Context]]) -> tuple[Answer, ...]:
        """One call, counted in `together`; raises from `together_failures`."""
        self.together.append([request.request_id for request, _ in slices])
        self.contexts += [context for _, context in slices]
        await asyncio.sleep(self.takes_s)
        if self.together_failures:
            raise self.together_failures.popleft()
        return tuple(
            Answer(
                provider=self.name,
                model="fake-1",
                proposals=(
                    Proposal(
                        kind="fact",
                        text=f"together {request.request_id}",
                        message_ids=(request.messages[0].message_id,),
                        confidence=0.9,
                    ),
                ),
            )
            for request, _ in slices
        )

    async def summarise(self, request: ExtractionRequest, policy: Policy) -> Summary:
        self.summarised.append((request, policy))
        return Summary(provider=self.name, model="fake-1", text=await self._text(request), calls=self.calls)

    async def compact(self, memories: Sequence[Memory], policy: Policy) -> Compaction:
        reason = await self._made("compact")
        return Compaction(
            provider=self.name, model="fake-1", action="delete", memory_id=memories[0].memory_id, reason=reason
        )

    async def score(self, subject: MemoryToRate, policy: Policy) -> Rating:
        return Rating(provider=self.name, model="fake-1", points=300, reason=await self._made("score"))

    async def shorten(self, full_text: str, policy: Policy, namespace: str | None = None) -> ShortText:
        return ShortText(provider=self.name, model="fake-1", text=await self._made("shorten"))

    async def resolve(
        self, candidates: Sequence[Candidate], memories: Sequence[Memory], policy: Policy, batch: CandidateBatch
    ) -> Resolution:
        await self._made("resolve")
        return Resolution(provider=self.name, model="fake-1", verdicts=self.verdicts(candidates, memories))

    async def _text(self, request: ExtractionRequest) -> str:
        return await self._made(request.request_id)

    async def _made(self, name_of_call: str) -> str:
        self.call_counts[name_of_call] += 1
        text = f"answer {sum(self.call_counts.values())}"
        self.running += 1
        self.most = max(self.most, self.running)
        try:
            await asyncio.sleep(self.slow.get(name_of_call, self.takes_s))
        finally:
            self.running -= 1
        if self.failures:
            raise self.failures.popleft()
        return text

    async def unavailable_reason(self) -> str | None:
        return self.wrong

    async def close(self) -> None:
        self.closed = True


class FakeRelated:
    """The same memories for every request."""

    def __init__(self, memories: tuple[Memory, ...] = ()) -> None:
        self.memories = memories
        self.failures: deque[Exception] = deque()

    async def of(self, request: ExtractionRequest, policy: Policy) -> tuple[Memory, ...]:
        await asyncio.sleep(0)
        if self.failures:
            raise self.failures.popleft()
        return self.memories
