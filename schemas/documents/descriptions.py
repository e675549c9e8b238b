"""Descriptions of fields that chat services read and write, if the name is not enough."""

from typing import Final

CONVERSATION: Final = "Id of the conversation; also the record's key."
NAMESPACE: Final = "Namespace of the memory; also the record's key."

MEANINGS: Final[dict[str, dict[str, str]]] = {
    "Message": {
        "conversation_id": CONVERSATION,
        "message_id": "Chosen by the sender. A repeated id is the same message and changes nothing.",
        "role": "Speaker. Claims of the assistant are no facts about the user; system and tool messages are not remembered.",
        "timestamp": "Time of the message, with an offset. Relative dates in it (*next Friday*) refer to this time.",
        "content": "Text of the message.",
        "tenant_id": "Tenant. This field and the next four select the policy and the namespaces.",
        "app_id": "Application.",
        "user_id": "User who speaks or is answered. Memories of a user's messages belong to that user.",
        "agent_id": "Agent, if several answer.",
        "mode": "Kind of conversation, such as `support`.",
        "name": "Name of the speaker, for models and shared memories if several people speak.",
        "model": "Model that the service calls; its context size limits the window.",
        "time_zone": "IANA time zone of the user, such as `Europe/Brussels`, if the offset is not the user's.",
        "language": "BCP 47 language tag, if known.",
        "important": "True: the message stays in context longer.",
        "tool_calls": "Tool calls of the assistant.",
        "tool_call_id": "In a tool message: id of the call that it answers. Calls and results leave the context together.",
        "metadata": "Ignored.",
    },
    "ToolCall": {"arguments": "Arguments of the tool, in any form."},
    "ConversationEnded": {
        "conversation_id": CONVERSATION,
        "timestamp": "Time of the end.",
        "reason": "Reason, for operators.",
        "last_message_id": "Id of the last message. If it has not arrived yet, memstream waits for it for a bounded time.",
        "message_count": "Number of published messages, each id once, of all roles. memstream waits for missing ones for a "
        "bounded time, then publishes `memstream.window.ended_incomplete` on `memory.activity`.",
        "metadata": "Ignored.",
    },
    "Command": {
        "command_id": "Chosen by the sender. A repeated id is applied once. The result on `memory.activity` has this id.",
        "namespace": NAMESPACE,
        "at": "Time of the command.",
        "actor": "Person or service that sends the command, for the memory's history.",
        "reason": "Reason, for the memory's history.",
        "memory_id": "Memory to change.",
        "memory_kind": "Kind of the memory, from the policy's kinds.",
        "pinned": "Pinned memories are never compacted.",
        "expires_at": "Time from which the memory is not live any more.",
        "if_version": "The command applies only if the memory has this version.",
    },
    "MemoryEvent": {
        "id": "Id of the change. Records with the same id are repetitions with the same content.",
        "type": "`memstream.memory.` and the change.",
        "subject": "Id of the memory.",
        "time": "Time of the decision.",
    },
    "MemoryChanged": {
        "change": "Kind of change. Ignore unknown kinds: `memory` is complete.",
        "namespace": NAMESPACE,
        "sequence": "Number of the change in its namespace, from 1, without gaps. A gap shows a missed change.",
        "memory": "The memory after the change.",
        "before": "The memory before the change; absent if it was deleted or erased.",
        "cause": "Who made the change, and why.",
    },
    "Memory": {
        "text": "The memory: one short statement.",
        "full_text": "Long form, if the policy allows it.",
        "importance": "Importance, from 0 to 1.",
        "confidence": "Confidence, from 0 to 1.",
        "version": "Number of changes of the memory, from 1.",
        "sequence": "Sequence of the namespace at the latest change.",
        "status": "Only `active` memories are live.",
        "sources": "Messages that the memory comes from.",
        "context": "Reason or circumstances.",
        "event_time": "Time of the event that the memory describes.",
        "valid_from": "Start of validity, if known.",
        "valid_until": "End of validity, if known; set when another memory supersedes this one.",
        "reinforcement_count": "Number of times that the statement was repeated.",
        "pinned": "Pinned memories are never compacted.",
        "expires_at": "Time from which the memory is not live any more.",
        "links": "Links to other memories of the namespace.",
    },
    "Cause": {
        "actor": "Provider, or sender of the command.",
        "request_id": "Extraction request that proposed the change.",
        "command_id": "Command that requested the change.",
    },
    "Source": {
        "position": "Offset of the message in its partition.",
        "user_id": "Speaker of the message, in a conversation of several people.",
    },
    "ActivityEvent": {
        "id": "Records with the same id are repetitions with the same content.",
        "type": "Kind of work: `memstream.extraction.completed`, `memstream.window.pruned`, `memstream.profile.changed`, ...",
        "subject": "Conversation or namespace.",
        "data": "Fields that depend on the type.",
    },
}
