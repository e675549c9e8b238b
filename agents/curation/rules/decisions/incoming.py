"""The input of decisions: the memories that it refers to, whether an erasure covers it, and the order of candidates."""

from collections.abc import Iterable, Sequence

from agents.curation.rules.commands.apply_command import UndoneChange
from agents.curation.rules.ledger.command_changes import import_ids
from agents.curation.rules.ledger.outcomes import Ruling
from schemas import ids
from schemas.erasure.erasures import ConversationFence, Fence
from schemas.extraction.candidates import Candidate, CandidateBatch, Source
from schemas.memories.commands import Command
from sinks.vectors.port import Neighbour


def mentioned_ids(candidates: Sequence[Candidate], found: Sequence[Sequence[Neighbour]]) -> list[str]:
    """The ids of neighbours, of memories that candidates contradict or refine, and of the memories that candidates would
    create."""
    near = [neighbour.memory_id for neighbours in found for neighbour in neighbours]
    named = [each for candidate in candidates for each in named_ids(candidate)]
    return [*near, *named, *(ids.memory_id(candidate.candidate_id) for candidate in candidates)]


def named_ids(candidate: Candidate) -> list[str]:
    """The ids of memories that the candidate contradicts or refines."""
    return [*contradicted_ids(candidate), *([candidate.refines] if candidate.refines else ())]


def contradicted_ids(candidate: Candidate) -> list[str]:
    """The ids of memories that the candidate contradicts by the model's answer."""
    named = [candidate.contradicts, *candidate.supersedes]
    return list(dict.fromkeys(each for each in named if each))


def command_memory_ids(command: Command, undone: UndoneChange | None) -> list[str]:
    """The ids of the command's memory and of those that it links to."""
    links = [*(command.links or ()), *(undone.before.links if undone and undone.before else ())]
    own = import_ids(command) if command.kind == "import" else (command.memory_id,)
    return [*(each for each in own if each), *(link.memory_id for link in links)]


def erases(command: Command) -> bool:
    return command.kind in ("purge", "forget") or (command.kind == "uninstall" and command.purge)


def is_erased(candidate: Candidate, batch: CandidateBatch, fences: Sequence[ConversationFence]) -> bool:
    """Whether the candidate is based on messages from before an erasure of its namespace or conversation, or was requested
    or extracted before it. An erasure of one user spares other users' messages."""
    return is_before_erasure(candidate.sources, batch, fences)


def is_before_erasure(sources: Sequence[Source], batch: CandidateBatch, fences: Sequence[ConversationFence]) -> bool:
    """The same for a list of messages."""
    moments = [moment for moment in (batch.extracted_at, batch.requested_at) if moment is not None]
    speaker_ids = [source.user_id for source in sources]
    return any(
        any(moment <= each.fence.at for moment in moments)
        or any(is_refused(each.fence, source, batch.partition) for source in sources)
        for each in fences
        if not each.keeps_messages_of(speaker_ids)
    )


def is_refused(fence: Fence, source: Source, partition: int) -> bool:
    return fence.refuses(source.timestamp, partition, source.position)


def decision_order(candidates: Sequence[Candidate], *, limited: bool) -> list[int]:
    """Indexes of candidates in the order to decide: by message, or, with a `limited` number, the most important first. A
    corrected candidate comes before its correction."""
    first = by_importance(candidates) if limited else in_message_order(candidates)
    places = {candidate.candidate_id: place for place, candidate in enumerate(candidates)}
    found: dict[int, None] = {}
    for place in first:
        corrected = [places[each] for each in candidates[place].corrects if each in places]
        found |= dict.fromkeys((*(each for each in first if each in corrected), place))
    return list(found)


def in_message_order(candidates: Sequence[Candidate]) -> list[int]:
    """Indexes of a slice's candidates by their latest message; candidates of one message keep their order."""
    return sorted(range(len(candidates)), key=lambda at: last_position(candidates[at]))


def last_position(candidate: Candidate) -> int:
    return max((source.position for source in candidate.sources if source.position is not None), default=-1)


def by_importance(candidates: Sequence[Candidate]) -> list[int]:
    """Indexes of candidates, the most important first, then the most confident."""
    return sorted(range(len(candidates)), key=lambda at: (-candidates[at].rated, -candidates[at].confidence, at))


def corrected_ids(candidate: Candidate, rulings: Iterable[Ruling]) -> list[str]:
    """The ids of the memories that now have the statements which the candidate corrects."""
    memory_ids = {ruling.candidate_id: ruling.memory_id for ruling in rulings}
    return [memory_id for each in candidate.corrects if (memory_id := memory_ids.get(each)) is not None]
