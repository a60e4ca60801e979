"""Names and numbers that a model never met are copied where training spelt the known ones anew."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
import yaml

from regard.commands.train import train
from regard.tasks.folder import load
from tests import toy

MODEL = {
    "is": "systems.bahdanau", "embedding": 32, "encoder": 48, "decoder": 96, "attention": 48,
    "readout": 48, "deep_output": "tanh", "dropout": 0.0,
}  # fmt: skip
SAYINGS = [("{} pays {}", "{1} von {0}"), ("call {} by {}", "{0} um {1}"), ("{} in {}", "{1}, {0}")]


def write_pairs(path: Path, names: list[str], numbers: list[str], count: int) -> str:
    chance = random.Random(count)
    rows = []
    for _ in range(count):
        english, german = chance.choice(SAYINGS)
        filled = (chance.choice(names), chance.choice(numbers))
        rows.append(f"{english.format(*filled)}\t{german.format(*filled)}\n")
    path.write_text("".join(rows))
    return str(path)


def invented(seed: int, count: int) -> tuple[list[str], list[str]]:
    chance = random.Random(seed)
    digits, vowels, consonants = "123456789", "aeiou", "bcdfghjklmnpqrstvwxz"
    capitals = consonants.upper()
    shapes = [(capitals, vowels, consonants, vowels), (capitals, vowels, consonants)]
    names = ["".join(map(chance.choice, chance.choice(shapes))) for _ in range(count)]
    return names, ["".join(chance.choices(digits, k=3)) for _ in range(count)]


def share_right(folder: Path, **data: Any) -> float:
    recipe = toy.recipe(
        folder,
        model=MODEL,
        updates=500,
        tokens=1000,
        validate_every=500,
        optimizer={"is": "torch.optim.AdamW", "lr": 0.006},
        schedule={"is": "train.Linear", "warmup": 40},
    )
    recipe["data"] |= {"target": {"is": "data.Characters"}, **data}
    path = folder / "copies.yaml"
    path.write_text(yaml.safe_dump(recipe))
    train(str(path), [], str(folder / "out"), fresh=False, quiet=True)
    model: Any = load(folder / "out")
    return model.evaluate(str(folder / "valid.tsv")).scores["exact"].value


@pytest.mark.slow
@pytest.mark.parametrize("respell", [0.0, 0.5])
def test_what_was_never_met_is_copied(respell: float, tmp_path: Path) -> None:
    write_pairs(tmp_path / "train.tsv", *invented(1, 40), 1500)
    with (tmp_path / "train.tsv").open("a") as file:  # so that every sign has a symbol
        every = "0123456789aeioubcdfghjklmnpqrstvwxzAEIOUBCDFGHJKLMNPQRSTVWXZ"
        file.write(f"{every}\t{every}\n")
    write_pairs(tmp_path / "valid.tsv", *invented(2, 200), 200)
    right = share_right(tmp_path, respell=respell)
    assert right >= 80 if respell else right <= 20
