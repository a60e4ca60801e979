"""The same run on two processes gives the same losses as on one, to rounding."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from regard.tasks.folder import load
from tests import toy
from tests.laws.test_language import recipe as text_recipe

STRATEGIES = [
    "ddp",
    pytest.param("fsdp", marks=pytest.mark.slow),
    pytest.param("torchrun", marks=pytest.mark.slow),
]


def losses(recipe: Path, output: Path, strategy: str, *more: str) -> list[float]:
    changes = (
        [] if strategy in ("one", "torchrun") else [f"train.strategy={strategy}", "train.devices=2"]
    )
    python = [sys.executable]
    if strategy == "torchrun":
        python += ["-m", "torch.distributed.run", "--nproc-per-node=2", "--master-port=29517"]
    command = [
        *python,
        "-m",
        "regard.cli",
        "train",
        str(recipe),
        *changes,
        *more,
        "--output",
        str(output),
        "--quiet",
    ]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in (output / "log.jsonl").read_text().splitlines()]
    return [row["loss"] for row in rows if "loss" in row]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_two_processes_equal_one(tmp_path: Path, strategy: str) -> None:
    small = {
        "is": "systems.bahdanau",
        "embedding": 16,
        "encoder": 16,
        "decoder": 32,
        "attention": 16,
        "readout": 16,
        "dropout": 0.0,
    }
    path = tmp_path / "toy.yaml"
    settings = {"updates": 12, "log_every": 1, "validate_every": 6, "ema": 0.9}
    recipe = toy.recipe(tmp_path / "data", model=small, **settings)
    del recipe["data"]["target"]
    recipe["data"]["both_ways"] = 1
    path.write_text(yaml.safe_dump({**recipe, "ngrams": {"order": 3}}))
    one = losses(path, tmp_path / "one", "one")
    two = losses(path, tmp_path / "two", strategy)
    assert len(one) == 12
    assert two == pytest.approx(one, rel=2e-4)
    words = ["abc", "fed"]
    assert [o.text for o in load(tmp_path / "one").run(words)] == [
        o.text for o in load(tmp_path / "two").run(words)
    ]


@pytest.mark.slow
@pytest.mark.parametrize("rows", [1, 9])
@pytest.mark.parametrize("order", [("ddp", "one"), ("one", "torchrun")])
def test_rows_of_running_text_that_processes_cannot_share_evenly(
    tmp_path: Path, rows: int, order: tuple[str, str]
) -> None:
    """Gone on with by another number of processes in the middle of a text, as by one."""
    path = text_recipe(tmp_path)
    changes = (f"train.tokens={5 * rows}", "train.log_every=1", "model.dropout=0.0")
    one = losses(path, tmp_path / "one", "one", *changes, "train.updates=12")
    losses(path, tmp_path / "two", order[0], *changes, "train.updates=7")
    two = losses(path, tmp_path / "two", order[1], *changes, "train.updates=12")
    assert len(one) == 12
    assert two == pytest.approx(one, rel=2e-4)
