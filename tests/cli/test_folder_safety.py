"""A model's folder is data: reading one runs nothing that is in it."""

import json
import pickle
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml
from safetensors.torch import load_file, save_file

import regard
from cli.conftest import BAHDANAU, Say, recipe_of, saved, trained


@pytest.fixture
def folder(model: Path, tmp_path: Path) -> Path:
    """A copy of the good model, to be spoiled."""
    files = shutil.ignore_patterns("checkpoints")
    return Path(shutil.copytree(model, tmp_path / "spoiled", ignore=files))


def assert_refused(say: Say, folder: Path, *words: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        regard.load(folder)
    for word in words:
        assert word in str(caught.value)
    for command in (("run", folder, "abc"), ("evaluate", folder, "valid"), ("look", folder, "abc")):
        said = say(*command)
        assert said.code == 1
        assert said.out == ""
        assert said.err.count("\n") <= 3


Spoil = Callable[[dict[str, Any], str], object]


def put(key: str, value: Callable[[str], object]) -> Spoil:
    def spoil(recipe: dict[str, Any], marker: str) -> None:
        *above, last = key.split(".")
        for name in above:
            recipe = recipe[name]
        recipe[last] = value(marker)

    return spoil


def named(name: str, **arguments: object) -> Callable[[str], object]:
    return lambda marker: {"is": name, **arguments}


HOSTILE: dict[str, Spoil] = {
    "os.system": put("model", lambda m: {"is": "os.system", "command": f"touch {m}"}),
    "Popen": put("model", lambda m: {"is": "subprocess.Popen", "args": ["touch", m]}),
    "eval": put("model", lambda m: {"is": "builtins.eval", "source": f"open({m!r}, 'w')"}),
    "eval of the optimizer": put("train.optimizer", named("builtins.eval")),
    "the task": put("is", lambda m: "os.system"),
    "a module of a module": put("model", named("regard.tasks.folder.yaml.load", stream="x")),
    "a module's import": put("model", named("regard.tasks.folder.load_file", filename="x")),
    "torch.load": put("model", named("torch.load", f="x")),
    "torch.hub": put("model", named("torch.hub.load", repo_or_dir="x")),
    "like torch.optim": put("train.optimizer", named("torch.optimism.Adam")),
    "like regard": put("model", named("regards.model")),
    "relative": put("model", named("...os.system", command="x")),
    "a path": put("model", named("../../os.system", command="x")),
    "empty parts": put("model", named("regard..os.system", command="x")),
    "dunder": put("model", named("regard.__builtins__.eval")),
    "our own command line for a number": put(
        "samples", lambda m: {"is": "cli.main", "arguments": ["look", "x", "--output", m]}
    ),
    "our own files for a path": put(
        "data.cache",
        lambda m: {
            "is": "train.checkpoint.save",
            "folder": m,
            "update": 1,
            "checkpoint": {"tensors": {}, "facts": {}},
        },
    ),
    "our own writer for nothing": put(
        "data.test", lambda m: {"is": "data.files.write_whole", "path": m, "text": "x"}
    ),
    "a task without our limits": put("is", lambda m: "tasks.folder.task_of"),
    "a name of a type checker": put("model", named("regard.load", folder="x")),
}


@pytest.mark.parametrize("spoil", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_recipes(say: Say, folder: Path, tmp_path: Path, spoil: Spoil) -> None:
    marker = tmp_path / "marker"
    recipe = yaml.safe_load((folder / "recipe.yaml").read_text())
    spoil(recipe, str(marker))
    saved(folder / "recipe.yaml", recipe)
    assert_refused(say, folder, str(folder / "recipe.yaml"))
    assert not marker.exists()


@pytest.mark.parametrize(
    "tag",
    [
        "!!python/object/apply:os.system ['touch {marker}']",
        "!!python/object/new:subprocess.Popen [['touch', '{marker}']]",
        "!!python/name:os.system",
        "!!python/module:antigravity",
    ],
)
def test_hostile_tags(say: Say, folder: Path, tmp_path: Path, tag: str) -> None:
    marker = tmp_path / "marker"
    with (folder / "recipe.yaml").open("a") as file:
        file.write(f"evil: {tag.format(marker=marker)}\n")
    assert_refused(say, folder, "not YAML", "python/")
    assert not marker.exists()
    assert "antigravity" not in sys.modules


def test_a_user_package_is_not_imported(
    say: Say, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mypackage.py").write_text("raise SystemExit('imported')")
    monkeypatch.syspath_prepend(tmp_path)
    recipe = yaml.safe_load((folder / "recipe.yaml").read_text())
    saved(folder / "recipe.yaml", {**recipe, "model": {"is": "mypackage.model"}})
    assert_refused(say, folder, "'mypackage.model' is not a part of Regard's own", "trust=")
    assert "mypackage" not in sys.modules


class Touch:
    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.path,)


def test_a_pickle_as_weights(say: Say, folder: Path, tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    for evil in (pickle.dumps(Touch(marker)), None):
        if evil is None:
            torch.save(Touch(marker), folder / "model.safetensors")
        else:
            (folder / "model.safetensors").write_bytes(evil)
        assert_refused(say, folder, "model.safetensors", "not a whole file of weights")
        assert not marker.exists()
    shutil.copyfile(folder / "model.safetensors", folder / "model.bin")
    shutil.copyfile(folder / "model.safetensors", folder / "target.tokenizer.json")
    assert_refused(say, folder, "target.tokenizer.json")
    assert not marker.exists()


def test_broken_weights(say: Say, folder: Path) -> None:
    path = folder / "model.safetensors"
    whole = path.read_bytes()
    size = int.from_bytes(whole[:8], "little")
    broken = {
        "empty": b"",
        "half a header": whole[: size // 2],
        "truncated": whole[:-100],
        "longer": whole + b"\0" * 100,
        "header beyond the file": (2**40).to_bytes(8, "little") + whole[8:],
        "largest header": (2**64 - 1).to_bytes(8, "little") + whole[8:],
        "no JSON": whole[:8] + b"\xff" * size + whole[8 + size :],
    }
    for content in broken.values():
        path.write_bytes(content)
        assert_refused(say, folder, "model.safetensors")


def test_a_flipped_bit_is_noticed(say: Say, folder: Path) -> None:
    path = folder / "model.safetensors"
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 64
    path.write_bytes(content)
    said = say("run", folder, "abc")
    assert said.code == 1
    assert "model.safetensors: not a whole file of weights" in said.err
    assert "its content does not fit its checksum" in said.err


def test_offsets_outside_the_file(say: Say, folder: Path) -> None:
    path = folder / "model.safetensors"
    whole = path.read_bytes()
    size = int.from_bytes(whole[:8], "little")
    header = json.loads(whole[8 : 8 + size])
    name = next(key for key in header if key != "__metadata__")
    header[name]["data_offsets"] = [0, 2**40]
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + whole[8 + size :])
    assert_refused(say, folder, "model.safetensors")


def test_weights_of_another_model(say: Say, folder: Path) -> None:
    path = folder / "model.safetensors"
    weights = load_file(path)
    name = max(weights, key=lambda each: weights[each].numel())
    save_file({**weights, name: weights[name][:-1].contiguous()}, path)
    assert_refused(say, folder, name, "wanted shape")
    save_file({**weights, "extra": torch.zeros(1)}, path)
    assert_refused(say, folder, "extra is in only one of them")
    save_file({key: value for key, value in weights.items() if key != name}, path)
    assert_refused(say, folder, name, "in only one of them")


def test_missing_and_broken_files(say: Say, folder: Path) -> None:
    tokenizer = folder / "source.tokenizer.json"
    text = tokenizer.read_text()
    tokenizer.write_text(text[: len(text) // 2])
    assert_refused(say, folder, "source.tokenizer.json", "not a tokenizer file")
    tokenizer.unlink()
    assert_refused(say, folder, "source.tokenizer.json", "there is no such tokenizer file")
    (folder / "recipe.yaml").unlink()
    assert_refused(say, folder, "recipe.yaml")


def test_a_tokenizer_of_another_size(say: Say, folder: Path) -> None:
    content = json.loads((folder / "source.tokenizer.json").read_text())
    content["tokenizer"]["model"]["vocab"]["z"] = len(content["tokenizer"]["model"]["vocab"])
    (folder / "source.tokenizer.json").write_text(json.dumps(content))
    assert_refused(say, folder, "model.safetensors", "wanted shape")


def test_a_broken_card_is_no_obstacle(folder: Path) -> None:
    (folder / "card.json").write_text("[")
    assert len(regard.load(folder).run(["abc"])) == 1


def test_a_user_package_that_is_trusted(
    say: Say, model: Path, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from regard.serve.limits import Limits
    from regard.serve.served import load as serve
    from regard.tasks.folder import load

    (tmp_path / "ourpackage.py").write_text(
        "from regard.model import Seq2Seq\n"
        "from regard.systems import bahdanau\n"
        "def small(source_vocab: int, target_vocab: int, *, size: int) -> Seq2Seq:\n"
        "    return bahdanau(source_vocab, target_vocab, embedding=size, encoder=size,\n"
        "        decoder=2 * size, attention=size, readout=size, deep_output='tanh',\n"
        "        dropout=0.0)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    recipe = yaml.safe_load((folder / "recipe.yaml").read_text())
    saved(folder / "recipe.yaml", {**recipe, "model": {"is": "ourpackage.small", "size": 24}})
    own = load(folder, trust=("ourpackage",)).run(["abc"])[0]
    assert own == regard.load(model).run(["abc"])[0]
    assert serve({"own": str(folder)}, Limits(), trust=("ourpackage",))["own"].trained.run(["abc"])
    picture, page = tmp_path / "look.png", tmp_path / "report.html"
    for words in (
        ("run", folder, "abc"),
        ("run", folder, "abc", "--with", folder),
        ("evaluate", folder, "valid", "--against", folder),
        ("look", folder, "abc", "--output", picture),
        ("look", folder, "--gradients", "--output", picture),
        ("report", folder, "valid", "--examples", "1", "--output", page),
    ):
        assert "--trust ourpackage" in say(*words).err
        said = say(*words, "--trust", "ourpackage")
        assert said.code == 0, said.err
    few = ["train.epochs=null", "train.updates=1", "train.checkpoint_every=1"]
    said = say("train", folder / "recipe.yaml", "--output", tmp_path / "ours", *few)
    assert f"regard run {tmp_path / 'ours'} TEXT --trust ourpackage" in said.err


def test_a_loaded_model_is_the_same_without_its_data(
    toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from regard.tasks.translate_learning import TranslateLearning
    from regard.tasks.translator import Translator

    kept: list[Translator] = []
    save = TranslateLearning.save

    def spy(self: TranslateLearning, folder: Path, weights: Any, card: dict[str, Any]) -> None:
        from regard.train.engine import put_weights

        model = self.blank()
        put_weights(model, weights)
        task = self.task
        parts = (model, self.source, self.target)
        kept.append(Translator(*parts, decode=task.decode, metrics=task.metrics))
        save(self, folder, weights, card)

    monkeypatch.setattr(TranslateLearning, "save", spy)
    for name in ("train.tsv", "valid.tsv"):
        shutil.copyfile(toy / name, tmp_path / name)
    changes = {"model": {**BAHDANAU, "dropout": 0.2}, "train__updates": 5}
    folder = trained(tmp_path, "run", **changes)
    for name in ("train.tsv", "valid.tsv"):
        (tmp_path / name).unlink()
    loaded: Any = regard.load(folder)
    words = ["abc", "fedcba", "cab"]
    assert loaded.run(words) == kept[0].run(words)
    assert loaded.log_likelihoods(words, words) == kept[0].log_likelihoods(words, words)


def test_the_python_interface(model: Path, toy: Path, tmp_path: Path) -> None:
    translator: Any = regard.load(str(model))
    outputs = translator.run(["abc", "fed"])
    assert [output.source for output in outputs] == ["abc", "fed"]
    assert translator.run("abc")[0].text == outputs[0].text
    scores = translator.evaluate(str(toy / "valid.tsv"), metrics=["exact"]).scores
    interval = scores["exact"].interval()
    assert interval.low <= scores["exact"].value <= interval.high
    seen = translator.look("abc")
    assert seen.alignment.shape == (len(seen.target), len(seen.source.labels))
    assert seen.save(tmp_path / "look.png").exists()
    assert recipe_of(toy)["about"] == translator.card["about"]
