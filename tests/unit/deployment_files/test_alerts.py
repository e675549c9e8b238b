"""Prometheus raises the documented alerts for healthy, unhealthy and missing series."""

import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

CASES = Path(__file__).parent / "alerts.promtool.yaml"
RULES = Path(__file__).parents[3] / "deploy" / "dashboards" / "alerts.yaml"


def test_the_promtool_cases_raise_every_alert_of_the_rules():
    cases = yaml.safe_load(CASES.read_text())
    (wrong,) = [case for case in cases["tests"] if case["name"] == "all is wrong"]
    (raised,) = wrong["promql_expr_test"]
    (group,) = yaml.safe_load(RULES.read_text())["groups"]
    assert {sample["labels"] for sample in raised["exp_samples"]} == {
        f'{{alertname="{rule["alert"]}"}}' for rule in group["rules"]
    }


@pytest.mark.skipif(shutil.which("promtool") is None, reason="promtool is not installed")
def test_promtool_accepts_all_alert_test_cases():
    done = subprocess.run(["promtool", "test", "rules", str(CASES)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
