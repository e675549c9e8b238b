"""Messages about invalid JSON say what would have been valid."""

from datetime import datetime
from typing import Literal

import pytest
from msgspec import Struct

from schemas import codec
from schemas.errors import Rejected


class Inner(Struct, forbid_unknown_fields=True):
    scale: Literal["fraction", "tenths"] = "fraction"


class Outer(Struct, forbid_unknown_fields=True, rename={"where": "in"}):
    namespaces: tuple[str, ...] = ()
    where: Literal["memories", "said"] = "said"
    at: datetime | None = None
    inner: Inner | None = None
    inners: tuple[Inner, ...] = ()


@pytest.mark.parametrize(
    ("body", "hint"),
    [
        (b'{"in": "messages"}', ": use memories, said"),
        (b'{"inner": {"scale": "percent"}}', ": use fraction, tenths"),
        (b'{"inners": [{}, {"scale": "percent"}]}', ": use fraction, tenths"),
        (b'{"at": "yesterday"}', ": write a time with its offset, such as 2026-03-02T09:00:00Z"),
        (b'{"namespace": "x"}', ": did you mean `namespaces`?"),
        (b'{"inner": {"scales": 1}}', ": did you mean `scale`?"),
        (b'{"zzz": "x"}', "unknown field `zzz`"),
        (b'{"' + b"z" * 900 + b'": "x"}', "unknown field `" + "z" * 64 + "...`"),
        (b'{"in": "' + b"z" * 900 + b'"}', "value '" + "z" * 64 + "...' - at `$.in`: use memories, said"),
    ],
)
def test_the_message_ends_with_a_hint(body: bytes, hint: str) -> None:
    with pytest.raises(Rejected) as raised:
        codec.decode(body, Outer)
    assert raised.value.detail.endswith(hint)
