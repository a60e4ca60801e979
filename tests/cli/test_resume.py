"""A run that goes on although something around it is not as it was."""

import shutil
from collections.abc import Callable
from itertools import chain, repeat
from pathlib import Path
from typing import Any

import pytest
from safetensors import SafetensorError

from cli.conftest import Say, recipe_of, saved, trained
from regard.tasks.folder import read_card
from regard.train import checkpoint
from regard.train.fit import Loop

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


def own_data(toy: Path, folder: Path) -> Path:
    """The short recipe on a copy of the training pairs, which can be changed."""
    shutil.copyfile(toy / "train.tsv", folder / "own.tsv")
    return saved(folder / "own.yaml", recipe_of(toy, **SHORT, data__train=str(folder / "own.tsv")))


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        (lambda line: "\t".join(line.split("\t")[:1] * 2), "(examples)"),  # the same letters
        (lambda line: line.replace("f", "g"), "target.tokenizer.json"),
    ],
)
def test_changed_training_data_are_refused(
    say: Say, toy: Path, tmp_path: Path, changed: Callable[[str], str], named: str
) -> None:
    command = ("train", own_data(toy, tmp_path), "--output", tmp_path / "run")
    assert say(*command).code == 0
    pairs = tmp_path / "own.tsv"
    before = pairs.read_text()
    pairs.write_text("".join(f"{changed(line)}\n" for line in before.splitlines()))
    said = say(*command, "train.updates=8")
    assert said.code == 1
    for words in ("the training data changed since this run began", named, "--fresh"):
        assert words in said.err
    pairs.write_text(before)
    assert say(*command, "train.updates=8").code == 0, "restored"
    pairs.write_text("".join(f"{changed(line)}\n" for line in before.splitlines()))
    assert say(*command, "--fresh").code == 0
    assert say(*command, "train.updates=8").code == 0, "begun with these"


def test_a_run_without_a_record_of_its_data_goes_on(say: Say, recipe: Path, run: Path) -> None:
    (run / "fingerprints.json").unlink()
    said = say("train", recipe, "train.updates=8", "--output", run)
    assert said.code == 0, said.err
    assert read_card(run)["updates"] == 8
    assert (run / "fingerprints.json").is_file(), "it has one from now on"


def full(path: Path) -> Path:
    """A file on a disk that has no room left."""
    path.unlink(missing_ok=True)
    path.symlink_to("/dev/full")
    return path


def test_a_full_disk_at_the_log_names_the_last_good_checkpoint(
    say: Say, recipe: Path, run: Path
) -> None:
    last, timing = checkpoint.listed(run / "checkpoints")[-1], full(run / "timing.jsonl")
    command = ("train", recipe, "train.updates=8", "--output", run)
    said = say(*command)
    assert said.code == 1
    for words in ("No space left on device", f"the last good checkpoint is {last}", "make room"):
        assert words in said.err
    timing.unlink()
    assert say(*command).code == 0
    assert read_card(run)["updates"] == 8


def test_a_full_disk_at_the_models_folder_names_the_last_good_checkpoint(
    say: Say, recipe: Path, run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save = checkpoint.save_file

    def save_file(tensors: Any, path: Path, metadata: Any) -> None:
        if path.parent == run:
            path.touch()
            raise SafetensorError("No space left on device")
        save(tensors, path, metadata)

    command = ("train", recipe, "train.updates=8", "--output", run)
    with monkeypatch.context() as patch:
        patch.setattr(checkpoint, "save_file", save_file)
        said = say(*command)
    assert said.code == 1
    last = checkpoint.listed(run / "checkpoints")[-1]
    assert checkpoint.update_of(last) == 8
    for words in ("No space left on device", f"the last good checkpoint is {last}", "make room"):
        assert words in said.err
    assert not list(run.glob(".*.part"))
    assert say(*command).code == 0


def test_whether_a_run_stopped_early_is_a_question_to_the_present_settings(
    say: Say, toy: Path, tmp_path: Path
) -> None:
    still = {"is": "torch.optim.SGD", "lr": 0.0}  # no validation is better than the first
    often = {**SHORT, "train__validate_every": 1, "train__optimizer": still}
    recipe = saved(tmp_path / "still.yaml", recipe_of(toy, **often))

    def updates(patience: object, *more: str) -> tuple[int, bool]:
        change = f"train.patience={patience}"
        said = say("train", recipe, change, *more, "--output", tmp_path / "run")
        assert said.code == 0, said.err
        return read_card(tmp_path / "run")["updates"], "finished already" in said.err

    assert updates(1) == (2, False)
    assert updates(1) == (2, True)
    assert updates(1, "train.updates=9") == (2, True)
    assert updates(3) == (4, False)
    assert updates(2) == (4, True)
    assert updates("null") == (6, False)
    assert updates("null") == (6, True)


def test_a_run_of_minutes_is_planned_anew_once(
    say: Say, toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes = {**SHORT, "train__updates": None, "train__minutes": 0.05, "train__validate_every": 99}
    recipe = saved(tmp_path / "timed.yaml", recipe_of(toy, **changes))
    anew, plans = Loop._plan_anew, []

    def noted(self: Loop, begun: tuple[int, float]) -> None:
        anew(self, begun)
        plans.append((self.state.update, self.state.total))

    saved_at, save = [], Loop._save

    def noted_save(self: Loop) -> None:
        save(self)
        kept = checkpoint.read(checkpoint.listed(tmp_path / "run" / "checkpoints")[-1]).facts
        saved_at.append((kept["update"], kept["total"], kept["surveyed"]))

    monkeypatch.setattr(Loop, "_plan_anew", noted)
    monkeypatch.setattr(Loop, "_save", noted_save)
    assert say("train", recipe, "--output", tmp_path / "run").code == 0
    [(update, total)] = plans
    # What it planned is kept with the update after which it did, whose log is whole by then.
    assert saved_at[0] == (update, total, True)
    assert read_card(tmp_path / "run")["updates"] <= total


@pytest.mark.parametrize("turns", [2, 3])
def test_when_time_runs_out_what_was_learned_last_is_validated_and_kept(
    say: Say, toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, turns: int
) -> None:
    changes = {**SHORT, "train__updates": None, "train__minutes": 1, "train__validate_every": 99}
    recipe = saved(tmp_path / "timed.yaml", recipe_of(toy, **changes))
    late = chain([False] * turns, repeat(True))
    monkeypatch.setattr(Loop, "_late", lambda _: next(late))
    said = say("train", recipe, "--output", tmp_path / "run")
    assert said.code == 0
    assert "out of time" in said.err
    facts = checkpoint.read(checkpoint.listed(tmp_path / "run" / "checkpoints")[-1]).facts
    assert facts["validated"] == [facts["update"]]
