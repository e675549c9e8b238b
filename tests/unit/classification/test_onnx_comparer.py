"""The comparer model detects statements that end, repeat or leave another."""

from collections.abc import Iterator
from contextlib import closing

import numpy as np
import pytest

from sinks.classification.comparer import OnnxComparer
from sinks.classification.port import HOLDS as HOLDS_BOTH
from sinks.classification.port import Pair
from tests.benchmarks.classification.pairs import hash_of_files

ENDS = (
    Pair("User lives in Berlin.", "User moved to Lyon last month."),
    Pair("User drives a Golf.", "User sold the Golf and rides a bike to work."),
    Pair("User is married to Karl.", "User and Karl got divorced."),
    Pair("Der Nutzer fährt einen Golf.", "Der Nutzer hat den Golf verkauft und fährt jetzt Rad."),
    Pair("L'utilisateur roule en Clio.", "L'utilisateur a vendu la Clio et roule à vélo."),
    Pair("El usuario trabaja en un bar.", "El usuario dejó el bar y ahora trabaja en una librería."),
    Pair("The release is planned for 15 May.", "The release was moved to 1 June because QA found issues."),
)
HOLDS = (
    Pair("User lives in Berlin.", "User's brother moved to Lyon last month."),
    Pair("User drives a Golf.", "User test-drove a Zoe on Saturday."),
    Pair("User likes jazz.", "User likes techno."),
    Pair("Der Nutzer wohnt in Berlin.", "Der Bruder des Nutzers ist nach Lyon gezogen."),
    Pair("L'utilisateur aime le jazz.", "L'utilisateur aime la techno."),
    Pair("El usuario bebe café.", "El usuario cambió la cafetera."),
    Pair("User drinks coffee.", "User replaced the coffee machine."),
)
SAME = (Pair("User lives in Berlin.", "User's home is in Berlin."),)


@pytest.fixture(scope="module")
def comparer() -> Iterator[OnnxComparer]:
    with closing(OnnxComparer()) as made:
        yield made


@pytest.mark.parametrize("pair", ENDS)
async def test_comparer_scores_a_replaced_statement_as_ended(comparer: OnnxComparer, pair: Pair) -> None:
    (found,) = await comparer.compare([pair])
    assert found.ends > max(found.holds, found.same)


@pytest.mark.parametrize("pair", HOLDS)
async def test_comparer_scores_statements_about_different_things_as_both_holding(
    comparer: OnnxComparer, pair: Pair
) -> None:
    (found,) = await comparer.compare([pair])
    assert found.holds > max(found.ends, found.same)


@pytest.mark.parametrize("pair", SAME)
async def test_comparer_scores_a_paraphrase_as_the_same_statement(comparer: OnnxComparer, pair: Pair) -> None:
    (found,) = await comparer.compare([pair])
    assert found.same > max(found.ends, found.holds)


async def test_scores_of_a_pair_do_not_depend_on_the_other_pairs_in_the_batch(comparer: OnnxComparer) -> None:
    pairs = [*ENDS, *HOLDS, *SAME, Pair("", "")]
    together = np.array(await comparer.compare(pairs))
    alone = np.array([(await comparer.compare([each]))[0] for each in pairs])
    np.testing.assert_allclose(together, alone, atol=1e-4)
    np.testing.assert_allclose(together.sum(axis=1), 1, atol=1e-5)


@pytest.mark.parametrize(
    "known", ["User lives in Berlin, and " * 8 + "works at Siemens.", "User lives in Berlin. " * 2_000]
)
async def test_comparer_scores_a_pair_beyond_its_input_length_as_both_holding(
    comparer: OnnxComparer, known: str
) -> None:
    assert await comparer.compare([Pair(known * 2, "User moved to Lyon.")]) == [HOLDS_BOTH]


def test_shipped_model_was_trained_on_the_current_training_pairs(comparer: OnnxComparer) -> None:
    assert comparer.trained_on == hash_of_files(), "run `make train-comparer`"


async def test_comparing_an_empty_list_returns_an_empty_list(comparer: OnnxComparer) -> None:
    assert await comparer.compare([]) == []
