"""Training in half precision where a recipe asks for it."""

import json
from pathlib import Path

import pytest
import torch

from cli.conftest import BAHDANAU, TRANSFORMER, Say, recipe_of, saved
from regard import recurrent
from regard.train.engine import suited

MODELS = {
    "bahdanau": BAHDANAU,
    "bahdanau-lstm": {**BAHDANAU, "cell": "lstm"},
    "transformer": TRANSFORMER,
    "luong": {"is": "systems.luong", "embedding": 16, "dim": 16, "layers": 1},
    "gnmt": {"is": "systems.gnmt", "embedding": 16, "dim": 16, "attention": 16, "layers": 3},
    "convs2s": {"is": "systems.convs2s", "embedding": 16, "dim": 16, "layers": 2},
    "cho": {"is": "systems.cho", "embedding": 16, "dim": 16, "readout": 16},
    "sutskever": {"is": "systems.sutskever", "embedding": 16, "dim": 16, "layers": 2},
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("agreement", [0.0, 1.0])
def test_sixteen_bits_where_they_do_no_harm(
    say: Say, toy: Path, tmp_path: Path, name: str, agreement: float
) -> None:
    recipe = recipe_of(toy, model={**MODELS[name], "dropout": 0.1}, agreement=agreement)
    recipe["train"].update(updates=3, precision="bf16-mixed", validate_every=3)
    said = say("train", saved(tmp_path / "half.yaml", recipe), "--output", tmp_path / "run")
    assert said.code == 0, said.err


def test_the_card_says_what_auto_came_to(say: Say, toy: Path, tmp_path: Path) -> None:
    recipe = recipe_of(toy, model=TRANSFORMER)
    recipe["train"].update(updates=2, precision="auto")
    said = say("train", saved(tmp_path / "auto.yaml", recipe), "--output", tmp_path / "run")
    assert said.code == 0, said.err
    assert json.loads((tmp_path / "run" / "card.json").read_text())["precision"] == suited(
        "auto", "auto"
    )


@pytest.mark.parametrize(
    ("known", "wanted"),
    [
        ({"amx_bf16": True, "avx512_bf16": True}, "bf16-mixed"),
        ({"amx_bf16": False, "avx512_bf16": True}, "bf16-mixed"),
        ({"amx_bf16": False, "avx512_bf16": False}, "32-true"),
        ({}, "32-true"),
    ],
)
def test_auto_is_sixteen_bits_only_where_the_processor_is_made_for_them(
    monkeypatch: pytest.MonkeyPatch, known: dict[str, bool], wanted: str
) -> None:
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: known)
    assert suited("auto", "cpu") == wanted
    assert suited("64-true", "cpu") == "64-true"


@pytest.mark.parametrize("layers", [1, 2])
def test_a_processor_without_kernels_of_sixteen_bits_computes_with_all(
    monkeypatch: pytest.MonkeyPatch, layers: int
) -> None:
    monkeypatch.setattr(recurrent, "knows_16_bits", lambda: False)
    cell = recurrent.LSTM(4, 6, layers=layers)
    x, state = torch.randn(2, 5, 4), cell.start(2)
    wanted = cell(x, state)
    with torch.autocast("cpu", torch.bfloat16):
        found = cell(x, state)
        half = cell(x.bfloat16(), state)[0]
    torch.testing.assert_close(found, wanted)
    assert half.dtype == torch.float32
    torch.testing.assert_close(half, wanted[0], atol=0.02, rtol=0)
