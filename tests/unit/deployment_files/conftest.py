"""Helm's engine with the chart, if there is a wheel for this platform."""

import importlib
import platform
from collections.abc import Iterator
from typing import Any

import pytest

from tests.unit.deployment_files.manifests import CHART


@pytest.fixture(scope="session")
def helm() -> Any:
    """Required where pyproject.toml requires it: without it on x86-64, tests fail."""
    if platform.machine() != "x86_64":
        pytest.skip("Helm's engine has wheels for x86-64 alone: elsewhere the chart is linted by whoever has Helm")
    return importlib.import_module("helm_python")


@pytest.fixture(scope="session")
def chart(helm: Any) -> Iterator[Any]:
    with helm.Chart.load(str(CHART)) as loaded:
        yield loaded
