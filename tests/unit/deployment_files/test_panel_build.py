"""The check of the built panel on a machine without Node: digests of the sources and of the built files."""

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
BUILT = Path("agents/api/panel/built")
TOOLS = ("sh", "dirname", "find", "sort", "xargs", "sha256sum", "cut", "cat")


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """The panel, as a clone has it, beside a path of programs that has no Node."""
    shutil.copytree(
        ROOT / "deploy" / "panel", tmp_path / "deploy" / "panel", ignore=shutil.ignore_patterns("node_modules")
    )
    shutil.copytree(ROOT / BUILT, tmp_path / BUILT)
    generated = Path("schemas/generated/openapi.json")
    (tmp_path / generated).parent.mkdir(parents=True)
    shutil.copy(ROOT / generated, tmp_path / generated)
    (tmp_path / "bin").mkdir()
    for tool in TOOLS:
        (tmp_path / "bin" / tool).symlink_to(str(shutil.which(tool)))
    return tmp_path


def check(copied: Path) -> subprocess.CompletedProcess[str]:
    command = [copied / "deploy" / "panel" / "build.sh", "--check"]
    return subprocess.run(command, env={"PATH": str(copied / "bin")}, capture_output=True, text=True, timeout=60)


def test_unmodified_built_files_pass_the_check_without_node(copied: Path):
    found = check(copied)
    assert (found.returncode, found.stderr) == (0, "")
    assert "there is no Node on this machine" in found.stdout


@pytest.mark.parametrize("edited", [BUILT / "index.html", Path("deploy/panel/src/main.tsx")])
def test_an_edited_file_is_refused_without_node(copied: Path, edited: Path):
    file = copied / edited
    file.write_text(file.read_text() + "\n")
    found = check(copied)
    assert found.returncode == 1
    assert "run `make panel`" in found.stderr


def test_an_added_built_file_fails_the_check_without_node(copied: Path):
    (copied / BUILT / "assets").mkdir(exist_ok=True)
    (copied / BUILT / "assets" / "more.js").write_text("1\n")
    assert check(copied).returncode == 1
