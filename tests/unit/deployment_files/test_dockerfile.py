"""The image passes its linter, uses pinned packages and runs as an unprivileged user."""

import json
import re
import subprocess
import sys
from pathlib import Path

from tests.benchmarks.measure import ENVIRONMENT
from tests.unit.deployment_files.commands import assert_known, assert_runs

ROOT = Path(__file__).parents[3]
DOCKERFILE = ROOT / "deploy" / "Dockerfile"
HADOLINT = Path(sys.executable).parent / "hadolint"


def complaints(text: str) -> list[str]:
    """Codes of what hadolint finds, of any severity."""
    command = [str(HADOLINT), "--format", "json", "--no-fail", "-"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=60, check=True)
    return [found["code"] for found in json.loads(done.stdout)]


def instructions(name: str) -> list[str]:
    joined = DOCKERFILE.read_text().replace("\\\n", " ")
    return [line.removeprefix(name).strip() for line in joined.splitlines() if line.startswith(f"{name} ")]


def pins(lock: Path) -> set[str]:
    return set(re.findall(r"^[a-z0-9].*==[^ ]+", lock.read_text(), re.MULTILINE))


def test_the_linter_accepts_the_dockerfile_and_detects_worse_variants():
    text = DOCKERFILE.read_text()
    assert complaints(text) == []
    assert "DL3002" in complaints(text.replace("USER 10001:10001", "USER root"))
    assert "DL3006" in complaints(text.replace("python:${PYTHON} AS memstream", "python"))


def test_packages_are_installed_from_the_lock_file_with_hashes():
    (lock, project) = [line for line in instructions("RUN") if "pip install" in line]
    assert '--require-hashes --requirement "deploy/${LOCK}"' in lock
    assert "LOCK=requirements.lock" in instructions("ARG")
    assert "--no-deps" in project


def test_the_extras_lock_contains_the_runtime_lock_and_more():
    runtime, extras = (pins(ROOT / "deploy" / name) for name in ("requirements.lock", "extras.lock"))
    assert runtime < extras
    assert {line.partition("==")[0] for line in extras - runtime} >= {
        "aws-msk-iam-sasl-signer-python",
        "confluent-kafka",
    }


def test_the_final_image_contains_only_the_built_files():
    assert [line.split(" AS ")[-1] for line in instructions("FROM")] == ["build", "memstream"]
    shipped = DOCKERFILE.read_text().rpartition("\nFROM ")[2]
    assert "pip" not in shipped
    assert "COPY --from=build /opt/memstream /opt/memstream" in shipped
    assert shipped.count("COPY ") == 1, "nothing but what was built"


def test_the_image_runs_a_worker_as_an_unprivileged_user_and_declares_its_data_volume():
    assert instructions("USER") == ["10001:10001"]
    assert json.loads(instructions("ENTRYPOINT")[-1]) == ["memstream"]
    assert_runs(json.loads(instructions("CMD")[-1]))
    environment = dict(re.findall(r"(\w+)=(\S+)", instructions("ENV")[-1]))
    assert_known(set(environment))
    assert json.loads(instructions("VOLUME")[-1]) == [environment["MEMSTREAM_DATA_DIR"]]


def test_measurements_use_the_environment_of_the_image():
    assert f" {' '.join(f'{name}={value}' for name, value in ENVIRONMENT.items())} " in instructions("ENV")[-1]


def test_copied_files_exist_and_pass_the_dockerignore():
    copied = [word for line in instructions("COPY") if "--from" not in line for word in line.split()[:-1]]
    ignored = (ROOT / "deploy" / "Dockerfile.dockerignore").read_text().splitlines()
    for name in copied:
        assert (ROOT / name).exists()
        assert f"!{name.split('/')[0]}" in ignored
