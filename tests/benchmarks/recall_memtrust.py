"""memtrust's cases of ranking, filters and repeated answers."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from agents.retrieval.search import MemorySearch
from schemas.codec import decode
from schemas.errors import Rejected
from schemas.retrieval.searches import Query
from tests.benchmarks.recall_sets import identity
from tests.benchmarks.recall_stack import NOW, Store
from tests.builders.memories import a_memory


async def ranking(shared: Path, store: Store, retrieval: MemorySearch) -> dict[str, Any]:
    """Where the field that is to rank by varies: whether the answer is in its order, without a text and with one.

    With one, nothing is left out (`floor` 0) but what `beside_best` leaves out, and the order of what is shown counts.
    """
    figures = {}
    for case in cases(shared, "ranking_quality_cases.json"):
        namespace, field = case["session_id"], case["ranking_field"]
        values = {each["content"]: float(each["metadata"].get(field, 0)) for each in case["records"]}
        await store.put([remembered(namespace, each, field) for each in case["records"]])
        if len(set(values.values())) < len(values):
            continue
        for way, query in (
            ("by_importance", Query(namespaces=(namespace,))),
            ("by_text", Query(namespaces=(namespace,), text=case["query"], floor=0.0)),
        ):
            ranked = [values[hit.memory.text] for hit in (await retrieval.search(query)).hits]
            figures[f"{case['case_id']} {way}"] = ranked == sorted(ranked, reverse=True)
    return figures


def remembered(namespace: str, record: dict[str, Any], field: str) -> Any:
    said = record["metadata"]
    at = datetime.fromtimestamp(int(said[field]), UTC) if field == "authored_at" else NOW
    importance = float(said.get("importance", 0.5))
    memory_id = identity(namespace, record["content"])
    return a_memory(record["content"], at, memory_id=memory_id, namespace=namespace, importance=importance)


async def consistency(shared: Path, store: Store, retrieval: MemorySearch) -> dict[str, Any]:
    """Whether the same question gets the same answer, in the same order, each time."""
    figures = {}
    for case in cases(shared, "result_consistency_cases.json"):
        namespace = case["session_id"]
        await store.put([remembered(namespace, each | {"metadata": {}}, "none") for each in case["records"]])
        query = Query(namespaces=(namespace,), text=case["query"])
        answers = [await retrieval.search(query) for _ in range(case["n_repeats"])]
        figures[case["case_id"]] = all(answer == answers[0] and answer.hits for answer in answers)
    return figures


def injection(shared: Path) -> dict[str, Any]:
    """Whether a value is taken as a filter where it is a scalar, and refused where it is not.

    Here a user is a namespace, and namespaces are text: a number is the text of it.
    """
    figures = {}
    for case in cases(shared, "filter_injection_cases.json"):
        value = case["filter_value"]
        said = str(value) if isinstance(value, int | float) else value
        figures[case["case_id"]] = is_refused({"namespaces": [said]}) == case["malicious"] and (
            is_refused({"namespaces": ["n"], "filters": {"kinds": [said]}}) == case["malicious"]
        )
    return figures


def is_refused(case: dict[str, Any]) -> bool:
    try:
        decode(msgspec.json.encode(case), Query)
    except Rejected:
        return True
    return False


def cases(shared: Path, name: str) -> list[dict[str, Any]]:
    return list(json.loads((shared / "memtrust" / name).read_text())["cases"])
