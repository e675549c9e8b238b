"""Each setting belongs to one group; derived settings follow their sources."""

from collections import Counter

import pytest
from typer.testing import CliRunner

from deploy.cli.main import cli
from deploy.settings import GROUPS, Settings, load, tables
from deploy.settings.defaults import PREFIX
from schemas.errors import Misconfigured


def test_every_setting_belongs_to_one_group_and_is_explained():
    listed = Counter(name for group in GROUPS.values() for name in group.model_fields)
    assert listed == Counter(dict.fromkeys(Settings.model_fields, 1))
    assert [row for rows in tables().values() for row in rows if not row.meaning] == []


@pytest.mark.parametrize(
    ("variable", "meant"),
    [
        ("MEMSTREAM_BOOTSTRAP_SERVER", "MEMSTREAM_BOOTSTRAP_SERVERS"),
        ("memstream_postgres_dns", "MEMSTREAM_POSTGRES_DSN"),
        ("MEMSTREAM_POSTGRES_DSN", None),
        ("MEMSTREAM_API_SERVICE_PORT", None),  # Kubernetes sets these for a Service named memstream-api
        ("MEMSTREAM_API_PORT_28080_TCP_ADDR", None),
        ("MEMSTREAM_SCHEMA_REGISTRY_PORT", None),
        ("MEMSTREAM_TEST_QDRANT_URL", None),
        ("OTHER_BOOTSTRAP_SERVER", None),
    ],
)
def test_a_misspelt_variable_is_logged_with_the_setting_that_it_resembles(variable, meant, monkeypatch, caplog):
    monkeypatch.setenv(variable, "postgresql://db")
    load()
    assert [record.args[1] for record in caplog.records] == ([meant] if meant else [])


def test_a_misspelt_variable_in_the_env_file_is_logged_too(tmp_path, monkeypatch, caplog):
    (tmp_path / ".env").write_text("MEMSTREAM_PROVIDR=offline\n")
    monkeypatch.chdir(tmp_path)
    load()
    assert [record.args[0] for record in caplog.records] == ["MEMSTREAM_PROVIDR"]


def test_a_session_timeout_below_three_heartbeat_intervals_is_rejected():
    with pytest.raises(Misconfigured, match=r"HEARTBEAT_INTERVAL_S=4 must be at most a third of .*TIMEOUT_S=10"):
        load(heartbeat_interval_s=4.0)


def test_an_invalid_value_is_reported_with_its_variable_and_description(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(f"{PREFIX}API_PORT", "80000")
    with pytest.raises(Misconfigured, match=r"MEMSTREAM_API_PORT='80000': .*65535 .port that the API listens on"):
        load()


@pytest.mark.parametrize("name", ["BUDGET", "CHAT_BUDGET", "KEPT_DAYS", "MODEL_CONTEXT_TOKENS"])
def test_a_value_that_is_not_json_is_reported_with_its_variable(name: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(f"{PREFIX}{name}", "usd_per_day: 5")
    with pytest.raises(Misconfigured, match=rf"^MEMSTREAM_{name} is not JSON: Expecting value"):
        load()


def test_the_model_concurrency_of_a_worker_is_the_sum_over_its_stages():
    settings = load(extraction_concurrency=20, background_concurrency=3, curation_concurrency=2)
    assert settings.model_concurrency() == 25


def test_the_settings_command_prints_variable_names_in_full():
    shown = CliRunner().invoke(cli, ["settings"]).output
    assert [row.variable for rows in tables().values() for row in rows if row.variable not in shown] == []
