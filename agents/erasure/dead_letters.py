"""Selects the dead letters that an erasure covers. Pure. Many are invalid events, so their text is searched too."""

import json
from collections.abc import Collection, Iterable
from datetime import datetime
from typing import Any

from agents.dead_letters.reader import parse_dead_letter, parse_places, parse_settlement
from agents.erasure.affected_namespaces import namespaces_of_conversation
from schemas.conversations.messages import Scope
from schemas.erasure.erasures import Erasure
from schemas.kafka import topics
from schemas.policies.policies import Policies, PolicySelector

FIELDS = ("user_id", "tenant_id", "app_id", "agent_id", "mode")
BUILT_IN = Policies()


def is_covered(
    record: Any,
    erasure: Erasure,
    conversations: Collection[str],
    namespaces: Collection[str],
    policies: PolicySelector = BUILT_IN,
) -> bool:
    """Whether a dead letter belongs to the erased data and is older than the fence. Invalid JSON matches if it contains the
    user's id in quotes; without a time of its own, a letter's time counts."""
    event = parsed(record.value)
    theirs = is_theirs(record, event, erasure, conversations, namespaces) or feeds_erased_namespace(
        event, erasure, policies
    )
    return theirs and is_older(record, event, erasure)


def is_theirs(
    record: Any, event: Any, erasure: Erasure, conversations: Collection[str], namespaces: Collection[str]
) -> bool:
    names = {*namespaces, erasure.namespace} - {None}
    if isinstance(event, dict) and text(event, "namespace") in names:
        return True
    if is_of_another(event, erasure):
        return False
    key = (record.key or b"").decode(errors="replace")
    if key in conversations or key in names or (key and key == erasure.conversation_id):
        return True
    if not isinstance(event, dict):
        subject_id = erasure.user_id or erasure.conversation_id or erasure.namespace or ""
        return json.dumps(subject_id, ensure_ascii=False).encode() in (record.value or b"")
    scope = event["scope"] if isinstance(event.get("scope"), dict) else event
    conversation = text(scope, "conversation_id") or text(event, "conversation_id")
    if conversation is not None and (conversation in conversations or conversation == erasure.conversation_id):
        return True
    fed = named if isinstance(named := event.get("namespaces"), list) else []
    if not names.isdisjoint(str(each) for each in fed):
        return True
    return erasure.kind == "user" and erasure.concerns(scope_of(scope, conversation or "-"))


def is_of_another(event: Any, erasure: Erasure) -> bool:
    """Whether it is a message, or a passage of one, of another person in a conversation in which the erased user spoke too."""
    if erasure.kind != "user" or not isinstance(event, dict) or text(event, "message_id") is None:
        return False
    conversation_id, user_id = text(event, "conversation_id") or "-", text(event, "user_id")
    return user_id is not None and not erasure.concerns(scope_of(event, conversation_id))


def feeds_erased_namespace(event: Any, erasure: Erasure, policies: PolicySelector) -> bool:
    """Whether it is a message or request of a conversation that feeds an erased namespace."""
    if erasure.kind != "namespace" or not isinstance(event, dict):
        return False
    scope = event["scope"] if isinstance(event.get("scope"), dict) else event
    if (conversation := text(scope, "conversation_id") or text(event, "conversation_id")) is None:
        return False
    named = namespaces_of_conversation(scope_of(scope, conversation), policies)
    return erasure.concerns(scope_of(scope, conversation), [name for name, _ in named])


def scope_of(event: dict[str, Any], conversation_id: str) -> Scope:
    return Scope(conversation_id=conversation_id, **{name: text(event, name) for name in FIELDS})


def is_older(record: Any, event: Any, erasure: Erasure) -> bool:
    letter = parse_dead_letter(record)
    if letter.at <= erasure.at:
        return True
    source = letter.source
    of_messages = source is not None and source.topic.endswith(topics.MESSAGES)
    place = (source.partition, source.offset) if source is not None and of_messages else (-1, None)
    return any(erasure.fence.refuses(moment, *place) for moment in timestamps(event))


def timestamps(event: Any) -> Iterable[datetime]:
    """The timestamps in an event."""
    for name in ("timestamp", "requested_at", "extracted_at", "at") if isinstance(event, dict) else ():
        try:
            moment = datetime.fromisoformat(text(event, name) or "")
        except ValueError:
            continue
        if moment.tzinfo is not None:
            yield moment


def parsed(value: bytes | None) -> Any:
    try:
        return json.loads(value or b"")
    except (ValueError, RecursionError):  # RecursionError: too deeply nested
        return None


def text(event: dict[str, Any], name: str) -> str | None:
    found = event.get(name)
    return as_stored(found) if isinstance(found, str) else None


def as_stored(text: str) -> str:
    """The text as decoding leaves it: with U+FFFD for each NUL and each half of a surrogate pair."""
    return text.replace("\0", "\ufffd").encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def settled_offset(record: Any) -> int | None:
    """The offset of the letter, in the same partition, that a record marks as replayed or discarded."""
    settled = parse_settlement(record)
    try:
        return None if settled is None else parse_places([settled[0]])[0][1]
    except ValueError:
        return None  # a foreign header without a valid place
