"""A user, identified by fields of messages, for settings and erasures."""

from msgspec import Struct

from schemas.conversations.messages import Identifier


class User(Struct, frozen=True, kw_only=True):
    """A user by id, and by tenant or app if the id is unique only within these."""

    user_id: Identifier
    tenant_id: Identifier | None = None
    app_id: Identifier | None = None
