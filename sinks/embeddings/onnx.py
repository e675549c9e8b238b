"""Models that run in this process, on onnxruntime: no text leaves it."""

import asyncio
import os
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from tokenizers import Encoding, Tokenizer

from sinks.embeddings.models import Model, ModelFiles
from sinks.embeddings.port import unit_rows

# Two cores at most: whoever embeds has other work to do beside it, and several processes do.
THREADS: Final = min(2, os.cpu_count() or 1)


class Waiting:
    """A text that somebody waits for the vector of."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.vector: Future[NDArray[np.float32]] = Future()


class OnnxEmbedder:
    """Implements Embedder. Loads the model when constructed (0.2 s); embeds on threads of its own, one core each."""

    def __init__(self, model: Model, files: ModelFiles, threads: int = THREADS) -> None:
        self.model = model.name
        self.dimension = model.dimension
        self._model = model
        self._tokenizer = Tokenizer.from_buffer(files.tokenizer)
        self._tokenizer.enable_truncation(model.most_tokens)
        self._tokenizer.no_padding()
        self._session = onnxruntime.InferenceSession(files.onnx, session_options(), providers=["CPUExecutionProvider"])
        self._threads = ThreadPoolExecutor(threads, "embedder")
        self._waiting: deque[Waiting] = deque()  # appended to by callers, taken from by the threads

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See Embedder."""
        return await self._embed([self._model.before_text + text for text in texts])

    async def embed_questions(self, questions: Sequence[str]) -> NDArray[np.float32]:
        """See Embedder."""
        return await self._embed([self._model.before_question + question for question in questions])

    def close(self) -> None:
        """Ends the threads once running calls are done."""
        self._threads.shutdown()

    async def _embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The event loop stays free. Texts of a batch are of similar length, as padding is computed too; those of several calls
        may share one."""
        waiting = [Waiting(text) for text in texts]
        for each in sorted(waiting, key=lambda each: len(each.text)):
            self._waiting.append(each)
            self._threads.submit(self._embed_waiting)
        vectors = await asyncio.gather(*(asyncio.wrap_future(each.vector) for each in waiting))
        return np.array(vectors, np.float32).reshape(len(texts), self.dimension)

    def _embed_waiting(self) -> None:
        """On a thread. There are as many jobs as texts: those whose text went with another's find none."""
        if taken := self._taken():
            self._answer(taken)

    def _taken(self) -> list[Waiting]:
        """The texts that have waited longest and make one batch. Those that nobody waits for any more are left out."""
        taken: list[Waiting] = []
        while len(taken) < self._model.batch:
            try:
                each = self._waiting.popleft()
            except IndexError:
                break
            if each.vector.set_running_or_notify_cancel():
                taken.append(each)
        return taken

    def _answer(self, taken: list[Waiting]) -> None:
        """All together; or, where that fails, each alone: nobody's text is to fail another's."""
        try:
            vectors = self._vectors([each.text for each in taken])
        except Exception as exc:  # noqa: BLE001 (whoever's text it is raises it)
            if len(taken) == 1:
                taken[0].vector.set_exception(exc)
                return
            for each in taken:
                self._answer([each])
            return
        for each, vector in zip(taken, vectors, strict=True):
            each.vector.set_result(vector)

    def _vectors(self, texts: list[str]) -> NDArray[np.float32]:
        ids, mask = padded(self._tokenizer.encode_batch(texts))
        inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        hidden: NDArray[np.float32] = self._session.run(None, inputs)[0]
        return unit_rows(hidden[:, 0] if self._model.first_token else mean_pooled(hidden, mask))


def padded(encoded: Sequence[Encoding]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Token ids and which of them count, each of shape (n, tokens of the longest)."""
    longest = max(len(each.ids) for each in encoded)
    ids, mask = np.zeros((2, len(encoded), longest), np.int64)
    for row, each in enumerate(encoded):
        ids[row, : len(each.ids)] = each.ids
        mask[row, : len(each.ids)] = 1
    return ids, mask


def mean_pooled(hidden: NDArray[np.float32], mask: NDArray[np.int64]) -> NDArray[np.float32]:
    """Mean over the tokens that are not padding: (n, tokens, dim) and (n, tokens) to (n, dim)."""
    weights = mask[..., None].astype(np.float32)
    pooled: NDArray[np.float32] = (hidden * weights).sum(axis=1) / weights.sum(axis=1)
    return pooled


def session_options() -> onnxruntime.SessionOptions:
    """One core a call: two calls side by side take half the time that two cores take for one after the other. Without the
    memory arena, which would keep the largest batch ever seen (883 MB measured)."""
    options = onnxruntime.SessionOptions()
    options.enable_cpu_mem_arena = False
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    return options
