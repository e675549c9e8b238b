"""Wires the passages stage, and what keeps Qdrant equal to its rows."""

from functools import partial

from agents.passages.agent import PassageAgent
from agents.passages.indexer import PassageIndexer
from deploy.wiring import vector_index
from deploy.wiring.stage_parts import Wiring, now
from sinks.archive.messages import Archive
from sinks.embeddings.port import Embedder
from sinks.passages.store import Passages

REMOVE_S = 1.0


async def add(wiring: Wiring, embedder: Embedder) -> None:
    vectors = await wiring.resources.enter_async_context(vector_index.passage_index(wiring.settings, embedder))
    await vectors.ensure_collection()
    passages = Passages(wiring.pool)
    indexer = PassageIndexer(passages, vectors, embedder, wiring.policies)
    agent = PassageAgent(Archive(wiring.pool), indexer, wiring.publisher, wiring.audience(), now)
    await wiring.add("passages", lambda _app: agent.handle)
    wiring.chores.add("removed passages", REMOVE_S, partial(passages.drop_removed, vectors))
