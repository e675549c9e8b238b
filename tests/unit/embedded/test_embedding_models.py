"""Embedding models in jars are fetched once, verified and found in the cache."""

import hashlib
import zipfile
from pathlib import Path

import pytest

from deploy.embedded import embedding_models
from deploy.embedded.embedding_models import ensure_model, files_in
from deploy.embedded.errors import EmbeddedPartFailed
from deploy.embedded.jars import Jar
from sinks.embeddings.models import E5_SMALL, MINILM, MODELS


def packed(path: Path) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("META-INF/MANIFEST.MF", "")
        archive.writestr("e5-small-v2-q.onnx", b"weights")
        archive.writestr("e5-small-v2-q-tokenizer.json", b"{}")
    return path


def fetched(_jar: Jar, staging: Path) -> Path:
    return packed(staging / "fetched.jar")


def offline(_jar: Jar, _staging: Path) -> Path:
    raise ConnectionError("no route to host")


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Jar:
    """A jar of the right form in the place of the model's."""
    sha256 = hashlib.sha256(packed(tmp_path / "known.jar").read_bytes()).hexdigest()
    jar = Jar("org.example", "small", "1", "", sha256)
    monkeypatch.setattr(embedding_models, "JARS", {E5_SMALL.name: jar})
    return jar


def test_a_model_is_downloaded_once_and_read_from_its_jar(tmp_path: Path, small: Jar) -> None:
    seen: list[tuple[int, int, str]] = []
    ensure_model(E5_SMALL.name, tmp_path, lambda *report: seen.append(report), fetched)
    ensure_model(E5_SMALL.name, tmp_path, lambda *report: seen.append(report), offline)
    assert seen == [(1, 1, small.file_name)]
    files = files_in(tmp_path / "jars" / small.file_name)
    assert (files.onnx, files.tokenizer) == (b"weights", b"{}")


def test_without_a_network_the_model_and_the_remedy_are_named(tmp_path: Path) -> None:
    with pytest.raises(
        EmbeddedPartFailed,
        match=rf"embedding model {E5_SMALL.name}: .* could not be downloaded \(no route to host\).*copy a filled cache",
    ):
        ensure_model(E5_SMALL.name, tmp_path, fetch=offline)


def test_a_model_with_a_wrong_checksum_is_not_kept(tmp_path: Path) -> None:
    with pytest.raises(EmbeddedPartFailed, match=rf"embedding model {E5_SMALL.name}: .* has another checksum"):
        ensure_model(E5_SMALL.name, tmp_path, fetch=fetched)
    assert [path.name for path in (tmp_path / "jars").iterdir()] == [".lock"]


def test_the_model_that_is_installed_needs_no_network(tmp_path: Path) -> None:
    ensure_model(MINILM.name, tmp_path, fetch=offline)
    assert list(tmp_path.iterdir()) == []


def test_every_model_is_either_installed_or_a_jar() -> None:
    assert set(MODELS) == {MINILM.name} | set(embedding_models.JARS)
