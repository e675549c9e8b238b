"""Incomplete schema registry settings stop the start."""

import sys
from typing import Any

import pytest

from deploy.settings import load
from deploy.wiring import schema_registry
from schemas.errors import Misconfigured
from streams.kafka.log import as_they_are

URL = {"schema_registry_url": "https://registry.example.com"}
LOGIN = {"schema_registry_username": "memstream", "schema_registry_password": "EXAMPLE-pa55word"}


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"schema_registry_url": "registry.example.com"}, "SCHEMA_REGISTRY_URL='registry.example.com'"),
        (LOGIN, "SCHEMA_REGISTRY_PASSWORD is set, and without MEMSTREAM_SCHEMA_REGISTRY_URL nothing uses it"),
        (
            URL | LOGIN | {"schema_registry_password": None},
            "USERNAME and MEMSTREAM_SCHEMA_REGISTRY_PASSWORD are set together",
        ),
    ],
)
def test_an_incomplete_registry_setting_is_rejected_with_its_variable_but_without_its_value(
    given: dict[str, Any], named: str
):
    with pytest.raises(Misconfigured, match=named) as refused:
        load(**given)
    assert "EXAMPLE-pa55word" not in str(refused.value)


async def test_without_a_registry_records_are_passed_through_and_fastavro_is_not_needed(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setitem(sys.modules, "fastavro", None)
    async with schema_registry.record_decoder(load()) as reading:
        assert reading is as_they_are


async def test_a_registry_without_the_extra_raises_misconfigured_with_the_remedy(monkeypatch: pytest.MonkeyPatch):
    for name in ("streams.kafka.schema_registry", "streams.kafka.wire_format"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setitem(sys.modules, "fastavro", None)
    with pytest.raises(Misconfigured, match=r"needs the package fastavro.*extra schema-registry"):
        async with schema_registry.record_decoder(load(**URL)):
            pass
