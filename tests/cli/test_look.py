import csv
from pathlib import Path
from typing import Any

import pytest

import regard
from cli.conftest import Say, saved
from regard.cli import main


@pytest.mark.parametrize(
    ("suffix", "begins"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")]
)
def test_pictures(say: Say, model: Path, tmp_path: Path, suffix: str, begins: bytes) -> None:
    path = tmp_path / f"look.{suffix}"
    said = say("look", model, "abc", "--output", path)
    assert said.code == 0
    assert said.out.endswith(f"{path}\n")
    assert said.out.startswith("a b c </s> →")
    assert path.read_bytes().startswith(begins)


def test_the_default_name(
    say: Say, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert say("look", model, "abc").code == 0
    assert (tmp_path / "look.png").exists()


def test_all_layers_and_heads(say: Say, transformer: Path, tmp_path: Path) -> None:
    translator: Any = regard.load(transformer)
    seen = translator.look("abc", answer="cba")
    assert seen.weights.shape == (2, 2, 4, 4)
    assert seen.weights.sum(-1) == pytest.approx(1, abs=1e-5)
    path = tmp_path / "heads.svg"
    assert say("look", transformer, "abc", "--view", "heads", "--output", path).code == 0
    one = tmp_path / "one.svg"
    assert say("look", transformer, "abc", "--output", one).code == 0
    panels = [file.read_text().count('id="axes_') for file in (path, one)]
    assert panels[0] >= 4 > panels[1]


def test_the_search_is_printed(
    say: Say, model: Path, blind: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for folder in (model, blind):
        said = say("look", folder, "abc", "--view", "tree", "--beam", "3")
        assert said.code == 0, said.err
        first, *lines = said.out.splitlines()
        assert first.startswith("a b c </s> → ")
        steps = [place for place, line in enumerate(lines) if line.startswith("step ")]
        answer = [line for line in lines if "answer" in line and not line.startswith(("At", "Gr"))]
        assert len(answer) == len(first.partition(" → ")[2].split())
        assert sum(line.startswith(("  ·", "  ■")) for line in lines[: steps[1]]) == 3
        assert any("pruned, short by" in line for line in lines)
        assert "reedy" in lines[-1]
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("view", ["arcs", "heads", "tree"])
def test_views(say: Say, transformer: Path, tmp_path: Path, view: str) -> None:
    path = tmp_path / "look.svg"
    said = say("look", transformer, "abc", "--view", view, "--output", path, "--dark")
    assert said.code == 0, said.err
    drawn = path.read_text()
    assert (">c</text>" if view != "tree" else ">1</text>") in drawn
    assert ("sharpest: layer" in drawn) == (view == "heads")
    assert ("greedy" in drawn.lower()) == (view == "tree")


def test_words_and_gold(say: Say, transformer: Path, tmp_path: Path) -> None:
    path = tmp_path / "look.svg"
    how = ("--answer", "ab", "--words", "--output", path)
    said = say("look", transformer, "abc", *how)
    assert said.out == f"abc </s> → ab </s>\n{path}\n"
    said = say("look", transformer, "abc", "--view", "heads", "--gold", "0-0", *how)
    assert said.code == 0, said.err
    assert "fewest errors: layer" in path.read_text()
    said = say("look", transformer, "abc", "--view", "heads", "--gold", "1-0", *how)
    assert "between 1 source words and 1 target words" in said.err


def test_a_page(say: Say, transformer: Path, tmp_path: Path) -> None:
    path = tmp_path / "look.html"
    assert say("look", transformer, "abc", "--output", path).code == 0
    assert path.read_text().startswith("<!doctype html>")


def test_unknown_symbols_are_told(say: Say, model: Path, tmp_path: Path) -> None:
    said = say("look", model, "abz", "--answer", "ab Z", "--output", tmp_path / "odd.png")
    assert said.code == 0, said.err
    assert "no symbol for 'z' in 'abz'" in said.err
    assert "'Z' in 'ab Z'" in said.err


def test_a_given_answer(say: Say, model: Path, tmp_path: Path) -> None:
    path = tmp_path / "given.png"
    said = say("look", model, "abc", "--answer", "fffff", "--output", path, "--dark")
    assert said.code == 0
    assert "→ f f f f f </s>" in said.out


def test_without_attention_there_is_nothing_to_see(say: Say, blind: Path, tmp_path: Path) -> None:
    said = say("look", blind, "abc", "--output", tmp_path / "look.png")
    assert said.code == 1
    assert "no attention" in said.err
    assert not list(tmp_path.iterdir())


def test_nothing_to_look_at(say: Say, model: Path) -> None:
    said = say("look", model, "")
    assert said.code == 1
    assert "wanted a text to answer, got ''" in said.err


def test_an_unknown_kind_of_picture(say: Say, model: Path, tmp_path: Path) -> None:
    said = say("look", model, "abc", "--output", tmp_path / "look.gif")
    assert said.code == 1
    assert ".png, .svg, .pdf" in said.err


@pytest.fixture(scope="module")
def writer(toy: Path) -> Path:
    """A language model that has hardly begun to learn."""
    (toy / "letters.txt").write_text("abc def fed cba\n" * 60)
    recipe = {
        "is": "tasks.ModelText",
        "data": {"train": str(toy / "letters.txt")},
        "model": {"is": "systems.language_model", "cell": "gru", "embedding": 6, "dim": 8},
        "window": 8,
        "train": {"updates": 2, "tokens": 64, "tensorboard": False},
    }
    path = saved(toy / "writer.yaml", recipe)
    assert main(["train", str(path), "--output", str(toy / "writer"), "--quiet"]) == 0
    return toy / "writer"


def test_gradients_of_several_models(say: Say, writer: Path, blind: Path, tmp_path: Path) -> None:
    path = tmp_path / "gradients.svg"
    said = say("look", "--gradients", writer, blind, "--steps", "30", "--output", path, "--dark")
    assert said.code == 0, said.err
    assert said.out.endswith(f"{path}\n")
    rows = [line.split() for line in said.out.splitlines()]
    assert ["model", "state", "0", "1", "3", "7", "15", "30", "a", "step"] in rows
    states = [(row[0], " ".join(row[1:3])) for row in rows if "×" in row]
    assert states == [
        ("writer", "GRU h1"), ("blind", "LSTM h1"), ("blind", "LSTM c1"),
        ("new", "RNN h1"), ("new", "LSTM h1"), ("new", "GRU h1"),
    ]  # fmt: skip
    gates = [row[3] for row in rows if len(row) == 7 and row[1] in ("GRU", "LSTM")]
    assert gates == ["reset", "update", "new", "input", "forget", "cell", "output"]
    assert "writer (GRU), h" in path.read_text()


def test_clipping_as_chosen(say: Say, writer: Path, tmp_path: Path) -> None:
    path = tmp_path / "gradients.png"
    how = ("--clip", "0.001", "--clip-value", "0.0001", "--steps", "5", "--output", path)
    said = say("look", writer, "--gradients", *how)
    assert said.code == 0, said.err
    by_norm, by_value = (
        line.split()[2:]
        for line in said.out.splitlines()
        if line.split()[1:2] in (["norm"], ["value"])
    )
    assert (by_norm[0], by_norm[2], by_norm[4]) == ("0.001", "0.001", "0.0°")
    assert by_value[0] == "0.0001"
    assert float(by_value[4].rstrip("°")) > 1
    assert path.read_bytes().startswith(b"\x89PNG")


def test_gradients_on_files(say: Say, toy: Path, writer: Path, model: Path, tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_text("abcdef" * 10 + "\n")
    out = ("--output", tmp_path / "look.png")
    said = say("look", "--gradients", writer, "--input", text, "--steps", "40", *out)
    assert said.code == 0, said.err
    said = say("look", "--gradients", writer, "--input", text, *out)
    assert said.code == 1
    assert "wanted a text of at least 102 symbols" in said.err
    said = say("look", "--gradients", model, "--input", toy / "valid.tsv", *out)
    assert said.code == 0, said.err
    said = say("look", "--gradients", writer, "--input", text, "--input", text, *out)
    assert said.code == 1
    assert "--input: wanted at most 1" in said.err


@pytest.mark.parametrize("kind", ["model", "transformer"])
def test_a_map(say: Say, request: pytest.FixtureRequest, tmp_path: Path, kind: str) -> None:
    folder: Path = request.getfixturevalue(kind)
    file, path = tmp_path / "words.txt", tmp_path / "map.pdf"
    file.write_text("abc\tup\nbcd\tup\nfed\tdown\nedc\tdown\n")
    said = say("look", "--map", folder, file, "--output", path)
    assert said.code == 0, said.err
    assert said.out == f"4 sentences\n{path}\n{tmp_path / 'map.places.tsv'}\n"
    assert path.read_bytes().startswith(b"%PDF")
    with (tmp_path / "map.places.tsv").open() as table:
        _, *rows = csv.reader(table, delimiter="\t")
    assert [row[:2] for row in rows] == [
        ["abc", "up"], ["bcd", "up"], ["fed", "down"], ["edc", "down"]
    ]  # fmt: skip
    trained: Any = regard.load(folder)
    summaries = trained.summaries(["abc", "bcd", "fed", "edc"])
    distance = ((summaries[0] - summaries[1]) ** 2).sum() ** 0.5
    flat = sum((float(a) - float(b)) ** 2 for a, b in zip(rows[0][2:], rows[1][2:], strict=True))
    assert 0 < flat**0.5 <= distance + 1e-4


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("MODEL",), "wanted a text to look at, in quotes if it has several words, got none"),
        (("MODEL", "a", "b"), "in quotes if it has several words, got 2"),
        (("--map", "MODEL"), "wanted a file of sentences behind the model, got none"),
        (("--map", "MODEL", "x", "y"), "got 2"),
        (("--map", "MODEL", "nowhere.txt"), "nowhere.txt: there is no such file"),
        (("--gradients", "MODEL", "nowhere"), "nowhere: wanted a folder"),
        (("--gradients", "MODEL", "--view", "heads"), "--view: is for looking at a text"),
        (("--map", "MODEL", "x", "--words"), "--words: is for looking at a text"),
        (("MODEL", "abc", "--gold", "0-0"), "--gold: is for measuring heads; add --view heads"),
        (("MODEL", "abc", "--answer", "a", "--beam", "2"), "--beam: is for searching"),
        (("MODEL", "abc", "--answer", "a", "--view", "tree"), "no search for it to show"),
        (
            ("MODEL", "abc", "--view", "animation"),
            "wanted matrix or arcs or heads or tree of a text",
        ),
        (("MODEL", "abc", "--view", "heads", "--gold", "0:0"), "wanted links such as 0-0"),
        (("--map", "MODEL", "x", "--answer", "y"), "--answer: is for looking at a text"),
        (("MODEL", "abc", "--clip", "1"), "--clip: is for following gradients; add --gradients"),
        (("--map", "MODEL", "x", "--steps", "9"), "--steps: is for following gradients"),
        (("--gradients", "MODEL", "--clip", "0"), "--clip: wanted more than 0, got 0.0"),
        (("--gradients", "MODEL", "--steps", "-1"), "--steps: wanted more than 0, got -1"),
        (("--gradients", "--map", "MODEL"), "not allowed with argument"),
    ],
)
def test_mistakes(
    say: Say, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: Any,
    message: str,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    said = say("look", *(model if each == "MODEL" else each for each in arguments))
    assert said.code != 0
    assert message in said.err
    assert not list(tmp_path.iterdir())


def test_what_a_model_cannot_show(
    say: Say, writer: Path, transformer: Path, toy: Path, tmp_path: Path
) -> None:
    file, out = toy / "letters.txt", ("--output", tmp_path / "look.png")
    for arguments, message in (
        ((writer, "abc"), "no attention"),
        (("--map", writer, file), "no encoder"),
        (("--gradients", transformer), "reads the source step by step"),
    ):
        said = say("look", *arguments, *out)
        assert said.code == 1
        assert message in said.err
    assert not list(tmp_path.iterdir())
