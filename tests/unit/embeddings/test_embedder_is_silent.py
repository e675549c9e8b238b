"""The packaged embedder sends no telemetry."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from deploy.embedded.process import PROJECT

# In place of onnxruntime: says what the variable was when it was imported, which is when onnxruntime reads it.
STAND_IN = """
import os
class SessionOptions: ...
print(os.environ.get("ORT_DISABLE_TELEMETRY"))
"""


def run(script: str, home: Path, *packages: Path, **chosen: str) -> str:
    """Returns the output of a script without the variables of CI, under which onnxruntime is always silent."""
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": os.pathsep.join(map(str, [*packages, PROJECT])),
        "HOME": str(home),
    }
    command = [sys.executable, "-c", script]
    ended = subprocess.run(command, env=environment | chosen, stdout=subprocess.PIPE, text=True, timeout=60, check=True)
    return ended.stdout.strip()


def test_embedding_writes_no_files_to_the_home_directory(tmp_path: Path):
    """onnxruntime's telemetry keeps the machine's id and what is to be sent there."""
    run(
        "import asyncio; from sinks.embeddings.models import MINILM, minilm_files; "
        "from sinks.embeddings.onnx import OnnxEmbedder as E; asyncio.run(E(MINILM, minilm_files()).embed(['a']))",
        tmp_path,
    )
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == []


@pytest.mark.parametrize(("chosen", "read"), [({}, "1"), ({"ORT_DISABLE_TELEMETRY": "0"}, "0")])
def test_onnxruntime_telemetry_is_disabled_before_import_unless_the_environment_sets_it(
    tmp_path: Path, chosen: dict[str, str], read: str
):
    (tmp_path / "onnxruntime.py").write_text(STAND_IN)
    assert run("import sinks.embeddings.onnx", tmp_path, tmp_path, **chosen) == read
