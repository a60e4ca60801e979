"""A language model on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from .conftest import Say


@pytest.fixture(scope="module")
def writer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny model of a tiny text."""
    from regard.commands.train import train

    folder = tmp_path_factory.mktemp("writer")
    (folder / "text.txt").write_text("to be or not to be\n" * 60)
    recipe = {
        "is": "tasks.ModelText",
        "data": {"train": str(folder / "text.txt"), "cache": str(folder / "cache")},
        "model": {"is": "systems.language_model", "embedding": 8, "dim": 16},
        "train": {"updates": 3, "tokens": 128, "tensorboard": False},
    }
    (folder / "text.yaml").write_text(yaml.safe_dump(recipe))
    train(str(folder / "text.yaml"), [], str(folder / "run"), fresh=False, quiet=True)
    return folder / "run"


def test_it_writes_on_from_every_prompt(say: Say, writer: Path) -> None:
    said = say("run", writer, "to be", "or", "--length", "20", "--temperature", "0.5")
    assert said.code == 0, said.err
    assert said.out.startswith("to be")
    assert len(said.out) == len("to be") + 20 + 1 + len("or") + 20 + 1
    again = say("run", writer, "to be", "or", "--length", "20", "--temperature", "0.5")
    assert again.out == said.out
    other = say("run", writer, "to be", "--length", "20", "--seed", "2")
    assert other.out != said.out


def test_prompts_come_from_standard_input_too(
    say: Say, writer: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import io

    monkeypatch.setattr("sys.stdin", io.StringIO("not\n"))
    said = say("run", writer, "--length", "5")
    assert said.out.startswith("not")
    assert len(said.out) == 3 + 5 + 1


def test_prompts_before_a_bad_line_are_written_on(
    say: Say, writer: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import io

    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"not\n\xff\n")))
    said = say("run", writer, "--length", "5")
    assert said.code == 1
    assert said.out.startswith("not")
    assert "standard input:2: invalid UTF-8: byte 0xff" in said.err


def test_scores_alone_and_against_itself(say: Say, writer: Path) -> None:
    said = say("evaluate", writer, "valid", "--against", writer)
    assert said.code == 0, said.err
    assert "nats|parts:6|per:character|unknown:0.00%" in said.out
    assert "no clear winner" in said.out


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (("run", "a", "--beam", "3"), "--beam: is for models that answer"),
        (("run", "a", "--nbest", "3"), "--nbest: is for models that answer"),
        (("run", "--talk"), "--talk: is for models that answer"),
        (("run", "a", "--length", "0"), "length: wanted 1 symbol or more, got 0"),
        (("evaluate", "valid", "--beam", "3"), "--beam: is for models that answer"),
        (("evaluate", "valid", "--plot", "x.png"), "--plot: is for models that answer"),
        (("evaluate", "valid", "--metrics", "bleu"), "metrics: a language model is measured"),
        (("evaluate", "test"), "its recipe names no test part"),
        (("evaluate", "valid", "--on-error", "skip"), "on_error: a language model is measured"),
        (("run", "a", "--csv"), "--csv: is for models that describe pictures"),
        (("run", "a", "--batch", "3"), "--batch: is for models that answer"),
        (("look", "a", "--beam", "3"), "--beam: is for models that answer"),
        (("look", "a"), "this model has no attention"),
        (("report", "valid", "--penalty", "none"), "--penalty: is for models that answer"),
    ],
)
def test_mistakes(say: Say, writer: Path, arguments: tuple[str, ...], wanted: str) -> None:
    said = say(arguments[0], writer, *arguments[1:])
    assert said.code == 1
    assert wanted in said.err
    assert said.err.count("\n") <= 2


def test_an_ensemble_with_one_that_writes(say: Say, writer: Path, model: Path) -> None:
    said = say("run", model, "abc", "--with", writer)
    assert said.code == 1
    assert "--with: is for models that answer" in said.err


def test_what_the_model_has_no_symbol_for_is_told(say: Say, writer: Path) -> None:
    said = say("run", writer, "zebra", "--length", "3")
    assert "no symbol for 'a', 'z' in 'zebra'" in said.err


def test_json_has_what_is_known(say: Say, writer: Path) -> None:
    import json

    said = say("run", writer, "to", "--length", "3", "--json")
    assert json.loads(said.out).keys() == {"source", "text"}


def test_checkpoints_are_averaged(say: Say, writer: Path, tmp_path: Path) -> None:
    said = say("average", writer, "--last", "1", "--output", tmp_path / "mean")
    assert said.code == 0, said.err
    assert say("run", tmp_path / "mean", "to", "--length", "3").code == 0
