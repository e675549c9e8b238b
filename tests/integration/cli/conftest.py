"""Runs commands with the settings of the samples' deployment."""

from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.command_line import Run, run, run_here


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """The working directory of the commands, without a .env file."""
    return tmp_path


@pytest.fixture
def memstream(samples: Any, directory: Path) -> Run:
    """Runs a command with the samples' settings, and further ones by name."""
    return partial(run, samples.deployment.settings, directory)


@pytest.fixture
def memstream_here(samples: Any, directory: Path) -> Run:
    """The same in this process."""
    return partial(run_here, samples.deployment.settings, directory)
