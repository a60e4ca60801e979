import json
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

import regard
from cli.conftest import Say


@pytest.mark.parametrize("which", ["--last", "--best"])
def test_the_mean_of_two(say: Say, model: Path, tmp_path: Path, which: str) -> None:
    said = say("average", model, which, 2, "--output", tmp_path / "mean")
    assert said.code == 0
    assert str(tmp_path / "mean") in said.out
    found = load_file(tmp_path / "mean" / "model.safetensors")
    by_update = {path.name[:13]: load_file(path) for path in (model / "checkpoints").iterdir()}
    assert set(by_update) == {"step-00000040", "step-00000080"}
    for name, tensor in found.items():
        both = [each[f"model/{name}"].double() for each in by_update.values()]
        assert torch.equal(tensor, ((both[0] + both[1]) / 2).float())
    translator: Any = regard.load(tmp_path / "mean")
    assert len(translator.run(["abc"])) == 1
    card = json.loads((tmp_path / "mean" / "card.json").read_text())
    assert "40" in card["weights"]
    assert "80" in card["weights"]
    assert "validation" not in card


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (("--last", 0), "--last: wanted 1 to 2"),
        (("--last", 9), "--last: wanted 1 to 2"),
        (("--best", 9), "--best: wanted 1 to 2"),
        (("--best", 0), "--best: wanted 1 to 2"),
    ],
)
def test_mistakes(
    say: Say, model: Path, tmp_path: Path, wrong: tuple[object, ...], said: str
) -> None:
    found = say("average", model, *wrong, "--output", tmp_path / "mean")
    assert found.code == 1
    assert said in found.err
    assert not (tmp_path / "mean").exists()


def test_what_is_there_stays(say: Say, model: Path, tmp_path: Path) -> None:
    assert "is there already" in say("average", model, "--last", 1, "--output", tmp_path).err


def test_not_a_run(say: Say, tmp_path: Path) -> None:
    said = say("average", tmp_path, "--last", 1, "--output", tmp_path / "mean")
    assert said.code == 1
    assert "without checkpoints" in said.err
