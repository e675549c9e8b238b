"""Operations on points of a collection, with JSON input and output.

Blocking; call them within `engine_errors`.
"""

from typing import Any
from uuid import UUID

import qdrant_edge as edge

from deploy.embedded.vectors.collections import Collection
from deploy.embedded.vectors.errors import BadInput, NotOffered
from deploy.embedded.vectors.filters import (
    Json,
    ids,
    payload_selector,
    point_id,
    require_known,
    require_list,
    require_object,
    to_filter,
    vector_switch,
)

DEFAULT_LIMIT = 10  # Qdrant's default


def upsert(collection: Collection, body: Json) -> Json:
    """Inserts or replaces whole points."""
    require_known(body, {"points"}, "upsert option")
    given = [require_object(each, "a point") for each in require_items(require_list(body, "points"))]
    made = [
        edge.Point(point_id(each.get("id")), vector(collection, each.get("vector")), each.get("payload"))
        for each in given
    ]
    return update_result(collection.update(edge.UpdateOperation.upsert_points(made), len(made)))


def delete(collection: Collection, body: Json) -> Json:
    """Deletes by ids or by filter."""
    require_known(body, {"points", "filter"}, "delete option")
    if body.get("filter") is not None:
        operation = edge.UpdateOperation.delete_points_by_filter(required_filter(body))
    else:
        operation = edge.UpdateOperation.delete_points(require_items(ids(body, "points")))
    return update_result(collection.update(operation))


def set_payload(collection: Collection, body: Json) -> Json:
    """Sets payload keys on points given by ids or by filter; other keys stay."""
    require_known(body, {"payload", "points", "filter", "key"}, "payload option")
    payload = dict(require_object(body.get("payload"), "payload"))
    if body.get("filter") is not None:
        operation = edge.UpdateOperation.set_payload_by_filter(required_filter(body), payload, body.get("key"))
    else:
        operation = edge.UpdateOperation.set_payload(require_items(ids(body, "points")), payload, body.get("key"))
    return update_result(collection.update(operation))


def create_index(collection: Collection, field: Any, schema: edge.PayloadSchemaType) -> Json:
    """Indexes a payload field."""
    if not isinstance(field, str) or not field:
        raise BadInput("Format error in JSON body: field_name is missing")
    return update_result(collection.update(edge.UpdateOperation.create_field_index(field, schema)))


def retrieve(collection: Collection, body: Json) -> list[Json]:
    """Points by id; unknown ids are left out."""
    require_known(body, {"ids", "with_payload", "with_vector"}, "retrieve option")
    records = collection.shard.retrieve(ids(body, "ids"), *selectors(body, payload=True))
    return [point_record(each) for each in records]


def query(collection: Collection, body: Json) -> Json:
    """The nearest points to a vector, best first; without a vector, points by id."""
    options = {"query", "filter", "score_threshold", "limit", "offset", "with_payload", "with_vector", "params"}
    require_known(body, options, "query option")
    with_payload, with_vector = selectors(body, payload=False)
    request = edge.QueryRequest(
        limit=whole_number(body, "limit", DEFAULT_LIMIT),
        offset=whole_number(body, "offset", 0),
        query=nearest(collection, body.get("query")),
        filter=to_filter(body.get("filter")),
        score_threshold=body.get("score_threshold"),
        params=search_params(body.get("params")),
        with_payload=with_payload,
        with_vector=with_vector,
    )
    found = collection.shard.query(request)
    return {"points": [{**point_record(each), "version": each.version, "score": each.score} for each in found]}


def scroll(collection: Collection, body: Json) -> Json:
    """A page of points in the order of their ids."""
    require_known(body, {"filter", "limit", "offset", "with_payload", "with_vector"}, "scroll option")
    with_payload, with_vector = selectors(body, payload=True)
    offset = body.get("offset")
    request = edge.ScrollRequest(
        offset=None if offset is None else point_id(offset),
        limit=whole_number(body, "limit", DEFAULT_LIMIT),
        filter=to_filter(body.get("filter")),
        with_payload=with_payload,
        with_vector=with_vector,
    )
    found, following = collection.shard.scroll(request)
    return {"points": [point_record(each) for each in found], "next_page_offset": plain_id(following)}


def count(collection: Collection, body: Json) -> Json:
    """The number of matching points; always exact, whatever `exact` is."""
    require_known(body, {"filter", "exact"}, "count option")
    return {"count": collection.shard.count(edge.CountRequest(exact=True, filter=to_filter(body.get("filter"))))}


def describe(collection: Collection) -> Json:
    """The response to a request for a collection."""
    info = collection.shard.info()
    schema = {
        field: {"data_type": index.data_type.__repr__().rpartition(".")[2].lower(), "points": index.points}
        for field, index in info.payload_schema.items()
    }
    return {
        "status": "green",
        "optimizer_status": "ok",
        "points_count": info.points_count,
        "indexed_vectors_count": info.indexed_vectors_count,
        "segments_count": info.segments_count,
        "payload_schema": schema,
        "config": {
            "params": {"vectors": {"size": collection.size, "distance": collection.distance}},
            "metadata": collection.metadata or None,
            "hnsw_config": {"m": 16, "ef_construct": 100, "full_scan_threshold": 10_000},
            "optimizer_config": {
                "deleted_threshold": 0.2,
                "vacuum_min_vector_number": 1000,
                "default_segment_number": 0,
                "flush_interval_sec": 5,
            },
        },
    }


def nearest(collection: Collection, body: Any) -> edge.Query | None:
    """The vector of a query, bare or as `{"nearest": [...]}`."""
    if body is None:
        return None
    if isinstance(body, dict):
        require_known(body, {"nearest"}, "query kind")
        body = body.get("nearest")
    if not isinstance(body, list):
        raise NotOffered("queries by point id")
    return edge.Query.Nearest(vector(collection, body))


def search_params(body: Any) -> edge.SearchParams | None:
    """The parameters that trade speed for exactness; others have no meaning for this engine."""
    if body is None:
        return None
    require_known(require_object(body, "params"), {"hnsw_ef", "exact", "indexed_only"}, "search parameter")
    return edge.SearchParams(hnsw_ef=body.get("hnsw_ef"), exact=bool(body.get("exact")))


def vector(collection: Collection, body: Any) -> list[float]:
    """Parses a list of numbers of the collection's dimension."""
    if isinstance(body, dict):
        raise NotOffered("named vectors")
    if not isinstance(body, list) or not all(isinstance(each, int | float) for each in body):
        raise BadInput("Format error in JSON body: a vector must be a list of numbers")
    if len(body) != collection.size:
        raise BadInput(f"Wrong input: Vector dimension error: expected dim: {collection.size}, got {len(body)}")
    return [float(each) for each in body]


def require_items(items: list[Any]) -> list[Any]:
    """The items. Raises BadInput without any: a Qdrant server refuses an empty update."""
    if not items:
        raise BadInput("Bad request: Empty update request")
    return items


def required_filter(body: Json) -> edge.Filter:
    """The filter of an update. Raises BadInput if it is missing."""
    made = to_filter(body["filter"])
    if made is None:
        raise BadInput("Format error in JSON body: `filter` is missing")
    return made


def whole_number(body: Json, name: str, default: int) -> int:
    """Parses a non-negative integer."""
    value = body.get(name)
    if value is None:
        return default
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise BadInput(f"Format error in JSON body: `{name}` must be a whole number, not {value!r}")
    return value


def selectors(body: Json, payload: bool) -> tuple[Any, bool]:
    """The parts of each point to return. Qdrant's default for the payload differs by operation."""
    with_payload, with_vector = body.get("with_payload"), body.get("with_vector")
    return (
        payload if with_payload is None else payload_selector(with_payload),
        False if with_vector is None else vector_switch(with_vector),
    )


def point_record(found: Any) -> dict[str, Any]:
    """A point in Qdrant's JSON form."""
    return {"id": plain_id(found.id), "payload": found.payload, "vector": found.vector}


def plain_id(value: Any) -> int | str | None:
    """The id in JSON; UUIDs as text."""
    return str(value) if isinstance(value, UUID) else value


def update_result(operation: int) -> Json:
    """Qdrant's response to an applied update."""
    return {"operation_id": operation, "status": "completed"}
