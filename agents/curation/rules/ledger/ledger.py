"""A namespace within one transaction: the memories that were read, and the changes decided so far, in order."""

from collections.abc import Callable, Iterable, Sequence
from copy import copy
from datetime import datetime
from typing import TypeAlias

import numpy as np
from msgspec.structs import replace

from agents.curation.rules.ledger.scored import Scored
from agents.curation.rules.statements.normalise import normalise
from schemas import ids
from schemas.extraction.candidates import Candidate
from schemas.memories.events import Cause
from schemas.memories.memories import Change, Memory
from sinks.memories.entry import LedgerEntry
from sinks.vectors.port import Neighbour, Vector

# Whether a candidate may repeat or end a memory.
Concern: TypeAlias = Callable[[Memory], bool]


class Ledger:
    """Later candidates see the changes of earlier ones, although nothing is written before the end.

    `live` is the namespace's number of live memories, by default the number of those given.
    """

    def __init__(self, namespace: str, sequence: int, memories: Iterable[Memory] = (), live: int | None = None) -> None:
        self.namespace = namespace
        self.sequence = sequence
        self.entries: list[LedgerEntry] = []
        self._memories = {memory.memory_id: memory for memory in memories}
        self._normalised = {memory_id: normalise(memory.text) for memory_id, memory in self._memories.items()}
        self._vectors: dict[str, Vector] = {}
        self.number_live = len(self.live_memories()) if live is None else live

    def copy(self) -> "Ledger":
        """A ledger with the same memories and changes, whose further changes are its own."""
        made = copy(self)
        made.entries, made._memories = [*self.entries], {**self._memories}
        made._normalised, made._vectors = {**self._normalised}, {**self._vectors}
        return made

    def knows(self, memory_id: str) -> bool:
        """Whether a memory with this id was read or created, of any status and namespace."""
        return memory_id in self._memories

    def is_new(self, candidate: Candidate, concerns: Concern) -> bool:
        """Whether no live memory that the candidate concerns has its text, and no memory was created from it."""
        same = self.exact(candidate.text, concerns)
        return same is None and not self.knows(ids.memory_id(candidate.candidate_id))

    def find(self, memory_id: str | None) -> Memory | None:
        """The memory of this namespace, unless it is deleted."""
        memory = self.find_any_status(memory_id)
        return memory if memory and memory.status != "deleted" else None

    def find_any_status(self, memory_id: str | None) -> Memory | None:
        """The memory of this namespace, of any status."""
        memory = self._memories.get(memory_id) if memory_id else None
        return memory if memory and memory.namespace == self.namespace else None

    def find_live(self, memory_id: str | None) -> Memory | None:
        memory = self.find(memory_id)
        return memory if memory and memory.status == "active" else None

    def learn(self, memories: Iterable[Memory]) -> None:
        """Adds memories that were read later; known ones stay unchanged."""
        for memory in memories:
            if memory.memory_id not in self._memories:
                self._memories[memory.memory_id] = memory
                self._normalised[memory.memory_id] = normalise(memory.text)

    def existing(self) -> list[Memory]:
        """The known memories of this namespace that are not deleted."""
        return [memory for memory_id in self._memories if (memory := self.find(memory_id)) is not None]

    def live_memories(self) -> list[Memory]:
        """The known live memories, oldest first."""
        live = [memory for memory_id in self._memories if (memory := self.find_live(memory_id)) is not None]
        return sorted(live, key=lambda memory: (memory.created_at, memory.sequence))

    def count_created_from(self, conversation_id: str) -> int:
        """The number of memories created from a conversation in this ledger."""
        made = (entry.after for entry in self.entries if entry.change == "created")
        return sum(any(source.conversation_id == conversation_id for source in memory.sources) for memory in made)

    def exact(self, text: str, concerns: Concern | None = None) -> Memory | None:
        """The live memory with the same normalised text; the oldest of several. `concerns` excludes memories."""
        normalised_text = normalise(text)
        same = [
            memory
            for memory_id, normalised in self._normalised.items()
            if normalised == normalised_text and (memory := self.find_live(memory_id)) is not None
            if concerns is None or concerns(memory)
        ]
        return min(same, key=lambda memory: (memory.created_at, memory.memory_id), default=None)

    def neighbours(self, vector: Vector, found: Sequence[Neighbour], least: float = -1.0) -> list[Scored]:
        """Live memories from the index's result, and those created in this transaction, with a cosine of at least `least`;
        nearest first."""
        near = {neighbour.memory_id: neighbour.score for neighbour in found}
        near |= {memory_id: cosine(vector, other) for memory_id, other in self._vectors.items()}
        scored = [
            Scored(memory, score)
            for memory_id, score in near.items()
            if score >= least and (memory := self.find_live(memory_id)) is not None
        ]
        return sorted(scored, key=lambda each: (-each.score, each.memory.memory_id))

    def enter(
        self, change: Change, memory: Memory, cause: Cause, now: datetime, vector: Vector | None = None
    ) -> Memory:
        """Numbers the change (the memory's version, the namespace's next sequence), and returns the memory."""
        before = self._memories.get(memory.memory_id)
        self.sequence += 1
        self.number_live += (memory.status == "active") - (before is not None and before.status == "active")
        after = replace(memory, version=before.version + 1 if before else 1, sequence=self.sequence)
        self._memories[after.memory_id] = after
        self._normalised[after.memory_id] = normalise(after.text)
        if vector is not None:
            self._vectors[after.memory_id] = vector
        self.entries.append(
            LedgerEntry(
                change=change,
                before=before,
                after=after,
                normalised=self._normalised[after.memory_id],
                cause=cause,
                at=now,
                vector=vector,
            )
        )
        return after


def cosine(one: Vector, other: Vector) -> float:
    lengths = float(np.linalg.norm(one) * np.linalg.norm(other))
    return float(one @ other) / lengths if lengths else 0.0
