"""A recipe may leave out all but the training pairs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import yaml

from regard.data import Table
from regard.tasks.defaults import Survey, fitted, incomplete, survey
from regard.tasks.expect import repeats
from tests import toy

from .conftest import Say


def test_two_lines_are_a_recipe(say: Say, tmp_path: Path) -> None:
    toy.write_pairs(tmp_path / "pairs.tsv", 600)
    path = tmp_path / "mine.yaml"
    path.write_text(f"data:\n  train: {tmp_path / 'pairs.tsv'}\n  cache: {tmp_path / 'cache'}\n")
    small = ["model.dim=16", "model.hidden=16", "model.layers=1", "train.updates=3"]
    said = say("train", str(path), *small, "--output", str(tmp_path / "run"))
    assert said.code == 0, said.err
    assert "what to expect of it:" in said.err
    assert "it learned from sources of up to" in said.err
    kept = yaml.safe_load((tmp_path / "run" / "recipe.yaml").read_text())
    assert kept["train"]["updates"] == 3
    assert "epochs" not in kept["train"]
    assert kept["model"]["dim"] == 16
    assert kept["model"]["is"] == "systems.transformer"
    assert 0 < kept["data"]["held_out"] <= 0.1
    again = say("train", str(path), *small, "--output", str(tmp_path / "run"))
    assert "finished already" in again.err, "the same choices are made again"
    assert say("run", str(tmp_path / "run"), "abc").code == 0


def test_the_choice_follows_the_data() -> None:
    recipe = {"data": {"train": "x.tsv"}}
    few, some, many = (fitted(recipe, Survey(n, True, 0.9)) for n in (10_000, 163_000, 1_000_000))
    sizes = [each["data"]["source"]["size"] for each in (few, some, many)]
    assert sizes == sorted(set(sizes))
    assert few["model"]["dim"] < some["model"]["dim"]
    dropouts = [each["model"]["dropout"] for each in (few, some, many)]
    assert dropouts == sorted(dropouts, reverse=True)
    rounds = [each["train"]["epochs"] for each in (few, some, many)]
    assert rounds == sorted(rounds, reverse=True)
    assert all(each["model"]["shared"] for each in (few, some, many))
    apart = fitted(recipe, Survey(50_000, False, 0.1))
    assert not apart["model"]["shared"]
    assert apart["data"]["source"]["is"] == apart["data"]["target"]["is"] == "data.Unigram"
    assert apart["metrics"] == ["chrf"]


def test_what_a_recipe_says_stays() -> None:
    own = {
        "data": {"train": "x.tsv", "valid": "y.tsv", "source": {"is": "data.Words"}},
        "model": {"is": "systems.bahdanau"},
        "train": {"updates": 5},
        "metrics": ["exact"],
    }
    assert not incomplete(own)
    assert fitted(own, Survey(1000, True, 1.0)) == own
    without = {key: value for key, value in own.items() if key != "metrics"}
    assert incomplete(without)
    assert fitted(without, Survey(1000, True, 1.0)) == {**own, "metrics": ["bleu", "chrf"]}


def test_a_named_model_is_trained_as_fits_it() -> None:
    """Whatever else is said of training: without a length of its own the rest is fitted, too."""
    recipe = {
        "data": {"train": "x.tsv"},
        "model": {"is": "systems.bahdanau"},
        "train": {"seed": 2, "optimizer": {"weight_decay": 0.1}},
    }
    found = fitted(recipe, Survey(29_000, True, 0.9))
    plain = fitted({"data": {"train": "x.tsv"}}, Survey(29_000, True, 0.9))
    assert found["model"] == recipe["model"]
    assert found["train"]["seed"] == 2
    assert found["train"]["optimizer"]["weight_decay"] == 0.1
    assert found["train"]["optimizer"]["lr"] < plain["train"]["optimizer"]["lr"]
    assert 20 <= found["train"]["epochs"] < plain["train"]["epochs"]
    assert found["train"]["ema"] == plain["train"]["ema"]
    for key in ("smoothing", "decode", "metrics"):
        assert found[key] == plain[key]
    assert found["data"]["held_out"] == plain["data"]["held_out"] > 0.05


@pytest.mark.parametrize(
    ("rows", "spaced", "alike"),
    [
        ([("the cat sat", "le chat est assis")], True, True),
        ([("the cat sat", "猫は座った")], False, False),
        ([("the cat sat down", "кот сел на пол")], True, False),
    ],
)
def test_a_survey_sees_blanks_and_alphabets(
    rows: list[tuple[str, str]], spaced: bool, alike: bool, tmp_path: Path
) -> None:
    path = tmp_path / "pairs.tsv"
    path.write_text("".join(f"{a}\t{b}\n" for a, b in rows * 7), encoding="utf-8")
    found = survey(Table(path), cache=tmp_path / "cache")
    assert (found.pairs, found.spaced, found.alike > 0.8) == (7, spaced, alike)


def test_the_same_pairs_are_looked_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, cache = toy.write_pairs(tmp_path / "pairs.tsv", 20), tmp_path / "cache"
    first = survey(Table(path), cache=cache)
    with monkeypatch.context() as patch:
        patch.delattr(Table, "read")
        assert survey(Table(path), cache=cache) == first
    toy.write_pairs(path, 30)
    assert survey(Table(path), cache=cache).pairs == 30


def two_lines(folder: Path) -> Path:
    """The shortest recipe, on parallel files of which one has an empty line."""
    pairs = [line.split("\t") for line in toy.write_pairs(folder / "p", 300).open()]
    (folder / "mine.en").write_text("".join(f"{source}\n" for source, _ in pairs))
    (folder / "mine.de").write_text("".join(["\n", *(target for _, target in pairs[1:])]))
    recipe = {"data": {"train": [str(folder / "mine.en"), str(folder / "mine.de")]}}
    (folder / "mine.yaml").write_text(yaml.safe_dump(recipe))
    return folder / "mine.yaml"


def test_the_remedy_for_a_bad_line_can_be_followed(say: Say, tmp_path: Path) -> None:
    recipe = two_lines(tmp_path)
    small = ["model.dim=16", "model.hidden=16", "model.layers=1", "train.updates=2"]
    call = ("train", recipe, *small, "--output", tmp_path / "run")
    said = say(*call)
    assert said.code == 1
    assert "mine.en:1: the target side is empty" in said.err
    assert "data.on_error=skip" in said.err
    said = say(*call, "data.on_error=skip")
    assert said.code == 0, said.err
    left_out = [line for line in said.err.splitlines() if "left out" in line]
    assert len(left_out) == 1, "a line is counted once, although the file is read for two parts"
    assert left_out[0].startswith("1 left out: empty target (")


@pytest.mark.parametrize(
    ("change", "wanted"),
    [
        ("model.dropuot=0.1", "model.dropuot: unknown key; did you mean 'dropout'?"),
        ("data.on_eror=skip", "data.on_eror: unknown key; did you mean 'on_error'?"),
        ("train.updats=3", "train.updats: unknown key; did you mean 'updates'?"),
    ],
)
def test_a_wrong_key_is_named_before_the_pairs_are_read(
    say: Say, tmp_path: Path, change: str, wanted: str
) -> None:
    said = say("train", two_lines(tmp_path), change, "--output", tmp_path / "run")
    assert said.code == 1
    assert said.err.startswith(f"regard train: {wanted}")


def test_nothing_to_measure_on(say: Say, tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    few = toy.write_pairs(tmp_path / "few.tsv", 5)
    empty = tmp_path / "none.tsv"
    empty.touch()
    for data, wanted in (
        ({"held_out": 1e-9}, "Remedy: raise data.held_out, or name data.valid"),
        ({"valid": str(empty)}, "data.valid: wanted pairs to measure on, got none"),
    ):
        recipe = {"data": {"train": str(few), "cache": str(tmp_path / "cache"), **data}}
        path.write_text(yaml.safe_dump(recipe))
        said = say("train", path, "--output", tmp_path / "run")
        assert said.code == 1
        assert wanted in said.err


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("no no no", True),
        ("he said that he said that he said that", True),
        ("very very good", False),
        ("", False),
        ("a b a b a", False),
        ("私は私は私は", True),
        ("ははは", False),
        ("私は私は私は 東京", True),
        ("hahahaha", True),
        ("192.168.168.168", False),
        ("J'étais irrépassassassable.", True),
        ("......", False),
    ],
)
def test_repetition(text: str, wanted: bool) -> None:
    assert repeats(text) is wanted


def test_lengths_are_plain_numbers() -> None:
    from regard.metrics import named
    from regard.tasks.evaluate import Evaluation, Score
    from regard.tasks.expect import behind, expectations

    outputs = ["a b"] * 39 + ["x x x x"]
    references = [["a b"]] * 40
    metric = named("exact")
    score = Score(metric, metric.statistics(outputs, references), "")
    found = Evaluation(["s"] * 40, outputs, references, [5] * 20 + [15] * 20, {"exact": score})
    assert behind(found, {}) == behind(found, {"validation": {"exact": 99.0}}) == []
    [worse] = behind(found, {"validation": {"exact": 99.9}})
    assert "exact is 97.5 with the recipe's decode, 99.9 with its validate_with" in worse
    lines = expectations(found, np.array([3, 4, 9], np.int32))
    assert lines[0].startswith("exact 97.5 (")
    assert "up to 9 symbols" in lines[2]
    assert "2.5% of its answers repeat themselves, such as 'x x x x'" in lines[3]


def test_copies_are_counted() -> None:
    from regard.metrics import named
    from regard.tasks.copies import Copies, copies, counted
    from regard.tasks.evaluate import Evaluation, Score
    from regard.tasks.expect import expectations

    sources = ["Tom was here in 1986"] * 9 + ["no name"]
    outputs = ["Tom war 1986 da"] * 8 + ["Tim war 1986 da", "Tom"]
    references = [["er war 1986 hier", "Tom war 1986 hier"]] * 9 + [["kein Name"]]
    found = copies(sources, outputs, references)
    assert found[0] == ({"Tom", "1986"}, set())
    assert found[8:] == [({"1986"}, {"Tom"}), (set(), set())]
    metric, kept = named("exact"), Copies()
    scores = {
        "exact": Score(metric, metric.statistics(outputs, references), ""),
        "copies": Score(kept, counted(found), kept.signature(references)),
    }
    assert scores["copies"].value == pytest.approx(100 * 17 / 18)
    lines = expectations(
        Evaluation(sources, outputs, references, [5] * 10, scores), np.array([3], np.int32)
    )
    assert "94% of the names and numbers to be copied were, others not, such as Tom" in lines


def test_an_evaluation_counts_copies_where_there_are_some(model: Path, tmp_path: Path) -> None:
    import regard

    trained, many, none = regard.load(model), tmp_path / "many.tsv", tmp_path / "none.tsv"
    many.write_text("".join(f"{name}\t{name}\n" for name in ["Anna", "Bert", "1986"] * 4))
    none.write_text("abc\tcba\n")
    assert trained.evaluate(str(many)).scores["copies"].value == 0
    assert "copies" not in trained.evaluate(str(none)).scores


def test_a_named_size_is_kept_whole() -> None:
    recipe = {"data": {"train": "x.tsv"}, "model": {"size": "base"}}
    model = fitted(recipe, Survey(10_000, True, 0.9))["model"]
    assert model == {"is": "systems.transformer", "shared": True, "size": "base"}


def test_no_pairs_are_no_ground_for_a_choice(say: Say, tmp_path: Path) -> None:
    (tmp_path / "none.tsv").touch()
    path = tmp_path / "mine.yaml"
    path.write_text(f"data:\n  train: {tmp_path / 'none.tsv'}\n")
    said = say("train", path, "--output", tmp_path / "run")
    assert said.code == 1
    assert "there is no pair to learn from" in said.err


def test_warming_up_is_a_small_part_of_training() -> None:
    for pairs in (300, 3_000, 30_000, 300_000):
        chosen = fitted({"data": {"train": "x.tsv"}}, Survey(pairs, True, 0.9))["train"]
        updates = chosen["epochs"] * pairs * 12 / chosen["tokens"]
        assert chosen["schedule"]["warmup"] <= max(20, updates / 10)
    short = {"data": {"train": "x.tsv"}, "train": {"minutes": 3}}
    assert fitted(short, Survey(30_000, True, 0.9))["train"]["schedule"]["warmup"] == 0.1


def test_one_setting_of_a_chosen_part_can_be_changed() -> None:
    recipe = {"data": {"train": "x.tsv"}, "train": {"schedule": {"warmup": 7}, "clip": 2.0}}
    chosen = fitted(recipe, Survey(10_000, True, 0.9))["train"]
    assert chosen["schedule"] == {"is": "train.Cosine", "warmup": 7}
    assert chosen["clip"] == 2.0
    other = {"data": {"train": "x.tsv"}, "train": {"schedule": {"is": "train.Constant"}}}
    assert fitted(other, Survey(10_000, True, 0.9))["train"]["schedule"] == {"is": "train.Constant"}
