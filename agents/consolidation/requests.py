"""Makes manual runs, and the records that ask windows to extract."""

from datetime import datetime

from schemas import codec, ids
from schemas.consolidation.runs import ConsolidationRun, RunRequest
from schemas.conversations.window_controls import WindowControl
from schemas.kafka import topics
from schemas.kafka.records import Outgoing
from sinks.consolidation.run_progress import ConversationToExtract


def manual_run(wanted: RunRequest, namespaces: tuple[str, ...], asked_by: str, now: datetime) -> ConsolidationRun:
    """`namespaces` are those whose readers may see it. The same wish at the same moment is the same run."""
    scope = (wanted.policy, wanted.namespace, wanted.conversation_id, wanted.dry_run)
    return ConsolidationRun(
        run_id=ids.derive("consolidation by hand", *scope, asked_by, now.isoformat()),
        trigger="hand",
        status="pending",
        asked_by=asked_by,
        dry_run=wanted.dry_run,
        lane=wanted.lane,
        policy=wanted.policy,
        namespace=wanted.namespace,
        conversation_id=wanted.conversation_id,
        namespaces=namespaces,
        most=wanted.most,
        due_at=now,
        created_at=now,
    )


def flush_record(asking: ConversationToExtract, at: datetime) -> Outgoing:
    """To the partition of the conversation's messages. Said twice it changes nothing: what was asked for waits no more."""
    event = WindowControl(conversation_id=asking.conversation_id, kind="flush", at=at, lane=asking.lane)
    return Outgoing(
        topic=topics.WINDOW_CONTROL,
        key=asking.conversation_id.encode(),
        value=codec.encode(event),
        partition=asking.partition,
    )
