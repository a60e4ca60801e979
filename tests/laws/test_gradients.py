"""Gradients are those of the formula, by finite differences."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
import yaml
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.autograd import gradcheck
from torch.nn import functional as F

from regard.attention import Hard, SelfAttention
from regard.attention.base import explicit_weights
from regard.commands.train import train
from regard.heads import Categorical
from regard.losses import ChunkedCrossEntropy, judged, likelihood
from regard.losses_agreeing import ChunkedAgreement
from regard.tasks.folder import task_of
from tests import toy

from .zoo import (
    ALL_ATTENTIONS,
    ATTENTIONS,
    assert_close,
    look,
    make_attention,
    mask,
    memory,
    randomised,
)


def check(module: nn.Module, function: Any, *inputs: Tensor) -> None:
    """Gradcheck of the inputs and of every weight of the module."""
    names, weights = (
        zip(*module.named_parameters(), strict=True) if list(module.parameters()) else ((), ())
    )
    inputs = tuple(x.detach().clone().requires_grad_() for x in inputs)

    def call(*every: Tensor) -> Tensor:
        own, theirs = every[: len(inputs)], dict(zip(names, every[len(inputs) :], strict=True))

        class Run(nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.inner = module

            def forward(self, *x: Tensor) -> Tensor:
                return function(self.inner, *x)

        return torch.func.functional_call(
            Run(), {f"inner.{key}": value for key, value in theirs.items()}, own
        )

    assert gradcheck(call, (*inputs, *(w.detach().clone().requires_grad_() for w in weights)))


@pytest.mark.parametrize("name", [n for n in ALL_ATTENTIONS if "hard" not in n])
def test_attention(name: str) -> None:
    seen = memory([3, 1])
    query = torch.randn(4, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0))

    def context(attention: Any, q: Tensor, values: Tensor) -> Tensor:
        return look(attention, q, seen._replace(values=values)).context

    check(make_attention(name), context, query, seen.values)
    if name == "multihead":
        with explicit_weights():
            check(make_attention(name), context, query, seen.values)


@pytest.mark.parametrize("name", ATTENTIONS)
def test_hard_attentions_log_prob(name: str) -> None:
    seen = memory([3, 1])
    query = torch.randn(4, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0))

    def chosen(attention: Any, q: Tensor, values: Tensor) -> Tensor:
        torch.manual_seed(5)
        read = look(attention, q, seen._replace(values=values))
        return torch.cat([read.log_prob, read.context.flatten()])

    attention = make_attention(f"{name}-hard").train()
    assert any(isinstance(part, Hard) for part in attention.modules())
    check(attention, chosen, query, seen.values)


@pytest.mark.parametrize("causal", [False, True])
def test_self_attention(causal: bool) -> None:
    seen = memory([3, 2])
    attention = randomised(SelfAttention(4, 2, causal=causal), "self", 0)

    def context(attention: Any, x: Tensor) -> Tensor:
        return attention(x, seen.mask).context

    check(attention, context, seen.values)
    with explicit_weights():
        check(attention, context, seen.values)


ROWS, DIM, SIZE = 5, 3, 4


def parts(seed: int = 0) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    rows, weight, bias = (
        torch.randn(*shape, dtype=torch.float64, generator=generator, requires_grad=True)
        for shape in ((ROWS, DIM), (SIZE, DIM), (SIZE,))
    )
    return rows, weight, bias, torch.randint(SIZE, (ROWS,), generator=generator)


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("chunk", [1, 2, 3, 1024])
def test_chunked_cross_entropy(
    smoothing: float, chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ChunkedCrossEntropy, "CHUNK", chunk)
    *inputs, wanted = parts()
    assert gradcheck(lambda *x: ChunkedCrossEntropy.apply(*x, wanted, smoothing)[0], inputs)
    loss, nll = ChunkedCrossEntropy.apply(*inputs, wanted, smoothing)
    ours = torch.autograd.grad(3 * loss, inputs)
    theirs_loss = F.cross_entropy(
        F.linear(*inputs), wanted, reduction="sum", label_smoothing=smoothing
    )
    assert_close(loss, theirs_loss)
    assert_close(nll, F.cross_entropy(F.linear(*inputs), wanted, reduction="sum"))
    assert not nll.requires_grad
    assert_close(ours, torch.autograd.grad(3 * theirs_loss, inputs))


def test_likelihood_counts_real_positions_only() -> None:
    head = randomised(Categorical(DIM, SIZE), "head", 0)
    outputs = torch.randn(2, 4, DIM, dtype=torch.float64, requires_grad=True)
    targets, real = torch.tensor([[0, 1, 2, 3], [3, 2, 1, 0]]), mask([4, 1])
    total = likelihood(head, outputs, targets, real, smoothing=0.1)
    wanted = F.cross_entropy(
        head(outputs)[real], targets[real], reduction="sum", label_smoothing=0.1
    )
    assert_close(total.loss, wanted)
    assert total.tokens == 5
    total.loss.backward()
    assert not outputs.grad[1, 1:].any()
    assert outputs.grad[real].any()


def test_the_loss_without_gradients_is_the_same_and_wastes_no_work(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    head = randomised(Categorical(DIM, SIZE), "head", 0)
    rows, _, _, wanted = parts()
    arguments = (head, rows[None].detach(), wanted[None], mask([ROWS]))
    with_gradients = likelihood(*arguments)
    saved: list[int] = []
    forward = ChunkedCrossEntropy.forward

    def counting(ctx: Any, *x: Any) -> Any:
        saved.append(sum(ctx.needs_input_grad))
        return forward(ctx, *x)

    monkeypatch.setattr(ChunkedCrossEntropy, "forward", staticmethod(counting))
    with torch.no_grad():
        without = likelihood(*arguments)
    assert_close((without.loss, without.nll), (with_gradients.loss.detach(), with_gradients.nll))
    assert saved == [0]


@pytest.mark.parametrize("function", [ChunkedCrossEntropy, ChunkedAgreement])
def test_in_sixteen_bits_gradients_are_near_and_what_is_measured_is_exact(
    function: type[torch.autograd.Function],
) -> None:
    settings = (0.1,) if function is ChunkedCrossEntropy else (0.1, 3.0)
    head = Categorical(24, 40)
    outputs, wanted = torch.randn(1, 30, 24, requires_grad=True), torch.randint(40, (1, 30))
    arguments = (head, outputs, wanted, torch.arange(30))
    parts = (outputs, *head.parameters())
    loss, _ = judged(function, *arguments, *settings)
    with torch.autocast("cpu", torch.bfloat16):
        near, _ = judged(function, *arguments, *settings)
        with torch.no_grad():
            exact, _ = judged(function, *arguments, *settings)
    assert exact == loss
    assert near != loss  # or 16 bits were not used at all
    assert abs(near - loss) < 1e-3 * loss
    for ours, theirs in zip(
        torch.autograd.grad(near, parts), torch.autograd.grad(loss, parts), strict=True
    ):
        assert ours.dtype == torch.float32
        assert (ours - theirs).norm() < 0.02 * theirs.norm()


def test_a_second_derivative_is_refused_rather_than_wrong() -> None:
    *inputs, wanted = parts()
    loss, _ = ChunkedCrossEntropy.apply(*inputs, wanted, 0.0)
    (first,) = torch.autograd.grad(loss**2, inputs[:1], create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        first.sum().backward()


@pytest.mark.parametrize("by", ["norm", "value"])
def test_training_clips_by_norm_or_by_value(by: str, tmp_path: Path) -> None:
    """One step of plain descent with rate 1 moves the weights by the clipped gradient."""
    recipe = toy.recipe(
        tmp_path,
        updates=1,
        clip=0.01,
        clip_by=by,
        optimizer={"is": "torch.optim.SGD", "lr": 1.0},
        schedule={"is": "train.Constant"},
    )
    path = tmp_path / "toy.yaml"
    path.write_text(yaml.safe_dump(recipe))
    before = {n: p.detach().clone() for n, p in _prepared(recipe).model.named_parameters()}
    train(str(path), [], str(tmp_path / "run"), fresh=False, quiet=True)
    after = load_file(tmp_path / "run" / "model.safetensors")
    moved = torch.cat([(before[name] - after[name]).flatten() for name in before])
    if by == "norm":
        assert abs(float(moved.norm()) - 0.01) < 1e-5
    else:
        assert abs(float(moved.abs().max()) - 0.01) < 1e-6
        assert float(moved.norm()) > 0.02


def _prepared(recipe: dict[str, Any]) -> Any:
    return task_of(recipe).prepare(progress=False)
