import csv
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

import regard
from cli.conftest import Say, saved, trained
from regard.data import Characters
from regard.metrics import named
from regard.tasks.evaluate import Perplexity


def pairs_of(path: Path) -> list[list[str]]:
    return [line.split("\t") for line in path.read_text().splitlines()]


def test_scores_are_those_of_the_metrics(say: Say, model: Path, toy: Path) -> None:
    said = say("evaluate", model, toy / "valid.tsv", "--json", "--metrics", "exact, cer,bleu,chrf")
    assert said.code == 0
    found = json.loads(said.out)
    assert found["sentences"] == 40
    pairs = pairs_of(toy / "valid.tsv")
    translator: Any = regard.load(model)
    outputs = [output.text for output in translator.run([source for source, _ in pairs])]
    for name in ("exact", "cer", "bleu", "chrf"):
        row = found["scores"][name]
        direct = named(name)(outputs, [[target] for _, target in pairs])
        assert row["score"] == pytest.approx(direct)
        assert row["low"] <= row["score"] <= row["high"]
        assert row["signature"]
    assert found["scores"]["perplexity"]["score"] > 1


def test_parallel_files_and_parts_are_the_same_data(
    say: Say, model: Path, toy: Path, tmp_path: Path
) -> None:
    pairs = pairs_of(toy / "valid.tsv")
    (tmp_path / "a.txt").write_text("".join(f"{source}\n" for source, _ in pairs))
    (tmp_path / "b.txt").write_text("".join(f"{target}\n" for _, target in pairs))
    table = say("evaluate", model, toy / "valid.tsv", "--json")
    assert table.code == 0
    assert say("evaluate", model, tmp_path / "a.txt", tmp_path / "b.txt", "--json") == table
    assert say("evaluate", model, "valid", "--json") == table


def test_the_table_for_people(say: Say, model: Path) -> None:
    said = say("evaluate", model, "valid", "--most", 20)
    assert said.code == 0
    for word in ("20 questions", "95 % interval", "exact", "cer", "exact by length of the source"):
        assert word in said.out


def test_against_itself_nobody_wins(say: Say, model: Path) -> None:
    said = say("evaluate", model, "valid", "--against", model)
    assert said.code == 0
    assert said.out.count("no clear winner") == 3
    assert "is better" not in said.out


def test_against_a_worse_model_it_wins(say: Say, model: Path, untrained: Path) -> None:
    won = json.loads(say("evaluate", model, "valid", "--against", untrained, "--json").out)
    assert {name: row["winner"] for name, row in won["against"].items()} == {
        "exact": "a", "cer": "a", "perplexity": "a",
    }  # fmt: skip
    lost = say("evaluate", untrained, "valid", "--against", model)
    assert " ".join(lost.out.split()).count(f"{model} is better") == 3


@pytest.mark.parametrize(("suffix", "begins"), [("png", b"\x89PNG"), ("svg", b"<?xml")])
def test_plot(say: Say, model: Path, tmp_path: Path, suffix: str, begins: bytes) -> None:
    path = tmp_path / f"lengths.{suffix}"
    assert say("evaluate", model, "valid", "--plot", path).code == 0
    assert path.read_bytes().startswith(begins)


@pytest.fixture(scope="module")
def other(toy: Path) -> Path:
    """A model that reads a word as one symbol, and whose recipe is after something else."""
    return trained(
        toy, "words", data__source={"is": "data.Words"}, metrics=["cer"], train__updates=1
    )


def test_models_of_other_symbols_share_a_plot(
    say: Say, model: Path, other: Path, tmp_path: Path
) -> None:
    said = say("evaluate", model, "valid", "--against", other, "--plot", tmp_path / "both.svg")
    assert said.code == 0, said.err
    drawn = (tmp_path / "both.svg").read_text()
    for folder in (model, other):
        assert f">{folder.name}<" in drawn


def test_models_of_other_symbols_do_not_answer_together(say: Say, model: Path, other: Path) -> None:
    said = say("run", model, "abc", "--with", other)
    assert said.code == 1
    assert "wanted models with the same source tokenizer, got 10-" in said.err
    assert "train them on the same data with the same source tokenizer" in said.err


def test_scores_are_told_before_a_file_fails(say: Say, model: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for option in ("--plot", "--outputs"):
        said = say("evaluate", model, "valid", option, tmp_path / "file" / "lengths.png")
        assert said.code == 1
        assert "95 % interval" in said.out


def test_bad_lines_stop_or_are_counted(say: Say, model: Path, toy: Path, tmp_path: Path) -> None:
    path = tmp_path / "bad.tsv"
    path.write_text("abc\t\n" + (toy / "valid.tsv").read_text())
    said = say("evaluate", model, path)
    assert said.code == 1
    assert "--on-error skip" in said.err
    said = say("evaluate", model, path, "--on-error", "skip")
    assert said.code == 0
    assert "40 questions" in said.out
    assert f"1 skipped: empty target ({path}:1)" in said.out
    page = tmp_path / "report.html"
    assert say("report", model, path, "--on-error", "skip", "--output", page).code == 0
    assert "1 skipped: empty target" in page.read_text()


def test_data_as_a_recipe_says_it(say: Say, model: Path, toy: Path, tmp_path: Path) -> None:
    path = tmp_path / "named.csv"
    rows = (toy / "valid.tsv").read_text().replace("\t", ",")
    path.write_text("word,back\n" + rows)
    spec = f"{{is: data.Table, path: {path}, source: word, target: back}}"
    said = say("evaluate", model, spec, "--json")
    assert said.code == 0, said.err
    assert said.out == say("evaluate", model, toy / "valid.tsv", "--json").out
    wrong = say("evaluate", model, "{is: data.Tabel, path: x}")
    assert wrong.code == 1
    assert "data.is: no 'Tabel' in regard.data; did you mean 'Table'?" in wrong.err
    empty = tmp_path / "empty.tsv"
    empty.write_text("")
    assert f"got none in {empty}" in say("evaluate", model, empty).err


def test_a_part_of_the_recipe_may_be_skipped_too(say: Say, model: Path, tmp_path: Path) -> None:
    own = shutil.copytree(model, tmp_path / "model")
    recipe = yaml.safe_load((own / "recipe.yaml").read_text())
    path = tmp_path / "valid.tsv"
    path.write_text("abc\tcba\nabc\t\n")
    recipe["data"]["valid"] = {"is": "data.Table", "path": str(path)}
    saved(own / "recipe.yaml", recipe)
    assert say("evaluate", own, "valid").code == 1
    said = say("evaluate", own, "valid", "--on-error", "skip")
    assert said.code == 0, said.err
    assert "1 skipped: empty target" in said.out


def test_perplexities_of_other_symbols_do_not_compare() -> None:
    first, second = (Characters().train([text]) for text in ("abc", "abd"))
    assert first.size == second.size
    signatures = {Perplexity(symbols).signature([["a"]]) for symbols in (first, second)}
    assert len(signatures) == 2


def test_outputs(say: Say, model: Path, toy: Path, tmp_path: Path) -> None:
    assert say("evaluate", model, "valid", "--outputs", tmp_path / "outputs.tsv").code == 0
    with (tmp_path / "outputs.tsv").open() as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    assert [[row["source"], row["references"]] for row in rows] == pairs_of(toy / "valid.tsv")
    first = say("run", model, rows[0]["source"]).out.strip()
    assert rows[0]["output"] == first


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (("valid", "--metrics", "blue"), "got 'blue'; did you mean 'bleu'?"),
        (("valid", "--most", 0), "--most: wanted 1 question or more, got 0"),
        (("valid", "--plot", "plot.gif"), "wanted a file that ends in .png, .svg, .pdf"),
        (("test",), "names no test part"),
        (("vaild.tsv",), "there is no such file"),
        (("a", "b", "c"), "wanted one file or two parallel files, got 3"),
    ],
)
def test_mistakes(say: Say, model: Path, wrong: tuple[object, ...], said: str) -> None:
    found = say("evaluate", model, *wrong)
    assert found.code == 1
    assert found.out == ""
    assert said in found.err


def test_no_such_model(say: Say, toy: Path) -> None:
    said = say("evaluate", toy / "nothing", "valid")
    assert said.code == 1
    assert "there is no such folder" in said.err
