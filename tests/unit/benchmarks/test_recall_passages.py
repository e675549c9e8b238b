"""The baselines and measures of passages in `make bench-recall`, and the checksums of its conversations."""

import math
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest

from tests.benchmarks.recall_passage_baselines import WAYS, Passages, measures, passages
from tests.benchmarks.recall_passage_hits import joined_like_ours
from tests.benchmarks.recall_talks import Said, Talk, checked

TEXTS = ["Which fruit?", "Plums.", "A plum and a pear and an apple.", "It rained."]
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


def held(*cosines: float) -> tuple[Passages, np.ndarray]:
    """The passages, and the cosine of each to the question."""
    ids = [f"m{number}" for number in range(len(TEXTS))]
    return passages(ids, TEXTS, np.zeros((len(TEXTS), 2), np.float32)), np.array(cosines or [0.0] * len(TEXTS))


def best(way: str, question: str, *cosines: float) -> list[str]:
    known, near = held(*cosines)
    return known.best_messages(WAYS[way](known, question, near))


def test_bm25_weighs_a_word_by_its_rarity_and_the_length_of_its_passage() -> None:
    known, _ = held()
    lengths = [words.total() for words in known.words]
    rarity = math.log(1 + (4 - 2 + 0.5) / (2 + 0.5))
    longer = [1 - 0.75 + 0.75 * length / (sum(lengths) / 4) for length in lengths]
    expected = [0.0, rarity * 2.2 / (1 + 1.2 * longer[1]), rarity * 2.2 / (1 + 1.2 * longer[2]), 0.0]
    assert known.bm25("plums") == pytest.approx(expected)
    assert best("BM25", "plums")[:2] == ["m1", "m2"]


def test_the_words_before_count_for_a_reply() -> None:
    known, _ = held()
    assert known.bm25("fruit")[1] == 0 < known.bm25("fruit", before=1.0)[1]


def test_fusions_weigh_cosine_and_words_as_their_names_say() -> None:
    cosines = (0.0, 0.1, 0.2, 1.0)
    assert best("cosine", "plums", *cosines)[0] == "m3"
    assert best(".7 cosine, .3 BM25", "plums", *cosines)[0] == "m3"
    assert best("half cosine, half BM25", "plums", 0.0, 0.6, 0.2, 1.0)[0] == "m1"
    assert best("reciprocal ranks", "plums", 0.1, 0.9, 0.2, 1.0)[0] == "m1"


def test_measures_count_the_evidence_within_the_first_hits_and_the_place_of_the_first() -> None:
    hits = [(f"m{number}",) for number in range(30)]
    found = [(frozenset({"m4", "m7"}), hits), (frozenset({"m25"}), hits)]
    assert measures(found) == {
        "recall_5": 0.25,
        "recall_10": 0.5,
        "recall_20": 0.5,
        "first": pytest.approx((1 / 5 + 1 / 26) / 2, abs=0.001),
    }


def test_hits_of_a_baseline_get_the_neighbours_that_memstream_gives_its_own() -> None:
    speakers = ["ben", "ada", "ada", "ben"]
    said = [
        Said(f"m{number}", speaker, "user", NOON + timedelta(minutes=number), text)
        for number, (speaker, text) in enumerate(zip(speakers, TEXTS, strict=True))
    ]
    (hits,) = joined_like_ours(Talk("talk", said, []), [["m1", "m3"]])
    assert hits[0] == ("m0", "m1")


def test_a_file_with_another_checksum_is_not_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMSTREAM_SHARED_DATA", str(tmp_path))
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "talk.json").write_bytes(b"{}")
    digest = sha256(b"{}").hexdigest()
    assert checked("set", "talk.json", "https://unused.invalid/", digest) == b"{}"
    (tmp_path / "set" / "talk.json").write_bytes(b"[]")
    with pytest.raises(ValueError, match="is not the file that was measured"):
        checked("set", "talk.json", "https://unused.invalid/", digest)
