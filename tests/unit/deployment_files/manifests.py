"""Renders the chart's manifests, and values that enable most of them."""

from pathlib import Path
from typing import Any

import yaml

CHART = Path(__file__).parents[3] / "deploy" / "helm" / "memstream"
PROTECTED: dict[str, Any] = {
    "keda": {"enabled": True},
    "settings": {"KAFKA_SECURITY_PROTOCOL": "SASL_SSL", "TOPIC_PREFIX": "a."},
    "secrets": {name: {"name": "kafka", "key": name.lower()} for name in ("KAFKA_USERNAME", "KAFKA_PASSWORD")},
    "kafkaFiles": {"secret": "kafka-files", "ca": "ca.crt", "certificate": "tls.crt", "key": "tls.key"},
}
BY_TOKEN = PROTECTED | {
    "settings": PROTECTED["settings"]
    | {
        "KAFKA_SASL_MECHANISM": "OAUTHBEARER",
        "KAFKA_OAUTH_TOKEN_URL": "https://idp/token",
        "KAFKA_OAUTH_SCOPE": "kafka",
    }
}
BY_IAM = {
    "keda": {"enabled": True},
    "settings": {
        "KAFKA_SECURITY_PROTOCOL": "SASL_SSL",
        "KAFKA_SASL_MECHANISM": "AWS_MSK_IAM",
        "KAFKA_AWS_REGION": "eu-central-1",
    },
}

Manifest = dict[str, Any]


def rendered(chart: Any, values: dict[str, Any]) -> list[Manifest]:
    files = chart.render(values, name="demo", namespace="prod").values()
    return [document for text in files for document in yaml.load_all(text, yaml.CSafeLoader) if document]


def of_kind(manifests: list[Manifest], kind: str) -> dict[str, Manifest]:
    return {each["metadata"]["name"]: each for each in manifests if each["kind"] == kind}


def containers(manifests: list[Manifest]) -> list[dict[str, Any]]:
    pods = [each["spec"]["template"]["spec"] for each in manifests if each["kind"] in ("Deployment", "Job")]
    return [one for pod in pods for one in (*pod.get("initContainers", ()), *pod["containers"])]
