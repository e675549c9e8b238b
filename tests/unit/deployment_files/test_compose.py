"""The compose file is valid and consistent with the command line and between its services."""

import json
import re
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema.validators import validator_for

from deploy.runtime.process import STOP_WITHIN_S
from deploy.settings import Settings
from tests.unit.deployment_files.commands import assert_known, assert_runs

DIRECTORY = Path(__file__).parents[3] / "deploy" / "compose"
OURS = ("migrate", "topics", "worker", "api")
# The specification's schema as check-jsonschema ships it, which itself is not imported: it wants a newer click than ours.
SPECIFICATION = distribution("check-jsonschema").locate_file(
    "check_jsonschema/builtin_schemas/vendor/compose-spec.json"
)
VARIABLE = re.compile(r"\$\{(\w+)(?::([-?])([^}]*))?\}")


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((DIRECTORY / "compose.yaml").read_text())
    return found


def test_the_compose_file_is_valid_by_the_compose_specification(compose: dict[str, Any]):
    schema = json.loads(Path(str(SPECIFICATION)).read_text())
    validator = validator_for(schema)(schema)
    assert [error.message for error in validator.iter_errors(compose)] == []
    wrong = json.loads(json.dumps(compose))
    wrong["services"]["worker"]["restarts"] = "always"
    assert len(list(validator.iter_errors(wrong))) == 1


def test_commands_and_environment_variables_of_the_compose_file_exist_in_memstream(compose: dict[str, Any]):
    for name in OURS:
        assert_runs(compose["services"][name]["command"])
        assert_known(set(compose["services"][name]["environment"]))


def test_memstream_containers_are_read_only_and_without_capabilities(compose: dict[str, Any]):
    for name in OURS:
        service = compose["services"][name]
        assert service["read_only"] is True
        assert service["cap_drop"] == ["ALL"]
        assert service["security_opt"] == ["no-new-privileges:true"]


def test_workers_and_the_api_start_when_topics_and_tables_are_there(compose: dict[str, Any]):
    for name in ("worker", "api"):
        waits = compose["services"][name]["depends_on"]
        assert {part: how["condition"] for part, how in waits.items()} == {
            "migrate": "service_completed_successfully",
            "topics": "service_completed_successfully",
            "qdrant": "service_healthy",
        }


def test_awaited_services_have_a_healthcheck_and_mounted_volumes_are_declared(compose: dict[str, Any]):
    services = compose["services"]
    for name, service in services.items():
        for part, how in service.get("depends_on", {}).items():
            assert how["condition"] != "service_healthy" or "healthcheck" in services[part], (name, part)
        for mount in service.get("volumes", []):
            source = mount.split(":")[0]
            assert source in compose["volumes"] or (DIRECTORY / source).exists(), (name, mount)


def test_images_are_versioned_and_ports_are_bound_to_loopback_only(compose: dict[str, Any]):
    for name, service in compose["services"].items():
        assert re.fullmatch(r"[a-z/]+:v?\d[\w.-]*", service["image"]), name
        assert all(port.startswith("127.0.0.1:") for port in service.get("ports", []))


def test_passwords_have_no_default_and_settings_are_valid_once_one_is_given(compose: dict[str, Any]):
    text = (DIRECTORY / "compose.yaml").read_text()
    assert {name for name, how, _ in VARIABLE.findall(text) if "PASSWORD" in name and how != "?"} == set()

    def given(written: object) -> str:
        return VARIABLE.sub(lambda found: {"?": "given", "-": found[3]}[found[2]], str(written))

    for name in OURS:
        values = {key: given(value) for key, value in compose["services"][name]["environment"].items()}
        settings = Settings(**{key.removeprefix("MEMSTREAM_").lower(): value for key, value in values.items()})
        assert settings.postgres_dsn.get_secret_value() == "postgresql://memstream:given@postgres:5432/memstream"
        assert settings.bootstrap_servers.split(":")[0] in compose["services"]


def test_the_stop_grace_period_exceeds_the_shutdown_time(compose: dict[str, Any]):
    settings = Settings()
    for name in ("worker", "api"):
        within = compose["services"][name]["stop_grace_period"]
        assert float(within.removesuffix("s")) > settings.stop_s + STOP_WITHIN_S, name
