"""Error rates against hand-made values, jiwer, and the laws of an edit distance."""

import jiwer
import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.metrics import (
    CharacterErrors,
    ExactMatch,
    PhonemeErrors,
    SequenceErrors,
    TokenAccuracy,
    WordErrors,
)

words = st.lists(st.sampled_from(["a", "b", "c", "dd"]), max_size=6).map(" ".join)
nonempty = words.filter(bool)
corpora = st.lists(
    st.tuples(words, st.lists(words, min_size=1, max_size=3)), min_size=1, max_size=5
)
ALL = [
    WordErrors(),
    CharacterErrors(),
    PhonemeErrors(),
    ExactMatch(),
    SequenceErrors(),
    TokenAccuracy(),
]


def apart(corpus):
    return [list(each) for each in zip(*corpus, strict=True)]


@given(st.lists(st.tuples(words, nonempty), min_size=1, max_size=6))
def test_rates_are_those_of_jiwer(corpus):
    outputs, wanted = apart(corpus)
    single = [[each] for each in wanted]
    assert WordErrors()(outputs, single) == pytest.approx(100 * jiwer.wer(wanted, outputs))
    assert CharacterErrors()(outputs, single) == pytest.approx(100 * jiwer.cer(wanted, outputs))


def test_word_errors_by_hand():
    # One substitution and one deletion in six words, then one insertion in two: 3 / 8.
    outputs = ["the cat sit on mat", "hello big world"]
    references = [["the cat sat on the mat"], ["hello world"]]
    assert WordErrors().statistics(outputs, references).tolist() == [[2, 6], [1, 2]]
    assert WordErrors()(outputs, references) == 37.5


def test_character_errors_count_spaces_inside():
    assert CharacterErrors()([" ab c "], [["a bc"]]) == 50.0


def test_the_nearest_pronunciation_counts():
    outputs, references = ["T AH M EY T OW"], [["T AH M AA T OW", "T AH M EY T OW Z", "X"]]
    assert PhonemeErrors().statistics(outputs, references).tolist() == [[1, 7]]
    assert PhonemeErrors()(outputs, references) == pytest.approx(100 / 7)


def test_rates_exceed_100_and_survive_empty_references():
    assert WordErrors()(["a b c"], [["x"]]) == 300
    assert WordErrors()(["a"], [[""]]) == 100
    assert WordErrors()([""], [[""]]) == 0


def test_exact_match_ignores_whitespace_and_takes_any_reference():
    outputs, references = ["a  b ", "c", "d"], [["x", "a b"], ["c"], ["D"]]
    assert ExactMatch()(outputs, references) == pytest.approx(200 / 3)
    assert SequenceErrors()(outputs, references) == pytest.approx(100 / 3)


def test_token_accuracy_by_hand():
    # 2 of 3 (one too many), and the better of 1 of 2 and 2 of 4.
    outputs, references = ["a b c", "x y"], [["a b"], ["x z", "x y z z"]]
    assert TokenAccuracy().statistics(outputs, references).tolist() == [[2, 3], [2, 4]]
    assert TokenAccuracy()(outputs, references) == pytest.approx(400 / 7)
    assert TokenAccuracy()([""], [[""]]) == 100


@given(corpora)
def test_no_error_is_the_same_to_every_metric(corpus):
    outputs, references = apart(corpus)
    perfect = ExactMatch()(outputs, references) == 100
    assert perfect == (WordErrors()(outputs, references) == 0)
    assert perfect == (TokenAccuracy()(outputs, references) == 100)
    assert perfect == (SequenceErrors()(outputs, references) == 0)


@given(corpora, words)
def test_another_reference_never_adds_edits(corpus, more):
    outputs, references = apart(corpus)
    longer = [[*each, more] for each in references]
    before = WordErrors().statistics(outputs, references)[:, 0]
    assert (WordErrors().statistics(outputs, longer)[:, 0] <= before).all()
    assert ExactMatch()(outputs, longer) >= ExactMatch()(outputs, references)


@given(corpora)
def test_the_order_of_references_does_not_matter(corpus):
    outputs, references = apart(corpus)
    backwards = [each[::-1] for each in references]
    for metric in ALL:
        assert metric(outputs, references) == metric(outputs, backwards)


@given(corpora)
def test_scores_are_rowwise(corpus):
    outputs, references = apart(corpus)
    for metric in ALL:
        rows = metric.statistics(outputs, references)
        assert metric.scores(rows).tolist() == [metric.score(row) for row in rows]


def test_signatures():
    assert PhonemeErrors().signature([["a"]]) == "nrefs:1|unit:phoneme|reference:nearest"
    assert ExactMatch().signature([["a"], ["a", "b"]]) == "nrefs:var|unit:sequence|reference:any"
    assert TokenAccuracy().signature([["a", "b"]]) == "nrefs:2|unit:position|reference:best"


@pytest.mark.parametrize(
    ("outputs", "references", "message"),
    [
        ([], [], "at least one output"),
        (["a"], [["a"], ["b"]], "got 1 outputs and 2 lists"),
        (["a", "b"], [["a"], []], r"for sentence 1, got \[\]"),
        (["abc"], ["abc"], "write \\[reference\\]"),
    ],
)
def test_mistakes_are_explained(outputs, references, message):
    with pytest.raises(ValueError, match=message):
        WordErrors()(outputs, references)
