"""Embedding models that run in this process on onnxruntime: texts stay in the process."""

import asyncio
import os
from collections import deque
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from copy import copy
from pathlib import Path
from typing import Final, Self

import numpy as np
import onnxruntime
from msgspec.structs import replace
from numpy.typing import NDArray
from tokenizers import Encoding, Tokenizer

from sinks.embeddings.models import Model, ModelFiles
from sinks.embeddings.port import unit_rows

# At most two cores for texts and two for questions: the process has other work, and several processes embed.
THREADS: Final = min(2, os.cpu_count() or 1)
# Characters per batch: eight texts of 2,000 characters took 25 % more CPU time in one batch than singly.
BATCH_CHARS: Final = 1_500


class QueuedText:
    """A text that waits for its vector."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.vector: Future[NDArray[np.float32]] = Future()


class OnnxEmbedder:
    """Implements Embedder. Loads the model when constructed (0.2 s); computes on its own threads, one core each. A model
    with a question graph has a second embedder for questions (another 0.2 s), so they do not wait behind texts."""

    def __init__(self, model: Model, files: ModelFiles, threads: int = THREADS) -> None:
        self.model = model.name
        self.dimension = model.dimension
        self._model = model
        self._tokenizer = Tokenizer.from_buffer(files.tokenizer)
        self._tokenizer.enable_truncation(model.max_tokens)
        self._tokenizer.no_padding()
        own = files if model.text_graph is None else files.with_graph(model.text_graph.read_bytes())
        options = session_options(own.weights, own.contents)
        self._session = onnxruntime.InferenceSession(own.onnx, options, providers=["CPUExecutionProvider"])
        self._begin(threads)
        self._for_questions: OnnxEmbedder | None = None
        if model.question_graph is not None:
            of_questions = model.question_graph
            for_questions = replace(
                model, before_text=model.before_question, question_graph=None, text_graph=of_questions
            )
            self._for_questions = OnnxEmbedder(for_questions, files, threads)

    def sharing_model(self, threads: int = THREADS) -> Self:
        """Returns another embedder that computes with the loaded model of this one, on threads of its own. Each is closed
        by itself."""
        other = copy(self)
        other._begin(threads)
        if self._for_questions is not None:
            other._for_questions = self._for_questions.sharing_model(threads)
        return other

    def _begin(self, threads: int) -> None:
        self._threads = ThreadPoolExecutor(threads, "embedder")
        self._waiting: deque[QueuedText] = deque()  # appended to by callers, consumed by the threads

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See Embedder."""
        return await self._embed([self._model.before_text + text for text in texts])

    async def embed_questions(self, questions: Sequence[str]) -> NDArray[np.float32]:
        """See Embedder."""
        if self._for_questions is not None:
            return await self._for_questions.embed(questions)
        return await self._embed([self._model.before_question + question for question in questions])

    def close(self) -> None:
        """Ends the threads once running calls are done."""
        self._threads.shutdown()
        if self._for_questions is not None:
            self._for_questions.close()

    async def _embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Computes on threads, so the event loop stays free. Batches contain texts of similar length, to save padding, and
        may combine several calls."""
        waiting = [QueuedText(text) for text in texts]
        # All at once, before a thread looks: otherwise the first text would form a batch alone.
        self._waiting.extend(sorted(waiting, key=lambda each: len(each.text)))
        for _ in waiting:
            self._threads.submit(self._embed_waiting)
        vectors = await asyncio.gather(*(asyncio.wrap_future(each.vector) for each in waiting))
        return np.array(vectors, np.float32).reshape(len(texts), self.dimension)

    def _embed_waiting(self) -> None:
        """Runs on a thread, once per text; does nothing if the text went with another batch."""
        if taken := self._taken():
            self._answer(taken)

    def _taken(self) -> list[QueuedText]:
        """Takes the next batch: the texts that have waited longest. Drops texts whose callers have gone."""
        taken: list[QueuedText] = []
        chars = 0
        while len(taken) < self._model.batch and chars < BATCH_CHARS:
            try:
                each = self._waiting.popleft()
            except IndexError:
                break
            if each.vector.set_running_or_notify_cancel():
                taken.append(each)
                chars += len(each.text)
        return taken

    def _answer(self, taken: list[QueuedText]) -> None:
        """Computes a batch; if that fails, computes each text alone, so that one text fails no other."""
        try:
            vectors = self._vectors([each.text for each in taken])
        except Exception as exc:  # noqa: BLE001 (the future of the text raises it)
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
    """Token ids and attention mask, each of shape (n, tokens of the longest text)."""
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


def session_options(weights: Path | None, contents: Mapping[str, bytes] = {}) -> onnxruntime.SessionOptions:
    """One core per call: two parallel calls take half the time of two sequential calls on two cores. Without the memory
    arena, which would keep the memory of the largest batch (883 MB measured). Integers are multiplied exactly: by default
    x86 processors without VNNI saturate them, so that results would depend on the processor."""
    options = onnxruntime.SessionOptions()
    options.add_session_config_entry("session.x64quantprecision", "1")
    if weights is not None:
        options.add_session_config_entry("session.model_external_initializers_file_folder_path", str(weights))
    if contents:
        lengths = [len(content) for content in contents.values()]
        options.add_external_initializers_from_files_in_memory(list(contents), list(contents.values()), lengths)
    options.enable_cpu_mem_arena = False
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    return options
