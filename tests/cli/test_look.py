from pathlib import Path
from typing import Any

import pytest

import regard
from cli.conftest import Say


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
    assert say("look", transformer, "abc", "--heads", "--output", path).code == 0
    one = tmp_path / "one.svg"
    assert say("look", transformer, "abc", "--output", one).code == 0
    panels = [file.read_text().count('id="axes_') for file in (path, one)]
    assert panels[0] >= 4 > panels[1]


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
    assert "wanted a text to look at, got ''" in said.err


def test_an_unknown_kind_of_picture(say: Say, model: Path, tmp_path: Path) -> None:
    said = say("look", model, "abc", "--output", tmp_path / "look.gif")
    assert said.code == 1
    assert ".png, .svg, .pdf" in said.err
