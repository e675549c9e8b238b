"""Selection and weights of query words in passage search."""

from sinks.passages.matching import FREQUENT_FROM, word_sets

TOTAL = 100 * FREQUENT_FROM


def sets(counts: dict[int, int], wanted: int = 400) -> list[str]:
    return [words for words, _ in word_sets(counts, TOTAL, wanted)]


def test_rare_words_are_searched_individually_and_the_rarest_weigh_the_most():
    found = list(word_sets({1: 50, 2: 3, 3: 0, 4: 700}, TOTAL, 400))
    assert [words for words, _ in found] == ["2", "1", "4"]
    weights = [weight for _, weight in found]
    assert weights == sorted(weights, reverse=True)
    assert all(weight > 0 for weight in weights)


def test_frequent_words_are_looked_for_by_twos_where_rare_ones_find_enough():
    assert sets({1: 900, 2: 2 * FREQUENT_FROM, 3: 9 * FREQUENT_FROM}) == ["1", "2 3"]


def test_frequent_words_are_looked_for_alone_as_well_where_rare_ones_find_too_little():
    assert sets({1: 10, 2: FREQUENT_FROM, 3: 9 * FREQUENT_FROM}) == ["1", "2 3", "2", "3"]
    assert sets({2: FREQUENT_FROM}) == ["2"]


def test_only_the_rarest_of_many_frequent_words_are_paired():
    counts = {number: number * FREQUENT_FROM for number in range(1, 20)}
    assert len([each for each in sets(counts) if " " in each]) == 6
    assert {word for each in sets(counts) for word in each.split()} == {"1", "2", "3", "4"}


def test_a_word_in_more_passages_than_the_total_has_a_weight_near_zero():
    ((_, weight),) = word_sets({1: 2 * TOTAL}, TOTAL, 400)
    assert 0 < weight < 0.001


def test_frequent_word_sets_are_searched_by_weight_until_the_expected_hits_suffice():
    counts = {
        1: 3 * FREQUENT_FROM,
        2: 4 * FREQUENT_FROM,
        3: 10 * FREQUENT_FROM,
        4: 20 * FREQUENT_FROM,
    }  # 120, 300 and 400 passages have two of 1, 2, 3
    found = [words for words, _ in word_sets(counts, TOTAL, 400, foreseen=True)]
    assert found == ["1 2", "1 3", "2 3"]
    assert len(sets(counts)) == 10


def test_a_frequent_word_is_searched_individually_if_pairs_find_too_little():
    counts = {1: FREQUENT_FROM, 2: 2 * FREQUENT_FROM}
    assert [words for words, _ in word_sets(counts, TOTAL, 400, foreseen=True)] == ["1 2", "1"]
