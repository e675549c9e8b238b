"""Public datasets that some tests and benchmarks read. They are not part of the project: an environment variable names their
folder."""

import os
from pathlib import Path

import pytest

VARIABLE = "MEMSTREAM_SHARED_DATA"
ABSENT = f"{VARIABLE} does not name a folder of public data sets that has"


def found(*parts: str) -> Path | None:
    """The path of a file below the folder; None if the variable is unset or empty, or the file is missing."""
    folder = os.environ.get(VARIABLE)
    file = Path(folder, *parts) if folder else None
    return file if file is not None and file.exists() else None


def required(*parts: str) -> Path:
    """The same for a test, which is skipped without the file."""
    file = found(*parts)
    if file is None:
        pytest.skip(f"{ABSENT} {'/'.join(parts)}")
    return file
