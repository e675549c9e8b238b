"""How large a profile may become: a part of a policy."""

from typing import Annotated

from msgspec import Meta, Struct


class ProfileSettings(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """A profile has at most `max_tokens`, counted as windows count: hard constraints come first. With 0 there is none."""

    max_tokens: Annotated[int, Meta(ge=0, le=8_000)] = 400
