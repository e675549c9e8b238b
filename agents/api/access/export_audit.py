"""Entries of the audit log for exports: who took which personal data out, and when."""

from collections.abc import Sequence
from datetime import datetime

from schemas.conversations.user_settings import User
from schemas.memories.memories import Status
from sinks.access.audit import Audited


def namespace_export(
    at: datetime, actor: str, namespace: str, statuses: Sequence[Status], *, with_versions: bool
) -> Audited:
    details = {"status": list(statuses), "versions": with_versions}
    return Audited(at=at, actor=actor, action="namespace.export", subject=namespace, details=details)


def user_export(at: datetime, actor: str, user: User) -> Audited:
    fields = {"tenant_id": user.tenant_id, "app_id": user.app_id}
    details = {name: value for name, value in fields.items() if value is not None}
    return Audited(at=at, actor=actor, action="user.export", subject=user.user_id, details=details)
