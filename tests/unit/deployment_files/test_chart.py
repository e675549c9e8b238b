"""The chart's manifests are valid for Kubernetes and match memstream's commands and settings."""

import copy
import json
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
from jsonschema import Draft7Validator
from kubernetes_validate import utils

from deploy.runtime.process import STOP_WITHIN_S
from deploy.settings import Settings
from deploy.settings.defaults import PREFIX
from streams.kafka.topics import STAGES, TopicSettings
from tests.unit.deployment_files.commands import assert_known, assert_runs
from tests.unit.deployment_files.manifests import (
    BY_IAM,
    BY_TOKEN,
    CHART,
    PROTECTED,
    Manifest,
    containers,
    of_kind,
    rendered,
)

VERSIONS = ("1.30", "1.33", "1.37")
CHOSEN: dict[str, dict[str, Any]] = {
    "as it is": {},
    "scaled, and Kafka asks": PROTECTED,
    "scaled, and Kafka asks for tokens": BY_TOKEN,
    "scaled, at Amazon MSK": BY_IAM,
    "bare": {name: {"enabled": False} for name in ("api", "setup", "podDisruptionBudget", "networkPolicy")},
    "elsewhere": {
        "image": {"digest": f"sha256:{'0' * 64}", "pullSecrets": [{"name": "registry"}]},
        "nodeSelector": {"disk": "ssd"},
        "tolerations": [{"key": "a", "operator": "Exists"}],
        "podAnnotations": {"a": "b"},
        "environment": {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4318"},
        "podDisruptionBudget": {"maxUnavailable": "50%"},
    },
}

# KEDA's definitions come in no Python package. Kubernetes drops fields that they do not know: here those are mistakes.
KEDA: dict[str, Any] = json.loads((Path(__file__).parent / "keda.json").read_text())


@pytest.fixture(autouse=True, scope="module")
def schemas_read_once() -> Iterator[None]:
    """Kubernetes' definitions are megabytes, which the package reads anew for each object."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(utils, "schema_contents", cache(utils.schema_contents))
        yield


def exact(schema: Any) -> Any:
    """The schema without room for fields that it does not name."""
    if isinstance(schema, list):
        return [exact(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {name: exact(each) for name, each in schema.items()}
    if isinstance(schema.get("properties"), dict) and "x-kubernetes-preserve-unknown-fields" not in schema:
        closed["additionalProperties"] = False
    return closed


def keda_complaints(manifest: Manifest) -> list[str]:
    """Returns the errors of an object by KEDA's definitions and its Kafka scaler."""
    schema = exact(KEDA[manifest["kind"]])
    schema["properties"]["metadata"] = {"type": "object"}
    found = [error.message for error in Draft7Validator(schema).iter_errors(manifest)]
    triggers = manifest["spec"].get("triggers", ())
    return found + [each for trigger in triggers for each in trigger_complaints(trigger)]


def trigger_complaints(trigger: dict[str, Any]) -> list[str]:
    known = {each["name"]: each for each in KEDA["kafka"] if each.get("metadataVariableReadable")}
    given = trigger["metadata"]
    needed = {name for name, each in known.items() if not each.get("optional") and "default" not in each}
    wrong = [name for name, value in given.items() if value not in known.get(name, {}).get("allowedValue", [value])]
    return [*sorted(given.keys() - known.keys()), *sorted(needed - given.keys()), *wrong]


def test_helm_lint_finds_nothing_but_a_missing_icon(helm: Any):
    found = helm.lint(str(CHART))
    findings = found.get("messages", found) if isinstance(found, dict) else found
    assert [each for each in findings if "icon" not in str(each)] == []


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("chosen", CHOSEN)
def test_rendered_manifests_are_valid_for_kubernetes_and_keda(chart: Any, chosen: str, version: str):
    for manifest in rendered(chart, CHOSEN[chosen]):
        if manifest["apiVersion"] == "keda.sh/v1alpha1":
            assert keda_complaints(manifest) == []
        else:
            kubernetes_validate.validate(manifest, version, strict=True)


def test_kubernetes_validation_detects_a_misspelt_field(chart: Any):
    (manifest, *_) = of_kind(rendered(chart, {}), "Deployment").values()
    manifest["spec"]["template"]["spec"]["containers"][0]["readynessProbe"] = {}
    with pytest.raises(kubernetes_validate.ValidationError, match="readynessProbe"):
        kubernetes_validate.validate(manifest, VERSIONS[0], strict=True)


def test_keda_validation_detects_misspelt_fields_wrong_types_and_unknown_scaler_parameters(chart: Any):
    (made, *_) = of_kind(rendered(chart, PROTECTED), "ScaledObject").values()

    def complaints(change: Callable[[Any, Any], object]) -> list[str]:
        changed = copy.deepcopy(made)
        change(changed["spec"], changed["spec"]["triggers"][0])
        return keda_complaints(changed)

    assert complaints(lambda spec, _: spec.update(minReplicas=1)) != []
    assert complaints(lambda spec, _: spec.update(maxReplicaCount="8")) != []
    assert complaints(lambda spec, _: spec.pop("scaleTargetRef")) != []
    assert complaints(lambda _, trigger: trigger["metadata"].update(lagTreshold="5")) == ["lagTreshold"]
    assert complaints(lambda _, trigger: trigger["metadata"].update(offsetResetPolicy="oldest")) == [
        "offsetResetPolicy"
    ]
    assert complaints(lambda _, trigger: trigger["metadata"].pop("consumerGroup")) == ["consumerGroup"]
    assert complaints(lambda _, trigger: trigger["metadata"].update(lagThreshold=5)) != []


def test_the_keda_trigger_authentication_sets_only_parameters_that_the_kafka_scaler_reads(chart: Any):
    (made,) = of_kind(rendered(chart, PROTECTED), "TriggerAuthentication").values()
    read = {each["name"] for each in KEDA["kafka"] if each.get("triggerAuthenticationVariableReadable")}
    assert {each["parameter"] for each in made["spec"]["secretTargetRef"]} <= read


def test_keda_authenticates_to_kafka_with_oauth_tokens_like_the_stages(chart: Any):
    made = rendered(chart, BY_TOKEN)
    (login,) = of_kind(made, "TriggerAuthentication").values()
    read = {each["name"] for each in KEDA["kafka"] if each.get("triggerAuthenticationVariableReadable")}
    environment = {each["parameter"]: each["name"] for each in login["spec"]["env"]}
    assert environment.keys() <= read
    assert environment == {
        "oauthTokenEndpointUri": "MEMSTREAM_KAFKA_OAUTH_TOKEN_URL",
        "scopes": "MEMSTREAM_KAFKA_OAUTH_SCOPE",
    }
    for scaled in of_kind(made, "ScaledObject").values():
        assert {trigger["metadata"]["sasl"] for trigger in scaled["spec"]["triggers"]} == {"oauthbearer"}


def test_keda_authenticates_to_msk_with_its_own_iam_role(chart: Any):
    made = rendered(chart, BY_IAM)
    (login,) = of_kind(made, "TriggerAuthentication").values()
    assert login["spec"] == {"podIdentity": {"provider": "aws"}}
    for scaled in of_kind(made, "ScaledObject").values():
        for trigger in scaled["spec"]["triggers"]:
            assert trigger["metadata"]["saslTokenProvider"] == "aws_msk_iam"
            assert trigger["metadata"]["awsRegion"] == "eu-central-1"


@pytest.mark.parametrize(("chosen", "grace_s"), [({}, 40), ({"STOP_S": 90.5}, 121)])
def test_the_termination_grace_period_exceeds_the_shutdown_time(chart: Any, chosen: dict[str, Any], grace_s: int):
    for made in of_kind(rendered(chart, {"settings": chosen}), "Deployment").values():
        within_s = made["spec"]["template"]["spec"]["terminationGracePeriodSeconds"]
        settings = Settings(**{setting.lower(): value for setting, value in chosen.items()})
        assert within_s == grace_s
        assert within_s > settings.stop_s + STOP_WITHIN_S


@pytest.mark.parametrize("chosen", CHOSEN)
def test_commands_and_environment_variables_of_the_chart_exist_in_memstream(chart: Any, chosen: str):
    for container in containers(rendered(chart, CHOSEN[chosen])):
        assert_runs(container["args"])
        assert_known({variable["name"] for variable in container["env"]})


def test_the_chart_has_one_deployment_for_each_stage_and_one_for_the_api(chart: Any):
    assert set(of_kind(rendered(chart, {}), "Deployment")) == {f"demo-{name}" for name in (*STAGES, "api")}


def test_selectors_match_the_pods_of_exactly_one_deployment(chart: Any):
    manifests = rendered(chart, {})
    labels = {
        name: each["spec"]["template"]["metadata"]["labels"] for name, each in of_kind(manifests, "Deployment").items()
    }

    def chosen_by(selector: dict[str, str]) -> list[str]:
        return [name for name, labelled in labels.items() if selector.items() <= labelled.items()]

    for name in labels:
        for kind, place in (
            ("Deployment", "selector"),
            ("PodDisruptionBudget", "selector"),
            ("NetworkPolicy", "podSelector"),
        ):
            manifest = of_kind(manifests, kind)[name]
            assert chosen_by(manifest["spec"][place]["matchLabels"]) == [name], kind
    assert chosen_by(of_kind(manifests, "Service")["demo-api"]["spec"]["selector"]) == ["demo-api"]


def test_containers_drop_all_capabilities_and_have_a_read_only_root(chart: Any):
    for container in containers(rendered(chart, PROTECTED)):
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        assert container["resources"]["limits"]["memory"]


def secret_names() -> set[str]:
    fields = Settings.model_fields.items()
    return {name.upper() for name, field in fields if "SecretStr" in str(field.annotation)}


def test_secret_settings_come_only_from_kubernetes_secrets(chart: Any):
    secret = {PREFIX + name for name in secret_names()}
    for container in containers(rendered(chart, PROTECTED)):
        given = {variable["name"]: set(variable) for variable in container["env"]}
        assert {"MEMSTREAM_POSTGRES_DSN", "MEMSTREAM_KAFKA_PASSWORD"} <= given.keys()
        assert all(given[name] == {"name", "valueFrom"} for name in given.keys() & secret)


@pytest.mark.parametrize("name", sorted(secret_names()))
def test_a_secret_among_the_settings_is_refused(helm: Any, chart: Any, name: str):
    with pytest.raises(helm.HelmValuesError, match=name):
        chart.validate_schema({"settings": {name: "EXAMPLE"}})


@pytest.mark.parametrize(
    "wrong",
    [
        {"stages": {"windows": {"replica": 3}}},
        {"secrets": {"POSTGRES_DSN": "postgresql://memstream@postgres/memstream"}},
        {"settings": {"MEMSTREAM_PROVIDER": "offline"}},
        {"settings": {"DATA_DIR": "/data"}},
        {"networkPolicy": {"from": []}},
        {"image": {"digest": "latest"}},
    ],
)
def test_ineffective_or_harmful_chart_values_are_rejected(helm: Any, chart: Any, wrong: dict[str, Any]):
    with pytest.raises(helm.HelmValuesError):
        chart.validate_schema(chart.merge_values(wrong))


def test_a_stage_is_scaled_by_the_lag_of_its_consumer_group_in_each_of_its_topics(chart: Any):
    topics = TopicSettings(prefix="a.")
    for stage, scaled in zip(sorted(STAGES), of_kind(rendered(chart, PROTECTED), "ScaledObject").values(), strict=True):
        assert scaled["spec"]["scaleTargetRef"]["name"] == f"demo-{stage}"
        read = [trigger["metadata"] for trigger in scaled["spec"]["triggers"]]
        assert [each["topic"] for each in read] == [topics.physical(name) for name in STAGES[stage]]
        assert {each["consumerGroup"] for each in read} == {topics.group(stage)}
        assert {(each["sasl"], each["tls"]) for each in read} == {("scram_sha512", "enable")}
        assert scaled["spec"]["maxReplicaCount"] <= TopicSettings().conversation_partitions


def test_kafka_certificate_files_are_mounted_where_the_settings_expect_them(chart: Any):
    for container in containers(rendered(chart, PROTECTED)):
        (mount,) = [each["mountPath"] for each in container["volumeMounts"] if each["name"] == "kafka"]
        values = {variable["name"]: variable.get("value") for variable in container["env"]}
        assert values["MEMSTREAM_KAFKA_CA_FILE"] == f"{mount}/ca.crt"
        assert values["MEMSTREAM_KAFKA_CERTIFICATE_FILE"] == f"{mount}/tls.crt"
        assert values["MEMSTREAM_KAFKA_KEY_FILE"] == f"{mount}/tls.key"


def test_stages_scaled_by_keda_have_no_fixed_replica_count(chart: Any):
    deployments = of_kind(rendered(chart, PROTECTED), "Deployment")
    assert [name for name, each in deployments.items() if "replicas" in each["spec"]] == ["demo-api"]


def test_the_values_schema_is_a_valid_json_schema():
    Draft7Validator.check_schema(json.loads((CHART / "values.schema.json").read_text()))
