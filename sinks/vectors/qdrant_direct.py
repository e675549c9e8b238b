"""The vector index, with questions asked over connections of its own.

qdrant-client takes 1.8 ms of CPU to ask for what is near and to read the answer, this 0.4: searches do little else.
"""

import ssl
from collections.abc import Collection
from typing import Any, Final
from urllib.parse import quote
from urllib.request import getproxies

import aiohttp
import httpx
import msgspec
from msgspec import Struct
from qdrant_client import AsyncQdrantClient

from schemas.errors import Misconfigured, Retryable
from schemas.retrieval.searches import LIVE, Filters
from sinks.vectors.port import Neighbour, Vector
from sinks.vectors.qdrant import REFUSED, Vectors
from sinks.vectors.qdrant_payload import search_filter

CONNECTIONS: Final = 100
KEPT_S: Final = 4.0  # a connection that is not used; Qdrant closes it after 5
TOLD_CHARS: Final = 500  # of what a server says when it refuses


class Scored(Struct):
    """A point that was found."""

    id: str | int
    score: float


class Points(Struct):
    """What was found, nearest first."""

    points: list[Scored]


class Answer(Struct):
    """Qdrant's envelope."""

    result: Points


def trusted(host: str) -> ssl.SSLContext | bool:
    """The authorities that the client trusts as well."""
    return httpx.create_ssl_context() if host.startswith("https:") else True


class DirectVectors(Vectors):
    """A VectorIndex as its parent, which asks as `client` would. To be made while a loop runs, and closed."""

    def __init__(
        self, client: AsyncQdrantClient, *, api_key: str | None = None, timeout_s: float = 30.0, **known: Any
    ) -> None:
        super().__init__(client, **known)
        host: str = client.http.client.host  # with the port and the prefix that the client made out
        self._address = f"{host.rstrip('/')}/collections/{quote(self._collection, safe='')}/points/query"
        self._session = aiohttp.ClientSession(
            headers={"Content-Type": "application/json"} | ({"api-key": api_key} if api_key else {}),
            timeout=aiohttp.ClientTimeout(total=timeout_s),
            connector=aiohttp.TCPConnector(limit=CONNECTIONS, keepalive_timeout=KEPT_S, ssl=trusted(host)),
            trust_env=bool(getproxies()),  # asked for each request, and dear
        )

    async def aclose(self) -> None:
        """Of what it opened itself; the client is another's."""
        await self._session.close()

    async def search(
        self,
        vector: Vector,
        *,
        namespaces: Collection[str],
        filters: Filters = LIVE,
        limit: int = 10,
        min_score: float | None = None,
    ) -> list[Neighbour]:
        asked = {
            "query": vector.tolist(),
            "filter": msgspec.Raw(search_filter(namespaces, filters).model_dump_json(exclude_none=True)),
            "limit": limit,
            "with_payload": False,
        }
        least = {} if min_score is None else {"score_threshold": min_score}
        found = await self._asked(msgspec.json.encode(asked | least))
        return [Neighbour(str(point.id), point.score) for point in found.points]

    async def _asked(self, body: bytes) -> Points:
        """Raises what the parent raises."""
        try:
            async with self._session.post(self._address, data=body) as answer:
                said = await answer.read()
        except (aiohttp.ClientError, OSError, TimeoutError) as exc:
            raise Retryable(f"Qdrant failed while searching: {exc!r}") from exc
        if answer.status != 200:
            kind = Misconfigured if answer.status in REFUSED else Retryable
            told = said[:TOLD_CHARS].decode(errors="replace")
            raise kind("Qdrant failed while searching", f"{answer.status} {told}")
        try:
            return msgspec.json.decode(said, type=Answer).result
        except msgspec.DecodeError as exc:
            raise Retryable("Qdrant failed while searching: its answer is none", str(exc)) from exc
