"""Every mistake ends in one or two lines that name the key, what was wanted and what came."""

from pathlib import Path
from typing import Any

import pytest

from cli.conftest import Said, Say, recipe_of, saved
from regard.tasks.folder import read_recipe

TRANSFORMER = {"is": "systems.transformer", "dim": 16, "heads": 2, "hidden": 16, "layers": 1}
ADAM = "torch.optim.AdamW"
MISTAKES: list[tuple[dict[str, Any], tuple[str, ...]]] = [
    # Keys
    ({"modle": {}}, ("modle: unknown key", "did you mean 'model'?")),
    ({"train__epoch": 3}, ("train.epoch: unknown key", "did you mean 'epochs'?")),
    ({"train__schedule__wramup": 3}, ("train.schedule.wramup", "did you mean 'warmup'?")),
    ({"model__Encoder": 3}, ("model.Encoder", "did you mean 'encoder'?")),
    (
        {"data__xyz": 3},
        ("data.xyz: unknown key", "wanted one of apart, both_ways, cache"),
    ),
    ({"model__is": None}, ("model.attention: unknown key", "model.is is missing")),
    ({"data__train": None}, ("data.train: missing", "data.Parallel", "a text", "a list of texts")),
    ({"train__optimizer": {"lr": 0.1}}, ("train.optimizer.is: missing", ADAM)),
    # Types
    ({"train__updates": "many"}, ("train.updates: wanted a whole number", "got 'many'")),
    ({"train__updates": True}, ("train.updates: wanted a whole number", "got True")),
    ({"train__tokens": 1.5}, ("train.tokens: wanted a whole number, got 1.5",)),
    ({"data__several": 1}, ("data.several: wanted true or false, got 1",)),
    ({"model__dropout": "some"}, ("model.dropout: wanted a number, got 'some'",)),
    ({"about": 5}, ("about: wanted a text, got 5",)),
    ({"result": "good"}, ("result: wanted a mapping", "got 'good'")),
    ({"metrics": "exact"}, ("metrics: wanted a list of texts, got 'exact'",)),
    ({"metrics": [5]}, ("metrics[0]: wanted a text, got 5",)),
    ({"train": [1, 2]}, ("train: wanted a mapping with keys such as epochs", "got [1, 2]")),
    ({"data": "train.tsv"}, ("data: wanted a mapping with keys such as train", "'train.tsv'")),
    ({"data__train": 5}, ("data.train: wanted {is: ", "got 5")),
    ({"data__train": {"path": "a.tsv"}}, ("data.train.is: wanted a name", "without is")),
    ({"model": "bahdanau"}, ("model: wanted {is: systems.bahdanau", "got 'bahdanau'")),
    ({"model": "bahdanau", "train__updates": None}, ("model: wanted {is: ", "got 'bahdanau'")),
    (
        {"train__optimizer": {"is": ADAM, "lr": "fast"}},
        ("train.optimizer.lr: wanted a number", "got 'fast'"),
    ),
    (
        {"train__optimizer": {"is": ADAM, "betas": [0.9]}},
        ("train.optimizer.betas: wanted a list of 2, got [0.9]",),
    ),
    # Parts
    ({"model__is": "systems.bahdanaw"}, ("model.is: no 'bahdanaw'", "did you mean 'bahdanau'?")),
    ({"model__is": "system.bahdanau"}, ("model.is", "did you mean 'systems.bahdanau'?")),
    ({"model__is": "nowhere.thing"}, ("model.is: no part is called 'nowhere.thing'",)),
    ({"model__is": "bahdanau"}, ("model.is: wanted a dotted name", "got 'bahdanau'")),
    ({"model__is": "..os.system"}, ("model.is: wanted a dotted name", "got '..os.system'")),
    ({"model__is": 5}, ("model.is: wanted a dotted name", "got 5")),
    ({"model__is": "data.Characters"}, ("model.is", "Seq2Seq", "data.Characters does not")),
    ({"train__schedule": {"is": "train.Schedule"}}, ("train.schedule.is", "train.Cosine")),
    ({"train__optimizer": {"is": "torch.optim.Adamw"}}, ("did you mean 'AdamW'?",)),
    # Values
    ({"model__cell": "lstn"}, ("model.cell: wanted one of gru, lstm, rnn", "mean 'lstm'?")),
    ({"train__precision": "16"}, ("train.precision: wanted one of 32-true", "got '16'")),
    ({"metrics": ["blue"]}, ("metrics: wanted one of", "got 'blue'", "did you mean 'bleu'?")),
    ({"metrics": []}, ("metrics: wanted at least one",)),
    ({"smoothing": 2.0}, ("smoothing: wanted a share", "got 2.0")),
    ({"decode": {"beam": 0}}, ("decode.beam: wanted a width of 1 or more, got 0",)),
    (
        {"decode": {"penalty": {"is": "search.Gnmt", "alpha": 9}}},
        ("decode.penalty.alpha: wanted a number from 0 to 5, got 9",),
    ),
    ({"train__epochs": 3}, ("train: wanted one of epochs, updates or minutes", "epochs and upd")),
    # Ranges
    ({"model__encoder": 0}, ("model.encoder: wanted a whole number of 1 or more, got 0",)),
    ({"model__encoder_layers": -1}, ("model.encoder_layers: wanted a whole number of 1 or",)),
    ({"model": {**TRANSFORMER, "layers": 0}}, ("model.layers: wanted a whole number of 1 or",)),
    ({"train__updates": 0}, ("train.updates: wanted a whole number of 1 or more or null, got 0",)),
    ({"train__clip": -1}, ("train.clip: wanted a number above 0 or null, got -1",)),
    ({"train__clip": float("nan")}, ("train.clip: wanted a number above 0 or null, got nan",)),
    ({"train__ema": 2}, ("train.ema: wanted a number between 0 and 1 or null, got 2",)),
    (
        {"train__updates": None, "train__minutes": float("inf")},
        ("train.minutes: wanted a number above 0 or null, got inf",),
    ),
    ({"train__seed": -1}, ("train.seed: wanted a whole number from 0 to 2^63 - 1, got -1",)),
    ({"train__device": "foo"}, ("train.device: wanted one of auto, cpu", "got 'foo'")),
    (
        {"train__schedule": {"is": "train.Cosine", "floor": -3}},
        ("train.schedule.floor: wanted a number from 0 to 1, got -3",),
    ),
    ({"data__most": 0}, ("data.most: wanted a whole number of 1 or more, got 0",)),
    ({"samples": -1}, ("samples: wanted a whole number of 0 or more, got -1",)),
    # Sizes that do not fit together
    (
        {"model": {**TRANSFORMER, "longest": 6}},
        ("model.longest: wanted 7 or more for the longest training text", "got 6"),
    ),
    (
        {
            "train__updates": None,
            "train__epochs": 2,
            "data__both_ways": 2,
            "data__target": None,
        },
        ("data.both_ways: wanted fewer than the 2 train.epochs",),
    ),
    ({"model": {**TRANSFORMER, "heads": 3}}, ("model.heads", "dim = 16", "got 3")),
    ({"model__tied": True, "model__readout": 16}, ("model: tied", "16", "24")),
    (
        {"model": {**TRANSFORMER, "shared": True}, "data__target": {"is": "data.Words"}},
        ("model.shared: wanted one vocabulary for both sides", "make the tokenizer joint"),
    ),
]


def assert_short(said: Said, word: str = "train") -> None:
    assert said.code == 1
    assert said.out == ""
    assert said.err.startswith(f"regard {word}: ")
    assert said.err.count("\n") <= 2
    assert "Traceback" not in said.err


@pytest.mark.parametrize(("changes", "wanted"), MISTAKES, ids=[str(m[0])[:50] for m in MISTAKES])
def test_recipe(
    say: Say, toy: Path, tmp_path: Path, changes: dict[str, Any], wanted: tuple[str, ...]
) -> None:
    path = saved(tmp_path / "bad.yaml", recipe_of(toy, **changes))
    said = say("train", path, "--output", tmp_path / "run", "--quiet")
    assert_short(said)
    for words in wanted:
        assert words in said.err
    assert not (tmp_path / "run").exists()


def test_a_validation_text_beyond_the_positions_is_found_at_once(
    say: Say, toy: Path, tmp_path: Path
) -> None:
    valid = tmp_path / "valid.tsv"
    valid.write_text("abc\tcba\n" + "f" * 30 + "\tf\n")
    recipe = recipe_of(
        toy, model={**TRANSFORMER, "longest": 20}, data__valid=str(valid), train__updates=1
    )
    path = saved(tmp_path / "long.yaml", recipe)
    said = say("train", path, "--output", tmp_path / "run", "--quiet")
    assert_short(said)
    assert "data.valid: 'ffffffffffffffffffff'... has 30 tokens, wanted at most 19" in said.err
    said = say("train", path, "data.on_error=skip", "--output", tmp_path / "run")
    assert said.code == 0, said.err
    assert "1 of validation left out: source over 19 tokens" in said.err
    assert "300 training pairs, 1 validation questions" in said.err
    valid.write_text("f" * 30 + "\tf\n")
    said = say("train", path, "data.on_error=skip", "--output", tmp_path / "none", "--quiet")
    assert_short(said)
    assert "data.valid: wanted texts of at most 19 tokens" in said.err


def test_what_is_merged_in_may_be_said_anew(tmp_path: Path) -> None:
    path = tmp_path / "merged.yaml"
    path.write_text("a: &a {x: 1, z: 3}\nb: &b\n  <<: *a\n  x: 2\nc: {<<: *b, z: 4}\n")
    found = read_recipe(path)
    assert found["b"] == {"x": 2, "z": 3}
    assert found["c"] == {"x": 2, "z": 4}


def test_a_key_that_stands_twice(say: Say, toy: Path, tmp_path: Path) -> None:
    text = (toy / "toy.yaml").read_text()
    (tmp_path / "twice.yaml").write_text(text + "metrics: [cer]\n")
    said = say("train", tmp_path / "twice.yaml", "--output", tmp_path / "run")
    assert_short(said)
    assert "the key 'metrics' stands twice" in said.err


@pytest.mark.parametrize("part", ["train", "valid", "test"])
@pytest.mark.parametrize("table", [False, True])
def test_missing_files_name_the_nearest(
    say: Say, toy: Path, tmp_path: Path, part: str, table: bool
) -> None:
    name = str(toy / "trian.tsv")
    spec = {"is": "data.Table", "path": name} if table else name
    path = saved(tmp_path / "bad.yaml", recipe_of(toy, **{f"data__{part}": spec}))
    said = say("train", path, "--output", tmp_path / "run", "--quiet")
    assert_short(said)
    for words in (f"data.{part}", "trian.tsv", "no such file", "did you mean 'train.tsv'?"):
        assert words in said.err


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("", "got nothing"),
        ("- a\n- b\n", "got a list"),
        ("just words", "got a text"),
        ("a: [1, 2\nb: 3\n", "not YAML"),
        ("a: 1\n\tb: 2\n", "not YAML"),
        ("model: !!python/object/apply:os.system [ls]\n", "not YAML"),
    ],
)
def test_files_that_are_no_recipe(say: Say, tmp_path: Path, text: str, wanted: str) -> None:
    (tmp_path / "bad.yaml").write_text(text)
    said = say("train", tmp_path / "bad.yaml")
    assert_short(said)
    assert str(tmp_path / "bad.yaml") in said.err
    assert wanted in said.err


def test_bytes_that_are_no_text(say: Say, tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_bytes(b"about: \xff\xfe\x00")
    said = say("train", tmp_path / "bad.yaml")
    assert_short(said)
    assert "bad.yaml" in said.err


@pytest.mark.parametrize(
    ("change", "wanted"),
    [
        ("train.updates", ("'train.updates': wanted key=value",)),
        ("train.updates=[1", ("train.updates: wanted a value as in YAML, got '[1'",)),
        ("metrics.first=exact", ("metrics.first", "not a mapping")),
        ("trian.updates=5", ("trian: unknown key", "did you mean 'train'?")),
        ("train.updats=5", ("train.updats", "did you mean 'updates'?")),
        ("=5", ("unknown key",)),
    ],
)
def test_changes(say: Say, toy: Path, change: str, wanted: tuple[str, ...]) -> None:
    said = say("train", toy / "toy.yaml", change)
    assert_short(said)
    for words in wanted:
        assert words in said.err


def test_unknown_recipes(say: Say, toy: Path, tmp_path: Path) -> None:
    for word in ("train", "recipes"):
        said = say(word, "pronunce")
        assert_short(said, word)
        assert "did you mean 'pronounce'?" in said.err
    assert f"did you mean '{toy / 'toy.yaml'}'?" in say("train", toy / "tyo.yaml").err
    # A path that is not there is not taken for the recipe of that name that comes along.
    assert say("train", tmp_path / "pronounce.yaml").code == 1


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (("train", "x.yaml", "--fesh"), "'--fesh'; did you mean '--fresh'?"),
        (("run", "model", "text", "--smaple"), "'--smaple'; did you mean '--sample'?"),
        (("run", "model", "--penalty", "gnmd"), "did you mean 'gnmt'?"),
        (("run", "model", "--beam", "wide"), "--beam: invalid int value: 'wide'"),
        (("trian", "x.yaml"), "'trian'"),
        (("evalute", "model"), "did you mean 'evaluate'?"),
        (("train",), "required: recipe"),
        (("average", "run", "--output", "x"), "--last --best is required"),
        ((), "required: WORD"),
    ],
)
def test_command_lines(say: Say, arguments: tuple[str, ...], wanted: str) -> None:
    said = say(*arguments)
    assert said.code == 2  # as every Unix command says that it was called wrongly
    assert said.out == ""
    assert wanted in said.err
    assert said.err.count("\n") == 2


@pytest.mark.parametrize("place", [0, 2])
def test_debug_shows_the_traceback(say: Say, tmp_path: Path, place: int) -> None:
    arguments = ["recipes", "pronunce"]
    arguments.insert(place, "--debug")
    with pytest.raises(ValueError, match="pronunce"):
        say(*arguments)
