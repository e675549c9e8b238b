"""Runs a cross-encoder in this process on onnxruntime: texts stay in the process."""

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Final

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from tokenizers import Encoding, Tokenizer

from sinks.embeddings.onnx import THREADS, session_options

# multilingual-e5-small with the tokens of English, French, German and Spanish: its embeddings and first layers.
WEIGHTS: Final = Path(__file__).with_name("multilingual.bin")
TOKENIZER: Final = Path(__file__).with_name("multilingual-tokenizer.json")
TRAINED_ON: Final = "trained_on"  # in the metadata of the graph
OUTPUT: Final = "probabilities"
MOST_TOKENS: Final = 96  # of a pair
MOST_CHARS: Final = 1_000  # of a pair: a longer one has more tokens in any case that matters, and takes long to count
BATCH: Final = 8  # pairs of similar length

Pair = tuple[str, str]


class CrossEncoder:
    """Reads both texts of a pair at once. The first one of a process loads the model (0.1 s); each computes on its own threads,
    one core each."""

    def __init__(self, graph: Path, threads: int = THREADS) -> None:
        self._tokenizer = pair_tokenizer(TOKENIZER)
        self._session = session_of(graph)
        self._threads = ThreadPoolExecutor(threads, graph.stem)

    @property
    def trained_on(self) -> str:
        """The hash of the files that the model was trained with."""
        return str(self._session.get_modelmeta().custom_metadata_map[TRAINED_ON])

    async def probabilities(self, pairs: Sequence[Pair]) -> list[tuple[float, ...] | None]:
        """The probability of each class, for each pair; None for a pair that is too long to be read whole. They do not depend
        on the other pairs (up to float rounding)."""
        by_length = sorted(range(len(pairs)), key=lambda at: sum(map(len, pairs[at])))
        groups = [by_length[at : at + BATCH] for at in range(0, len(pairs), BATCH)]
        loop = asyncio.get_running_loop()
        computed = await asyncio.gather(
            *(loop.run_in_executor(self._threads, self._of_group, [pairs[at] for at in group]) for group in groups)
        )
        found: dict[int, tuple[float, ...] | None] = {}
        for group, given in zip(groups, computed, strict=True):
            found |= zip(group, given, strict=True)
        return [found[at] for at in range(len(pairs))]

    def close(self) -> None:
        """Ends the threads once running calls are done."""
        self._threads.shutdown()

    def _of_group(self, pairs: list[Pair]) -> list[tuple[float, ...] | None]:
        """Runs on a thread."""
        short = [at for at, each in enumerate(pairs) if sum(map(len, each)) <= MOST_CHARS]
        encoded = self._tokenizer.encode_batch([without_stops(pairs[at]) for at in short])
        whole = {at: each for at, each in zip(short, encoded, strict=True) if not each.overflowing}
        found = dict(zip(whole, self._computed(list(whole.values())), strict=True)) if whole else {}
        return [tuple(map(float, found[at])) if at in found else None for at in range(len(pairs))]

    def _computed(self, encoded: list[Encoding]) -> NDArray[np.float32]:
        """Shape (pairs, classes)."""
        longest = max(len(each.ids) for each in encoded)
        ids, mask, types = np.zeros((3, len(encoded), longest), np.int64)
        for row, each in enumerate(encoded):
            ids[row, : len(each.ids)] = each.ids
            mask[row, : len(each.ids)] = 1
            types[row, : len(each.ids)] = each.type_ids
        inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": types}
        computed: NDArray[np.float32] = self._session.run([OUTPUT], inputs)[0]
        return computed


@cache
def session_of(graph: Path) -> onnxruntime.InferenceSession:
    """The graph's session, which all encoders of this process share: it has no state."""
    return onnxruntime.InferenceSession(
        graph.read_bytes(), session_options(WEIGHTS.parent), providers=["CPUExecutionProvider"]
    )


@cache
def pair_tokenizer(path: Path) -> Tokenizer:
    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.enable_truncation(MOST_TOKENS, strategy="longest_first")
    tokenizer.no_padding()
    return tokenizer


def without_stops(pair: Pair) -> Pair:
    """The texts without a final full stop, as models are trained with them: it carries no meaning."""
    first, second = pair
    return first.strip().rstrip("."), second.strip().rstrip(".")
