"""One toy task for all: letters backwards, learned in seconds by tiny models."""

import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from regard.cli import main

BAHDANAU = {
    "is": "systems.bahdanau", "embedding": 24, "encoder": 24, "decoder": 48, "attention": 24,
    "readout": 24, "deep_output": "tanh", "dropout": 0.0,
}  # fmt: skip
TRANSFORMER = {
    "is": "systems.transformer", "dim": 16, "heads": 2, "hidden": 32, "layers": 2, "longest": 40,
    "dropout": 0.0,
}  # fmt: skip


class Said(NamedTuple):
    """What a command left behind."""

    code: int
    out: str
    err: str


Say = Callable[..., Said]


def written(path: Path, pairs: list[tuple[str, str]]) -> Path:
    path.write_text("".join(f"{source}\t{target}\n" for source, target in pairs))
    return path


def recipe_of(folder: Path, **changes: Any) -> dict[str, Any]:
    """The toy recipe; `train__updates=3` changes what is nested, None leaves a key out."""
    recipe: dict[str, Any] = {
        "about": "Letters backwards.",
        "result": {"exact": "at least 50"},
        "data": {
            "train": str(folder / "train.tsv"),
            "valid": str(folder / "valid.tsv"),
            "source": {"is": "data.Characters"},
            "target": {"is": "data.Characters"},
        },
        "model": dict(BAHDANAU),
        "train": {
            "updates": 80,
            "tokens": 600,
            "optimizer": {"is": "torch.optim.AdamW", "lr": 0.015},
            "schedule": {"is": "train.Constant"},
            "validate_every": 40,
            "average": 2,
            "tensorboard": False,
        },
        "metrics": ["exact", "cer"],
    }
    for key, value in changes.items():
        *above, last = key.split("__")
        place = recipe
        for name in above:
            place = place[name]
        if value is None:
            del place[last]
        else:
            place[last] = value
    return recipe


def saved(path: Path, recipe: object) -> Path:
    path.write_text(yaml.safe_dump(recipe))
    return path


@pytest.fixture(scope="session")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with train.tsv, valid.tsv and toy.yaml; the cache is beside them."""
    folder = tmp_path_factory.mktemp("toy")
    drawn = random.Random(1)
    words = ["".join(drawn.choices("abcdef", k=drawn.randint(3, 6))) for _ in range(340)]
    pairs = [(word, word[::-1]) for word in words]
    written(folder / "train.tsv", pairs[:300])
    written(folder / "valid.tsv", pairs[300:])
    saved(folder / "toy.yaml", recipe_of(folder))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("REGARD_CACHE", str(folder / "cache"))
        yield folder


def trained(toy: Path, name: str, **changes: Any) -> Path:
    recipe = saved(toy / f"{name}.yaml", recipe_of(toy, **changes))
    assert main(["train", str(recipe), "--output", str(toy / name), "--quiet"]) == 0
    return toy / name


@pytest.fixture(scope="session")
def model(toy: Path) -> Path:
    """A model that has learned most of the task."""
    return trained(toy, "model")


@pytest.fixture(scope="session")
def transformer(toy: Path) -> Path:
    """Two layers of two heads, hardly trained."""
    return trained(toy, "transformer", model=dict(TRANSFORMER), train__updates=3)


@pytest.fixture(scope="session")
def untrained(toy: Path) -> Path:
    """The model after one update."""
    return trained(toy, "untrained", train__updates=1)


@pytest.fixture(scope="session")
def blind(toy: Path) -> Path:
    """A model without attention."""
    part = {"is": "systems.sutskever", "embedding": 8, "dim": 8, "layers": 1}
    return trained(toy, "blind", model=part, train__updates=1)


@pytest.fixture
def say(capsys: pytest.CaptureFixture[str], toy: Path) -> Say:
    """Run a command in this process."""

    def run(*arguments: object) -> Said:
        capsys.readouterr()
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as end:
            code = int(end.code or 0)
        return Said(code, *capsys.readouterr())

    return run
