"""Input of decisions: which memories it refers to, whether an erasure covers it, and the order of candidates."""

from collections.abc import Sequence

from agents.curation.rules.apply_command import UndoneChange
from agents.curation.rules.change import import_ids
from schemas import ids
from schemas.erasure.erasures import ConversationFence, Fence
from schemas.extraction.candidates import Candidate, CandidateBatch, Source
from schemas.memories.commands import Command
from sinks.vectors.port import Neighbour


def mentioned_ids(candidates: Sequence[Candidate], found: Sequence[Sequence[Neighbour]]) -> list[str]:
    """The ids of neighbours, of what the candidates contradict or refine, and those they would have themselves."""
    near = [neighbour.memory_id for neighbours in found for neighbour in neighbours]
    meant = [each for candidate in candidates for each in named_ids(candidate)]
    return [*near, *meant, *(ids.memory_id(candidate.candidate_id) for candidate in candidates)]


def named_ids(candidate: Candidate) -> list[str]:
    """The memories that it says something about, but those that say the same."""
    return [*contradicted_ids(candidate), *([candidate.refines] if candidate.refines else ())]


def contradicted_ids(candidate: Candidate) -> list[str]:
    """The memories that no longer hold by what the model says."""
    named = [candidate.contradicts, *candidate.supersedes]
    return list(dict.fromkeys(each for each in named if each))


def command_memory_ids(command: Command, undone: UndoneChange | None) -> list[str]:
    """The ids of the memory that the command is about, and of those that it then links to."""
    links = [*(command.links or ()), *(undone.before.links if undone and undone.before else ())]
    own = import_ids(command) if command.kind == "import" else (command.memory_id,)
    return [*(each for each in own if each), *(link.memory_id for link in links)]


def erases(command: Command) -> bool:
    return command.kind in ("purge", "forget") or (command.kind == "uninstall" and command.purge)


def is_older(candidate: Candidate, batch: CandidateBatch, fences: Sequence[ConversationFence]) -> bool:
    """Whether it comes of what was said, asked about, or found, before its namespace, or its conversation, was erased. What
    others said in an erased user's conversation stays."""
    return comes_before(candidate.sources, batch, fences)


def comes_before(sources: Sequence[Source], batch: CandidateBatch, fences: Sequence[ConversationFence]) -> bool:
    """The same of what comes of these messages."""
    moments = [moment for moment in (batch.extracted_at, batch.requested_at) if moment is not None]
    sayers = [source.user_id for source in sources]
    return any(
        any(moment <= each.fence.at for moment in moments)
        or any(said_before(each.fence, source, batch.partition) for source in sources)
        for each in fences
        if not each.spares(sayers)
    )


def said_before(fence: Fence, source: Source, partition: int) -> bool:
    return fence.refuses(source.timestamp, partition, source.position)


def by_importance(candidates: Sequence[Candidate]) -> list[int]:
    """Indexes of candidates, the most important first, then the most confident."""
    return sorted(range(len(candidates)), key=lambda at: (-candidates[at].rated, -candidates[at].confidence, at))
