"""The comparer that runs in this process on onnxruntime: texts stay in the process."""

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from tokenizers import Encoding, Tokenizer

from sinks.comparison.port import HOLDS, Pair, Relation
from sinks.embeddings.models import MINILM_TOKENIZER, minilm_files
from sinks.embeddings.onnx import THREADS, session_options

TRAINED_ON: Final = "trained_on"  # in the metadata of the graph
GRAPH: Final = Path(__file__).with_name("comparer.onnx")
MOST_TOKENS: Final = 96  # of a pair
MOST_CHARS: Final = 1_000  # of a pair: a longer one has more tokens in any case that matters, and takes long to count
BATCH: Final = 8  # pairs of similar length


class OnnxComparer:
    """Implements Comparer. Loads the model when constructed (0.1 s); computes on its own threads, one core each."""

    def __init__(self, graph: Path = GRAPH, threads: int = THREADS) -> None:
        self._tokenizer = pair_tokenizer()
        weights = minilm_files().weights
        self._session = onnxruntime.InferenceSession(
            graph.read_bytes(), session_options(weights), providers=["CPUExecutionProvider"]
        )
        self._threads = ThreadPoolExecutor(threads, "comparer")

    @property
    def trained_on(self) -> str:
        """The hash of the files of pairs that the model was trained with."""
        return str(self._session.get_modelmeta().custom_metadata_map[TRAINED_ON])

    async def compare(self, pairs: Sequence[Pair]) -> list[Relation]:
        """See Comparer."""
        by_length = sorted(range(len(pairs)), key=lambda at: len(pairs[at].earlier) + len(pairs[at].later))
        groups = [by_length[at : at + BATCH] for at in range(0, len(pairs), BATCH)]
        loop = asyncio.get_running_loop()
        found = await asyncio.gather(
            *(loop.run_in_executor(self._threads, self._relations, [pairs[at] for at in group]) for group in groups)
        )
        relations: dict[int, Relation] = {}
        for group, told in zip(groups, found, strict=True):
            relations |= zip(group, told, strict=True)
        return [relations[at] for at in range(len(pairs))]

    def close(self) -> None:
        """Ends the threads once running calls are done."""
        self._threads.shutdown()

    def _relations(self, pairs: list[Pair]) -> list[Relation]:
        """Runs on a thread."""
        short = [at for at, each in enumerate(pairs) if len(each.earlier) + len(each.later) <= MOST_CHARS]
        encoded = self._tokenizer.encode_batch([without_stops(pairs[at]) for at in short])
        whole = {at: each for at, each in zip(short, encoded, strict=True) if not each.overflowing}
        found = dict(zip(whole, self._probabilities(list(whole.values())), strict=True)) if whole else {}
        return [Relation(*map(float, found[at])) if at in found else HOLDS for at in range(len(pairs))]

    def _probabilities(self, encoded: list[Encoding]) -> NDArray[np.float32]:
        """Shape (pairs, 3)."""
        longest = max(len(each.ids) for each in encoded)
        ids, mask, types = np.zeros((3, len(encoded), longest), np.int64)
        for row, each in enumerate(encoded):
            ids[row, : len(each.ids)] = each.ids
            mask[row, : len(each.ids)] = 1
            types[row, : len(each.ids)] = each.type_ids
        inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": types}
        relations: NDArray[np.float32] = self._session.run(["relations"], inputs)[0]
        return relations


def pair_tokenizer() -> Tokenizer:
    tokenizer = Tokenizer.from_file(str(MINILM_TOKENIZER))
    tokenizer.enable_truncation(MOST_TOKENS, strategy="longest_first")
    tokenizer.no_padding()
    return tokenizer


def without_stops(pair: Pair) -> tuple[str, str]:
    """The statements as the model was trained with them: a last full stop tells nothing."""
    earlier, later = (text.strip().rstrip(".") for text in pair)
    return earlier, later
