"""The runbook's Kubernetes commands use the names of an installation by the README."""

import re
from typing import Any

from tests.unit.deployment_files.manifests import CHART, rendered

DEPLOY = CHART.parents[1]


def test_the_runbook_uses_the_deployment_names_of_the_readme_installation(chart: Any):
    (release,) = re.findall(r"helm install (\S+) deploy/helm/memstream", (DEPLOY / "README.md").read_text())
    made = {each["metadata"]["name"].replace("demo-", f"{release}-", 1) for each in rendered(chart, {})}
    lines = [line for page in (DEPLOY / "runbook").glob("*.md") for line in page.read_text().splitlines()]
    called = " ".join(line for line in lines if "kubectl" in line)
    named = set(re.findall(rf"\b{release}-[\w-]+", called))
    assert len(named) > 2
    assert named <= made
