"""tiktoken's vocabulary from the wheel."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from deploy.embedded import tiktoken_vocabulary
from deploy.embedded.errors import EmbeddedPartFailed

COUNT_OFFLINE = """
import socket
socket.create_connection = socket.socket.connect = None  # any use of the network fails
import tiktoken
print([len(tiktoken.get_encoding(name).encode("hello world")) for name in ("cl100k_base", "o200k_base")])
"""


def test_tiktoken_loads_both_encodings_without_a_network(tmp_path: Path):
    directory = tiktoken_vocabulary.ensure_vocabulary(tmp_path)
    environment = {**os.environ, "TIKTOKEN_CACHE_DIR": str(directory)}
    done = subprocess.run([sys.executable, "-c", COUNT_OFFLINE], env=environment, capture_output=True, text=True)
    assert done.stdout.strip() == "[2, 2]", done.stderr


def test_existing_vocabulary_files_are_not_rewritten(tmp_path: Path):
    before = {path: path.stat().st_mtime_ns for path in tiktoken_vocabulary.ensure_vocabulary(tmp_path).iterdir()}
    after = {path: path.stat().st_mtime_ns for path in tiktoken_vocabulary.ensure_vocabulary(tmp_path).iterdir()}
    assert len(before) == 2
    assert after == before


def test_a_vocabulary_file_with_a_wrong_checksum_is_rejected_and_not_copied(tmp_path: Path):
    with pytest.raises(EmbeddedPartFailed, match="o200k_base has another checksum: expected sha256 00"):
        tiktoken_vocabulary.place("o200k_base", "0" * 64, tmp_path / "target")
    assert not (tmp_path / "target").exists()
