"""The size of profiles: a part of a policy."""

from typing import Annotated

from msgspec import Meta, Struct


class ProfileSettings(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """Settings of profiles.

    - `max_tokens`: most tokens of a profile, counted as windows count, hard constraints first; 0: no profile
    """

    max_tokens: Annotated[int, Meta(ge=0, le=8_000)] = 400
