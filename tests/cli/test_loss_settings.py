"""What the training loss is made of, from the recipe."""

from pathlib import Path

import pytest
from safetensors.torch import load_file

from cli.conftest import Say
from regard.train import checkpoint


@pytest.mark.parametrize("setting", [("positions", "0.5"), ("agreement", "5.0")])
def test_a_recipe_may_change_the_loss(say: Say, toy: Path, setting: tuple[str, str]) -> None:
    key, value = setting
    folder = toy / key
    said = say("train", toy / "toy.yaml", f"{key}={value}", "train.updates=2", "--output", folder)
    assert said.code == 0
    assert f"{key}: {value}" in (folder / "recipe.yaml").read_text()


@pytest.mark.parametrize("share", ["0", "-0.5", "1.2"])
def test_no_positions_are_refused(say: Say, toy: Path, share: str) -> None:
    said = say("train", toy / "toy.yaml", f"positions={share}", "--output", toy / "none")
    assert said.code != 0
    assert "positions: wanted a share above 0 and up to 1" in said.err


@pytest.mark.parametrize("settings", [["agreement=-1"], ["agreement=5", "positions=0.5"]])
def test_an_agreement_that_means_nothing_is_refused(
    say: Say, toy: Path, settings: list[str]
) -> None:
    said = say("train", toy / "toy.yaml", *settings, "--output", toy / "none")
    assert said.code != 0
    assert "agreement: wanted 0 or more, and positions: 1 with it" in said.err


BPE = "{is: data.Bpe, size: 40}"


@pytest.mark.parametrize(
    ("settings", "updates", "stop"),
    [
        ([f"data.source={BPE}", f"data.target={BPE}", "data.apart=0.3"], 6, 2),
        (["data.target=null", "data.both_ways=2"], 14, 3),
    ],
    ids=["taken apart", "both ways"],
)
def test_what_is_varied_is_the_same_after_a_stop(
    say: Say, toy: Path, tmp_path: Path, settings: list[str], updates: int, stop: int
) -> None:
    settings = [*settings, "train.average=1", "train.average_of=last"]
    for count, name in ((updates, "unbroken"), (stop, "broken"), (updates, "broken")):
        said = say(
            "train", toy / "toy.yaml", *settings, f"train.updates={count}",
            "--output", tmp_path / name, "--quiet",
        )  # fmt: skip
        assert said.code == 0, said.err
    unbroken, broken = (
        (tmp_path / name / "model.safetensors").read_bytes() for name in ("unbroken", "broken")
    )
    assert unbroken == broken


@pytest.mark.parametrize(
    ("setting", "wanted"),
    [
        ("data.both_ways=3", "one vocabulary for both sides (no data.target) with it, got 3"),
        ("data.both_ways=-1", "data.both_ways: wanted a whole number of 0 or more, got -1"),
    ],
)
def test_what_cannot_be_turned_is_refused(say: Say, toy: Path, setting: str, wanted: str) -> None:
    said = say("train", toy / "toy.yaml", setting, "--output", toy / "none")
    assert said.code != 0
    assert wanted in said.err


@pytest.mark.parametrize(
    ("share", "message"),
    [
        ("0.7", "apart: wanted a share from 0 to 0.5, got 0.7"),
        ("0.1", "data.apart: wanted subwords that were merged (data.Bpe)"),
    ],
)
def test_what_cannot_be_taken_apart_is_refused(
    say: Say, toy: Path, share: str, message: str
) -> None:
    said = say("train", toy / "toy.yaml", f"data.apart={share}", "--output", toy / "none")
    assert said.code != 0
    assert message in said.err


def test_whole_words_cannot_be_respelt(say: Say, toy: Path) -> None:
    words = ["data.source={is: data.Words}", "data.respell=0.1"]
    said = say("train", toy / "toy.yaml", *words, "--output", toy / "none")
    assert said.code != 0
    assert "data.respell: wanted symbols that can spell any word" in said.err


def test_the_moving_average_of_hard_attention_outlives_an_epoch(say: Say, toy: Path) -> None:
    folder = toy / "moving"
    settings = ["model.choice=hard", "train.updates=null", "train.epochs=1"]
    assert say("train", toy / "toy.yaml", *settings, "--output", folder, "--quiet").code == 0
    kept = load_file(checkpoint.listed(folder / "checkpoints")[-1])
    assert kept["carried/baseline"].item() < 0
