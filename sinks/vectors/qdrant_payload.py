"""Payloads of memories in Qdrant, and the filters on them. Pure."""

from collections.abc import Collection
from datetime import datetime
from typing import Any

from qdrant_client import models

from schemas.conversations.messages import EARLIEST, LATEST
from schemas.retrieval.searches import Filters, happened, matching_languages
from sinks.vectors.port import Point

KEYWORD = models.KeywordIndexParams(type=models.KeywordIndexType.KEYWORD)
NUMBER = models.FloatIndexParams(type=models.FloatIndexType.FLOAT)

# Booleans are keywords, as the embedded engine cannot match Booleans; times are seconds since 1970.
INDEXES: dict[str, models.KeywordIndexParams | models.FloatIndexParams] = {
    "namespace": models.KeywordIndexParams(type=models.KeywordIndexType.KEYWORD, is_tenant=True),
    "kinds": KEYWORD,
    "status": KEYWORD,
    "tags": KEYWORD,
    "languages": KEYWORD,
    "pinned": KEYWORD,
    "importance": NUMBER,
    "confidence": NUMBER,
    "created": NUMBER,
    "happened": NUMBER,
    "valid_from": NUMBER,
    "valid_until": NUMBER,
}
NEWEST_FIELD = "confidence"  # a point without this field was written before the newer fields existed


def as_qdrant(point: Point) -> models.PointStruct:
    """The Qdrant point. An unknown end of the validity interval becomes the widest bound."""
    payload = {
        "namespace": point.namespace,
        "kind": point.kind,
        "kinds": list(point.kinds),
        "status": point.status,
        "text": point.text,
        "importance": point.importance,
        "tags": list(point.tags),
        "languages": list(matching_languages(point.language)),
        "pinned": pinned(point.pinned),
        "confidence": point.confidence,
        "created": point.created_at.timestamp(),
        "happened": happened(point).timestamp(),
        "valid_from": (point.valid_from or EARLIEST).timestamp(),
        "valid_until": (point.valid_until or LATEST).timestamp(),
    }
    return models.PointStruct(id=point.memory_id, vector=point.vector.tolist(), payload=payload)


def search_filter(namespaces: Collection[str], filters: Filters) -> models.Filter:
    """The filter conditions. Points without the filtered fields pass: the caller checks the memories themselves."""
    conditions: list[models.Condition] = [any_of("namespace", namespaces), any_of("status", filters.statuses)]
    if filters.kinds:
        conditions.append(any_of("kinds", filters.kinds))
    if others := filter_conditions(filters):
        old = models.IsEmptyCondition(is_empty=models.PayloadField(key=NEWEST_FIELD))
        conditions.append(models.Filter(should=[models.Filter(must=others), old]))
    return models.Filter(must=conditions)


def filter_conditions(filters: Filters) -> list[models.Condition]:
    keywords = {"tags": filters.tags, "languages": filters.languages}
    ranges: dict[str, dict[str, Any]] = {
        "confidence": {"gte": filters.min_confidence or None},
        "importance": {"gte": filters.least_importance or None, "lte": below_all(filters.most_importance)},
        "created": {"gte": seconds(filters.created_from), "lt": seconds(filters.created_to)},
        "happened": {"gte": seconds(filters.happened_from), "lt": seconds(filters.happened_to)},
        "valid_from": {"lte": seconds(filters.valid_at)},
        "valid_until": {"gt": seconds(filters.valid_at)},
    }
    conditions: list[models.Condition] = [any_of(field, values) for field, values in keywords.items() if values]
    if filters.pinned is not None:
        conditions.append(any_of("pinned", (pinned(filters.pinned),)))
    for field, bounds in ranges.items():
        if any(bound is not None for bound in bounds.values()):
            conditions.append(models.FieldCondition(key=field, range=models.Range(**bounds)))
    return conditions


def any_of(field: str, values: Collection[str]) -> models.FieldCondition:
    return models.FieldCondition(key=field, match=models.MatchAny(any=list(values)))


def pinned(is_so: bool) -> str:
    return "yes" if is_so else "no"


def seconds(moment: datetime | None) -> float | None:
    return None if moment is None else moment.timestamp()


def below_all(most: float) -> float | None:
    return most if most < 1.0 else None
