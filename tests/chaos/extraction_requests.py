"""Compares extraction requests with the published messages: each message must be in exactly one request, unchanged."""

from collections import Counter
from collections.abc import Collection

from deploy.settings import Settings
from deploy.wiring.follow import follow
from schemas import codec
from schemas.extraction.requests import ExtractionRequest
from schemas.kafka import topics
from tests.chaos.conversations import Conversation


async def compare_requests(
    settings: Settings, published: list[Conversation], erased: Collection[str] = ()
) -> tuple[list[str], list[str], int]:
    """Describes lost and duplicated messages, and counts requests repeated under the same id. Requests of erased
    conversations are ignored."""
    requests: dict[str, list[tuple[str, str]]] = {}
    duplicated, repeated = [], 0
    async for record in follow(settings, topics.REQUESTS, from_beginning=True, until_end=True):
        request = codec.decode(record.value, ExtractionRequest)
        if request.conversation_id in erased:
            continue
        messages = [(message.message_id, message.content) for message in request.messages]
        if requests.setdefault(request.request_id, messages) != messages:
            duplicated.append(f"request {request.request_id} was cut in two ways")
        repeated += requests[request.request_id] is not messages
    found = Counter(message for messages in requests.values() for message in messages)
    said = Counter((each.message_id, each.content) for conversation in published for each in conversation.messages)
    lost = [f"message {name} was asked for in no request as it was said" for name, _ in sorted(said - found)]
    duplicated += [f"message {name} was asked for twice, or in other words" for name, _ in sorted(found - said)]
    return lost, duplicated, repeated
