"""Names of scrape targets, metrics and panels agree between Compose's Prometheus and Grafana."""

import json
import re
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
import yaml

DIRECTORY = Path(__file__).parents[3] / "deploy" / "compose"
SERVICES: dict[str, Any] = yaml.safe_load((DIRECTORY / "compose.yaml").read_text())["services"]
PROMETHEUS: dict[str, Any] = yaml.safe_load((DIRECTORY / "prometheus.yaml").read_text())
METRICS = {"worker": "MEMSTREAM_METRICS_PORT", "api": "MEMSTREAM_API_METRICS_PORT"}
PROVISIONING = "/etc/grafana/provisioning"


def mounted(service: str) -> dict[str, Path]:
    """Files of the repository by where the service's container sees them."""
    mounts = [mount.split(":") for mount in SERVICES[service]["volumes"]]
    return {where: (DIRECTORY / source).resolve() for source, where, *_ in mounts if source.startswith(".")}


def provisioned(kind: str) -> dict[str, Any]:
    """The only file that Grafana reads of that kind."""
    (path,) = [path for where, path in mounted("grafana").items() if where.startswith(f"{PROVISIONING}/{kind}/")]
    found: dict[str, Any] = yaml.safe_load(path.read_text())
    assert found.keys() == {"apiVersion", kind if kind == "datasources" else "providers"}
    assert found["apiVersion"] == 1
    return found


def test_prometheus_scrapes_every_replica_of_workers_and_the_api_on_its_metrics_port():
    scraped = {}
    for job in PROMETHEUS["scrape_configs"]:
        assert job.keys() == {"job_name", "dns_sd_configs"}
        (found,) = job["dns_sd_configs"]
        assert (found.keys(), found["type"]) == ({"names", "type", "port", "refresh_interval"}, "A")
        (service,) = found["names"]
        scraped[service] = found["port"]
    assert scraped == {service: SERVICES[service]["environment"][port] for service, port in METRICS.items()}
    assert len({job["job_name"] for job in PROMETHEUS["scrape_configs"]}) == len(scraped)


def test_metrics_listen_on_all_interfaces():
    assert {SERVICES[service]["environment"]["MEMSTREAM_METRICS_HOST"] for service in METRICS} == {"0.0.0.0"}


def test_prometheus_reads_its_configuration_and_rules_from_their_mounts():
    seen = mounted("prometheus")
    assert PROMETHEUS.keys() == {"global", "rule_files", "scrape_configs"}
    assert PROMETHEUS["global"].keys() == {"scrape_interval"}
    assert re.fullmatch(r"\d+s", PROMETHEUS["global"]["scrape_interval"])
    assert seen.pop("/etc/prometheus/prometheus.yml") == DIRECTORY / "prometheus.yaml"  # where its image looks
    assert set(PROMETHEUS["rule_files"]) == set(seen)
    assert list(seen.values()) == [DIRECTORY.parent / "dashboards" / "alerts.yaml"]


def test_the_grafana_datasource_is_the_prometheus_service_of_the_type_the_dashboard_selects():
    (source,) = provisioned("datasources")["datasources"]
    assert source.keys() == {"name", "type", "uid", "url", "isDefault"}
    assert (source["type"], source["isDefault"]) == ("prometheus", True)
    service, port = re.fullmatch(r"http://(\w+):(\d+)", source["url"]).groups()  # type: ignore[union-attr]
    assert [published.split(":")[-1] for published in SERVICES[service]["ports"]] == [port]
    shown = json.loads((DIRECTORY.parent / "dashboards" / "memstream.json").read_text())
    (choice,) = shown["templating"]["list"]
    assert (choice["type"], choice["query"]) == ("datasource", source["type"])
    assert set(named_sources(shown)) == {(source["type"], f"${{{choice['name']}}}")}


def named_sources(shown: Any) -> list[tuple[str, str]]:
    """Type and uid of each data source in a dashboard, wherever it is named."""
    if isinstance(shown, list):
        return [each for one in shown for each in named_sources(one)]
    if not isinstance(shown, dict):
        return []
    named = shown.get("datasource")
    own = [(named["type"], named["uid"])] if isinstance(named, dict) else []
    return own + [each for one in shown.values() for each in named_sources(one)]


def test_grafana_reads_its_dashboards_from_the_mounted_directory():
    (provider,) = provisioned("dashboards")["providers"]
    assert provider.keys() == {"name", "type", "options"}
    assert (provider["type"], provider["options"].keys()) == ("file", {"path"})
    shown = {where: path for where, path in mounted("grafana").items() if not where.startswith(PROVISIONING)}
    assert {str(PurePosixPath(where).parent) for where in shown} == {provider["options"]["path"]}
    assert list(shown.values()) == [DIRECTORY.parent / "dashboards" / "memstream.json"]


@pytest.mark.parametrize(("service", "variable"), [("worker", "MEMSTREAM_METRICS_PORT"), ("api", "MEMSTREAM_API_PORT")])
def test_healthchecks_of_workers_and_the_api_request_readiness_on_their_own_port(service: str, variable: str):
    (command,) = [part for part in SERVICES[service]["healthcheck"]["test"] if "http" in part]
    port = SERVICES[service]["environment"][variable]
    assert re.findall(r"http://([\w.]+):(\d+)(/[\w/]+)", command) == [("127.0.0.1", str(port), "/health/ready")]
    compile(command, service, "exec")


def test_the_api_is_published_on_the_port_that_it_listens_on():
    port = SERVICES["api"]["environment"]["MEMSTREAM_API_PORT"]
    assert SERVICES["api"]["ports"] == [f"127.0.0.1:{port}:{port}"]


def test_kafka_and_qdrant_addresses_match_the_ports_they_listen_on():
    environment = SERVICES["worker"]["environment"]
    kafka = SERVICES["kafka"]["environment"]
    listening = dict(re.findall(r"(\w+)://:(\d+)", kafka["KAFKA_LISTENERS"]))
    listeners = dict(re.findall(r"(\w+)://([\w.]+:\d+)", kafka["KAFKA_ADVERTISED_LISTENERS"]))
    assert listeners == {"INSIDE": f"kafka:{listening['INSIDE']}", "MACHINE": f"127.0.0.1:{listening['MACHINE']}"}
    assert environment["MEMSTREAM_BOOTSTRAP_SERVERS"] == listeners["INSIDE"]
    assert SERVICES["kafka"]["ports"] == [f"{listeners['MACHINE']}:{listening['MACHINE']}"]
    (probe,) = [part for part in SERVICES["qdrant"]["healthcheck"]["test"] if "/dev/tcp" in part]
    (port,) = re.findall(r"/dev/tcp/127\.0\.0\.1/(\d+)", probe)
    assert environment["MEMSTREAM_QDRANT_URL"] == f"http://qdrant:{port}"
