"""A schema registry on loopback with the routes and error codes of Confluent's."""

import base64
from collections.abc import Iterable
from typing import Any

from aiohttp import web

from tests.servers.scripted import ScriptedServer


class RegistryServer(ScriptedServer):
    """`request_count` counts requests per schema number. With a `login` (name, password), other clients are refused. If
    `taken` is False, every new schema is incompatible."""

    def __init__(self, login: tuple[str, str] | None = None) -> None:
        super().__init__()
        self.subjects: dict[str, list[int]] = {}
        self.schemas: dict[int, dict[str, Any]] = {}
        self.request_count = 0
        self.taken = True
        self._login = login

    def routes(self) -> Iterable[web.RouteDef]:
        return [
            web.post("/subjects/{subject}/versions", self._register),
            web.post("/subjects/{subject}", self._look_up),
            web.get("/schemas/ids/{number}", self._schema),
            web.get("/subjects/{subject}/versions/{version}", self._version),
        ]

    async def _early(self, request: web.Request) -> web.Response | None:
        if self._login is not None and request.headers.get("Authorization") != basic(*self._login):
            return refused(401, 40101, "Unauthorized")
        return await self.between(self.step({}))

    async def _register(self, request: web.Request) -> web.Response:
        if (early := await self._early(request)) is not None:
            return early
        if not self.taken:
            return refused(409, 409, "Schema being registered is incompatible with an earlier schema")
        body = await request.json()
        numbers = self.subjects.setdefault(request.match_info["subject"], [])
        number = next((number for number, known in self.schemas.items() if known == body), len(self.schemas) + 1)
        self.schemas[number] = body
        if number not in numbers:
            numbers.append(number)
        return web.json_response(body | {"id": number, "version": numbers.index(number) + 1})

    async def _look_up(self, request: web.Request) -> web.Response:
        if (early := await self._early(request)) is not None:
            return early
        body, subject = await request.json(), request.match_info["subject"]
        for version, number in enumerate(self.subjects.get(subject, []), start=1):
            if self.schemas[number] == body:
                return web.json_response(body | {"subject": subject, "version": version, "id": number})
        return refused(404, 40403, "Schema not found")

    async def _schema(self, request: web.Request) -> web.Response:
        self.request_count += 1
        if (early := await self._early(request)) is not None:
            return early
        number = int(request.match_info["number"])
        if number not in self.schemas:
            return refused(404, 40403, f"Schema {number} not found")
        return web.json_response(self.schemas[number])

    async def _version(self, request: web.Request) -> web.Response:
        subject, version = request.match_info["subject"], int(request.match_info["version"])
        if len(numbers := self.subjects.get(subject, [])) < version:
            return refused(404, 40402, f"Version {version} not found.")
        number = numbers[version - 1]
        return web.json_response(self.schemas[number] | {"subject": subject, "version": version, "id": number})


def refused(status: int, code: int, message: str) -> web.Response:
    return web.json_response({"error_code": code, "message": message}, status=status)


def basic(name: str, password: str) -> str:
    return "Basic " + base64.b64encode(f"{name}:{password}".encode()).decode()
