"""`memstream doctor` against the stack: findings and remedies."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from deploy.embedded.ports import free_port
from deploy.embedded.stack import EmbeddedStack
from tests.command_line import Run, lines
from tests.preparation import PASSWORD, administer, dsn_of


def test_doctor_reports_no_problem_for_a_healthy_deployment(memstream: Run):
    done = memstream("doctor", "--json")
    assert [finding for finding in lines(done) if not finding["ok"]] == []
    assert {"broker", "topics", "postgres", "migrations", "qdrant", "embedder", "tokenizer", "provider"} <= {
        finding["name"] for finding in lines(done)
    }
    assert done.returncode == 0


def test_doctor_reports_passages_of_another_version_until_reindex(memstream_here: Run, samples: Any):
    def passages() -> str:
        done = memstream_here("doctor", "--json")
        assert done.returncode == 0, "they are found meanwhile"
        return {finding["name"]: finding["said"] for finding in lines(done)}["qdrant"]

    assert "another version" not in passages()
    dsn = samples.deployment.settings.postgres_dsn.get_secret_value()
    asyncio.run(administer(dsn, "UPDATE passages SET version = NULL, clean_under = NULL WHERE piece = 0"))
    assert "built by another version of memstream" in passages()
    (rebuilt,) = lines(memstream_here("reindex", "--json"))
    assert rebuilt["passages"]["replaced"] > 0
    assert "another version" not in passages()


def test_doctor_fails_where_postgresql_takes_no_writes(memstream_here: Run, embedded_stack: EmbeddedStack):
    read_only = f"{dsn_of(embedded_stack, 'postgres')}?default_transaction_read_only=on"
    findings = {each["name"]: each for each in lines(memstream_here("doctor", "--json", postgres_dsn=read_only))}
    assert findings["postgres"]["ok"] is False
    assert "takes no writes, the session is read-only" in findings["postgres"]["said"]


@pytest.mark.parametrize(
    ("missing", "remedy", "change"),
    [
        ("broker", "MEMSTREAM_BOOTSTRAP_SERVERS", lambda port, _: {"bootstrap_servers": f"127.0.0.1:{port}"}),
        (
            "postgres",
            "MEMSTREAM_POSTGRES_DSN",
            lambda port, _: {"postgres_dsn": f"postgresql://memstream:{PASSWORD}@127.0.0.1:{port}/memstream"},
        ),
        ("postgres", "MEMSTREAM_POSTGRES_DSN", lambda _, stack: {"postgres_dsn": dsn_of(stack, "nowhere")}),
        ("qdrant", "MEMSTREAM_QDRANT_URL", lambda port, _: {"qdrant_url": f"http://127.0.0.1:{port}"}),
        ("topics", "memstream topics create", lambda *_: {"topic_prefix": "nowhere."}),
        ("migrations", "memstream migrate", lambda _, stack: {"postgres_dsn": dsn_of(stack, "postgres")}),
        ("provider", "MEMSTREAM_ANTHROPIC_API_KEY", lambda *_: {"provider": "claude", "anthropic_api_key": ""}),
    ],
    ids=["broker", "postgres", "database", "qdrant", "topics", "migrations", "provider"],
)
def test_doctor_reports_a_missing_dependency_with_its_remedy(
    missing: str,
    remedy: str,
    change: Callable[[int, EmbeddedStack], dict[str, str]],
    memstream_here: Run,
    embedded_stack: EmbeddedStack,
):
    done = memstream_here("doctor", "--json", **change(free_port(), embedded_stack))
    failed = {finding["name"]: finding["said"] for finding in lines(done) if not finding["ok"]}
    assert remedy in failed[missing]
    assert len(lines(done)) >= 9, "one failure keeps no other check from running"
    assert done.returncode == 1
