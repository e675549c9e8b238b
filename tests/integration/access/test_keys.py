"""API keys on PostgreSQL: stored hashes, lookup by token, and the audit log."""

from datetime import UTC, datetime, timedelta

import pytest

from schemas.access.keys import Grant
from schemas.errors import Rejected
from sinks.access.audit import Audit
from sinks.access.keys import Keys
from sinks.postgres.connection import Pool

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
LATER = NOON + timedelta(hours=1)
GRANTS = (Grant("write", "app/*"), Grant("read", "*"))


async def test_a_key_is_found_only_by_its_exact_token_and_the_token_is_not_stored(pool: Pool):
    keys = Keys(pool)
    token, key = await keys.create("chat", GRANTS, NOON, "ops", LATER)
    assert await keys.find(token) == key
    assert (key.name, key.grants, key.expires_at) == ("chat", GRANTS, LATER)
    changed = token[:-1] + ("A" if token[-1] != "A" else "B")
    for wrong in (changed, token.replace(key.key_id, "0" * 12), token + "x", "", "\x00", token.upper()):
        assert await keys.find(wrong) is None
    secret = token.removeprefix(f"ms_{key.key_id}_")  # which may contain "_" itself
    rows = await pool.fetch("SELECT keys::text AS said FROM keys")
    assert secret not in rows[0]["said"]
    assert secret.encode().hex() not in rows[0]["said"]


async def test_a_revoked_key_is_found_as_invalid_and_its_name_can_be_reused(pool: Pool):
    keys = Keys(pool)
    token, key = await keys.create("chat", GRANTS, NOON, "ops")
    with pytest.raises(Rejected, match="taken"):
        await keys.create("chat", GRANTS, NOON, "ops")
    assert (await keys.revoke("chat", LATER, "ops")).key_id == key.key_id
    found = await keys.find(token)
    assert found is not None
    assert not found.is_valid(LATER)
    with pytest.raises(Rejected, match="unknown"):
        await keys.revoke(key.key_id, LATER, "ops")
    await keys.create("chat", GRANTS, LATER, "ops")
    assert [each.revoked_at for each in await keys.all()] == [LATER, None]


async def test_last_used_time_is_the_latest_time_regardless_of_write_order(pool: Pool):
    keys = Keys(pool)
    _, key = await keys.create("chat", GRANTS, NOON, "ops")
    await keys.record_use({key.key_id: LATER, "unknown": NOON})
    await keys.record_use({key.key_id: NOON})
    await keys.record_use({})
    assert [each.last_used_at for each in await keys.all()] == [LATER]


async def test_the_audit_records_the_actor_of_key_creation_and_revocation_without_secrets(pool: Pool):
    keys, audit = Keys(pool), Audit(pool)
    token, key = await keys.create("chat", GRANTS, NOON, "ops")
    await keys.revoke("chat", LATER, "night shift")
    revoked, created = await audit.latest(10)
    assert (revoked.action, revoked.actor, revoked.subject, revoked.at) == (
        "key.revoked",
        "night shift",
        key.key_id,
        LATER,
    )
    assert created.details["grants"] == [
        {"right": "write", "namespaces": "app/*"},
        {"right": "read", "namespaces": "*"},
    ]
    assert token not in str(created)
    assert len(await audit.latest(1)) == 1
    (first,) = await audit.page(1, action="key.revoked")
    assert (first.action, first.subject) == (revoked.action, revoked.subject)
    assert [each.action for each in await audit.page(10, before=first.id)] == [created.action]
