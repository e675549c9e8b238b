"""Templates of context blocks accept known fields only, and values are not read as fields."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas import codec
from schemas.errors import Rejected
from schemas.policies.block_settings import LINE_FIELDS, BlockSettings, filled, uses
from schemas.policies.policies import Policy


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"line": "{text.__class__}"}, r"line has '{text.__class__}', and may have {number}, {id}"),
        ({"line": "{text!r}"}, "line has '{text!r}'"),
        ({"line": "{text:>9999999999}"}, "line has '{text:>9999999999}'"),
        ({"line": "{0}"}, "line has '{0}'"),
        ({"line": "{}"}, "line has '{}'"),
        ({"line": "{text} {"}, "line has a single '{' at character 7: write '{{'"),
        ({"closing": "that is all }"}, "closing has a single '}' at character 12: write '}}'"),
        ({"heading": "{text}"}, "heading has '{text}', and may have {namespace}, {tenant_id}"),
    ],
)
def test_a_template_with_an_unknown_field_is_rejected_with_its_place(settings: dict[str, str], said: str):
    with pytest.raises(ValueError) as refused:
        BlockSettings(**settings)
    assert said in str(refused.value)
    with pytest.raises(Rejected, match="block"):
        codec.convert({"name": "p", "block": settings}, Policy)


def test_doubled_braces_are_escaped_and_fields_are_replaced():
    assert filled("{{{text}}} {kind}", {"text": "t", "kind": "fact"}) == "{t} fact"
    assert uses("{{id}} {text}", "text") and not uses("{{id}} {text}", "id")


@given(st.text())
def test_a_value_is_never_interpreted_as_a_template_field(text: str):
    said = text + "{kind}{{%s%(kind)s"
    assert filled("{text}|{kind}", {"text": said, "kind": "fact"}) == f"{said}|fact"


@given(st.lists(st.sampled_from([*(f"{{{field}}}" for field in LINE_FIELDS), "{{", "}}", "a", "\n"]), min_size=1))
def test_any_template_of_known_fields_is_accepted_and_filled(parts: list[str]):
    line = "".join(parts)[:500]
    try:
        BlockSettings(line=line)
    except ValueError as refused:
        assert "single" in str(refused), "cut in the middle of a field"
        return
    expected = "".join({"{{": "{", "}}": "}"}.get(part, "v" if part[0] == "{" else part) for part in parts)
    if len("".join(parts)) <= 500:
        assert filled(line, dict.fromkeys(LINE_FIELDS, "v")) == expected
