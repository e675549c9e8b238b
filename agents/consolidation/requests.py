"""Makes manual runs, and the records that ask windows to extract."""

from datetime import datetime

from schemas import codec, ids
from schemas.consolidation.runs import ConsolidationRun, RunRequest
from schemas.kafka import topics
from schemas.kafka.records import Outgoing
from schemas.windows.window_controls import WindowControl
from sinks.consolidation.run_progress import ConversationToExtract


def manual_run(requested: RunRequest, namespaces: tuple[str, ...], asked_by: str, now: datetime) -> ConsolidationRun:
    """A manual run; `namespaces` are those whose readers may see it. Equal requests at the same moment are the same run."""
    scope = (requested.policy, requested.namespace, requested.conversation_id, requested.dry_run)
    return ConsolidationRun(
        run_id=ids.derive("consolidation by hand", *scope, asked_by, now.isoformat()),
        trigger="hand",
        status="pending",
        asked_by=asked_by,
        dry_run=requested.dry_run,
        lane=requested.lane,
        policy=requested.policy,
        namespace=requested.namespace,
        conversation_id=requested.conversation_id,
        namespaces=namespaces,
        most=requested.most,
        due_at=now,
        created_at=now,
    )


def flush_record(conversation: ConversationToExtract, at: datetime) -> Outgoing:
    """The control event, on the partition of the conversation's messages. A repeated one changes nothing."""
    event = WindowControl(conversation_id=conversation.conversation_id, kind="flush", at=at, lane=conversation.lane)
    return Outgoing(
        topic=topics.WINDOW_CONTROL,
        key=conversation.conversation_id.encode(),
        value=codec.encode(event),
        partition=conversation.partition,
    )
