"""Collections on disk: each is a shard of Qdrant's engine in its own directory. Blocking: call it from threads.

Durability: each update is in the engine's write-ahead log before it is acknowledged. `flush` writes updates to the segments;
it is called every few seconds and at a clean stop.
"""

import shutil
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote
from uuid import uuid4

import orjson
import qdrant_edge as edge

from deploy.embedded.vectors.errors import BadInput, CollectionExists, NoSuchCollection, VectorError

DISTANCES = {
    "Cosine": edge.Distance.Cosine,
    "Dot": edge.Distance.Dot,
    "Euclid": edge.Distance.Euclid,
    "Manhattan": edge.Distance.Manhattan,
}
INDEX_TYPES = {
    "keyword": edge.PayloadSchemaType.Keyword,
    "integer": edge.PayloadSchemaType.Integer,
    "float": edge.PayloadSchemaType.Float,
    "datetime": edge.PayloadSchemaType.Datetime,
    "uuid": edge.PayloadSchemaType.Uuid,
}
METADATA = "memstream-metadata.json"
PREFIX = "c-"  # names of incomplete directories start with a dot instead
FORBIDDEN_TEXT = '< > : " / \\ | ? *'  # Qdrant's own rule
FORBIDDEN = frozenset(FORBIDDEN_TEXT.replace(" ", "") + "\0\x1f")
MAX_NAME = 80  # percent-encoded names must fit into a file name; Qdrant allows 255 characters
OPTIMIZE_AFTER_POINTS = 5_000  # from then on, segments with many deleted points are rewritten
# No HNSW graphs: searches name namespaces, and comparing all points of a namespace is exact. With 30,000 points in three
# namespaces, a graph found 80 % of the 50 nearest, and was rebuilt after every 5,000 new points, which blocked writes.
NEVER_KB = 2**40


class Collection:
    """An open shard with the data that the engine does not keep: size, distance, index types, and the user's metadata."""

    def __init__(self, path: Path, shard: edge.EdgeShard, size: int, distance: str) -> None:
        self.name = unquote(path.name[len(PREFIX) :])
        self.shard = shard
        self.size = size
        self.distance = distance
        self.metadata = read_metadata(path)
        self._path = path
        self._changed = threading.Event()
        self._points_since_optimize = 0
        self._operations = 0

    def update(self, operation: edge.UpdateOperation, points: int = 0) -> int:
        """Applies an operation durably; returns its number since the start."""
        self.shard.update(operation)
        self._operations += 1
        self._points_since_optimize += points
        self._changed.set()
        return self._operations

    def describe(self, changes: Mapping[str, Any]) -> None:
        """Merges changes into the metadata durably; None removes a key."""
        merged = {name: value for name, value in {**self.metadata, **changes}.items() if value is not None}
        write_metadata(self._path, merged)
        self.metadata = merged

    def flush(self) -> None:
        """Flushes changes, and optimises the shard after many of them."""
        if not self._changed.is_set():
            return
        self._changed.clear()
        self.shard.flush()
        if self._points_since_optimize >= OPTIMIZE_AFTER_POINTS:
            self._points_since_optimize = 0
            self.shard.optimize()


class Collections:
    """All collections of a directory, opened when constructed."""

    def __init__(self, data_dir: Path) -> None:
        self._dir = data_dir
        self._dir.mkdir(parents=True, exist_ok=True)
        for leftover in self._dir.glob(".*"):
            if leftover.is_dir():
                shutil.rmtree(leftover)
        self._open = {unquote(path.name[len(PREFIX) :]): self._load(path) for path in self._dir.glob(f"{PREFIX}*")}

    def __contains__(self, name: str) -> bool:
        return name in self._open

    def names(self) -> list[str]:
        """The names of all collections, sorted."""
        return sorted(self._open)

    def get(self, name: str) -> Collection:
        """An open collection. Raises NoSuchCollection."""
        try:
            return self._open[name]
        except KeyError as exc:
            raise NoSuchCollection(name) from exc

    def create(self, name: str, size: int, distance: str, metadata: Mapping[str, Any] | None = None) -> None:
        """Creates an empty collection. After a crash it exists completely or not at all."""
        if name in self._open:
            raise CollectionExists(name)
        if not 1 <= len(name) <= MAX_NAME or FORBIDDEN & set(name):
            raise BadInput(
                f"Wrong input: collection name {name!r} must have 1 to {MAX_NAME} characters, none of {FORBIDDEN_TEXT}"
            )
        if distance not in DISTANCES:
            raise BadInput(f"Format error in JSON body: unknown distance {distance}, expected one of {list(DISTANCES)}")
        unfinished = self._unfinished()
        unfinished.mkdir()
        edge.EdgeShard.create(str(unfinished), searched_exactly(size, distance)).close()
        path = self._dir / (PREFIX + quote(name, safe=""))
        (unfinished / "memstream.txt").write_text(f"{size} {distance}")
        write_metadata(unfinished, metadata or {})
        unfinished.rename(path)
        self._open[name] = self._load(path)

    def delete(self, name: str) -> bool:
        """Deletes a collection; returns whether it existed."""
        collection = self._open.pop(name, None)
        if collection is None:
            return False
        collection.shard.close()
        gone = self._unfinished()
        (self._dir / (PREFIX + quote(name, safe=""))).rename(gone)
        shutil.rmtree(gone)
        return True

    def flush(self) -> None:
        """Flushes every collection with changes."""
        for collection in list(self._open.values()):
            collection.flush()

    def close(self) -> None:
        """Flushes and closes all collections."""
        self.flush()
        for collection in self._open.values():
            collection.shard.close()
        self._open.clear()

    def _load(self, path: Path) -> Collection:
        size, distance = (path / "memstream.txt").read_text().split()
        shard = edge.EdgeShard.load(str(path), searched_exactly(int(size), distance))
        return Collection(path, shard, int(size), distance)

    def _unfinished(self) -> Path:
        return self._dir / f".{uuid4()}"


def searched_exactly(size: int, distance: str) -> edge.EdgeConfig:
    """The configuration of a new collection, also used for an older one with graphs."""
    return edge.EdgeConfig(
        vectors=edge.EdgeVectorParams(size=size, distance=DISTANCES[distance]),
        optimizers=edge.EdgeOptimizersConfig(indexing_threshold=NEVER_KB),
    )


def read_metadata(path: Path) -> dict[str, Any]:
    """The metadata in the collection's directory; empty for collections from before there was any."""
    try:
        return dict(orjson.loads((path / METADATA).read_bytes()))
    except FileNotFoundError:
        return {}


def write_metadata(path: Path, metadata: Mapping[str, Any]) -> None:
    """Replaces the file atomically."""
    unfinished = path / f".{METADATA}"
    unfinished.write_bytes(orjson.dumps(metadata))
    unfinished.replace(path / METADATA)


@contextmanager
def engine_errors() -> Iterator[None]:
    """Translates the engine's exceptions. Failed conversions raise ValueError, TypeError or OverflowError; other failures raise
    plain Exception."""
    try:
        yield
    except (ValueError, TypeError, OverflowError) as exc:
        raise BadInput(f"Wrong input: {exc}") from exc
    except Exception as exc:
        if type(exc) is not Exception:
            raise
        failed = "Service" in str(exc)
        raise VectorError(str(exc)) if failed else BadInput(f"Wrong input: {exc}") from exc


def index_type(schema: Any) -> edge.PayloadSchemaType:
    """Parses `"keyword"` or `{"type": "keyword", ...}`."""
    name = schema.get("type") if isinstance(schema, dict) else schema
    if name not in INDEX_TYPES:
        raise BadInput(f"Wrong input: cannot index a field as {name}, expected one of {list(INDEX_TYPES)}")
    return INDEX_TYPES[name]
