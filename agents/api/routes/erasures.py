"""Receipts of erasures, and the start of an erasure."""

from typing import Annotated
from urllib.parse import quote
from uuid import uuid4

from fastapi import APIRouter, Path, Response

from agents.api.access.authentication import CallerOf
from agents.api.access.callers import Caller
from agents.api.http.json_bodies import documented, json_response
from agents.api.http.problems import not_found
from agents.api.memories.apply_change import RETRY_AFTER_S
from agents.api.ports import Ports, PortsOf
from schemas import ids
from schemas.conversations.messages import Scope
from schemas.erasure.erasures import ErasureKind
from schemas.erasure.receipts import Receipt
from schemas.policies.namespaces import OWN_NAMESPACE, render, shortened

router = APIRouter(prefix="/v1/erasures", tags=["erasures"])

IN_PROGRESS = {202: "In progress; `Location` is the path of the receipt."}


@router.get("/{erasure_id}", openapi_extra=documented(Receipt))
async def get_receipt(
    erasure_id: Annotated[str, Path(min_length=1, max_length=256)], caller: CallerOf, ports: PortsOf
) -> Response:
    """The current receipt of an erasure. The key needs every right in all namespaces concerned; otherwise 404."""
    receipt = await ports.erasures.receipt(erasure_id)
    if receipt is None or not may_see(caller, receipt):
        raise not_found("there is no erasure with this id, or this key may not read it")
    return receipt_response(receipt)


def may_see(caller: Caller, receipt: Receipt) -> bool:
    namespaces = {each.namespace for each in receipt.namespaces} | {receipt.subject.get("namespace", "")} - {""}
    if (conversation_id := receipt.subject.get("conversation_id")) is not None:
        # The conversation's own namespace belongs to no user, so rights in the namespaces that it feeds suffice.
        namespaces -= {shortened(render(OWN_NAMESPACE, Scope(conversation_id=conversation_id)) or "")}
    if not namespaces:
        return caller.may_everywhere("admin")
    return all(caller.may("admin", namespace) for namespace in namespaces)


async def begin_erasure(
    ports: Ports, caller: Caller, kind: ErasureKind, key: str | None, reason: str | None, **subject: str | None
) -> Response:
    """Begins an erasure, at most once per idempotency key, and responds with its receipt: complete, or in its current state
    after the time limit."""
    derived_id = ids.derive("erased", caller.key_id, kind, *subject.values(), key)
    erasure_id = str(uuid4()) if key is None else derived_id
    await ports.erasures.begin(erasure_id, kind, caller.actor, reason, **subject)
    receipt = await ports.erasures.receipt(erasure_id, ports.erasure_wait_s)
    assert receipt is not None, "begin() stores the receipt"
    return receipt_response(receipt)


def receipt_response(receipt: Receipt) -> Response:
    if receipt.status == "complete":
        return json_response(receipt)
    location = f"/v1/erasures/{quote(receipt.erasure_id, safe='')}"
    return json_response(receipt, 202, {"Location": location, "Retry-After": str(RETRY_AFTER_S)})
