"""What people ask of a conversation's window over HTTP, and what they are told before they do."""

from msgspec import Struct

from agents.conversations.control import ByHand
from agents.conversations.lookup import Conversation
from schemas.conversations.adjustments import Mark
from schemas.conversations.messages import Identifier
from schemas.conversations.window_choices import WindowChoice
from schemas.conversations.window_settings import Adjustable, Strategy, WindowSettings
from schemas.conversations.windows import UNDO_CLEAR_S, WindowState


class AcceptedRequest(Struct, frozen=True, kw_only=True):
    """An accepted request to a conversation's window. It takes effect within about a second."""

    conversation_id: str
    kind: ByHand


class MarkRequest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a message that was sent is to be from now on: `pinned` never leaves by pruning, `important` counts as sent with
    `important`, `expendable` leaves first, `normal` is weighed by what it says."""

    message_id: Identifier
    importance: Mark


class SettingsInForce(Struct, frozen=True, kw_only=True):
    """The settings that decide what leaves a conversation's context. `max_tokens` None means 80 % of the model's context."""

    strategy: Strategy
    max_messages: int
    max_tokens: int | None
    min_recent: int
    warning_at: float
    warning_target: float
    aggressive_at: float
    aggressive_target: float

    @classmethod
    def of(cls, settings: WindowSettings) -> "SettingsInForce":
        return cls(**{name: getattr(settings, name) for name in cls.__struct_fields__})


class ConversationSettings(Struct, frozen=True, kw_only=True):
    """What holds for a conversation's context: `settings`, of which `chosen` are its own and the others the policy's. What is
    `adjustable` may be chosen."""

    conversation_id: str
    policy: str
    settings: SettingsInForce
    chosen: WindowChoice
    adjustable: Adjustable


class ClearQuestion(Struct, frozen=True, kw_only=True):
    """What a clear would take out of the context, asked before it does. Nothing has changed."""

    conversation_id: str
    question: str
    messages: int
    tokens: int
    restorable_for_s: float = UNDO_CLEAR_S


def clear_question(state: WindowState) -> ClearQuestion:
    found = state.statistics
    prompts = found.tokens_by_role.get("system", 0)
    return ClearQuestion(
        conversation_id=state.scope.conversation_id,
        question=f"Clear conversation history? Of {found.messages_in_context} messages in context all but system prompts leave.",
        messages=found.messages_in_context,
        tokens=max(0, found.total_tokens - prompts),
    )


def settings_view(conversation: Conversation) -> ConversationSettings:
    own = (conversation.state.adjustments.settings if conversation.state else None) or WindowChoice()
    of_policy = conversation.policy.window
    return ConversationSettings(
        conversation_id=conversation.conversation_id,
        policy=conversation.policy.name,
        settings=SettingsInForce.of(own.applied(of_policy)),
        chosen=own,
        adjustable=of_policy.adjustable,
    )
