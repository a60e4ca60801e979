"""What cannot be done is refused with where, wanted, got."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from regard import attention
from regard.attention import MultiHead, SelfAttention
from regard.blocks import Embedding, sinusoids
from regard.dropout import Dropout
from regard.heads import Categorical
from regard.recurrent import GRU
from regard.search import Ensemble, Gnmt, beam, exhaustive, sample
from regard.systems import convs2s, gnmt, transformer
from regard.tasks import Decode

from .zoo import SYMBOLS, Table, table

WRONG: dict[str, tuple[Any, str]] = {
    "nbest above width": (lambda: search(beam, width=2, nbest=3), "nbest: wanted 1 to .* 2, got 3"),
    "nbest of nothing": (lambda: search(beam, width=2, nbest=0), "nbest: wanted 1 to .* 2, got 0"),
    "width": (lambda: search(beam, width=0), "width: wanted 1 or more, got 0"),
    "exhaustive nbest": (lambda: search(exhaustive, nbest=0), "nbest: wanted 1 or more, got 0"),
    "temperature": (lambda: search(sample, seeds=[0], temperature=0.0), "temperature: .* got 0"),
    "top_k": (lambda: search(sample, seeds=[0], top_k=0), "top_k: wanted 1 or more, got 0"),
    "top_p": (lambda: search(sample, seeds=[0], top_p=0.0), "top_p: .* got 0"),
    "top_p above 1": (lambda: search(sample, seeds=[0], top_p=1.5), "top_p: .* got 1.5"),
    "seeds": (lambda: search(sample, seeds=[0, 1]), "seeds: .* each of the 1 sentences, got 2"),
    "ensemble": (lambda: Ensemble([]), "ensemble: wanted one model or more"),
    "coverage": (lambda: Decode(coverage=-0.1), "coverage: wanted a weight of 0 or more, got -0.1"),
    "alpha": (lambda: Gnmt(-1.0), "alpha: .* got -1"),
    "heads": (lambda: MultiHead(6, 4), "heads: wanted a divisor of dim = 6, got 4; try 1, 2"),
    "key": (lambda: MultiHead(6, 2, key=0), "key: wanted 1 or more, or null .* got 0"),
    "no heads": (lambda: SelfAttention(6, 0, causal=True), "heads: .* got 0"),
    "dropout": (lambda: Dropout(1.0), "dropout: .* got 1"),
    "layers": (lambda: GRU(2, 2, layers=0), "layers: wanted 1 or more, got 0"),
    "odd": (lambda: sinusoids(4, 3), "even dim, got 3"),
    "window": (lambda: attention.Monotonic(width=0), "width: wanted .* 1 place or more .* got 0"),
    "convolution": (lambda: convs2s(7, 7, width=2), "width: wanted an odd number.* got 2"),
    "no convolution": (lambda: convs2s(7, 7, width=-1), "width: wanted 1 position .* got -1"),
    "shallow": (lambda: gnmt(7, 7, layers=1), "layers: wanted 2 or more.* got 1"),
    "tied": (lambda: Categorical(4, 7, tied=Embedding(7, 3)), "output size 4 .* embedding size 3"),
    "shared": (lambda: transformer(7, 8, shared=True), "one vocabulary .* got 7 and 8"),
    "positions": (lambda: transformer(7, 7, positions="none"), "sinusoidal or learned, got none"),
    "longest": (
        lambda: Embedding(7, 4, positions="learned", longest=3)(torch.ones(1, 4).long()),
        "4 tokens is longer than the 3 positions",
    ),
    "longest step": (
        lambda: Embedding(7, 4, positions="sinusoidal", longest=3)(
            torch.ones(2, 1).long(), torch.tensor([0, 3])
        ),
        "4 tokens is longer than the 3 positions",
    ),
}


def search(kind: Any, **options: Any) -> Any:
    return kind(Table(), table(1, seed=0), symbols=SYMBOLS, limits=torch.tensor([2]), **options)


@pytest.mark.parametrize(("call", "message"), WRONG.values(), ids=WRONG)
def test_wrong_arguments_are_refused(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_exhaustive_refuses_what_it_cannot_finish() -> None:
    message = "4 symbols up to length 20 make 1.47e.12 sequences.* lower the length limit"
    with pytest.raises(ValueError, match=message):
        exhaustive(Table(), table(1, seed=0), symbols=SYMBOLS, limits=torch.tensor([20]))
    options: dict[str, Any] = {"symbols": SYMBOLS, "limits": torch.tensor([2])}
    assert len(exhaustive(Table(), table(1, seed=0), most=21, nbest=99, **options)[0]) == 21
    with pytest.raises(ValueError, match="more than the 20"):
        exhaustive(Table(), table(1, seed=0), most=20, **options)
