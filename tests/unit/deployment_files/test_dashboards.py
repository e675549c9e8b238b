"""Alerts and the dashboard query existing metrics with existing labels."""

import json
import re
from pathlib import Path
from typing import Any

import promql_parser
import pytest
import yaml
from prometheus_client import CollectorRegistry
from prometheus_client.metrics import MetricWrapperBase

from deploy.metrics.api_meters import ApiMeters
from deploy.metrics.meters import Meters
from streams.kafka.topics import STAGES, TopicSettings
from tests.fakes.stage import FakeStage

DASHBOARDS = Path(__file__).parents[3] / "deploy" / "dashboards"
INTERVAL = re.compile(r"\$__rate_interval")
# Prometheus' own grammar of durations, the longest unit first: model.ParseDuration.
DURATION = re.compile(r"(?=\d)(?:\d+y)?(?:\d+w)?(?:\d+d)?(?:\d+h)?(?:\d+m)?(?:\d+s)?(?:\d+ms)?")
FILLED = re.compile(r"\$value(?: \| humanize(?:Duration|Percentage))?|\$labels\.\w+")
LABEL = re.compile(r"\{\{\s*\$?(?:labels\.)?(\w+)\s*\}\}")


def alerts() -> dict[str, dict[str, Any]]:
    (group,) = yaml.safe_load((DASHBOARDS / "alerts.yaml").read_text())["groups"]
    return {rule["alert"]: rule for rule in group["rules"]}


def panels() -> list[dict[str, Any]]:
    found = json.loads((DASHBOARDS / "memstream.json").read_text())["panels"]
    return [panel for panel in found if panel["type"] != "row"]


def expressions() -> list[str]:
    """Returns the expressions of the dashboard and the alerts."""
    queries = [target["expr"] for panel in panels() for target in panel["targets"]]
    return [INTERVAL.sub("5m", expression) for expression in [*queries, *(rule["expr"] for rule in alerts().values())]]


def questions() -> list[str]:
    """Returns the documented queries for manual use."""
    _, _, table = (DASHBOARDS.parent / "docs" / "metrics.md").read_text().partition("## Questions")
    return [found for found in re.findall(r"`([^`]+)`", table) if "memstream_" in found]


@pytest.fixture(scope="module")
def samples() -> dict[str, set[str]]:
    """Labels by the name of each series that a worker tells once everything has happened."""
    meters = Meters()
    meters.delivery.watched(FakeStage("memstream-windows", {("chat.messages", 0): 3}), no_handle)  # type: ignore[arg-type]
    api = ApiMeters()
    for metric in (*vars(meters).values(), *vars(api).values()):
        if isinstance(metric, MetricWrapperBase) and metric._labelnames:
            metric.labels(*metric._labelnames)
    found: dict[str, set[str]] = {}
    for registry in (meters.registry, api.registry):
        for family in registry.collect():
            for sample in family.samples:
                found.setdefault(sample.name, set()).update(sample.labels)
    return found


async def no_handle(_: Any) -> None:
    """There are no batches."""


def test_every_queried_metric_exists_and_nearly_every_metric_is_queried(samples: dict[str, set[str]]):
    metrics = set(re.findall(r"\bmemstream_\w+", " ".join(expressions())))
    assert metrics - samples.keys() == set()
    ours = {name for name in samples if name.startswith("memstream_") and not name.endswith(("_created", "_sum"))}
    assert ours - metrics <= {"memstream_delivery_batches_total"}


def test_the_metrics_page_has_queries_over_existing_metrics(samples: dict[str, set[str]]):
    assert len(questions()) > 15
    assert set(re.findall(r"\bmemstream_\w+", " ".join(questions()))) <= samples.keys()


@pytest.mark.parametrize("expression", [*expressions(), *questions()])
def test_expressions_are_valid_promql_over_existing_labels(expression: str, samples: dict[str, set[str]]):
    promql_parser.parse(expression)
    known = set().union(*(samples[name] for name in re.findall(r"\bmemstream_\w+", expression)))
    grouped = {label.strip() for group in re.findall(r"\bby \(([^)]*)\)", expression) for label in group.split(",")}
    matched = set(re.findall(r"[{,]\s*(\w+)\s*(?:=|!)", expression))
    made = set(re.findall(r'\blabel_replace\([^"]*"(\w+)"', expression))
    read = set(re.findall(r'\blabel_replace\([^"]*"\w+",\s*"[^"]*",\s*"(\w+)"', expression))
    assert (grouped - made) | matched | read <= known


def grouped_by(expression: str) -> set[str]:
    """The labels that an expression leaves."""
    return {label.strip() for group in re.findall(r"\bby \(([^)]*)\)", expression) for label in group.split(",")}


def test_legends_use_only_labels_kept_by_their_expressions():
    legends = [(target["legendFormat"], target["expr"]) for panel in panels() for target in panel["targets"]]
    assert any(LABEL.search(legend) for legend, _ in legends)
    for legend, expression in legends:
        assert set(LABEL.findall(legend)) <= grouped_by(expression), legend


def test_invalid_promql_is_detected():
    with pytest.raises(ValueError, match="unclosed"):
        promql_parser.parse("sum by (group (memstream_stage_ready)")


def test_alert_annotations_use_only_labels_kept_by_their_expressions():
    for name, rule in alerts().items():
        assert re.fullmatch(r"Memstream[A-Za-z]+", name)
        assert set(rule["annotations"]) == {"summary", "description", "runbook_url"}
        assert rule["labels"]["severity"] in ("critical", "warning", "info")
        left = {label.strip() for group in re.findall(r"\bby \(([^)]*)\)", rule["expr"]) for label in group.split(",")}
        named = set(re.findall(r"\$labels\.(\w+)", " ".join(rule["annotations"].values())))
        assert named <= left, name


def test_the_missing_stage_alert_counts_stages_per_prefix_and_fires_when_none_is_scraped():
    rule = alerts()["MemstreamStageMissing"]
    few, none = rule["expr"].split(" or ")
    by_prefix = r'label_replace\(count by \(group\) \(memstream_stage_ready\), "prefix", "\$1", "group", "(.+)"\)'
    counted = re.fullmatch(rf"count by \(prefix\) \({by_prefix}\) < (\d+)", few.strip())
    assert counted, few
    assert int(counted[2]) == len(STAGES)
    assert f"of {len(STAGES)} stages" in rule["annotations"]["summary"]
    for prefix in ("", "a.memstream-"):
        groups = [TopicSettings(prefix=prefix).group(stage) for stage in STAGES]
        assert {re.fullmatch(counted[1], group)[1] for group in groups} == {prefix}  # type: ignore[index]
    assert none == "0 * absent(memstream_stage_ready)"


def test_the_missing_api_alert_uses_a_metric_exported_by_the_api_from_the_start_and_by_no_worker():
    (series,) = re.findall(r"^absent\((\w+)\)$", alerts()["MemstreamApiMissing"]["expr"])

    def series_of(registry: CollectorRegistry) -> set[str]:
        return {sample.name for family in registry.collect() for sample in family.samples}

    assert series in series_of(ApiMeters().registry) - series_of(Meters().registry)


def rules_complaints(text: str) -> list[str]:
    """Returns the parts of a rules file that Prometheus rejects or ignores."""
    found = yaml.safe_load(text)
    said = [f"{key} beside groups" for key in found.keys() - {"groups"}]
    for group in found["groups"]:
        said += [f"{key} in a group" for key in group.keys() ^ {"name", "rules"}]
        said += [f"{rule.get('alert')}: {each}" for rule in group["rules"] for each in rule_complaints(rule)]
    names = [rule.get("alert") for group in found["groups"] for rule in group["rules"]]
    return said + [f"{name} twice" for name in {name for name in names if names.count(name) > 1}]


def rule_complaints(rule: dict[str, Any]) -> list[str]:
    said = [f"unknown {key}" for key in rule.keys() - {"alert", "expr", "for", "labels", "annotations"}]
    said += [f"no {key}" for key in {"alert", "expr", "labels", "annotations"} - rule.keys()]
    if not DURATION.fullmatch(str(rule.get("for", "0s"))):
        said.append(f"for {rule['for']}")
    texts = {**rule.get("labels", {}), **rule.get("annotations", {})}
    said += [f"{name} is no text" for name, text in texts.items() if not isinstance(text, str)]
    fillings = re.findall(r"\{\{(.*?)\}\}", " ".join(map(str, texts.values())))
    return said + [f"filled with {each.strip()}" for each in fillings if not FILLED.fullmatch(each.strip())]


def test_the_alert_rules_are_valid_for_prometheus():
    assert rules_complaints((DASHBOARDS / "alerts.yaml").read_text()) == []


@pytest.mark.parametrize(
    ("written", "instead", "said"),
    [
        ("for: 5m", "for: five minutes", "MemstreamStageMissing: for five minutes"),
        ("for: 5m", "for: 5m1h", "MemstreamStageMissing: for 5m1h"),
        ("for: 5m", "for: 5", "MemstreamStageMissing: for 5"),
        ("for: 5m", "four: 5m", "MemstreamStageMissing: unknown four"),
        ("labels: {", "label: {", "MemstreamStageMissing: unknown label"),
        ("rules:", "rule: 1\n    rules:", "rule in a group"),
        ("severity: critical", "severity: 1", "MemstreamStageMissing: severity is no text"),
        ("$value }}", "$value | humanise }}", "MemstreamStageMissing: filled with $value | humanise"),
        ("alert: MemstreamStageNotReady", "alert: MemstreamStageMissing", "MemstreamStageMissing twice"),
    ],
)
def test_malformed_alert_rules_are_detected(written: str, instead: str, said: str):
    text = (DASHBOARDS / "alerts.yaml").read_text()
    assert said in rules_complaints(text.replace(written, instead, 1))


def test_dashboard_panels_have_unique_ids_and_do_not_overlap():
    shown = panels()
    assert len({panel["id"] for panel in shown}) == len(shown)
    cells = [
        (x, y)
        for panel in shown
        for x in range(panel["gridPos"]["x"], panel["gridPos"]["x"] + panel["gridPos"]["w"])
        for y in range(panel["gridPos"]["y"], panel["gridPos"]["y"] + panel["gridPos"]["h"])
    ]
    assert len(cells) == len(set(cells))
    assert max(x for x, _ in cells) == 23


def test_the_metrics_page_lists_exactly_the_existing_metrics_and_labels(samples: dict[str, set[str]]):
    page = (DASHBOARDS.parent / "docs" / "metrics.md").read_text()
    listed = {cells[1].strip(" `"): cells[3] for line in page.splitlines() if len(cells := line.split("|")) == 6}
    named = {name: labels for name, labels in listed.items() if name.startswith("memstream_")}
    ours = {re.sub("_(count|sum|bucket|created)$", "", name) for name in samples if name.startswith("memstream_")}
    assert named.keys() == {name for name in ours if f"{name}_total" not in ours}
    for name, labels in named.items():
        assert {label.strip() for label in labels.split(",")} - {""} == samples.get(name, samples.get(f"{name}_count"))


RUNBOOK = Path(__file__).parents[3] / "deploy" / "runbook"


def test_each_alert_links_to_the_runbook_page_that_the_index_lists_for_it():
    index = (RUNBOOK / "README.md").read_text()
    rows = [line for line in index.splitlines() if line.startswith("| ")]
    for name, rule in alerts().items():
        page = Path(rule["annotations"]["runbook_url"])
        assert (RUNBOOK.parents[1] / page).is_file()
        assert f"`{name}`" in (RUNBOOK / page.name).read_text(), f"{page} does not say that {name} leads to it"
        assert [row for row in rows if f"`{name}`" in row and f"({page.name})" in row], f"the index lacks {name}"


def test_every_runbook_page_is_in_the_index_and_has_its_required_sections():
    index = (RUNBOOK / "README.md").read_text()
    for page in sorted(RUNBOOK.glob("*.md")):
        if page.name == "README.md":
            continue
        assert f"({page.name})" in index
        parts = re.findall(r"^## (.*)$", page.read_text(), re.MULTILINE)
        assert parts[0] in ("First look", "Backup")
        assert {"First look", "Verify recovery"} <= set(parts)
        assert any(part.startswith("Data safety") for part in parts)
