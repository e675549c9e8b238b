"""The embedder that ships tells nobody of the machine that it runs on."""

import subprocess
import sys
from pathlib import Path

import pytest

from deploy.embedded.process import module_environment


def kept(home: Path, **chosen: str) -> list[str]:
    """The files that are in a home directory once texts have been embedded."""
    environment = {name: value for name, value in module_environment().items() if name != "ORT_DISABLE_TELEMETRY"}
    script = "from sinks.embeddings.onnx import MiniLmEmbedder as E; import asyncio; asyncio.run(E().embed(['a']))"
    known = environment | {"HOME": str(home), "XDG_CACHE_HOME": str(home / ".cache")} | chosen
    subprocess.run([sys.executable, "-c", script], env=known, capture_output=True, timeout=60, check=True)
    return [path.name for path in home.rglob("*") if path.is_file()]


def test_embedding_leaves_nothing_in_the_home_directory(tmp_path: Path):
    """onnxruntime's telemetry keeps the machine's id and what is to be sent there."""
    assert kept(tmp_path) == []


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere it keeps them in another place")
def test_it_would_be_seen_if_it_did(tmp_path: Path):
    assert "deviceid" in kept(tmp_path, ORT_DISABLE_TELEMETRY="0")
