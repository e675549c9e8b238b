"""A stand-in for a good model: proposes the candidates of a scenario, so that curation is measured alone."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime, time, timedelta
from typing import Any

from agents.models.offline.provider import OfflineProvider
from agents.models.offline.rules.engine.languages import language_of
from agents.models.port import Answer, Context, Proposal, Resolution, Verdict
from schemas.extraction.candidates import Candidate, CandidateBatch
from schemas.extraction.requests import ExtractionRequest
from schemas.memories.memories import Memory
from schemas.policies.policies import Policy
from tests.benchmarks.understanding.scenarios import Proposed, Scenario

Known = Callable[[str], Awaitable[Sequence[Memory]]]


class Oracle(OfflineProvider):
    """`known` tells the memories of an app. With `hints` it names what a candidate contradicts, refines or repeats, as far as a
    memory says it, and tags limits and standing wishes as the prompt asks; without them curation and profile must find it."""

    def __init__(self, scenario: Scenario, known: Known, *, hints: bool) -> None:
        super().__init__()
        self._scenario, self._known, self._hints = scenario, known, hints

    async def extract(self, request: ExtractionRequest, context: Context) -> Answer:
        known = await self._known(self._scenario.id) if self._hints else ()
        said = {message.message_id for message in request.messages}
        proposals = [
            self._proposal(number, each, known)
            for number, each in enumerate(self._scenario.oracle)
            if f"m{each.of}" in said
        ]
        return Answer(provider="oracle", model="oracle", proposals=tuple(proposals))

    async def resolve(
        self, candidates: Sequence[Candidate], memories: Sequence[Memory], policy: Policy, batch: CandidateBatch
    ) -> Resolution:
        """Returns the relations of a candidate to earlier ones in the request, as the scenario states them."""
        shown = {
            number: memory.memory_id
            for number, each in enumerate(self._scenario.oracle)
            if (memory := memory_of(each, memories))
        }
        others = {candidate.text: candidate.candidate_id for candidate in candidates}
        proposed = {each.text: each for each in self._scenario.oracle}
        found = (verdict(each, proposed[each.text], self._scenario.oracle, shown, others) for each in candidates)
        return Resolution(provider="oracle", model="oracle", verdicts=tuple(each for each in found if each is not None))

    def _proposal(self, number: int, each: Proposed, known: Sequence[Memory]) -> Proposal:
        ended = [found for number in each.contradicts if (found := self._memory(number, known))]
        hints: dict[str, Any] = {
            "contradicts": next(iter(ended), None),
            "refines": self._memory(each.refines, known),
            "repeats": self._memory(each.repeats, known),
        }
        return Proposal(
            kind=each.kind,
            text=each.text,
            message_ids=(f"m{each.of}",),
            confidence=0.9,
            importance=0.6,
            tags=self._tags(each),
            language=language_of(each.text),
            number=number + 1,
            corrects=tuple(other + 1 for other in each.contradicts) if self._hints else (),
            **hints,
            **also_ended(ended[1:]),
            **times(each),
        )

    def _tags(self, each: Proposed) -> tuple[str, ...]:
        """The prompt's tag of a limit or standing wish, where the scenario wants the statement in the prompt for any question."""
        always = self._hints and any(
            gold.always and statement.says(each.text) for gold, statement in self._scenario.gold
        )
        tag = "directive" if each.kind == "preference" else "constraint"
        return (tag,) if always else ()

    def _memory(self, number: int | None, known: Sequence[Memory]) -> str | None:
        if number is None or not self._hints:
            return None
        memory = memory_of(self._scenario.oracle[number], [each for each in known if each.status == "active"])
        return memory.memory_id if memory else None


def memory_of(meant: Proposed, memories: Sequence[Memory]) -> Memory | None:
    """The memory that holds what an earlier candidate said: by its words, else by its message."""
    by_text = [memory for memory in memories if memory.text == meant.text]
    from_message = [m for m in memories if any(source.message_id == f"m{meant.of}" for source in m.sources)]
    return next(iter((*by_text, *from_message)), None)


def verdict(
    candidate: Candidate,
    meant: Proposed,
    oracle: Sequence[Proposed],
    shown: Mapping[int, str],
    others: Mapping[str, str],
) -> Verdict | None:
    """None where it has to do with nothing that is shown. What refines a memory is told with its text."""
    same = meant.refines if meant.repeats is None else meant.repeats
    over = [oracle[number].text for number in meant.contradicts]
    added_to = oracle[meant.refines].text if meant.refines is not None and same in shown else None
    made = Verdict(
        candidate_id=candidate.candidate_id,
        same=None if same is None else shown.get(same),
        text=None if added_to is None else f"{candidate.text} ({added_to})",
        ends=tuple(shown[number] for number in meant.contradicts if number in shown),
        until=times(meant)["valid_from"] if over and meant.from_ else None,
        corrects=tuple(others[text] for text in over if text in others),
    )
    return made if made.same or made.ends or made.corrects else None


def also_ended(memory_ids: Sequence[str]) -> dict[str, Any]:
    """Returns the contradicted memories after the first, if candidates can hold several."""
    return {"supersedes": tuple(memory_ids)} if memory_ids and "supersedes" in Proposal.__struct_fields__ else {}


def times(each: Proposed) -> dict[str, Any]:
    """From when to the end of which day it holds, where candidates can say so."""
    given = {"valid_from": each.from_, "valid_until": each.until and each.until + timedelta(days=1)}
    return {
        name: datetime.combine(day, time(), UTC)
        for name, day in given.items()
        if day is not None and name in Proposal.__struct_fields__
    }
