"""The demo refuses what it cannot pronounce before it trains."""

from pathlib import Path

import pytest

from cli.conftest import Say


@pytest.mark.parametrize("word", ["", " ", "and/or"])
def test_words_that_are_none(say: Say, tmp_path: Path, word: str) -> None:
    said = say("demo", "knight", word, "--output", tmp_path / "demo")
    assert said.code == 1
    assert f"wanted words to pronounce, got {word!r}" in said.err
    assert not (tmp_path / "demo").exists()
