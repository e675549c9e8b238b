"""Dead letters that an erasure covers. Pure. Many are no valid events, so the search also reads their text."""

import json
from collections.abc import Collection, Iterable
from datetime import datetime
from typing import Any

from agents.dead_letters.reader import letter_of, places, settlement_of
from agents.erasure.affected_namespaces import namespaces_of_conversation
from schemas.conversations.messages import Scope
from schemas.erasure.erasures import Erasure
from schemas.kafka import topics
from schemas.policies.policies import Policies, PolicySelector

FIELDS = ("user_id", "tenant_id", "app_id", "agent_id", "mode")
BUILT_IN = Policies()


def concerns(
    record: Any,
    erasure: Erasure,
    conversations: Collection[str],
    namespaces: Collection[str],
    policies: PolicySelector = BUILT_IN,
) -> bool:
    """Whether a letter is of what was erased, and of before. One that is no JSON is, if it says the user's id in quotes; what
    cannot be told apart by time is older if the letter is."""
    said = parsed(record.value)
    theirs = is_theirs(record, said, erasure, conversations, namespaces) or feeds(said, erasure, policies)
    return theirs and is_older(record, said, erasure)


def is_theirs(
    record: Any, said: Any, erasure: Erasure, conversations: Collection[str], namespaces: Collection[str]
) -> bool:
    if is_of_another(said, erasure):
        return False
    names = {*namespaces, erasure.namespace} - {None}
    key = (record.key or b"").decode(errors="replace")
    if key in conversations or key in names or (key and key == erasure.conversation_id):
        return True
    if not isinstance(said, dict):
        told = erasure.user_id or erasure.conversation_id or erasure.namespace or ""
        return json.dumps(told, ensure_ascii=False).encode() in (record.value or b"")
    scope = said["scope"] if isinstance(said.get("scope"), dict) else said
    conversation = text(scope, "conversation_id") or text(said, "conversation_id")
    if conversation is not None and (conversation in conversations or conversation == erasure.conversation_id):
        return True
    fed = named if isinstance(named := said.get("namespaces"), list) else []
    if text(said, "namespace") in names or not names.isdisjoint(str(each) for each in fed):
        return True
    return erasure.kind == "user" and erasure.concerns(scope_of(scope, conversation or "-"))


def is_of_another(said: Any, erasure: Erasure) -> bool:
    """Whether it is a message of somebody else, in a conversation in which the erased user spoke too."""
    if erasure.kind != "user" or not isinstance(said, dict) or text(said, "message_id") is None:
        return False
    conversation_id, user_id = text(said, "conversation_id") or "-", text(said, "user_id")
    return user_id is not None and not erasure.concerns(scope_of(said, conversation_id))


def feeds(said: Any, erasure: Erasure, policies: PolicySelector) -> bool:
    """Whether it is a message, or a request, of a conversation that feeds an erased namespace."""
    if erasure.kind != "namespace" or not isinstance(said, dict):
        return False
    scope = said["scope"] if isinstance(said.get("scope"), dict) else said
    if (conversation := text(scope, "conversation_id") or text(said, "conversation_id")) is None:
        return False
    named = namespaces_of_conversation(scope_of(scope, conversation), policies)
    return erasure.concerns(scope_of(scope, conversation), [name for name, _ in named])


def scope_of(said: dict[str, Any], conversation_id: str) -> Scope:
    return Scope(conversation_id=conversation_id, **{name: text(said, name) for name in FIELDS})


def is_older(record: Any, said: Any, erasure: Erasure) -> bool:
    letter = letter_of(record)
    if letter.at <= erasure.at:
        return True
    source = letter.source
    of_messages = source is not None and source.topic.endswith(topics.MESSAGES)
    place = (source.partition, source.offset) if source is not None and of_messages else (-1, None)
    return any(erasure.fence.refuses(moment, *place) for moment in moments(said))


def moments(said: Any) -> Iterable[datetime]:
    """When an event says that it was said, asked for or sent."""
    for name in ("timestamp", "requested_at", "extracted_at", "at") if isinstance(said, dict) else ():
        try:
            moment = datetime.fromisoformat(text(said, name) or "")
        except ValueError:
            continue
        if moment.tzinfo is not None:
            yield moment


def parsed(value: bytes | None) -> Any:
    try:
        return json.loads(value or b"")
    except (ValueError, RecursionError):  # the latter if it is nested too deeply
        return None


def text(said: dict[str, Any], name: str) -> str | None:
    found = said.get(name)
    return found.encode(errors="replace").decode() if isinstance(found, str) else None  # JSON has halves of characters


def settles(record: Any) -> int | None:
    """The offset of the letter, in the same partition, that a record says is replayed or discarded."""
    settled = settlement_of(record)
    try:
        return None if settled is None else places([settled[0]])[0][1]
    except ValueError:
        return None  # somebody else's header: what it says is nobody's place
