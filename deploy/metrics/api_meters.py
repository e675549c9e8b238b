"""The metrics of one API process by their names."""

from prometheus_client import CollectorRegistry, Counter, Histogram, PlatformCollector, ProcessCollector
from prometheus_client.gc_collector import GCCollector

ANSWER_BUCKETS_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)

SHARES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


class ApiMeters:
    """Counts since the process started; `registry` is what is scraped."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        for collect in (ProcessCollector, PlatformCollector, GCCollector):
            collect(registry=self.registry)
        self.requests_s = Histogram(
            "memstream_http_request_duration_seconds",
            "Requests until their answer was sent whole; a stream of events takes as long as it is followed.",
            ("method", "route", "status"),
            buckets=ANSWER_BUCKETS_S,
            registry=self.registry,
        )
        self.retrieved = Counter(
            "memstream_memories_retrieved",
            "Memories that were found, read or put into a context.",
            registry=self.registry,
        )
        self.token_counts = Counter(
            "memstream_token_counts",
            "Texts of conversations whose tokens were asked for, by whether their count was kept.",
            ("kept",),
            registry=self.registry,
        )
        self.blocks = Counter(
            "memstream_context_blocks",
            "Blocks made for prompts, by whether they hold memories.",
            ("memories",),
            registry=self.registry,
        )

        self.reads = Counter(
            "memstream_memory_reads",
            "Memories and pages of them that were asked for, by whether this process had them at hand.",
            ("kept",),
            registry=self.registry,
        )
        self.context_used = Histogram(
            "memstream_context_used_ratio",
            "Contexts of conversations that were asked for, by the part of their limit that they use.",
            buckets=SHARES,
            registry=self.registry,
        )
        self.prompt_tokens = Counter(
            "memstream_prompt_tokens",
            "Tokens given for prompts: contexts of conversations (billed ones), blocks and profiles.",
            ("part",),
            registry=self.registry,
        )
        self.asked_again = Counter(
            "memstream_messages_asked_again",
            "Passages in blocks that are older than all of their conversation's context: they left it, and were needed.",
            registry=self.registry,
        )

    def read(self, kept: bool) -> None:
        """A memory, or a page of them, was asked for."""
        self.reads.labels(str(kept).lower()).inc()

    def counted(self, kept: bool) -> None:
        """The tokens of a text were asked for."""
        self.token_counts.labels(str(kept).lower()).inc()
