"""Embedding models in this process, for tests and benchmarks."""

import os
from pathlib import Path

from deploy.embedded.embedding_models import opened_model
from sinks.embeddings.models import MEMORY_DEFAULT
from sinks.embeddings.onnx import OnnxEmbedder

CACHE_DIR = Path(os.environ.get("MEMSTREAM_CACHE_DIR", Path.home() / ".cache" / "memstream"))


def packaged_embedder(name: str = MEMORY_DEFAULT.name) -> OnnxEmbedder:
    """The named model, by default that of memories; the caller closes it. The first use downloads it."""
    return opened_model(name, CACHE_DIR)
