"""Law 7: what is saved and loaded says the same."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from safetensors.torch import load_model, save_model

from regard.search import beam

from .zoo import SYMBOLS, SYSTEMS, batch, build


@pytest.mark.parametrize("name", SYSTEMS)
def test_weights_saved_and_loaded_give_the_same_bits(name: str, tmp_path: Path) -> None:
    model, data = build(name), batch([3, 1, 5], [4, 2, 3])
    save_model(model, str(tmp_path / "model.safetensors"))
    other = build(name, seed=1)
    before = other(data.source, data.mask, data.tokens).outputs
    load_model(other, tmp_path / "model.safetensors", strict=True)
    wanted = model(data.source, data.mask, data.tokens).outputs
    assert not torch.allclose(before, wanted)
    assert torch.equal(other(data.source, data.mask, data.tokens).outputs, wanted)
    lists = [
        beam(
            one,
            one.prepare(data.source, data.mask),
            symbols=SYMBOLS,
            limits=torch.tensor([4, 2, 6]),
            width=3,
            nbest=3,
        )
        for one in (model, other)
    ]
    assert lists[0] == lists[1]


@pytest.mark.parametrize("name", [n for n in SYSTEMS if "tied" in n or "shared" in n])
def test_tied_weights_are_one_after_loading(name: str, tmp_path: Path) -> None:
    model = build(name)
    save_model(model, str(tmp_path / "model.safetensors"))
    load_model(other := build(name, seed=1), tmp_path / "model.safetensors")
    target = other.decoder.embedding.table.weight
    assert (other.head.weight is target) == ("untied" not in name)
    assert (other.encoder.embedding.table.weight is target) == ("shared" in name)
    assert torch.equal(target, model.decoder.embedding.table.weight)
