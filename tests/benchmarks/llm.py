"""`make bench-llm`: model tokens of extraction per token of conversation, compared with one call after every exchange, and
of `resolve`.

tests/benchmarks/README.md says what is counted. The last line on stdout is one JSON object; the table is on stderr.
"""

import argparse
import asyncio
import json
import os
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import tiktoken
from msgspec import structs

from agents.models.port import Context, merge_contexts
from agents.models.prompts.questions import extraction_question, shared_question
from deploy.embedded.tiktoken_vocabulary import ensure_vocabulary
from schemas.conversations.messages import ConversationEnded, Message
from schemas.extraction.requests import ExtractionRequest
from schemas.memories.memories import Memory
from schemas.policies.policies import DEFAULT_POLICY, Policy
from schemas.policies.triggers import Triggers
from schemas.windows.window_controls import WindowControl
from streams.windows.terms import Terms
from streams.windows.tokens.accounting import Budget
from streams.windows.tokens.counting import TokenCounter
from streams.windows.window import Window
from tests import public_data
from tests.benchmarks.coherence_data import memorybank
from tests.benchmarks.llm_resolving import measured_resolving
from tests.benchmarks.machine import machine
from tests.benchmarks.signals import ENCODING
from tests.builders.memories import a_memory

FILE = ("memorybank", "memory_bank_en.json")
AIM = 1.5  # input tokens for each token said
SHORT_AIM = 2.0  # of a short conversation, without a cache
SHORT_TOKENS = (400, 800, 1_600)
MODEL_TOKENS = 200_000
EXCHANGES = Policy(name="exchanges", triggers=Triggers(on_exchange=True))
MOMENT = datetime(2026, 1, 1, tzinfo=UTC)

Conversations = Sequence[tuple[Message, ...]]


def run(history: Path) -> dict[str, Any]:
    counter = TokenCounter(tiktoken.get_encoding(ENCODING))
    people = [each.messages for each in memorybank(history)]
    everything = [tuple(renumbered(people))]
    return {
        "machine": machine(),
        "messages": sum(map(len, people)),
        "aim_input_per_raw_token": AIM,
        "memstream": measured(people, DEFAULT_POLICY, counter),
        "memstream_full_slices": measured(everything, DEFAULT_POLICY, counter),
        "aim_short_uncached": SHORT_AIM,
        **{
            f"conversations_of_{most}_tokens": measured(list(short(people, most, counter)), DEFAULT_POLICY, counter)
            for most in SHORT_TOKENS
        },
        **{
            f"conversations_of_{most}_tokens_sharing_calls": measured_together(people, most, DEFAULT_POLICY, counter)
            for most in SHORT_TOKENS
        },
        "every_exchange": measured(people, EXCHANGES, counter),
        "resolving": asyncio.run(
            measured_resolving(
                {f"conversations_of_{most}_tokens": list(short(people, most, counter)) for most in SHORT_TOKENS},
                DEFAULT_POLICY,
                counter,
                lambda said: list(requests(said, DEFAULT_POLICY, counter)),
            )
        ),
    }


def renumbered(people: Conversations) -> Iterator[Message]:
    """Returns all messages as one conversation, so that slices are as full as the policy allows."""
    for number, message in enumerate(message for messages in people for message in messages):
        yield structs.replace(message, conversation_id="all", message_id=str(number))


def short(people: Conversations, most: int, counter: TokenCounter) -> Iterator[tuple[Message, ...]]:
    """Each person's messages in conversations of about `most` tokens, which begin with the person."""
    for messages in people:
        part: list[Message] = []
        for message in messages:
            if message.role == "user" and sum(counter(each.content) for each in part) >= most:
                yield tuple(part)
                part = []
            part.append(message)


def measured_together(people: Conversations, most: int, policy: Policy, counter: TokenCounter) -> dict[str, Any]:
    """What short conversations come to where those of a person are there at the same time: each call is shared by as many as
    have enough tokens together."""
    raw = prompt_tokens = calls = messages = 0
    fixed: set[str] = set()
    fixed_tokens = 0
    for person in people:
        talks = [*short([person], most, counter)]
        raw += sum(counter(message.content) for said in talks for message in said)
        messages += sum(map(len, talks))
        for together in enough(talks, policy, counter):
            slices = [request for said in together for request in requests(said, policy, counter)]
            context = merge_contexts(Context(policy=policy, related=known(said, policy)) for said in together)
            question = shared_question(slices, context) if len(slices) > 1 else extraction_question(slices[0], context)
            parts = (question.stable, question.policy, json.dumps(question.schema))
            fixed.add("\n".join(parts))
            fixed_tokens += sum(map(counter, parts))
            prompt_tokens += counter(question.user_prompt)
            calls += 1
    return figures(calls, messages, raw, prompt_tokens, sum(map(counter, fixed)), fixed_tokens)


def enough(talks: Conversations, policy: Policy, counter: TokenCounter) -> Iterator[list[tuple[Message, ...]]]:
    """Groups conversations into calls: a long one alone, short ones once they have enough tokens."""
    waiting: list[tuple[Message, ...]] = []
    tokens = 0
    for said in talks:
        size = sum(counter(message.content) for message in said)
        if size >= policy.share_tokens:
            yield [said]
            continue
        waiting.append(said)
        tokens += size
        if tokens >= policy.share_tokens:
            yield waiting
            waiting, tokens = [], 0
    if waiting:
        yield waiting


def measured(conversations: Conversations, policy: Policy, counter: TokenCounter) -> dict[str, Any]:
    """Sums the tokens of the calls of one row."""
    raw = prompt_tokens = calls = messages = 0
    fixed: set[str] = set()
    fixed_tokens = 0
    for said in conversations:
        raw += sum(counter(message.content) for message in said)
        messages += len(said)
        context = Context(policy=policy, related=known(said, policy))
        for request in requests(said, policy, counter):
            question = extraction_question(request, context)
            parts = (question.stable, question.policy, json.dumps(question.schema))
            fixed.add("\n".join(parts))
            fixed_tokens += sum(map(counter, parts))
            prompt_tokens += counter(question.user_prompt)
            calls += 1
    return figures(calls, messages, raw, prompt_tokens, sum(map(counter, fixed)), fixed_tokens)


def figures(calls: int, messages: int, raw: int, prompt_tokens: int, written: int, fixed_tokens: int) -> dict[str, Any]:
    """`written` are the tokens of rules and schemas, each once, `fixed_tokens` those of every call."""
    return {
        "calls": calls,
        "calls_per_100_messages": round(100 * calls / messages, 2),
        "raw_tokens": raw,
        "static_tokens": written,
        "input_per_raw_token": round((prompt_tokens + written) / raw, 3),
        "input_per_raw_token_uncached": round((prompt_tokens + fixed_tokens) / raw, 3),
    }


def requests(said: Sequence[Message], policy: Policy, counter: TokenCounter) -> Iterator[ExtractionRequest]:
    """Returns the requests of a conversation's window, each answered at once."""
    terms = Terms.of(policy, Budget.of(policy.window, MODEL_TOKENS))
    window = Window.opened(said[0].conversation_id, 0)
    controls = 0
    for offset, message in enumerate(said):
        effects = window.add(message, offset, counter(message.content), lambda _: terms, message.timestamp.timestamp())
        for each in effects:
            if isinstance(each, ExtractionRequest):
                yield each
                window.control(completed(each), controls, terms, message.timestamp.timestamp())
                controls += 1
    end = ConversationEnded(conversation_id=said[0].conversation_id, timestamp=said[-1].timestamp)
    for each in window.end(end, 0, len(said), len(said), terms, said[-1].timestamp.timestamp()):
        if isinstance(each, ExtractionRequest):
            yield each


def completed(request: ExtractionRequest) -> WindowControl:
    return WindowControl(
        conversation_id=request.conversation_id,
        kind="extraction_completed",
        at=request.requested_at,
        request_id=request.request_id,
    )


def known(said: Sequence[Message], policy: Policy) -> tuple[Memory, ...]:
    """Returns as many known memories as the policy shows, each as long as a user's message."""
    texts = [message.content[: policy.max_text_chars] for message in said if message.role == "user"]
    return tuple(
        a_memory(text, MOMENT, memory_id=str(number), namespace="benchmark", kind="preference")
        for number, text in enumerate(texts[: policy.related_memories])
    )


def table(report: dict[str, Any]) -> str:
    """Formats the rows with calls as Markdown."""
    ways = {name: row for name, row in report.items() if isinstance(row, dict) and "calls" in row}
    names = list(next(iter(ways.values())))
    lines = [f"| | {' | '.join(name.replace('_', ' ') for name in names)} |", "|---" * (len(names) + 1) + "|"]
    lines += [
        f"| {way.replace('_', ' ')} | {' | '.join(f'{row[name]:,}' for name in names)} |" for way, row in ways.items()
    ]
    return "\n".join(lines) + "\n"


def main(argv: list[str]) -> int:
    cache_dir = Path(os.environ.get("MEMSTREAM_CACHE_DIR", Path.home() / ".cache" / "memstream"))
    parser = argparse.ArgumentParser(prog="llm", description=__doc__)
    parser.add_argument("--cache-dir", type=Path, default=cache_dir)
    options = parser.parse_args(argv)
    history = public_data.found(*FILE)
    if history is None:
        parser.error(f"{public_data.ABSENT} {'/'.join(FILE)}; deploy/docs/extraction.md says where it comes from")
    os.environ["TIKTOKEN_CACHE_DIR"] = str(ensure_vocabulary(options.cache_dir / "vocabulary"))
    report = run(history)
    sys.stderr.write(f"{table(report)}\n{table(report['resolving'])}")
    sys.stdout.write(json.dumps(report) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
