"""The laws for language models: whole = stepwise, carried = uncut, resumed = never stopped."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import yaml
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import load_file

from regard.commands.train import train
from regard.data import Bpe, Characters, Lines, Stream, Tokenizer, Windows, Words
from regard.search import stream
from regard.systems import language_model
from regard.tasks import ModelText, Sampling, Writer
from regard.tasks.folder import load, task_of
from regard.tasks.model_text import TextLearning, packed, unpacked
from regard.tasks.writer import log_likelihoods
from regard.train import checkpoint

from .zoo import VOCAB, assert_close, randomised

CELLS = ["rnn", "lstm", "gru"]


def tiny(cell: str, layers: int = 1, vocab: int = VOCAB) -> Any:
    model = language_model(vocab, cell=cell, embedding=3, dim=4, layers=layers, dropout=0.0)
    return randomised(model, f"{cell}{layers}", 0)


@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("cell", CELLS)
def test_whole_is_stepwise(cell: str, layers: int) -> None:
    model, tokens = tiny(cell, layers), torch.randint(3, VOCAB, (3, 5))
    outputs, last = model(tokens)
    wanted = model.head(outputs).log_softmax(-1)
    source = torch.zeros(3, dtype=torch.long)
    state = model.start(source)
    for time, token in enumerate(tokens.unbind(1)):
        log_prob, state = model.step(token, state, source)
        assert_close(log_prob, wanted[:, time])
    assert_close(state, last)


@pytest.mark.parametrize("cell", CELLS)
def test_carried_windows_give_the_outputs_of_the_uncut_text_without_its_gradient(cell: str) -> None:
    model, tokens = tiny(cell, 2), torch.randint(3, VOCAB, (2, 9))
    whole, _ = model(tokens)
    carried: dict[str, torch.Tensor] = {}
    outputs = []
    for part in tokens.split(4, 1):
        found, state = model(part, unpacked(carried))
        carried = packed(state)
        outputs.append(found)
    assert_close(torch.cat(outputs, 1), whole)
    assert all(not tensor.requires_grad for tensor in carried.values())


@given(
    length=st.integers(2, 300),
    window=st.integers(1, 40),
    rows=st.integers(1, 9),
    epoch=st.integers(0, 3),
)
def test_windows_go_on_where_they_ended_and_stay_inside(
    length: int, window: int, rows: int, epoch: int
) -> None:
    windows = Windows(length, window=window, rows=rows, seed=1)
    batches = windows.epoch(epoch)
    assert all(np.array_equal(a, b) for a, b in zip(batches, windows.epoch(epoch), strict=True))
    places = np.stack(batches)[:, :, None] + np.arange(windows.window)
    assert len(np.unique(places)) == places.size, "no symbol stands in two windows"
    assert places.min() >= 0
    assert places.max() + 1 < length, "the last target is inside too"
    assert (np.diff(np.stack(batches), axis=0) == windows.window).all()


@pytest.mark.parametrize("length", [65, 641, 6401, 12_000, 20_001])
def test_every_symbol_is_learned_from_sooner_or_later(length: int) -> None:
    windows = Windows(length, window=64, rows=64, seed=1)
    epochs = [np.stack(windows.epoch(epoch)) for epoch in range(60)]
    assert len({each.shape for each in epochs}) == 1
    places = np.concatenate([each.flatten() for each in epochs])[:, None] + np.arange(64)
    # The first symbol of all has none before it that would predict it.
    assert len(np.unique(places + 1)) > 0.95 * (length - 1)


@pytest.mark.parametrize("size", [1, 7, 300, 600, 5000])
def test_log_likelihood_is_that_of_rows_read_side_by_side(size: int) -> None:
    model = tiny("gru")
    tokens = np.random.default_rng(0).integers(3, VOCAB, size)
    found = log_likelihoods(model, Stream(tokens, np.array([size], np.int32)))
    assert found.shape == (size,)
    rows = max(1, min(16, size // 256))
    span, wanted = -(-size // rows), 0.0
    before = np.r_[Tokenizer.EOS, tokens[:-1]]
    for first in range(0, size, span):
        part = slice(first, first + span)
        outputs, _ = model(torch.from_numpy(before[part])[None])
        log_prob = model.head(outputs).log_softmax(-1)[0].detach()
        wanted += float(log_prob.gather(1, torch.from_numpy(tokens[part])[:, None]).sum())
    assert abs(found.sum() - wanted) < 1e-7


@pytest.mark.parametrize(("size", "anew"), [(3, 7), (300, 7), (600, 300), (9_000, 7)])
def test_log_likelihood_of_windows_from_zero(size: int, anew: int) -> None:
    model = tiny("lstm")
    tokens = np.random.default_rng(0).integers(3, VOCAB, size)
    text = Stream(tokens, np.array([size], np.int32))
    found = log_likelihoods(model, text, anew=anew)
    before, wanted = np.r_[Tokenizer.EOS, tokens[:-1]], []
    for start in range(0, size, anew):
        part = slice(start, start + anew)
        outputs, _ = model(torch.from_numpy(before[part])[None])
        log_prob = model.head(outputs).log_softmax(-1)[0].detach()
        wanted += log_prob.gather(1, torch.from_numpy(tokens[part])[:, None])[:, 0].tolist()
    np.testing.assert_allclose(found, wanted, atol=1e-9)


def test_a_model_of_windows_is_measured_both_ways(tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    path.write_text("to be or not to be\n" * 40)
    symbols = Characters().train(["to be or not to be"])
    model = randomised(language_model(symbols.size, embedding=3, dim=4), "anew", 0)
    carried, anew = Writer(model, symbols), Writer(model, symbols, anew=3)
    scores = {name: score.value for name, score in anew.evaluate(str(path)).scores.items()}
    assert scores["nats_carried"] == carried.evaluate(str(path)).scores["nats"].value
    assert abs(scores["nats"] - scores["nats_carried"]) > 1e-6
    assert set(carried.evaluate(str(path)).scores) == {"nats", "perplexity"}


def test_long_lines_are_several_units_of_an_interval(tmp_path: Path) -> None:
    symbols = Characters().train(["to be or not to be"])
    model = randomised(language_model(symbols.size, embedding=3, dim=4), "units", 0)
    path, scores = tmp_path / "text.txt", []
    for text in ("to be or not " * 300 + "\nto be\n", "to be or not " * 300):
        path.write_text(text)
        nats = Writer(model, symbols).evaluate(str(path)).scores["nats"]
        assert nats.statistics[:, 1].sum() == len(text.rstrip("\n")) + 1
        assert nats.interval().low < nats.interval().score < nats.interval().high
        scores.append(nats)
    assert [len(score.statistics) for score in scores] == [5, 4]


def test_a_stream_draws_from_the_models_own_distribution() -> None:
    model, source = tiny("rnn"), torch.zeros(1, dtype=torch.long)
    log_prob, _ = model.step(torch.tensor([4]), model.start(source), source)
    chances = log_prob[0].exp().detach().clone()
    chances[[0, 1]] = 0
    chances /= chances.sum()
    firsts = [next(stream(model, source, [4], never=(0, 1), seed=s)) for s in range(800)]
    often = torch.bincount(torch.tensor(firsts), minlength=VOCAB) / len(firsts)
    assert (often - chances).abs().max() < 0.06
    greedy = next(stream(model, source, [4], never=(0, 1), seed=1, top_k=1))
    assert greedy == int(chances.argmax())


def test_writing_goes_on_from_the_prompt_and_streams_what_run_returns() -> None:
    symbols = Characters().train(["ab ba", "abba", ""])
    writer = Writer(tiny("lstm", vocab=symbols.size), symbols)
    how = Sampling(seed=3, temperature=0.7)
    pieces = list(writer.write("ab\nb", length=40, sampling=how))
    assert len(pieces) == 40
    assert set("".join(pieces)) <= set("ab \n")
    assert "".join(pieces) == writer.run("ab\nb", length=40, sampling=how)[0].text
    assert "".join(pieces) != writer.run("ab\nb", length=40, sampling=Sampling(seed=4))[0].text
    with pytest.raises(ValueError, match="length: wanted 1 symbol or more, got 0"):
        writer.write("a", length=0)
    with pytest.raises(ValueError, match="temperature: wanted a number above 0"):
        writer.write("a", sampling=Sampling(temperature=0.0))


def recipe(folder: Path, **changes: Any) -> Path:
    """A recipe on a text in which the next letter depends on one seen long ago."""
    chance = random.Random(1)
    lines = ("".join(chance.choices("ab", k=1) * 6 + ["."]) for _ in range(400))
    (folder / "text.txt").write_text("\n".join(lines))
    content = {
        "is": "tasks.ModelText",
        "data": {"train": str(folder / "text.txt"), "cache": str(folder / "cache")},
        "model": {"is": "systems.language_model", "embedding": 8, "dim": 16, "dropout": 0.1},
        "window": 5,
        "train": {
            "updates": 60,
            "tokens": 40,
            "validate_every": 30,
            "checkpoint_every": 7,
            "tensorboard": False,
            "optimizer": {"is": "torch.optim.AdamW", "lr": 0.02},
            "schedule": {"is": "train.Constant"},
        },
        **changes,
    }
    path = folder / "text.yaml"
    path.write_text(yaml.safe_dump(content))
    return path


def test_resumed_in_the_middle_of_a_text_is_never_stopped(tmp_path: Path) -> None:
    path = recipe(tmp_path)
    train(str(path), [], str(tmp_path / "whole"), fresh=False, quiet=True)
    train(str(path), ["train.updates=21"], str(tmp_path / "parts"), fresh=False, quiet=True)
    kept = load_file(checkpoint.listed(tmp_path / "parts" / "checkpoints")[-1])
    assert kept["carried/0.0"].shape == (8, 16)
    assert kept["carried/0.0"].abs().sum() > 0
    train(str(path), [], str(tmp_path / "parts"), fresh=False, quiet=True)
    whole, parts = (
        (tmp_path / name / "model.safetensors").read_bytes() for name in ("whole", "parts")
    )
    assert whole == parts


def test_the_state_is_carried_only_where_told(tmp_path: Path) -> None:
    learnings: dict[bool, TextLearning] = {}
    for carry in (True, False):
        content = yaml.safe_load(recipe(tmp_path).read_text())
        task = _task({**content, "carry": carry})
        learning = learnings[carry] = task.prepare(progress=False)
        first, second = learning.batches.epoch(0)[:2]
        learning.model.eval()
        carried = learning.loss(learning.model, learning.batch(first), {}).carried
        assert bool(carried) is carry
        if carry:
            kept = learning.loss(learning.model, learning.batch(second), carried).nll
            fresh = learning.loss(learning.model, learning.batch(second), {}).nll
            assert abs(float(kept - fresh)) > 1e-4


def _task(content: dict[str, Any]) -> ModelText:
    task = task_of(content)
    assert isinstance(task, ModelText)
    return task


def test_a_model_learns_what_its_window_can_show(tmp_path: Path) -> None:
    path = recipe(tmp_path)
    train(
        str(path),
        ["train.updates=600", "model.dim=32", "model.dropout=0.0"],
        str(tmp_path / "run"),
        fresh=False,
        quiet=True,
    )
    writer = load(tmp_path / "run")
    nats = writer.evaluate(_task(yaml.safe_load(path.read_text())).part("valid")).scores["nats"]
    # One letter of two is free in a line of eight symbols: log 2 / 8 = 0.087.
    assert nats.value < 0.13


def test_a_text_may_come_in_several_files(tmp_path: Path) -> None:
    symbols = Characters().train(["ab ba", "abba"])
    writer = Writer(tiny("gru", vocab=symbols.size), symbols)
    for name, text in {"one": "ab\nba\n", "two": "abba\n", "both": "ab\nba\nabba\n"}.items():
        (tmp_path / name).write_text(text)
    apart = writer.evaluate([str(tmp_path / "one"), str(tmp_path / "two")]).scores["nats"].value
    assert apart == writer.evaluate(str(tmp_path / "both")).scores["nats"].value
    lines = Lines(lambda: iter(["ab", "ba", "abba"]))
    found = writer.evaluate(lines)
    assert apart == found.scores["nats"].value
    assert found.scores["nats"].statistics[:, 1].tolist() == [3, 3, 5], "characters with line ends"
    assert found.scores["perplexity"].statistics[:, 1].tolist() == [3, 3, 5]
    assert writer.evaluate(lines).scores["nats"].value == apart, "a part can be read again"
    with pytest.raises(ValueError, match="wanted a text to measure, got nothing"):
        writer.evaluate(Lines(lambda: iter([])))


def test_models_of_other_symbols_are_compared_per_character_and_not_per_symbol() -> None:
    text = ["ab ab ba", "ba", "ab ba ab"] * 30
    letters, words = Characters().train(text), Words().train(text)
    one, other = (
        Writer(tiny("gru", vocab=each.size), each).evaluate(Lines(lambda: iter(text)))
        for each in (letters, words)
    )
    tests = one.against(other)
    assert tests.keys() == {"nats"}
    assert tests["nats"].a == one.scores["nats"].value
    assert tests["nats"].b == other.scores["nats"].value


def test_what_is_unknown_is_told() -> None:
    symbols = Words(size=10).train(["a b c d e f g h"])
    writer = Writer(tiny("gru", vocab=symbols.size), symbols)
    signature = writer.evaluate(Lines(lambda: iter(["a b", "x y"]))).scores["nats"].signature
    assert "unknown:33.33%" in signature  # two of four words and two line ends


@pytest.mark.parametrize("settings", [Characters(), Words(), Bpe(size=40)])
def test_what_is_written_piece_by_piece_is_the_text_of_its_symbols(settings: Any) -> None:
    symbols = settings.train(["ab ba abba", "b a", "ab ab ab ba"] * 5)
    writer = Writer(tiny("lstm", vocab=symbols.size), symbols)
    text = "".join(writer.write("ab b", length=60, sampling=Sampling(seed=2)))
    for line in f"ab b{text}".split("\n")[:-1]:
        (row,) = symbols.encode([line])
        assert symbols.decode(row).split() == line.split()


def test_every_symbol_of_a_text_counts_for_its_fingerprint(tmp_path: Path) -> None:
    content = yaml.safe_load(recipe(tmp_path).read_text())
    before = _task(content).prepare(progress=False).fingerprint()
    assert _task(content).prepare(progress=False).fingerprint() == before
    path = tmp_path / "text.txt"
    path.write_text(path.read_text().replace("aaaaaa", "bbbbbb", 1))
    assert _task(content).prepare(progress=False).fingerprint() != before


def test_the_rows_of_a_batch_do_not_depend_on_the_number_of_processes(tmp_path: Path) -> None:
    content = yaml.safe_load(recipe(tmp_path).read_text())
    content["train"] |= {"tokens": 45, "devices": 2}
    first, *_ = _task(content).prepare(progress=False).batches.epoch(0)
    assert len(first) == 9
