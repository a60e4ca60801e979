"""A workshop: a folder with a toy corpus and a tiny trained model, as the examples expect it."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest

from regard.cli import main

RECIPE = """
data:
  train: {is: data.Table, path: train.tsv}
  valid: {is: data.Table, path: valid.tsv}
  test: {is: data.Table, path: words.tsv}
  source: {is: data.Characters}
  target: {is: data.Words}
model: {is: systems.bahdanau, embedding: 8, encoder: 8, decoder: 12, attention: 8, readout: 8}
train: {updates: 6, tokens: 400, log_every: 2, tensorboard: false}
metrics: [per, exact]
decode: {extra: 4}
validate_with: {beam: 1, extra: 0}
"""
TEXT = """
is: tasks.ModelText
data: {train: my_text.txt}
model: {is: systems.language_model, embedding: 8, dim: 8}
train: {updates: 2, tokens: 200, tensorboard: false}
"""
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def spoken(word: str) -> str:
    return " ".join("AA1" if letter == "a" else letter.upper() for letter in word)


@pytest.fixture(scope="session")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Pairs in tables and in parallel files; one tiny model under every name that pages use."""
    folder = tmp_path_factory.mktemp("workshop")
    chance = random.Random(1)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("REGARD_CACHE", str(folder / "cache"))
        for part, size in {"train": 120, "valid": 12, "words": 40, "pairs": 40}.items():
            words = ["".join(chance.choices(LETTERS, k=chance.randint(2, 6))) for _ in range(size)]
            pairs = [(word, spoken(word)) for word in words]
            Path(f"{part}.tsv").write_text("".join(f"{a}\t{b}\n" for a, b in pairs))
            Path(f"{part}.en").write_text("".join(f"{a}\n" for a, _ in pairs))
            Path(f"{part}.de").write_text("".join(f"{b}\n" for _, b in pairs))
        Path("demo.yaml").write_text(RECIPE)
        assert main(["train", "demo.yaml", "--output", "demo/model", "--quiet"]) == 0
        for name in ("my_text.txt", "another.txt"):
            Path(name).write_text("to be or not to be\n" * 40)
        Path("shakespeare.yaml").write_text(TEXT)
        assert main(["train", "shakespeare.yaml", "--quiet"]) == 0
        for twin in ("demo/other", "runs/pronounce_demo"):
            shutil.copytree("demo/model", twin)
    return folder


@pytest.fixture
def place(workshop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the workshop as the present folder, where a page may write and import."""
    shutil.copytree(workshop, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("REGARD_CACHE", str(tmp_path / "cache"))
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path
