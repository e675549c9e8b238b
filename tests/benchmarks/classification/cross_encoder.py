"""An embedding model as a cross-encoder in JAX: packaged first layers, trained last layers and a trained head.

A batch has token ids, segments (0: the first text, 1: the second one) and a mask, each of shape (pairs, tokens).
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import jax
import jax.numpy as jnp

from tests.benchmarks.classification.minilm_graph import EPSILON, HEADS, WIDTH

Weights = Mapping[str, Any]
FAR: Final = -1e9  # added to the scores of padding
EMBEDDINGS: Final = "inner.embeddings"


class Base(NamedTuple):
    """A model in floats, whose first `frozen` layers stay as they are."""

    embeddings: Weights
    layers: Sequence[Weights]
    frozen: int
    tokenizer: Path


def new_head(key: Any, classes: int) -> Weights:
    return {"weight": jax.random.normal(key, (2 * WIDTH, classes)) * 0.02, "bias": jnp.zeros(classes)}


def lower(embeddings: Weights, layers: Sequence[Weights], ids: Any, segments: Any, mask: Any) -> Any:
    """The output of the layers that are not trained, shape (pairs, tokens, width)."""
    x = embeddings["words"][ids] + embeddings["segments"][segments] + embeddings["places"][: ids.shape[1]]
    x = normalised(x, embeddings["norm"], embeddings["norm_bias"])
    for each in layers:
        x = layer(each, x, mask, None, 0.0)
    return x


def scores(layers: Sequence[Weights], head: Weights, x: Any, mask: Any, key: Any = None, rate: float = 0.0) -> Any:
    """The logits of the classes, shape (pairs, classes). With a `key` a share of `rate` is dropped out, for training."""
    keys = [None] * (len(layers) + 1) if key is None else list(jax.random.split(key, len(layers) + 1))
    for each, own in zip(layers, keys, strict=False):
        x = layer(each, x, mask, own, rate)
    mean = (x * mask[..., None]).sum(1) / mask.sum(1, keepdims=True)
    both = dropped_out(jnp.concatenate([x[:, 0], mean], -1), keys[-1], rate)
    return both @ head["weight"] + head["bias"]


def layer(part: Weights, x: Any, mask: Any, key: Any, rate: float) -> Any:
    count, length, _ = x.shape
    keys = [None] * 3 if key is None else list(jax.random.split(key, 3))

    def by_heads(of: Any) -> Any:
        return of.reshape(count, length, HEADS, WIDTH // HEADS).transpose(0, 2, 1, 3)

    query = by_heads(x @ part["query"] + part["query_bias"])
    key_, value = by_heads(x @ part["key"]), by_heads(x @ part["value"] + part["value_bias"])
    attention = query @ key_.transpose(0, 1, 3, 2) * (WIDTH / HEADS) ** -0.5 + (1 - mask[:, None, None, :]) * FAR
    shares = dropped_out(jax.nn.softmax(attention, -1), keys[0], rate)
    taken = (shares @ value).transpose(0, 2, 1, 3).reshape(count, length, WIDTH)
    attended = dropped_out(taken @ part["attended"] + part["attended_bias"], keys[1], rate)
    x = normalised(x + attended, part["attended_norm"], part["attended_norm_bias"])
    wide = jax.nn.gelu(x @ part["wide"] + part["wide_bias"], approximate=False)
    narrow = dropped_out(wide @ part["narrow"] + part["narrow_bias"], keys[2], rate)
    return normalised(x + narrow, part["narrow_norm"], part["narrow_norm_bias"])


def normalised(x: Any, weight: Any, bias: Any) -> Any:
    centred = x - x.mean(-1, keepdims=True)
    return centred * jax.lax.rsqrt((centred**2).mean(-1, keepdims=True) + EPSILON) * weight + bias


def dropped_out(x: Any, key: Any, rate: float) -> Any:
    if key is None or rate == 0:
        return x
    return jnp.where(jax.random.bernoulli(key, 1 - rate, x.shape), x / (1 - rate), 0)
