"""The installed package contains every file that memstream reads, and reports its version."""

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).parents[3]
PACKAGES = ("schemas", "streams", "agents", "sinks", "deploy")
UNREAD = (
    "deploy/compose/",
    "deploy/docs/",
    "deploy/helm/",
    "deploy/panel/",
    "deploy/runbook/",
    "deploy/samples/typescript/",
    "schemas/published/",
)  # by what runs
UNREAD_TYPES = (".md", ".sh", "Dockerfile", ".dockerignore")
PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet")
ALONE = ("--no-deps", "--no-index", "--no-build-isolation")


@pytest.fixture(scope="module")
def tracked() -> list[str]:
    listed = subprocess.run(["git", "ls-files", *PACKAGES], cwd=ROOT, capture_output=True, text=True, check=True)
    return [name for name in listed.stdout.splitlines() if (ROOT / name).exists()]


@pytest.fixture(scope="module")
def wheel(tracked: list[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built of a copy: setuptools writes beside what it packs, and packs what it wrote before."""
    source, made = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    for name in ("pyproject.toml", "README.md", "LICENSE", *tracked):
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, source / name)
    subprocess.run([*PIP, "wheel", *ALONE, "--wheel-dir", str(made), str(source)], check=True)
    (built,) = made.iterdir()
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("installed")
    subprocess.run([*PIP, "install", *ALONE, "--target", str(target), str(wheel)], check=True)
    return target


def run(installed: Path, *arguments: str) -> str:
    """Returns the output of a program of the installed copy, run outside the source tree."""
    environment = os.environ | {"PYTHONPATH": str(installed)}
    done = subprocess.run(arguments, cwd=installed, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def memstream(installed: Path, *arguments: str) -> str:
    return run(installed, str(installed / "bin" / "memstream"), *arguments)


def test_the_wheel_contains_exactly_the_files_needed_at_runtime(wheel: Path, tracked: list[str]):
    packed = {name for name in ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert packed == {name for name in tracked if not name.startswith(UNREAD) and not name.endswith(UNREAD_TYPES)}


def test_the_installed_command_prints_the_version_of_the_package(installed: Path):
    stated = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert memstream(installed, "--version") == f"memstream {stated}\n"


def test_the_installed_command_runs_from_its_own_files(installed: Path):
    assert run(installed, sys.executable, "-c", "import deploy; print(deploy.__file__)").startswith(str(installed))
    presets = {
        path.stem for path in (installed / "deploy" / "policies" / "presets").iterdir() if path.suffix == ".yaml"
    }
    assert presets
    assert all(preset in memstream(installed, "policies", "presets") for preset in presets)
