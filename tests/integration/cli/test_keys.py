"""`memstream keys` creates, lists and revokes keys on PostgreSQL, and shows the audit log."""

import asyncio
import json
from typing import Any

from typer.testing import CliRunner

from deploy.cli.main import cli
from deploy.runtime.dev import environment
from sinks.access.keys import Keys
from sinks.postgres.connection import connect


async def test_keys_are_made_listed_revoked_and_audited(deploy: Any):
    deployment = await deploy("keys")

    async def keys(*args: str) -> Any:
        env = environment(deployment.settings)
        return await asyncio.to_thread(CliRunner().invoke, cli, ["keys", *args], env=env)

    made = await keys("create", "chat", "--write", "app/*", "--read", "shared", "--days", "30")
    assert made.exit_code == 0, made.stderr
    token = made.stdout.strip()
    assert "write app/*" in made.stderr and "cannot be shown again" in made.stderr
    pool = await connect(deployment.dsn, max_size=1)
    found = await Keys(pool).find(token)
    await pool.close()
    assert found is not None and (found.name, found.expires_at is None) == ("chat", False)

    for code, *wrong in ((1, "chat", "--read", "x"), (2, "other"), (2, "other", "--read", "")):
        done = await keys("create", *wrong)
        assert (done.exit_code, done.stdout) == (code, ""), wrong
    assert "--read 'app/*'" in (await keys("create", "other")).stderr

    listed = await keys("list")
    assert found.key_id in listed.stdout and "until" in listed.stdout and token not in listed.stdout
    assert token not in (await keys("list", "--json")).stdout
    assert (await keys("revoke", "chat")).stdout == f"revoked {found.key_id} (chat)\n"
    assert (await keys("revoke", "chat")).exit_code == 1
    assert "revoked" in (await keys("list")).stdout
    latest = [json.loads(line) for line in (await keys("audit", "--json")).stdout.splitlines()]
    assert [(done["action"], done["subject"]) for done in latest] == [
        ("key.revoked", found.key_id),
        ("key.created", found.key_id),
    ]
    assert "at the command line" in (await keys("audit")).stdout


async def test_exports_on_the_command_line_are_in_the_audit_log(deploy: Any):
    deployment = await deploy("exports")

    async def run(*args: str) -> Any:
        return await asyncio.to_thread(CliRunner().invoke, cli, args, env=environment(deployment.settings))

    for args in (("kitchen/ada", "--versions"), ("--user", "ada", "--app", "kitchen")):
        done = await run("export", *args)
        assert done.exit_code == 0, done.stderr
    latest = [json.loads(line) for line in (await run("keys", "audit", "--json")).stdout.splitlines()]
    assert [(done["action"], done["subject"], done["details"]) for done in latest] == [
        ("user.export", "ada", {"app_id": "kitchen"}),
        ("namespace.export", "kitchen/ada", {"status": ["active", "superseded", "expired"], "versions": True}),
    ]
