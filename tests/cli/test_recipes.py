from pathlib import Path

import pytest

from cli.conftest import Say
from regard.commands.recipes import bundled, find
from regard.tasks.folder import read_recipe, task_of

RECIPES = sorted((Path(__file__).parents[2] / "recipes").glob("*.yaml"))


def test_all_are_found() -> None:
    assert RECIPES
    assert bundled() == RECIPES


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.stem)
def test_builds_without_its_data(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    recipe = read_recipe(path)
    assert recipe["about"].strip()
    assert recipe["result"]
    task_of(recipe)


def test_listed(say: Say, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    said = say("recipes")
    assert said.code == 0
    for path in RECIPES:
        assert path.stem in said.out
        assert read_recipe(path)["about"].split()[0] in said.out


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.stem)
def test_printed(say: Say, path: Path) -> None:
    assert say("recipes", path.stem) == (0, path.read_text(), "")


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.stem)
def test_found_by_name(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in (path.stem, path.name, f"recipes/{path.name}"):
        assert find(name) == path


def test_trained_by_name(say: Say, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    # The recipe is found and read: what is missing is the data.
    said = say("train", "pronounce", "data.train=nothing.tsv")
    assert said.code == 1
    assert "data.train: nothing.tsv: there is no such file" in said.err
