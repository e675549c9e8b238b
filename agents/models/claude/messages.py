"""Whether what the Anthropic SDK took for a message is one: it takes any JSON, and hands on as text what is no JSON."""

from anthropic.types import Message, TextBlock
from anthropic.types import Usage as BilledUsage

from agents.privacy.scrub import scrub
from schemas.errors import Retryable

# Enough to see what answered instead.
DETAIL_CHARS = 300


def message_of(response: object) -> Message:
    """The response with all of it that memstream reads. Raises Retryable: something between answered in the API's stead.

    Blocks and reasons to stop that are not known yet are let pass.
    """
    if not isinstance(response, Message) or not (is_billed(response) and is_read(response)):
        raise Retryable("what came from Claude's address is no message", scrub(repr(response)).text[:DETAIL_CHARS])
    return response


def is_billed(message: Message) -> bool:
    used = message.usage
    return isinstance(used, BilledUsage) and isinstance(used.input_tokens, int) and isinstance(used.output_tokens, int)


def is_read(message: Message) -> bool:
    texts = [block for block in message.content or () if isinstance(block, TextBlock) and block.type == "text"]
    return (
        isinstance(message.model, str)
        and isinstance(message.content, list)
        and all(isinstance(block.text, str) for block in texts)
    )
