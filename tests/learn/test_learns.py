"""Every architecture really learns: letters backwards, on words that it never saw."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from regard.commands.train import train
from regard.tasks.folder import load
from tests import toy

RNN = {"embedding": 32, "dropout": 0.0}
MODELS: dict[str, dict[str, Any]] = {
    "bahdanau": {
        "is": "systems.bahdanau",
        "deep_output": "tanh",
        **RNN,
        "encoder": 32,
        "decoder": 64,
        "attention": 32,
        "readout": 32,
    },
    "bahdanau-hard": {
        "is": "systems.bahdanau",
        "deep_output": "tanh",
        **RNN,
        "choice": "hard",
        "encoder": 32,
        "decoder": 64,
        "attention": 32,
        "readout": 32,
    },
    "luong": {"is": "systems.luong", **RNN, "dim": 64, "layers": 1},
    "luong-unfed": {
        "is": "systems.luong",
        **RNN,
        "dim": 64,
        "layers": 1,
        "input_feeding": False,
        "score": "dot",
        "cell": "gru",
    },
    "luong-local": {
        "is": "systems.luong",
        **RNN,
        "dim": 64,
        "layers": 1,
        "window": "predictive",
        "width": 2,
    },
    "gnmt": {"is": "systems.gnmt", **RNN, "dim": 48, "attention": 32, "layers": 3},
    "convs2s": {"is": "systems.convs2s", **RNN, "dim": 48, "layers": 2},
    "sutskever": {"is": "systems.sutskever", **RNN, "dim": 96, "layers": 1},
    "cho": {"is": "systems.cho", **RNN, "dim": 96, "readout": 32, "summary": "max"},
    "hierarchical": {
        "is": "systems.hierarchical",
        **RNN,
        "encoder": 32,
        "context": 64,
        "decoder": 64,
        "attention": "words",
    },
    "transformer": {
        "is": "systems.transformer",
        "dim": 64,
        "hidden": 128,
        "layers": 2,
        "dropout": 0.0,
    },
    "transformer-post": {
        "is": "systems.transformer",
        "dim": 64,
        "hidden": 128,
        "layers": 2,
        "dropout": 0.0,
        "norm": "post",
        "positions": "learned",
    },
}


FAST = {"bahdanau", "transformer"}
"""The others are their kin, and are not trained at every turn."""


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=() if n in FAST else pytest.mark.slow) for n in MODELS]
)
def test_learns_to_reverse(name: str, tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    toy.write_pairs(data / "train.tsv", 4000, seed=1)
    toy.write_pairs(data / "valid.tsv", 200, seed=2)
    updates, tokens = (300, 600) if name in FAST else (400, 800)
    settings = {
        "updates": updates,
        "tokens": tokens,
        "validate_every": updates,
        "optimizer": {"is": "torch.optim.AdamW", "lr": 0.005},
        "schedule": {"is": "train.Cosine", "warmup": 40},
    }
    path = tmp_path / "toy.yaml"
    path.write_text(yaml.safe_dump(toy.recipe(data, model=MODELS[name], **settings)))
    train(str(path), [], str(tmp_path / "out"), fresh=False, quiet=True)
    model: Any = load(tmp_path / "out")
    score = model.evaluate(str(data / "valid.tsv")).scores["exact"].value
    assert score >= 95
    if name in ("bahdanau", "luong", "luong-local"):
        seen = model.look("abcde").alignment
        # The first letter said is the last one read: the weights run against the diagonal.
        assert np.abs(seen[:5].argmax(1) - np.arange(4, -1, -1)).mean() <= 1
