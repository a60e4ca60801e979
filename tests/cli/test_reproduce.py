"""`regard reproduce`: every table can be read, runs, goes on where it stopped, and is honest."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from regard import reproduce
from regard.cli import main
from regard.commands.recipes import find
from regard.commands.train import changed
from regard.reproduced import FOUND
from regard.tasks.evaluate import Evaluation
from regard.tasks.folder import read_recipe, task_of
from regard.tasks.translator import Translator
from tests import toy

from .conftest import Say


@pytest.mark.parametrize("name", reproduce.known())
def test_every_line_is_a_recipe_that_can_be_built(name: str) -> None:
    wanted = reproduce.read(name)
    assert len({line.folder(seed) for line in wanted.lines for seed in line.seeds}) == sum(
        len(line.seeds) for line in wanted.lines
    )
    for line in wanted.lines:
        recipe = read_recipe(find(line.recipe))
        task_of(changed(recipe, [*wanted.change, *line.change, "train.seed=2", *wanted.quick]))


@pytest.fixture
def tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A table of two lines on the toy task, one of them with two seeds."""
    recipe = toy.recipe(tmp_path / "data", updates=4)
    recipe["data"]["test"] = recipe["data"]["valid"]
    (tmp_path / "toy.yaml").write_text(yaml.safe_dump(recipe))
    wanted = {
        "about": "Letters backwards.",
        "metrics": ["exact", "per"],
        "quick": ["train.updates=2"],
        "edges": [2, 4],
        "lines": [
            {
                "name": "one",
                "recipe": str(tmp_path / "toy.yaml"),
                "published": {"exact": "about 99", "per": "1000"},
                "asked": {"per": 0.5},
            },
            {
                "name": "two, wider",
                "recipe": str(tmp_path / "toy.yaml"),
                "change": ["model.decoder=40"],
                "seeds": [1, 2],
            },
        ],
    }
    (tmp_path / "reproduce").mkdir()
    (tmp_path / "reproduce" / "toy.yaml").write_text(yaml.safe_dump(wanted))
    monkeypatch.setattr(reproduce, "bundled_folder", lambda: tmp_path)
    return tmp_path


@pytest.fixture
def near(tables: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same, trained in this process, which is up already."""
    monkeypatch.setattr(reproduce, "said", main)
    return tables


def test_a_table_is_made_line_by_line(say: Say, near: Path) -> None:
    output = near / "out"
    said = say("reproduce", "toy", "--only", "one", "--output", output)
    assert said.code == 0, said.err
    assert "| one | about 99 | " in said.out
    assert re.search(r"\[.*\]; \*\*\d+\.\d\d short of 99 published\*\* \| 1000 \| ", said.out)
    assert re.search(r"\| 1000 \| [^|]*\d short of 0\.5 asked\*\* \|", said.out), (
        "errors: the fewer"
    )
    assert "| two, wider |  | not run yet |" in said.out
    found = output / "toy" / "one-1" / "reproduced.json"
    before = found.stat().st_mtime_ns
    said = say("reproduce", "toy", "--output", output)
    assert said.code == 0, said.err
    assert found.stat().st_mtime_ns == before, "what is done is not done again"
    assert "2 seeds)" in said.out
    assert re.search(r"\| 1, 2 \| \d+, \d+ \|", said.out), "which seeds, then their minutes"
    assert "not run yet" not in said.out
    assert (output / "toy" / "toy.png").stat().st_size > 1000
    text = (output / "toy" / "toy.md").read_text()
    assert "`regard reproduce toy`: Letters backwards." in text
    assert re.search(r"\| words \(sentences\) \| 1 \(\d+\) \|", text), "by words of the source"
    assert re.search(r"\n\| two, wider \| \d+\.\d\d \[", text)
    recipe = yaml.safe_load((near / "toy.yaml").read_text())
    (near / "toy.yaml").write_text(yaml.safe_dump({**recipe, "result": {"exact": "measured"}}))
    said = say("reproduce", "toy", "--output", output)
    assert said.code == 0, "what a recipe says of itself changes no run"
    recipe["smoothing"] = 0.2
    (near / "toy.yaml").write_text(yaml.safe_dump(recipe))
    said = say("reproduce", "toy", "--output", output)
    assert "holds a run of another recipe" in said.err
    facts = json.loads(found.read_text())
    assert facts["updates"] == 4
    assert facts["memory"] > 1e7
    assert f"{facts['scores']['exact']['score']:.2f} [" in text


def test_what_speaks_against_a_line_is_below_the_table(
    say: Say, near: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    measured = Translator.evaluate

    def doubted(self: Translator, *arguments: Any, **options: Any) -> Evaluation:
        found = measured(self, *arguments, **options)
        return replace(found, doubts=["all is the same"], skipped=["2 left out: empty line"])

    monkeypatch.setattr(Translator, "evaluate", doubted)
    for _ in range(2):  # as it is measured, and as it was kept
        said = say("reproduce", "toy", "--only", "one", "--output", near / "out")
        assert said.code == 0, said.err
        for told in (said.out, (near / "out" / "toy" / "toy.md").read_text()):
            assert "\n\n- one, seed 1: beware, all is the same\n" in told
            assert "- one, seed 1: beware, 2 left out: empty line\n" in told
    path = near / "out" / "toy" / "one-1" / FOUND
    facts = json.loads(path.read_text())
    del facts["notes"]
    path.write_text(json.dumps(facts))
    assert "beware" not in say("reproduce", "toy", "--only", "one", "--output", near / "out").out


def test_one_seed_of_several(say: Say, near: Path) -> None:
    said = say("reproduce", "toy", "--seed", "2", "--output", near / "out")
    assert said.code == 0, said.err
    assert [path.parent.name for path in (near / "out/toy").glob(f"*/{FOUND}")] == ["two-wider-2"]
    said = say("reproduce", "toy", "--seed", "3", "--output", near / "out")
    assert said.code == 1
    assert "--seed 3: no line has such a seed; they have 1, 2" in said.err


def test_a_line_may_start_from_another(say: Say, near: Path) -> None:
    path, output = near / "reproduce" / "toy.yaml", near / "out"
    wanted = yaml.safe_load(path.read_text())
    wanted["lines"].append({"name": "three", "recipe": str(near / "toy.yaml"), "after": "one"})
    path.write_text(yaml.safe_dump(wanted))
    said = say("reproduce", "toy", "--only", "one", "--only", "three", "--output", output)
    assert said.code == 0, said.err
    recipe = yaml.safe_load((output / "toy" / "three-1" / "recipe.yaml").read_text())
    assert recipe["train"]["start"] == str(output / "toy" / "one-1")
    said = say("reproduce", "toy", "--only", "three", "--output", near / "elsewhere")
    assert said.code == 1
    assert "three: starts from 'one', which has not been run; name it too: --only" in said.err
    wanted["lines"][-1]["after"] = "four"
    path.write_text(yaml.safe_dump(wanted))
    said = say("reproduce", "toy", "--output", output)
    assert said.code == 1
    assert "after: wanted a line before 'three', got 'four'" in said.err


def test_what_another_table_has_learned_is_not_learned_again(say: Say, near: Path) -> None:
    wanted = yaml.safe_load((near / "reproduce" / "toy.yaml").read_text())
    more = {**wanted, "metrics": ["per"], "lines": wanted["lines"][1:]}
    more["lines"].append({"name": "three", "recipe": str(near / "toy.yaml"), "after": "two, wider"})
    more["lines"][-1]["change"] = ["model.decoder=40", "train.updates=2"]
    (near / "reproduce" / "more.yaml").write_text(yaml.safe_dump(more))
    for name in ("toy", "more"):
        said = say("reproduce", name, "--output", near / "out")
        assert said.code == 0, said.err
    theirs, ours = near / "out/toy/two-wider-2", near / "out/more/two-wider-2"
    assert [path.name for path in ours.iterdir()] == [FOUND]
    found = [json.loads((folder / FOUND).read_text()) for folder in (theirs, ours)]
    assert found[0]["scores"]["per"] == found[1]["scores"]["per"]
    assert found[0]["updates"] == found[1]["updates"]
    third = yaml.safe_load((near / "out/more/three-1/recipe.yaml").read_text())
    assert third["train"]["start"] == str(near / "out/toy/two-wider-1")
    shutil.rmtree(theirs)
    (ours / FOUND).unlink()
    said = say("reproduce", "more", "--output", near / "out")
    assert said.code == 0, said.err
    assert (ours / "model.safetensors").is_file(), "where it is gone, it is learned here"


def test_quick_goes_elsewhere(say: Say, tables: Path) -> None:
    say("reproduce", "toy", "--quick", "--only", "one", "--output", tables / "out")
    facts = json.loads((tables / "out/toy-quick/one-1/reproduced.json").read_text())
    assert facts["updates"] == 2


def test_quick_takes_one_seed_and_what_all_lines_change(say: Say, near: Path) -> None:
    path = near / "reproduce" / "toy.yaml"
    wanted = {**yaml.safe_load(path.read_text()), "change": ["smoothing=0.2"], "unlike": True}
    path.write_text(yaml.safe_dump(wanted))
    said = say("reproduce", "toy", "--quick", "--output", near / "out")
    assert said.code == 0, said.err
    runs = sorted(found.parent.name for found in (near / "out/toy-quick").glob(f"*/{FOUND}"))
    assert runs == ["one-1", "two-wider-1"]
    recipe = yaml.safe_load((near / "out/toy-quick/one-1/recipe.yaml").read_text())
    assert recipe["smoothing"] == 0.2
    assert "published**" not in said.out


def test_the_list_and_mistakes(say: Say, tables: Path) -> None:
    for words in (["--list"], []):
        said = say("reproduce", *words)
        assert said.code == 0
        assert "toy" in said.out
        assert "Letters backwards." in said.out
    said = say("reproduce", "toi")
    assert said.code == 1
    assert "did you mean" in said.err
    said = say("reproduce", "toy", "--only", "on")
    assert said.code == 1
    assert "no such line" in said.err
