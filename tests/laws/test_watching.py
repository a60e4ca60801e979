"""Law 5: watching changes nothing and sees every attention."""

from __future__ import annotations

import pytest
import torch

from regard.attention import Attention, SelfAttention
from regard.attention.base import weights_are_wanted
from regard.look.watch import watch
from regard.losses import likelihood
from regard.model import Seq2Seq

from .zoo import BLIND, HARD, SYSTEMS, Batch, assert_close, batch, build


def outputs_and_gradients(model: Seq2Seq, data: Batch) -> tuple[torch.Tensor, ...]:
    torch.manual_seed(3)
    model.zero_grad()
    decoded = model(data.source, data.mask, data.tokens)
    total = likelihood(model.head, decoded.outputs, data.targets, data.target_mask)
    chosen = 0 if decoded.log_prob is None else decoded.log_prob.sum()
    (total.loss + chosen).backward()
    gradients = [weight.grad for weight in model.parameters() if weight.grad is not None]
    assert gradients
    return decoded.outputs.detach(), total.loss.detach(), *gradients


@pytest.mark.parametrize("name", SYSTEMS)
@pytest.mark.parametrize("training", [False, True], ids=["use", "training"])
def test_watching_changes_neither_outputs_nor_gradients(name: str, training: bool) -> None:
    more = {"dropout": 0.3}
    if "transformer" in name:
        more |= {"attention_dropout": 0.2, "hidden_dropout": 0.1}
    model, data = build(name, **more).train(training), batch([2, 5, 1], [4, 1, 3])
    unseen = outputs_and_gradients(model, data)
    with watch(model):
        seen = outputs_and_gradients(model, data)
    assert_close(seen, unseen)


@pytest.mark.parametrize("name", [n for n in SYSTEMS if n not in BLIND])
def test_watching_gives_weights_of_every_attention_for_every_step(name: str) -> None:
    model, data = build(name), batch([2, 5, 1], [4, 1, 3])
    looking = {
        key
        for key, module in model.named_modules()
        if isinstance(module, Attention | SelfAttention)
    }
    with watch(model) as gaze:
        model(data.source, data.mask, data.tokens)
    maps = gaze.maps(batch=3)
    assert set(maps) == looking
    for key, weights in maps.items():
        inside = "encoder" in key
        assert weights.shape[1] == (5 if inside else 4), key
        assert weights.shape[-1] == (4 if key.endswith(".past") else 5), key
        assert weights.ndim == (4 if "transformer" in name else 3)
        assert_close(weights.sum(-1), torch.ones_like(weights[..., 0]), key)
        if not key.endswith(".past"):
            padding = ~data.mask.view(3, *[1] * (weights.ndim - 2), 5).expand_as(weights)
            assert (weights[padding] == 0).all()
        else:
            future = torch.ones(4, 4, dtype=torch.bool).triu(1)
            assert (weights.transpose(1, 2)[..., future] == 0).all()


@pytest.mark.parametrize("name", BLIND)
def test_systems_without_attention_show_nothing(name: str) -> None:
    model, data = build(name), batch([2, 3])
    with watch(model) as gaze:
        model(data.source, data.mask, data.tokens)
    assert gaze.maps(batch=2) == {}


def test_what_is_seen_is_what_was_used() -> None:
    model, data = build("bahdanau-gru"), batch([2, 5, 1], [4, 1, 3])
    with watch(model) as gaze:
        decoded = model(data.source, data.mask, data.tokens)
    assert_close(gaze.maps(batch=3)["decoder.attention"], decoded.weights)


def test_watching_ends_even_after_an_error() -> None:
    model, data = build("transformer-pre-learned"), batch([2, 3])
    gaze = None

    def interrupted() -> None:
        nonlocal gaze
        with watch(model) as gaze:
            assert weights_are_wanted()
            raise KeyError

    with pytest.raises(KeyError):
        interrupted()
    assert not weights_are_wanted()
    model(data.source, data.mask, data.tokens)
    assert gaze is not None
    assert not gaze.looks
    assert not any(module._forward_hooks for module in model.modules())


@pytest.mark.parametrize("name", HARD)
def test_hard_looks_are_seen_as_one_place(name: str) -> None:
    model, data = build(name).train(), batch([2, 5, 1], [4, 1, 3])
    with watch(model) as gaze:
        model(data.source, data.mask, data.tokens)
    assert set(gaze.maps(batch=3)["decoder.attention"].unique().tolist()) == {0.0, 1.0}
