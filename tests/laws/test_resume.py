"""Law 7: killed and resumed = the same weights as never killed, bit for bit."""

from __future__ import annotations

import json
import multiprocessing
import os
import random
import resource
import signal
import time
from pathlib import Path

import pytest
import yaml
from safetensors.torch import load_file

from regard.commands.train import train
from regard.train import checkpoint
from tests import toy

fork = multiprocessing.get_context("fork")

SETTINGS = {
    "updates": 36,
    "checkpoint_every": 3,
    "validate_every": 9,
    "accumulate": 2,
    "ema": 0.9,
    "average": 2,
}


def write_recipe(folder: Path, **settings: object) -> Path:
    """Pairs are learned both ways at first, and n-grams choose in the end."""
    recipe = toy.recipe(folder / "data", **{**SETTINGS, **settings})
    del recipe["data"]["target"]
    recipe["data"]["both_ways"] = 1
    path = folder / "toy.yaml"
    path.write_text(yaml.safe_dump({**recipe, "ngrams": {"order": 3}}))
    return path


def run(recipe: Path, output: Path) -> None:
    train(str(recipe), [], str(output), fresh=False, quiet=True)


def child(recipe: Path, output: Path, limit: int | None = None) -> None:
    if limit is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    try:
        run(recipe, output)
    except OSError as error:
        (output / "error.txt").write_text(str(error))
        os._exit(7)
    os._exit(0)


def ending(output: Path) -> tuple[bytes, dict[str, bytes], bytes]:
    """Weights, the whole last checkpoint and the log, as bytes."""
    last = checkpoint.listed(output / "checkpoints")[-1]
    tensors = {name: t.numpy().tobytes() for name, t in load_file(last).items()}
    return (
        (output / "model.safetensors").read_bytes(),
        tensors,
        (output / "log.jsonl").read_bytes(),
    )


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, float]:
    folder = tmp_path_factory.mktemp("whole")
    recipe = write_recipe(folder)
    run(recipe, folder / "out")
    began = time.monotonic()  # the first run also imports everything
    run(recipe, folder / "timed")
    return recipe, folder / "out", time.monotonic() - began


def test_the_run_is_a_function_of_its_recipe(
    whole: tuple[Path, Path, float], tmp_path: Path
) -> None:
    recipe, output, _ = whole
    run(recipe, tmp_path / "again")
    assert ending(output) == ending(tmp_path / "again")


@pytest.mark.parametrize("seed", [1, 2])
def test_killed_at_random_moments(
    whole: tuple[Path, Path, float], tmp_path: Path, seed: int
) -> None:
    recipe, output, seconds = whole
    chance, kills = random.Random(seed), 0
    for _ in range(5):
        process = fork.Process(target=child, args=(recipe, tmp_path / "out"))
        process.start()
        process.join(timeout=chance.uniform(0.05, 0.5) * seconds)
        if process.is_alive():
            assert process.pid is not None
            os.kill(process.pid, signal.SIGKILL)
            kills += 1
        process.join()
    run(recipe, tmp_path / "out")
    assert kills
    assert ending(output) == ending(tmp_path / "out")


def test_a_checkpoint_in_the_middle_of_an_epoch_is_resumed(tmp_path: Path) -> None:
    """As if it had been stopped there: the later checkpoints are taken away."""
    every = tmp_path / "every"
    run(write_recipe(tmp_path, checkpoint_every=1, average=36), every)
    files = checkpoint.listed(every / "checkpoints")
    assert len(files) > 2
    for path in files[-3:]:
        path.unlink()
    (every / "model.safetensors").unlink()
    before = ending_log(every)
    run(tmp_path / "toy.yaml", every)
    assert ending_log(every) == before


def ending_log(output: Path) -> bytes:
    return (output / "log.jsonl").read_bytes()


@pytest.mark.parametrize("damage", ["truncate", "flip", "empty", "half-written"])
def test_a_broken_checkpoint_is_noticed(
    whole: tuple[Path, Path, float], tmp_path: Path, damage: str, capsys: pytest.CaptureFixture[str]
) -> None:
    recipe, output, _ = whole
    process = fork.Process(target=child, args=(recipe, tmp_path / "out"))
    process.start()
    while len(checkpoint.listed(tmp_path / "out" / "checkpoints")) < 2 and process.is_alive():
        time.sleep(0.01)
    assert process.pid is not None
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    newest = checkpoint.listed(tmp_path / "out" / "checkpoints")[-1]
    content, chance = newest.read_bytes(), random.Random(damage)
    if damage == "half-written":
        (newest.parent / ".step-99999999.part").write_bytes(content[:100])
    elif damage == "flip":
        place = chance.randrange(len(content))
        flipped = bytes([content[place] ^ 1])
        newest.write_bytes(content[:place] + flipped + content[place + 1 :])
    else:
        newest.write_bytes(content[: chance.randrange(len(content)) if damage == "truncate" else 0])
    train(str(recipe), [], str(tmp_path / "out"), fresh=False, quiet=False)
    said = capsys.readouterr().err
    assert ("is broken" in said) == (damage != "half-written")
    assert ending(output) == ending(tmp_path / "out")


def test_truncated_at_any_byte_is_never_loaded(
    whole: tuple[Path, Path, float], tmp_path: Path
) -> None:
    last = checkpoint.listed(whole[1] / "checkpoints")[-1]
    content, chance = last.read_bytes(), random.Random(3)
    for size in [
        0,
        1,
        7,
        8,
        9,
        len(content) - 1,
        *(chance.randrange(len(content)) for _ in range(40)),
    ]:
        broken = tmp_path / last.name
        broken.write_bytes(content[:size])
        with pytest.raises(ValueError, match="is broken"):
            checkpoint.read(broken)
        warnings: list[str] = []
        assert checkpoint.read_newest(tmp_path, warnings.append) is None
        assert len(warnings) == 1


def test_a_full_disk_names_the_last_good_checkpoint(tmp_path: Path) -> None:
    recipe = write_recipe(tmp_path)
    run(recipe, tmp_path / "good")
    size = max(p.stat().st_size for p in checkpoint.listed(tmp_path / "good" / "checkpoints"))
    # A process may write files of three quarters of a checkpoint only: the write itself fails.
    process = fork.Process(target=child, args=(recipe, tmp_path / "out", size * 3 // 4))
    process.start()
    process.join(60)
    assert process.exitcode == 7
    said = (tmp_path / "out" / "error.txt").read_text()
    assert "cannot write" in said
    assert "checkpoint" in said.partition("; ")[2]
    assert "make room" in said
    assert not list((tmp_path / "out" / "checkpoints").glob("*part*"))
    run(recipe, tmp_path / "out")
    assert ending(tmp_path / "out") == ending(tmp_path / "good")


def test_divergence_names_the_last_good_checkpoint(tmp_path: Path) -> None:
    from regard.train import DivergedError

    path = write_recipe(
        tmp_path,
        clip=None,
        checkpoint_every=1,
        validate_every=1000,
        optimizer={"is": "torch.optim.SGD", "lr": 1e38},
    )
    with pytest.raises(DivergedError, match=r"last good checkpoint is .*step-0000000\d.*lr"):
        run(path, tmp_path / "out")


def test_weights_that_are_no_numbers_are_not_kept(tmp_path: Path) -> None:
    from regard.train import DivergedError

    path = write_recipe(
        tmp_path, clip=None, accumulate=1, checkpoint_every=1, validate_every=1000, ema=None,
        optimizer={"is": "torch.optim.SGD", "lr": 3e38},
    )  # fmt: skip
    with pytest.raises(DivergedError, match="has diverged"):
        run(path, tmp_path / "out")
    for kept in checkpoint.listed(tmp_path / "out" / "checkpoints"):
        weights = {n: t for n, t in load_file(kept).items() if n.startswith("model/")}
        assert all(bool(tensor.isfinite().all()) for tensor in weights.values())


def test_a_lost_log_begins_anew(tmp_path: Path) -> None:
    path = write_recipe(tmp_path, updates=6, validate_every=6)
    run(path, tmp_path / "out")
    (tmp_path / "out" / "log.jsonl").unlink()
    run(write_recipe(tmp_path, updates=12, validate_every=6), tmp_path / "out")
    lines = (tmp_path / "out" / "log.jsonl").read_text().splitlines()
    assert {json.loads(line)["update"] for line in lines} == {10, 12}


def test_early_stopping_is_resumed_too(tmp_path: Path) -> None:
    """A run that had stopped early does not go on when the command is given again."""
    path = write_recipe(
        tmp_path,
        patience=1,
        validate_every=1,
        updates=200,
        optimizer={"is": "torch.optim.SGD", "lr": 0.0},
    )
    run(path, tmp_path / "out")
    last = checkpoint.listed(tmp_path / "out" / "checkpoints")[-1]
    assert checkpoint.update_of(last) == 2
    (tmp_path / "out" / "model.safetensors").unlink()
    run(path, tmp_path / "out")
    assert checkpoint.update_of(checkpoint.listed(tmp_path / "out" / "checkpoints")[-1]) == 2
