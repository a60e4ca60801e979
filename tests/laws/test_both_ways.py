"""Answers that are judged from both ends."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.data import Tokenizer
from regard.search import Beam, BothWays, Gnmt, Hypothesis
from regard.tasks.text import text_batch

from .zoo import END, FEW, SYMBOLS, assert_same_hypotheses, batch, build

LENGTHS, WIDTH = [4, 2, 5], 4
PENALTY = Gnmt(0.6)


def searches(
    name: str, lengths: list[int], *, nbest: int = WIDTH
) -> tuple[list[list[Hypothesis]], list[list[Hypothesis]]]:
    """What a beam finds, and the same judged from both ends."""
    model, data = build(name), batch(lengths)
    source = model.prepare(data.source, data.mask)

    def beam() -> Beam:
        limits = data.mask.sum(1) + 2
        asked = {"width": WIDTH, "nbest": WIDTH, "penalty": PENALTY}
        return Beam(model, source, symbols=SYMBOLS, limits=limits, **asked)

    return beam().finish(), BothWays(beam(), model, source, nbest=nbest).finish()


@pytest.mark.parametrize("name", FEW)
def test_the_score_is_the_mean_of_both_ways(name: str) -> None:
    model, data = build(name), batch(LENGTHS)
    found, judged = searches(name, LENGTHS)
    for sentence, (before, after) in enumerate(zip(found, judged, strict=True)):
        assert len(after) == len(before) > 1
        ahead = {tuple(h.tokens): h for h in before}
        assert [h.score for h in after] == sorted((h.score for h in after), reverse=True)
        for answer in after:
            backwards = answer.tokens[::-1]
            given = torch.tensor([[END, *backwards]])
            alone = data.alone(sentence)
            with torch.no_grad():
                outputs = model(alone.source, alone.mask, given).outputs
                log_prob = model.head(outputs).log_softmax(-1)[0]
            picked = log_prob.gather(1, torch.tensor([*backwards, END])[:, None]).sum()
            divisor = PENALTY.divisor(len(backwards) + 1)
            first = ahead[tuple(answer.tokens)]
            assert answer.log_prob == first.log_prob
            assert answer.score == pytest.approx((first.score + float(picked) / divisor) / 2)


@pytest.mark.parametrize("name", FEW)
def test_company_changes_nothing(name: str) -> None:
    model, data = build(name), batch(LENGTHS)
    _, together = searches(name, LENGTHS, nbest=2)
    for sentence, wanted in enumerate(together):
        alone = data.alone(sentence)
        source = model.prepare(alone.source, alone.mask)
        limits = alone.mask.sum(1) + 2
        asked = {"width": WIDTH, "nbest": WIDTH, "penalty": PENALTY}
        beam = Beam(model, source, symbols=SYMBOLS, limits=limits, **asked)
        assert_same_hypotheses(BothWays(beam, model, source, nbest=2).finish()[0], wanted)


def test_nothing_is_settled_before_the_end_and_what_is_dropped_is_not_judged() -> None:
    model, data = build(FEW[0]), batch(LENGTHS)
    source = model.prepare(data.source, data.mask)
    limits = torch.full((len(LENGTHS),), 6)
    asked = {"width": WIDTH, "nbest": WIDTH, "penalty": PENALTY}
    search = BothWays(
        Beam(model, source, symbols=SYMBOLS, limits=limits, **asked), model, source, nbest=1
    )
    search.step()
    assert [search.progress(sentence).settled for sentence in search.live] == [0] * 3
    search.drop([1])
    while search.live:
        search.step()
    assert len(search.answers(0)) == len(search.answers(2)) == 1
    with pytest.raises(KeyError):
        search.answers(1)


@given(st.lists(st.lists(st.integers(4, 9), max_size=5), min_size=1, max_size=4))
@settings(max_examples=30)
def test_targets_are_turned_within_their_own_length(rows: list[list[int]]) -> None:
    once = text_batch([[4]] * len(rows), rows)
    turned = once.turned()
    assert turned.turned().targets.equal(once.targets)
    assert turned.target_mask.equal(once.target_mask)
    for row, inputs, targets in zip(
        rows, turned.inputs.tolist(), turned.targets.tolist(), strict=True
    ):
        assert inputs[: len(row) + 1] == [Tokenizer.EOS, *row[::-1]]
        assert targets[: len(row) + 1] == [*row[::-1], Tokenizer.EOS]
