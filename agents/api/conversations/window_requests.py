"""Manual requests to a conversation's window, and the questions that confirm them."""

from msgspec import Struct

from agents.conversations.control import ByHand
from agents.conversations.lookup import Conversation
from schemas.conversations.adjustments import Mark
from schemas.conversations.messages import Identifier
from schemas.conversations.window_choices import ChosenBy, WindowChoice
from schemas.conversations.window_settings import Adjustable, Strategy, WindowSettings
from schemas.conversations.windows import UNDO_S, WindowState


class AcceptedRequest(Struct, frozen=True, kw_only=True):
    """An accepted request to a conversation's window. It takes effect within about a second."""

    conversation_id: str
    kind: ByHand


class MarkRequest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A new importance for a sent message: `pinned` messages are never pruned, `important` ones are treated as if sent with
    `important`, `expendable` ones are pruned first, and `normal` ones are weighed by their content."""

    message_id: Identifier
    importance: Mark


class SettingsInForce(Struct, frozen=True, kw_only=True):
    """The settings that decide which messages leave the context. If `max_tokens` is null, the limit is 80 % of the model's
    context size."""

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
    """The context settings of a conversation. `settings` are those in effect: `chosen` for this conversation, else `by_user`
    for all conversations of its user, else the policy's. `chosen_by` names the origin of each setting. `adjustable` are
    the settings that the policy allows to choose."""

    conversation_id: str
    policy: str
    settings: SettingsInForce
    chosen: WindowChoice
    adjustable: Adjustable
    by_user: WindowChoice
    chosen_by: dict[str, ChosenBy]


class ClearQuestion(Struct, frozen=True, kw_only=True):
    """A question that confirms a clear, with the messages and tokens that it would remove from the context. Nothing changes."""

    conversation_id: str
    question: str
    messages: int
    tokens: int
    restorable_for_s: float = UNDO_S


class PruneQuestion(Struct, frozen=True, kw_only=True):
    """A question that confirms a manual prune. `messages` is the number of messages that it would remove; `tokens` is the
    resulting reduction in billed tokens, including the added markers. Nothing changes."""

    conversation_id: str
    question: str
    messages: int
    tokens: int
    restorable_for_s: float = UNDO_S


def prune_question(state: WindowState, messages: int, tokens: int) -> PruneQuestion:
    question = (
        f"Prune the context? {messages} of {state.statistics.messages_in_context} messages leave."
        if messages
        else "A prune would remove nothing: all messages in context belong to the current task or are kept."
    )
    return PruneQuestion(
        conversation_id=state.scope.conversation_id, question=question, messages=messages, tokens=max(0, tokens)
    )


def clear_question(state: WindowState) -> ClearQuestion:
    statistics = state.statistics
    prompts = statistics.tokens_by_role.get("system", 0)
    return ClearQuestion(
        conversation_id=state.scope.conversation_id,
        question=f"Clear conversation history? Of {statistics.messages_in_context} messages in context all but system prompts "
        "leave.",
        messages=statistics.messages_in_context,
        tokens=max(0, statistics.total_tokens - prompts),
    )


def settings_view(conversation: Conversation) -> ConversationSettings:
    choices, of_policy = conversation.choices, conversation.policy.window
    return ConversationSettings(
        conversation_id=conversation.conversation_id,
        policy=conversation.policy.name,
        settings=SettingsInForce.of(choices.applied(of_policy)),
        chosen=choices.conversation or WindowChoice(),
        adjustable=of_policy.adjustable,
        by_user=choices.user or WindowChoice(),
        chosen_by=choices.chosen_by(of_policy),
    )
