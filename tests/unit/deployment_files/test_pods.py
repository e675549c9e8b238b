"""Pods of the chart: probes, ports, users and init containers."""

import re
from typing import Any

import pytest

from tests.unit.deployment_files.manifests import CHART, PROTECTED, Manifest, of_kind, rendered

PROBES = {"startupProbe": "/health/live", "livenessProbe": "/health/live", "readinessProbe": "/health/ready"}
DOCKERFILE = CHART.parents[1] / "Dockerfile"


def deployed(chart: Any, values: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The only container of each Deployment, by the Deployment's name."""
    found = {}
    for name, manifest in of_kind(rendered(chart, values), "Deployment").items():
        (found[name],) = manifest["spec"]["template"]["spec"]["containers"]
    return found


def pods(manifests: list[Manifest]) -> list[dict[str, Any]]:
    return [each["spec"]["template"]["spec"] for each in manifests if each["kind"] in ("Deployment", "Job")]


def ports(container: dict[str, Any]) -> dict[str, str]:
    return {port["name"]: str(port["containerPort"]) for port in container["ports"]}


@pytest.mark.parametrize("api_port", [8080, 9000])
def test_container_ports_are_those_the_processes_listen_on(chart: Any, api_port: int):
    for name, container in deployed(chart, {"api": {"port": api_port}}).items():
        environment = {
            variable["name"].removeprefix("MEMSTREAM_"): variable.get("value") for variable in container["env"]
        }
        listening = {"metrics": environment.get("METRICS_PORT")}
        if name == "demo-api":
            listening = {"http": environment["API_PORT"], "metrics": environment["API_METRICS_PORT"]}
            assert (environment["API_PORT"], environment["API_HOST"]) == (str(api_port), "0.0.0.0")
        assert ports(container) == listening
        assert environment["METRICS_HOST"] == "0.0.0.0"


def test_workers_are_probed_on_their_metrics_port_and_the_api_on_its_http_port(
    chart: Any,
):
    for name, container in deployed(chart, {}).items():
        port = "http" if name == "demo-api" else "metrics"
        assert {probe: container[probe]["httpGet"] for probe in PROBES} == {
            probe: {"path": path, "port": port} for probe, path in PROBES.items()
        }


def test_probes_allow_two_minutes_for_the_start_and_thirty_seconds_of_a_blocked_event_loop(chart: Any):
    for container in deployed(chart, {}).values():
        start, live = container["startupProbe"], container["livenessProbe"]
        assert start["periodSeconds"] * start["failureThreshold"] >= 120
        assert live["periodSeconds"] * live.get("failureThreshold", 3) >= 30


def test_the_service_leads_to_the_port_that_the_api_listens_on(chart: Any):
    manifests = rendered(chart, {"api": {"service": {"port": 8000}}})
    (port,) = of_kind(manifests, "Service")["demo-api"]["spec"]["ports"]
    assert (port["port"], port["targetPort"]) == (8000, "http")


def test_pods_run_as_the_user_of_the_image_without_a_service_account_token(chart: Any):
    (user,) = re.findall(r"^USER (\d+):", DOCKERFILE.read_text(), re.MULTILINE)
    for pod in pods(rendered(chart, PROTECTED)):
        assert pod["securityContext"] == {
            "runAsNonRoot": True,
            **{name: int(user) for name in ("runAsUser", "runAsGroup", "fsGroup")},
            "seccompProfile": {"type": "RuntimeDefault"},
        }
        assert pod["automountServiceAccountToken"] is False


def test_writable_paths_are_volumes_with_a_size_limit(chart: Any):
    (written,) = re.findall(r'^VOLUME \["(.*)"\]', DOCKERFILE.read_text(), re.MULTILINE)
    for pod in pods(rendered(chart, {})):
        assert all(volume["emptyDir"]["sizeLimit"] for volume in pod["volumes"])
        for container in (*pod.get("initContainers", ()), *pod["containers"]):
            assert {mount["mountPath"] for mount in container["volumeMounts"]} == {written, "/tmp"}


def test_a_helm_hook_runs_migrations_and_topic_creation_before_install_and_upgrade(chart: Any):
    (job,) = of_kind(rendered(chart, {}), "Job").values()
    annotations = job["metadata"]["annotations"]
    assert set(annotations["helm.sh/hook"].split(",")) == {"pre-install", "pre-upgrade"}
    assert "before-hook-creation" in annotations["helm.sh/hook-delete-policy"].split(","), "else the second fails"
    pod = job["spec"]["template"]["spec"]
    assert [each["args"] for each in (*pod["initContainers"], *pod["containers"])] == [
        ["migrate"],
        ["topics", "create"],
    ]
    assert pod["restartPolicy"] == "Never"
    assert job["spec"]["backoffLimit"] > 0
