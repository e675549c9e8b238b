"""`memstream doctor` reports a missing, unreachable or rejecting schema registry, and missing schemas."""

from collections.abc import Iterator
from typing import Any

import pytest

from deploy.cli import doctor
from deploy.settings import load
from deploy.wiring import schema_registry
from tests.servers.schema_registry import RegistryServer
from tests.servers.scripted import in_a_thread

LOGIN = ("memstream", "EXAMPLE-pa55word")


@pytest.fixture
def server() -> Iterator[RegistryServer]:
    with in_a_thread(RegistryServer(LOGIN)) as server:
        yield server


def settings(server: RegistryServer, password: str = LOGIN[1]) -> Any:
    return load(schema_registry_url=server.url, schema_registry_username=LOGIN[0], schema_registry_password=password)


async def found(settings: Any) -> doctor.Finding:
    return await doctor.finding("registry", doctor.registry(settings))


async def test_the_doctor_accepts_a_missing_registry():
    assert await found(load()) == doctor.Finding("registry", True, "none: records are plain JSON")


async def test_schemas_that_are_not_registered_are_named_with_the_command_that_registers_them(server: RegistryServer):
    known = settings(server)
    said = await found(known)
    assert said.ok, "clients may have no need of them"
    assert "chat.messages-value" in said.said
    assert "memstream schemas register" in said.said

    own = schema_registry.texts(schema_registry.subjects(known))
    async with schema_registry.registry(known) as registry:
        await registry.register(own)
    assert f"all {len(own)} schemas of this version registered" in (await found(known)).said


async def test_a_subject_with_a_different_schema_is_reported(server: RegistryServer):
    known = settings(server)
    own = schema_registry.texts(schema_registry.subjects(known))
    async with schema_registry.registry(known) as registry:
        await registry.register(own | {"chat.messages-value": '{"type": "object"}'})
    said = await found(known)
    assert "chat.messages-value: run" in said.said
    assert "memory.events-value" not in said.said


async def test_a_refused_registry_login_is_a_failure_reported_without_the_password(server: RegistryServer):
    said = await found(settings(server, password="EXAMPLE-other"))
    assert not said.ok
    assert "refuses the login: Unauthorized" in said.said
    assert "MEMSTREAM_SCHEMA_REGISTRY_" in said.said
    assert "EXAMPLE" not in said.said


async def test_an_unreachable_registry_is_a_failure_with_the_remedy(unused_tcp_port: int):
    said = await found(load(schema_registry_url=f"http://127.0.0.1:{unused_tcp_port}"))
    assert not said.ok
    assert "start the registry, or set MEMSTREAM_SCHEMA_REGISTRY_URL" in said.said


async def test_a_registry_that_returns_errors_is_a_failure(server: RegistryServer):
    server.script(*["status:500"] * 12)
    said = await found(settings(server))
    assert not said.ok
    assert "asked for the schema of" in said.said
