"""Network policies of the chart allow the connections that pods need, and no others."""

from typing import Any

import pytest
import yaml

from streams.kafka.topics import STAGES
from tests.unit.deployment_files.manifests import CHART, PROTECTED, Manifest, of_kind, rendered

NAMES = {(53, "UDP"), (53, "TCP")}
MANAGED = {
    "settings": {
        "BOOTSTRAP_SERVERS": "b-1.example.com:9096, b-2.example.com:9096,b-3.example.com:9098",
        "QDRANT_URL": "https://qdrant.example.com",
        "OLLAMA_BASE_URL": "http://ollama:11434",
    },
    "environment": {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4318"},
    "networkPolicy": {"egress": [{"ports": [{"port": 25060, "protocol": "TCP"}]}]},
}


BARE: dict[str, Any] = {"networkPolicy": {"egress": []}}


def policies(chart: Any, values: dict[str, Any]) -> dict[str, Manifest]:
    found = of_kind(rendered(chart, values), "NetworkPolicy")
    assert len(found) == len(STAGES) + 1, "the API's too"
    return found


def reached(policy: Manifest) -> set[tuple[int, str]]:
    """Ports to which something is let out, wherever it is."""
    assert all(set(rule) == {"ports"} for rule in policy["spec"]["egress"])
    return {(each["port"], each["protocol"]) for rule in policy["spec"]["egress"] for each in rule["ports"]}


@pytest.mark.parametrize(
    ("values", "ports"),
    [
        ({}, {9092, 6333, 5432, 443}),
        (PROTECTED, {9092, 6333, 5432, 443}),
        (MANAGED, {9096, 9098, 6333, 11434, 4318, 25060}),
        ({**BARE, "settings": {"EMBEDDER_BASE_URL": "https://embeddings.example.com/v1"}}, {9092, 6333, 443}),
        ({**BARE, "settings": {"EMBEDDER_BASE_URL": "http://embeddings/v1"}}, {9092, 6333, 80}),
        (BARE, {9092, 6333}),
    ],
    ids=["as it is", "protected", "managed", "https", "http", "nothing added"],
)
def test_egress_is_limited_to_dns_and_the_configured_ports(chart: Any, values: dict[str, Any], ports: set[int]):
    for policy in policies(chart, values).values():
        assert policy["spec"]["policyTypes"] == ["Ingress", "Egress"]
        assert reached(policy) == NAMES | {(port, "TCP") for port in ports}


def test_ingress_admits_scrapers_to_metrics_and_api_clients_to_the_api_port_only(chart: Any):
    chosen = {
        "from": [{"namespaceSelector": {"matchLabels": {"name": "chat"}}}],
        "metricsFrom": [{"namespaceSelector": {"matchLabels": {"name": "monitoring"}}}],
    }
    for name, policy in policies(chart, {"networkPolicy": chosen}).items():
        admitted = [{"from": chosen["metricsFrom"], "ports": [{"port": "metrics", "protocol": "TCP"}]}]
        if name == "demo-api":
            admitted.append({"from": chosen["from"], "ports": [{"port": "http", "protocol": "TCP"}]})
        assert policy["spec"]["ingress"] == admitted


def test_network_policies_name_ports_of_their_own_pods(chart: Any):
    deployments = of_kind(rendered(chart, {}), "Deployment")
    for name, policy in policies(chart, {}).items():
        (container,) = deployments[name]["spec"]["template"]["spec"]["containers"]
        named = {each["port"] for rule in policy["spec"]["ingress"] for each in rule["ports"]}
        assert named == {port["name"] for port in container["ports"]}


def test_by_default_the_own_namespace_may_call_the_api_and_any_namespace_may_scrape():
    chosen = yaml.safe_load((CHART / "values.yaml").read_text())["networkPolicy"]
    assert (chosen["from"], chosen["metricsFrom"]) == ([{"podSelector": {}}], [{"namespaceSelector": {}}])
