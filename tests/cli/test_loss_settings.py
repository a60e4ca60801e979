"""What the training loss is made of, from the recipe."""

from pathlib import Path

import pytest

from cli.conftest import Say


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
