"""Public data sets that some tests and benchmarks read. They are no part of the project: an environment variable names them."""

import os
from pathlib import Path

import pytest

VARIABLE = "MEMSTREAM_SHARED_DATA"
ABSENT = f"{VARIABLE} does not name a folder of public data sets that has"


def found(*parts: str) -> Path | None:
    """A file below the folder that the variable names; None without a folder, which an empty name means too, or a file."""
    folder = os.environ.get(VARIABLE)
    file = Path(folder, *parts) if folder else None
    return file if file is not None and file.exists() else None


def required(*parts: str) -> Path:
    """The same, for a test, which is skipped without it."""
    file = found(*parts)
    if file is None:
        pytest.skip(f"{ABSENT} {'/'.join(parts)}")
    return file
