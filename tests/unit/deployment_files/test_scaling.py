"""Replicas of the chart's stages: disruption budgets, and KEDA scaling by lag."""

from typing import Any

import pytest
import yaml

from streams.kafka.topics import STAGES, TopicSettings
from tests.unit.deployment_files.manifests import CHART, PROTECTED, of_kind, rendered

VALUES: dict[str, Any] = yaml.safe_load((CHART / "values.yaml").read_text())


@pytest.mark.parametrize("chosen", [1, 2, "50%"])
def test_each_deployment_has_a_disruption_budget_with_the_chosen_max_unavailable(chart: Any, chosen: int | str):
    made = of_kind(rendered(chart, {"podDisruptionBudget": {"maxUnavailable": chosen}}), "PodDisruptionBudget")
    assert set(made) == {f"demo-{name}" for name in (*STAGES, "api")}
    for budget in made.values():
        assert budget["spec"].keys() == {"maxUnavailable", "selector"}
        assert budget["spec"]["maxUnavailable"] == chosen


def test_the_default_replicas_exceed_the_default_max_unavailable():
    replicas = [stage["replicas"] for stage in VALUES["stages"].values()] + [VALUES["api"]["replicas"]]
    assert min(replicas) > VALUES["podDisruptionBudget"]["maxUnavailable"] == 1


@pytest.mark.parametrize("wrong", [0, "0%", "50", "half", -1])
def test_a_disruption_budget_that_allows_no_eviction_is_rejected(helm: Any, chart: Any, wrong: int | str):
    with pytest.raises(helm.HelmValuesError, match="maxUnavailable"):
        chart.validate_schema(chart.merge_values({"podDisruptionBudget": {"maxUnavailable": wrong}}))


def test_keda_scales_each_stage_by_its_own_lag_threshold_and_bounds(chart: Any):
    chosen = {stage: {"min": 1 + at, "max": 4 + at, "lag": 100 + at} for at, stage in enumerate(STAGES)}
    stages = {stage: {"replicas": 1 + at, "scaling": chosen[stage]} for at, stage in enumerate(STAGES)}
    keda = {"enabled": True, "pollingInterval": 7, "cooldownPeriod": 70}
    made = of_kind(rendered(chart, {**PROTECTED, "stages": stages, "keda": keda}), "ScaledObject")
    for stage, bounds in chosen.items():
        spec = made[f"demo-{stage}"]["spec"]
        assert (spec["minReplicaCount"], spec["maxReplicaCount"]) == (bounds["min"], bounds["max"])
        assert {trigger["metadata"]["lagThreshold"] for trigger in spec["triggers"]} == {str(bounds["lag"])}
        assert spec["fallback"]["replicas"] == stages[stage]["replicas"]
        assert (spec["pollingInterval"], spec["cooldownPeriod"]) == (7, 70)


def test_default_scaling_bounds_include_the_replicas_and_do_not_exceed_the_partitions():
    for stage in VALUES["stages"].values():
        assert 1 <= stage["scaling"]["min"] <= stage["replicas"] <= stage["scaling"]["max"]
        assert stage["scaling"]["max"] <= TopicSettings().conversation_partitions


@pytest.mark.parametrize("stage", STAGES)
def test_scaling_a_stage_to_zero_is_rejected(helm: Any, chart: Any, stage: str):
    scaling = {"min": 0, "max": 8, "lag": 20}
    with pytest.raises(helm.HelmValuesError, match="min"):
        chart.validate_schema(chart.merge_values({"stages": {stage: {"scaling": scaling}}}))
