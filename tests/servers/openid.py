"""An OpenID provider on loopback: a token endpoint for client credentials, and the keys of its tokens."""

import base64
import json
import time
from collections.abc import Iterable
from typing import Any

import jwt
from aiohttp import BasicAuth, web
from cryptography.hazmat.primitives.asymmetric import rsa
from jwt.algorithms import RSAAlgorithm

from tests.servers.scripted import ScriptedServer

KEY_ID = "one"
AUDIENCE = "kafka"


class OpenIdServer(ScriptedServer):
    """`clients` has secrets by client id. Tokens are valid for `lives_s` seconds; `issued` counts them, and `requests` has
    their request forms."""

    def __init__(self, clients: dict[str, str], lives_s: int = 300) -> None:
        super().__init__()
        self.lives_s = lives_s
        self.issued = 0
        self.requests: list[dict[str, Any]] = []
        self._clients = clients
        self._key = rsa.generate_private_key(public_exponent=65537, key_size=2048)

    @property
    def token_url(self) -> str:
        return f"{self.url}/token"

    @property
    def keys_url(self) -> str:
        return f"{self.url}/keys"

    def routes(self) -> Iterable[web.RouteDef]:
        return [web.post("/token", self._token), web.get("/keys", self._keys)]

    async def _token(self, request: web.Request) -> web.Response:
        form = dict(await request.post())
        self.requests.append(form)
        if (early := await self.between(self.step(form))) is not None:
            return early
        login = BasicAuth.decode(request.headers.get("Authorization", f"Basic {base64.b64encode(b':').decode()}"))
        if self._clients.get(login.login) != login.password:
            return web.json_response({"error": "invalid_client", "error_description": "wrong secret"}, status=401)
        self.issued += 1
        now = int(time.time())
        claims = {"sub": login.login, "aud": AUDIENCE, "iss": self.url, "iat": now, "exp": now + self.lives_s}
        token = jwt.encode(claims, self._key, algorithm="RS256", headers={"kid": KEY_ID})
        return web.json_response({"access_token": token, "token_type": "Bearer", "expires_in": self.lives_s})

    async def _keys(self, request: web.Request) -> web.Response:
        key = json.loads(RSAAlgorithm.to_jwk(self._key.public_key()))
        return web.json_response({"keys": [key | {"kid": KEY_ID, "alg": "RS256", "use": "sig"}]})
