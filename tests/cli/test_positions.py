"""The loss on a share of the target positions, from the recipe."""

from pathlib import Path

import pytest

from cli.conftest import Say


def test_a_recipe_may_train_on_some_positions(say: Say, toy: Path) -> None:
    said = say(
        "train", toy / "toy.yaml", "positions=0.5", "train.updates=2", "--output", toy / "some"
    )
    assert said.code == 0
    assert "positions: 0.5" in (toy / "some" / "recipe.yaml").read_text()


@pytest.mark.parametrize("share", ["0", "-0.5", "1.2"])
def test_no_positions_are_refused(say: Say, toy: Path, share: str) -> None:
    said = say("train", toy / "toy.yaml", f"positions={share}", "--output", toy / "none")
    assert said.code != 0
    assert "positions: wanted a share above 0 and up to 1" in said.err
