"""A run that goes on although something around it is not as it was."""

import shutil
from pathlib import Path

import pytest

from cli.conftest import Say, trained
from regard.tasks.folder import read_card
from regard.train import checkpoint

SHORT = {"train__updates": 6, "train__validate_every": 2, "train__average": 9}


def damage(path: Path) -> Path:
    path.write_bytes(path.read_bytes()[:-1] + b"!")
    return path


@pytest.fixture(scope="module")
def short(toy: Path) -> Path:
    """A finished run of six updates, every second of them kept."""
    return trained(toy, "short", **SHORT)


@pytest.fixture
def recipe(short: Path) -> Path:
    return short.with_suffix(".yaml")


@pytest.fixture
def run(short: Path, tmp_path: Path) -> Path:
    """A copy of the finished run, to be damaged."""
    return shutil.copytree(short, tmp_path / "run")


def test_a_broken_checkpoint_is_left_out_of_the_average(say: Say, recipe: Path, run: Path) -> None:
    first, *_ = checkpoint.listed(run / "checkpoints")
    damage(first)
    said = say("train", recipe, "train.updates=8", "--output", run)
    assert said.code == 0, said.err
    assert f"{first} is broken" in said.err
    assert read_card(run)["weights"] == "best of the run, from update 4, 6, 8"


def test_where_all_to_be_averaged_are_broken_the_present_weights_are_kept(
    say: Say, recipe: Path, run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save = checkpoint.save
    monkeypatch.setattr(checkpoint, "save", lambda *whole: damage(save(*whole)))
    said = say("train", recipe, "--fresh", "--output", run)
    assert said.code == 0, said.err
    assert read_card(run)["weights"] == "the last"


@pytest.mark.parametrize("which", ["--last", "--best"])
@pytest.mark.parametrize("place", [0, -1])
def test_averaging_a_broken_checkpoint_names_a_remedy(
    say: Say, run: Path, tmp_path: Path, which: str, place: int
) -> None:
    broken = damage(checkpoint.listed(run / "checkpoints")[place])
    command = ("average", run, which, 3, "--output", tmp_path / "mean")
    said = say(*command)
    assert said.code == 1
    assert f"{broken} is broken" in said.err
    assert "delete it" in said.err
    broken.unlink()
    assert say("average", run, which, 2, "--output", tmp_path / "mean").code == 0
