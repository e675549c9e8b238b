"""Which words of a question are looked for together, and what passages with them are worth."""

from sinks.passages.matching import COUNTED, word_sets

TOTAL = 100 * COUNTED


def sets(counts: dict[int, int], wanted: int = 400) -> list[str]:
    return [words for words, _ in word_sets(counts, TOTAL, wanted)]


def test_rare_words_come_alone_the_rarest_first_and_weigh_the_most():
    found = list(word_sets({1: 50, 2: 3, 3: 0, 4: 700}, TOTAL, 400))
    assert [words for words, _ in found] == ["2", "1", "4"]
    weights = [weight for _, weight in found]
    assert weights == sorted(weights, reverse=True)
    assert all(weight > 0 for weight in weights)


def test_frequent_words_are_looked_for_by_twos_where_rare_ones_find_enough():
    assert sets({1: 900, 2: 2 * COUNTED, 3: 9 * COUNTED}) == ["1", "2 3"]


def test_frequent_words_are_looked_for_alone_as_well_where_rare_ones_find_too_little():
    assert sets({1: 10, 2: COUNTED, 3: 9 * COUNTED}) == ["1", "2 3", "2", "3"]
    assert sets({2: COUNTED}) == ["2"]


def test_of_many_frequent_words_the_rarest_are_paired():
    counts = {number: number * COUNTED for number in range(1, 20)}
    assert len([each for each in sets(counts) if " " in each]) == 6
    assert {word for each in sets(counts) for word in each.split()} == {"1", "2", "3", "4"}


def test_a_word_that_more_passages_have_than_were_counted_is_worth_next_to_nothing():
    ((_, weight),) = word_sets({1: 2 * TOTAL}, TOTAL, 400)
    assert 0 < weight < 0.001
