"""Law 2: padding and the company in the batch change nothing."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from regard import losses
from regard.attention import SelfAttention
from regard.losses import Total
from regard.model import Seq2Seq
from regard.search import beam, exhaustive, greedy, sample

from .zoo import (
    ALL_ATTENTIONS,
    BEGIN,
    HARD,
    PENALTIES,
    SYMBOLS,
    SYSTEMS,
    Batch,
    Table,
    assert_close,
    assert_same_hypotheses,
    batch,
    build,
    look,
    make_attention,
    memory,
    randomised,
    sentence,
    table,
)

sizes = st.lists(st.tuples(st.integers(1, 5), st.integers(1, 4)), min_size=2, max_size=4)


@pytest.mark.parametrize("name", SYSTEMS)
@given(sizes=sizes, seed=st.integers(0, 99))
def test_memory_and_outputs_do_not_depend_on_the_batch(
    name: str, sizes: list[tuple[int, int]], seed: int
) -> None:
    model = build(name)
    data = batch([s for s, _ in sizes], [t for _, t in sizes], seed=seed)
    together = model.encoder(data.source, data.mask)
    outputs = model.decoder(data.tokens, together).outputs
    for row, (length, time) in enumerate(sizes):
        one = data.alone(row)
        alone = model.encoder(one.source, one.mask)
        assert_close(together.values[row : row + 1, :length], alone.values)
        assert_close(together.summary[row : row + 1], alone.summary)
        assert_close(outputs[row : row + 1, :time], model.decoder(one.tokens, alone).outputs)


@pytest.mark.parametrize("name", SYSTEMS)
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_loss_and_gradients_are_the_sums_of_those_of_single_sentences(
    name: str, smoothing: float
) -> None:
    # Hard attention draws in training; its places in use are the same in any company.
    model = build(name).train(name not in HARD)
    data = batch([2, 5, 1, 3], [4, 1, 2, 5], seed=3)
    whole = total(model, data, smoothing)
    whole.loss.backward()
    together = {key: weight.grad for key, weight in model.named_parameters()}
    model.zero_grad()
    alone = [total(model, data.alone(row), smoothing) for row in range(4)]
    for one in alone:
        one.loss.backward()
    assert_close(whole.loss, torch.stack([one.loss for one in alone]).sum())
    assert_close(whole.nll, torch.stack([one.nll for one in alone]).sum())
    assert int(whole.tokens) == sum(int(one.tokens) for one in alone) == 12
    for key, weight in model.named_parameters():
        assert (together[key] is None) == (weight.grad is None), key
        if weight.grad is not None:
            assert_close(together[key], weight.grad, key)
    reached = sum(grad is not None and bool(grad.any()) for grad in together.values())
    # Hard attention's scores learn through log_prob alone; all else must be reached.
    unreached = [k for k, grad in together.items() if grad is None or not grad.any()]
    assert reached > 5
    assert all(name in HARD and ".attention." in key for key in unreached), unreached


def total(model: Seq2Seq, data: Batch, smoothing: float) -> Total:
    outputs = model(data.source, data.mask, data.tokens).outputs
    return losses.likelihood(
        model.head, outputs, data.targets, data.target_mask, smoothing=smoothing
    )


@pytest.mark.parametrize("name", ALL_ATTENTIONS)
@given(
    lengths=st.lists(st.integers(1, 5), min_size=2, max_size=4),
    width=st.integers(1, 3),
    seed=st.integers(0, 99),
)
def test_attention_reads_the_same_in_any_company(
    name: str, lengths: list[int], width: int, seed: int
) -> None:
    attention, seen = make_attention(name), memory(lengths, seed=seed)
    query = torch.randn(
        len(lengths),
        width,
        4,
        dtype=torch.float64,
        generator=torch.Generator().manual_seed(seed + 1),
    )
    together = look(attention, query.flatten(0, 1), seen).context.view_as(query)
    for row, length in enumerate(lengths):
        own = seen._replace(
            values=seen.values[row : row + 1, :length], mask=seen.mask[row : row + 1, :length]
        )
        assert_close(look(attention, query[row], own).context, together[row])


@pytest.mark.parametrize("causal", [False, True])
def test_self_attention_of_a_padded_sequence(causal: bool) -> None:
    attention = randomised(SelfAttention(4, 2, causal=causal), "self", 0)
    seen = memory([2, 5, 1])
    together = attention(seen.values, seen.mask).context.view_as(seen.values)
    for row, length in enumerate([2, 5, 1]):
        own = seen.values[row : row + 1, :length]
        assert_close(attention(own).context, together[row, :length])


LIMITS = [3, 1, 0, 2]


@pytest.mark.parametrize("name", SYSTEMS)
def test_searches_return_the_same_in_any_company(name: str) -> None:
    model, data = build(name), batch([3, 1, 5, 2], seed=5)
    source = model.prepare(data.source, data.mask)
    together = everything(
        model, source, torch.tensor(LIMITS), seeds=[11, 22, 33, 44], penalties=("gnmt",)
    )
    for row in range(4):
        one = data.alone(row)
        alone = everything(
            model,
            model.prepare(one.source, one.mask),
            torch.tensor(LIMITS[row : row + 1]),
            seeds=[(row + 1) * 11],
            penalties=("gnmt",),
        )
        for kind, found in alone.items():
            assert_same_hypotheses(together[kind][row], found[0])


@settings(max_examples=15)
@given(
    seed=st.integers(0, 9999),
    limits=st.lists(st.integers(0, 5), min_size=2, max_size=4),
    forced=st.lists(st.integers(3, 6), max_size=3),
    width=st.integers(1, 4),
)
def test_searches_of_any_distribution_return_the_same_in_any_company(
    seed: int, limits: list[int], forced: list[int], width: int
) -> None:
    source = table(len(limits), seed=seed)
    # The last sentence has a prefix, the others have less and less of it.
    prefix = torch.full((len(limits), max(len(forced), 1)), -1)
    for row in range(len(limits)):
        own = forced[: max(len(forced) - (len(limits) - 1 - row), 0)]
        prefix[row, : len(own)] = torch.tensor(own, dtype=torch.long)
    seeds = [seed + row for row in range(len(limits))]
    together = everything(
        Table(), source, torch.tensor(limits), seeds=seeds, prefix=prefix, width=width
    )
    for row, limit in enumerate(limits):
        alone = everything(
            Table(),
            sentence(source, row),
            torch.tensor([limit]),
            seeds=[seeds[row]],
            prefix=prefix[row : row + 1],
            width=width,
        )
        for kind, found in alone.items():
            assert_same_hypotheses(together[kind][row], found[0])


def everything(
    scorer: Any,
    source: Any,
    limits: Tensor,
    *,
    seeds: list[int],
    prefix: Tensor | None = None,
    width: int = 4,
    penalties: tuple[str, ...] = tuple(PENALTIES),
) -> dict[str, list[Any]]:
    """What each search finds, as lists of lists."""
    common: dict[str, Any] = {"symbols": SYMBOLS, "limits": limits, "prefix": prefix}
    found: dict[str, list[Any]] = {
        "greedy": [[h] for h in greedy(scorer, source, **common)],
        "sample": [[h] for h in sample(scorer, source, seeds=seeds, temperature=1.3, **common)],
        "nucleus": [[h] for h in sample(scorer, source, seeds=seeds, top_k=4, top_p=0.9, **common)],
        "exhaustive": exhaustive(scorer, source, nbest=3, penalty=PENALTIES["gnmt"], **common),
    }
    for name in penalties:
        found[name] = beam(
            scorer, source, width=width, nbest=min(width, 3), penalty=PENALTIES[name], **common
        )
    return found


def test_a_prefix_stays_with_its_sentence_when_others_have_left() -> None:
    prefix = torch.tensor([[-1, -1, -1], [3, 4, 5]])
    found = everything(Table(), table(2, seed=0), torch.tensor([0, 4]), seeds=[0, 1], prefix=prefix)
    for first, second in found.values():
        assert [h.tokens for h in first] == [[]]
        assert all(h.tokens[:3] == [3, 4, 5] for h in second)


class Counting(Table):
    """A scorer that writes down how many sentences and rows each step had."""

    def __init__(self) -> None:
        self.sentences: list[int] = []
        self.rows: list[int] = []

    def step(self, token: Tensor, state: Tensor, source: Tensor) -> tuple[Tensor, Tensor]:
        self.sentences.append(len(source))
        self.rows.append(len(token))
        return super().step(token, state, source)


def test_finished_sentences_leave_the_batch_and_sources_are_never_copied() -> None:
    limits = torch.tensor([0, 1, 2, 4])
    source = table(4, seed=1)
    source[:, :, SYMBOLS.end] = -20  # only the limits end a sentence
    for search, width in ((greedy, 1), (beam, 3)):
        scorer = Counting()
        search(
            scorer,
            source,
            symbols=SYMBOLS,
            limits=limits,
            **({"width": width} if width > 1 else {}),
        )
        assert scorer.sentences == [4, 3, 2, 1, 1]
        assert scorer.rows == [4, *(n * width for n in (3, 2, 1, 1))]


def test_a_source_of_nothing_gives_numbers() -> None:
    for name in SYSTEMS:
        model, data = build(name), batch([3, 1])
        data.mask[1] = False
        for tokens in (data.tokens, torch.full((2, 1), BEGIN)):
            assert model(data.source, data.mask, tokens).outputs.isfinite().all(), name
