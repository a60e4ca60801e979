"""Our scores are sacreBLEU's own, taken apart and put together again."""

import logging

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.metrics import BLEU, CHRF, TER

from regard.metrics import Bleu, Chrf, Metric, Ter

OUTPUTS = [
    "A man is riding a bicycle down the street .",
    "Two dogs play in the snow!",
    "the the the the the",
    "",
    "An old woman, who is tired, sits on a bench.",
]
REFERENCES = [
    ["A man rides a bike down the street.", "A man is riding a bicycle along the street."],
    ["Two dogs are playing in the snow."],
    ["The cat is on the mat."],
    ["Nothing at all."],
    ["A tired old woman sits on a bench.", "An old woman sits.", "The old woman is tired."],
]
PAIRS = [
    (Bleu(), lambda: BLEU()),
    (Bleu(lowercase=True), lambda: BLEU(lowercase=True)),
    (Bleu(tokenize="none"), lambda: BLEU(tokenize="none", force=True)),
    (Bleu(tokenize="char"), lambda: BLEU(tokenize="char")),
    (Chrf(), lambda: CHRF()),
    (Chrf(word_order=2), lambda: CHRF(word_order=2)),
    (Ter(), lambda: TER()),
]


def by_stream(references):
    most = max(map(len, references))
    return [[each[k] if k < len(each) else None for each in references] for k in range(most)]


@pytest.mark.parametrize(("ours", "theirs"), PAIRS, ids=lambda each: getattr(each, "name", ""))
@pytest.mark.parametrize("references", [REFERENCES, [each[:1] for each in REFERENCES]])
def test_score_and_signature_are_those_of_sacrebleu(ours, theirs, references):
    scorer = theirs()
    wanted = scorer.corpus_score(OUTPUTS, by_stream(references)).score
    assert ours(OUTPUTS, references) == pytest.approx(wanted, rel=1e-14, abs=0)
    assert ours.signature(references) == str(scorer.get_signature())


@given(
    st.lists(
        st.tuples(
            st.text("abc .", max_size=15), st.lists(st.text("abc .", max_size=15), min_size=1)
        ),
        min_size=1,
        max_size=4,
    )
)
def test_score_is_that_of_sacrebleu_on_any_corpus(corpus):
    outputs, references = [list(each) for each in zip(*corpus, strict=True)]
    for ours, theirs in PAIRS:
        wanted = theirs().corpus_score(outputs, by_stream(references)).score
        assert ours(outputs, references) == pytest.approx(wanted, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("metric", [ours for ours, _ in PAIRS], ids=lambda each: each.name)
def test_statistics_add_up_and_scores_are_rowwise(metric: Metric):
    whole = metric.statistics(OUTPUTS, REFERENCES)
    parts = [metric.statistics(OUTPUTS[:2], REFERENCES[:2])]
    parts.append(metric.statistics(OUTPUTS[2:], REFERENCES[2:]))
    np.testing.assert_array_equal(whole, np.concatenate(parts))
    assert metric.scores(whole).tolist() == [metric.score(row) for row in whole]


def test_bleu_by_hand():
    # Six words of which five match, then 4/5, 3/4 and 2/3 of the longer n-grams; as long as wanted.
    value = Bleu()(["the cat sat on the mat"], [["the cat sat on the rug"]])
    assert value == pytest.approx(100 * (5 / 6 * 4 / 5 * 3 / 4 * 2 / 3) ** 0.25)


def test_perfect_translations():
    text = [each[0] for each in REFERENCES]
    assert Bleu()(text, REFERENCES) == pytest.approx(100)
    assert Chrf()(text, REFERENCES) == pytest.approx(100)
    assert Ter()(text, REFERENCES) == 0


def test_tokenized_text_draws_no_warning_with_tokenize_none(caplog):
    outputs, references = ["a dog ."] * 120, [["a dog ."]] * 120
    with caplog.at_level(logging.WARNING, logger="sacrebleu"):
        Bleu(tokenize="none")(outputs, references)
    assert not caplog.records


def test_references_of_an_earlier_call_leave_no_trace():
    metric = Bleu()
    metric(OUTPUTS, REFERENCES)
    single = [each[:1] for each in REFERENCES]
    assert metric(OUTPUTS, single) == Bleu()(OUTPUTS, single)
    assert "nrefs:1|" in metric.signature(single)
    assert "nrefs:var|" in metric.signature(REFERENCES)


def test_names_and_directions():
    assert [Bleu().name, Bleu(tokenize="none").name] == ["BLEU", "tokenized BLEU"]
    assert [Chrf().name, Chrf(word_order=2).name] == ["chrF", "chrF++"]
    assert Bleu().higher_is_better
    assert not Ter().higher_is_better


def test_mistakes_are_explained():
    with pytest.raises(
        ValueError, match=r"wanted a tokenize among .* got '13b'; did you mean '13a'"
    ):
        Bleu(tokenize="13b")
    with pytest.raises(ValueError, match="word_order"):
        Chrf(word_order=-1)
