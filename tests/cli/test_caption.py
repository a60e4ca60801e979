"""Captions for pictures, from a folder of photos to a model that shows where it looked."""

import copy
import csv
import io
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from PIL import Image
from safetensors.torch import load_file

import regard
from cli.conftest import Say
from regard.cli import main
from regard.data import CaptionLines, Report, Words
from regard.encoders import SmallCnn
from regard.metrics import meteor
from regard.tasks.caption_learning import CaptionLearning
from regard.tasks.captioner import LONGEST
from regard.tasks.eye import Eye
from regard.tasks.folder import PICTURES
from regard.tasks.gallery import CaptionData

COLOURS = {"red": (220, 30, 30), "green": (30, 200, 30), "blue": (40, 40, 230)}
PLACES = {"left": (2, 12, 26, 36), "right": (38, 12, 62, 36)}
SOFT = {
    "is": "systems.show_attend_tell", "annotation": 32, "embedding": 16, "dim": 48,
    "attention": 16, "readout": 16, "dropout": 0.0,
}  # fmt: skip


def draw(path: Path, colour: str, place: str, seed: int) -> None:
    """A square on noisy grey."""
    noise = np.random.default_rng(seed).integers(90, 130, (48, 64, 3), np.uint8)
    image = Image.fromarray(noise)
    image.paste(COLOURS[colour], PLACES[place])
    image.save(path)


@pytest.fixture(scope="session")
def photos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("photos")
    (folder / "images").mkdir()
    kinds = [(colour, place) for colour in COLOURS for place in PLACES]
    for part, count in {"train": 6, "valid": 2}.items():
        rows = []
        for seed in range(count):
            for colour, place in kinds:
                name = f"{part}-{colour}-{place}-{seed}.png"
                draw(folder / "images" / name, colour, place, seed + 100 * len(part))
                said = [f"A {colour} square on the {place}.", f"a {colour} square to the {place}"]
                rows.append({"image": name, "captions": said})
        (folder / f"{part}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return folder


def recipe_of(folder: Path, **changes: Any) -> dict[str, Any]:
    pytest.importorskip("efficientnet_lite_pytorch")
    recipe: dict[str, Any] = {
        "is": "tasks.Caption",
        "about": "Squares.",
        "data": {
            "train": str(folder / "train.jsonl"),
            "valid": str(folder / "valid.jsonl"),
            "target": {"is": "data.Words"},
            "backbone": {"is": "encoders.EfficientNetLite", "stages": [5], "size": 64},
            "cache": str(folder / "cache"),
        },
        "model": dict(SOFT),
        "train": {
            "updates": 50,
            "tokens": 300,
            "optimizer": {"is": "torch.optim.AdamW", "lr": 0.01},
            "schedule": {"is": "train.Constant"},
            "validate_every": 50,
            "tensorboard": False,
        },
        "metrics": ["bleu4", "cider"],
        "doubly": 0.1,
    }
    for key, value in changes.items():
        *above, last = key.split("__")
        place = recipe
        for name in above:
            place = place[name]
        place[last] = value
    return recipe


Trained = Callable[..., Path]


def trained(folder: Path, name: str, **changes: Any) -> Path:
    path = folder / f"{name}.yaml"
    path.write_text(yaml.safe_dump(recipe_of(folder, **changes)))
    assert main(["train", str(path), "--output", str(folder / name), "--quiet"]) == 0
    return folder / name


@pytest.fixture(scope="session")
def model(photos: Path) -> Path:
    """A model that has learned the task."""
    return trained(photos, "model")


def test_it_learns_what_and_where(model: Path, photos: Path) -> None:
    captioner: Any = regard.load(model)
    valid = sorted((photos / "images").glob("valid-*"))
    right = 0
    for path, output in zip(valid, captioner.run(valid), strict=True):
        _, colour, place, _ = path.stem.split("-")
        right += {colour, place} <= set(output.text.split())
    assert right >= 10  # of 12
    found = captioner.evaluate(str(photos / "valid.jsonl"))
    assert found.scores["bleu4"].value > 60
    assert found.doubts == []


def test_one_photo_as_many(model: Path, photos: Path) -> None:
    captioner: Any = regard.load(model)
    valid = sorted((photos / "images").glob("valid-*"))[:5]
    together = captioner.run(valid)
    for path, output in zip(valid, together, strict=True):
        (alone,) = captioner.run([path])
        assert alone.text == output.text
        assert alone.log_prob == pytest.approx(output.log_prob, abs=1e-3)


def test_lines_json_and_csv(model: Path, photos: Path, say: Say) -> None:
    one, two = (str(photos / "images" / f"valid-red-{place}-0.png") for place in PLACES)
    said = say("run", model, one, two)
    assert (said.code, said.err) == (0, "")
    rows = [line.split("\t") for line in said.out.splitlines()]
    assert [row[0] for row in rows] == [one, two]
    assert all("red" in row[1] for row in rows)
    said = say("run", model, one, "--json", "--nbest", "3")
    content = json.loads(said.out)
    assert content["source"] == one
    assert content["text"] == rows[0][1]
    assert all(weight == round(weight, 4) for row in content["alignment"] for weight in row)
    assert len(content["others"]) == 2
    assert np.shape(content["alignment"]) == (len(content["tokens"]) + 1, 16)  # and the end
    table = list(csv.reader(io.StringIO(say("run", model, one, "--csv", "--nbest", "2").out)))
    assert table[0] == ["image", "rank", "score", "caption"]
    assert [row[:2] for row in table[1:]] == [[one, "1"], [one, "2"]]
    assert table[1][3] == rows[0][1]


def test_a_folder_with_broken_files_in_it(
    model: Path, photos: Path, say: Say, tmp_path: Path
) -> None:
    source = photos / "images" / "valid-red-left-0.png"
    shutil.copy(source, tmp_path / "b.png")
    (tmp_path / "a.jpg").write_bytes(b"")
    (tmp_path / "c.png").write_bytes(source.read_bytes()[:500])
    (tmp_path / "notes.txt").write_text("not a picture")
    said = say("run", model, tmp_path, "--sheet", tmp_path / "sheet.svg")
    assert said.code == 0
    assert [line.split("\t")[0] for line in said.out.splitlines()] == [str(tmp_path / "b.png")]
    assert f"{tmp_path / 'a.jpg'}: is empty" in said.err
    assert f"{tmp_path / 'c.png'}: the image is broken" in said.err
    assert "2 of 3 pictures left out" in said.err
    assert "square" in (tmp_path / "sheet.svg").read_text()
    for name in ("b.png", "sheet.svg"):
        (tmp_path / name).unlink()
    said = say("run", model, tmp_path)
    assert said.code == 1
    assert "none of the 2 pictures could be opened" in said.err
    assert "wanted pictures" in say("run", model, "--csv", "--input", "/dev/null").err


def test_what_is_left_out_of_a_folder_is_told(
    model: Path, photos: Path, say: Say, tmp_path: Path
) -> None:
    shutil.copy(photos / "images" / "valid-red-left-0.png", tmp_path / "b.png")
    for name in ("a.heic", "a.svg"):
        (tmp_path / name).write_text("ftyp")
    said = say("run", model, tmp_path)
    assert said.code == 0
    assert f"{tmp_path / 'a.heic'}: is no image of a known kind. Remedy: save it" in said.err
    assert "2 of 3 pictures left out" in said.err
    said = say("run", model, f"{tmp_path}/c/")
    assert f"{tmp_path}/c: there is no such folder" in said.err


def test_strange_names_break_no_lines(model: Path, photos: Path, say: Say, tmp_path: Path) -> None:
    names = ["a\tb.png", "c\nd.png", "größe 1.png"]
    for name in names:
        shutil.copy(photos / "images" / "valid-red-left-0.png", tmp_path / name)
    lines = say("run", model, tmp_path).out.splitlines()
    told = [line.split("\t")[0] for line in lines]
    assert [json.loads(each) for each in told[:2]] == [str(tmp_path / name) for name in names[:2]]
    assert told[2] == str(tmp_path / names[2])


def test_only_what_can_be_done_is_advised(
    model: Path, photos: Path, say: Say, tmp_path: Path
) -> None:
    content = (photos / "images" / "valid-red-left-0.png").read_bytes()
    (tmp_path / "a.png").write_bytes(content[:500])
    for word in ("look", "run"):
        said = say(word, model, tmp_path / "a.png")
        assert said.code == 1
        assert "Remedy: save it anew with an image editor." in said.err
        assert "on_error" not in said.err


def test_options_that_are_not_for_it(model: Path, say: Say) -> None:
    assert (
        "--prefix: is for models that answer texts" in say("run", model, "x", "--prefix", "a").err
    )
    assert "--words: is for models of texts" in say("look", model, "x.png", "--words").err
    assert "there is no such file" in say("look", model, "nothing.png").err


def test_look_lights_up_what_is_named(model: Path, photos: Path, say: Say, tmp_path: Path) -> None:
    photo = photos / "images" / "valid-green-right-1.png"
    seen: Any = regard.load(model).look(str(photo))
    assert seen.source.grid == (4, 4)
    assert seen.alignment.shape == (len(seen.said) + 1, 16)
    np.testing.assert_allclose(seen.alignment.sum(1), 1, atol=1e-4)
    light = seen.source.bright(seen.alignment[seen.said.index("green")])
    assert light.shape == (48, 64)
    assert 0 <= light.min() <= light.max() <= 1
    said = say("look", model, photo, "--output", tmp_path / "look.svg")
    assert said.code == 0
    assert f"{photo} → {seen.text}\n" in said.out
    drawn = (tmp_path / "look.svg").read_text()
    assert all(word in drawn for word in seen.said)
    assert drawn.count("<image") == len(seen.said) + 1
    said = say("look", model, photo, "--view", "animation", "--output", tmp_path / "look.gif")
    assert said.code == 0
    with Image.open(tmp_path / "look.gif") as animated:
        assert animated.n_frames == len(seen.said) + 1
    (tmp_path / "look.gif").unlink()
    assert "step 1\n" in say("look", model, photo, "--view", "tree").out
    given = say("look", model, photo, "--answer", "A red square.", "--output", tmp_path / "a.png")
    assert "→ a red square" in given.out
    for each in PLACES:
        shutil.copy(photos / "images" / f"valid-blue-{each}-0.png", tmp_path)
    (tmp_path / "a.png").unlink()
    said = say("look", model, tmp_path, "--output", tmp_path / "sheet.png")
    assert said.code == 0
    assert (tmp_path / "sheet.png").stat().st_size > 10_000


def test_evaluated(model: Path, say: Say, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> str:
        raise meteor.Unavailable("METEOR: needs Java, and there is none")

    monkeypatch.setattr(meteor, "_java", missing)
    said = say("evaluate", model, "valid", "--metrics", "bleu1,meteor,perplexity")
    assert said.code == 0
    assert "bleu1" in said.out
    assert "meteor is missing: METEOR: needs Java" in said.out
    assert "by length" not in said.out


def test_mistakes_are_drawn_the_worst_first(model: Path, say: Say, tmp_path: Path) -> None:
    path = tmp_path / "mistakes.svg"
    said = say("evaluate", model, "valid", "--metrics", "bleu1", "--mistakes", path, "--json")
    assert said.code == 0
    scores = [float(text) for text in re.findall(r"bleu1 (\d+):", path.read_text())]
    assert len(scores) == 12
    assert scores == sorted(scores)


def test_doubts(model: Path, photos: Path, tmp_path: Path) -> None:
    captioner: Any = regard.load(model)
    rows = []
    for number in range(24):
        Image.new("RGB", (32, 32), (255, 0, 255)).save(tmp_path / f"{number}.png")
        rows.append({"image": f"{number}.png", "captions": ["a square"]})
    (tmp_path / "c.jsonl").write_text("\n".join(map(json.dumps, rows)))
    found = captioner.evaluate(str(tmp_path / "c.jsonl"), metrics=["bleu1"])
    assert "24 of 24 captions are the same" in found.doubts[0]
    assert "unlike those of training" in found.doubts[1]


def test_how_long_a_caption_may_be_is_learned(model: Path, tmp_path: Path) -> None:
    card = json.loads((model / "card.json").read_text())
    assert card["longest"] == 6  # a red square on the left
    assert regard.load(model).longest == 6
    older = tmp_path / "older"
    shutil.copytree(model, older)
    for strange in (None, "long", 0, -3, 1.5, 10**9):
        (older / "card.json").write_text(json.dumps({**card, "longest": strange}))
        assert regard.load(older).longest == LONGEST


def test_using_a_model_leaves_nothing_behind(model: Path, photos: Path, tmp_path: Path) -> None:
    copied = shutil.copytree(model, tmp_path / "copy")
    recipe = yaml.safe_load((copied / "recipe.yaml").read_text())
    recipe["data"]["cache"] = str(tmp_path / "cache")
    (copied / "recipe.yaml").write_text(yaml.safe_dump(recipe))
    captioner: Any = regard.load(copied)
    captioner.run([photos / "images" / "valid-red-left-0.png"])
    assert not (tmp_path / "cache").exists()


def test_the_folder_says_how_pictures_are_prepared(model: Path, tmp_path: Path) -> None:
    copied = shutil.copytree(model, tmp_path / "copy")
    content = json.loads((copied / PICTURES).read_text())
    content["preprocessing"]["fit"] = "crop"
    (copied / PICTURES).write_text(json.dumps(content))
    other: Any = regard.load(copied)
    assert other.eye.backbone.preprocessing.fit == "crop"
    content["weights"] = "0" * 32
    (copied / PICTURES).write_text(json.dumps(content))
    with pytest.raises(ValueError, match="its weights are not those that this model was trained"):
        regard.load(copied)


@pytest.mark.parametrize(
    "own",
    [
        {"is": "systems.show_tell", "embedding": 16, "dim": 32},
        {**SOFT, "choice": "hard"},
        {"is": "systems.grid_transformer", "dim": 16, "hidden": 16, "layers": 2},
    ],
    ids=["show-tell", "hard", "transformer"],
)
def test_other_systems_train(photos: Path, own: dict[str, Any], say: Say) -> None:
    path = trained(photos, own["is"] + own.get("choice", ""), model=own, train__updates=4)
    photo = photos / "images" / "valid-red-left-0.png"
    assert say("run", path, photo).code == 0
    said = say("look", path, photo, "--output", path / "look.png")
    if own["is"] == "systems.show_tell":
        assert "no attention" in said.err
    else:
        assert said.code == 0


def test_a_backbone_that_learns(photos: Path, say: Say) -> None:
    small = {"is": "encoders.SmallCnn", "dim": 16, "size": 32}
    path = photos / "frozen.yaml"
    path.write_text(yaml.safe_dump(recipe_of(photos, data__backbone=small)))
    said = say("train", path, "--output", photos / "frozen")
    assert "data.learns: wanted true for encoders.SmallCnn" in said.err
    changes = {"data__backbone": small, "data__learns": True, "train__updates": 3}
    folder = trained(photos, "learns", **changes)
    again = trained(photos, "again", **changes)
    weights = [(each / "model.safetensors").read_bytes() for each in (folder, again)]
    assert weights[0] == weights[1]
    assert say("run", folder, photos / "images" / "valid-red-left-0.png").code == 0


FINETUNED: dict[str, Any] = {
    "data__backbone": {
        "is": "encoders.EfficientNetLite", "stages": [8], "finetune": 8, "size": 64
    },
    "train__rates": {"encoder.backbone": 0.1},
}  # fmt: skip


CRITICAL: dict[str, Any] = {"critical": 1.0, "longest": 4, "train__tokens": 60, "draws": 2}


def test_a_backbone_of_a_folder_is_found_from_everywhere(
    photos: Path, say: Say, monkeypatch: pytest.MonkeyPatch
) -> None:
    transformers = pytest.importorskip("transformers")
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    config = transformers.ViTConfig(**sizes, intermediate_size=16, image_size=32, patch_size=16)
    transformers.ViTModel(config).save_pretrained(photos / "tf" / "vit")
    told = json.dumps({"size": {"height": 32, "width": 32}})
    (photos / "tf" / "vit" / "preprocessor_config.json").write_text(told)
    monkeypatch.chdir(photos)
    backbone = {"is": "encoders.Transformers", "name": "tf/vit"}
    folder = trained(photos, "near", data__backbone=backbone, train__updates=1)
    recipe = yaml.safe_load((folder / "recipe.yaml").read_text())
    assert recipe["data"]["backbone"]["name"] == str(photos / "tf" / "vit")
    recipe["data"]["backbone"]["name"] = "tf/vit"  # as an older version has left it
    (folder / "recipe.yaml").write_text(yaml.safe_dump(recipe))
    assert say("train", "near.yaml", "train.updates=2", "--output", folder).code == 0
    monkeypatch.chdir("/")
    assert say("run", folder, photos / "images" / "valid-red-left-0.png").code == 0


def test_finetuned_from_a_stage_on(photos: Path, say: Say) -> None:
    """The maps of the stages before are kept, the rest learns, slower, and is in the folder."""
    folder = trained(photos, "finetuned", **FINETUNED, train__updates=2)
    weights = load_file(folder / "model.safetensors")
    captioner: Any = regard.load(folder)
    whole = captioner.eye.backbone
    assert captioner.eye.halves.fixed.settings["stages"] == [7]
    own = {n: w for n, w in weights.items() if n.startswith("encoder.backbone.stages.0.")}
    assert len(own) == 3  # a convolution and a norm
    for name, weight in own.items():
        before = whole.stages[7].state_dict()[name.removeprefix("encoder.backbone.stages.0.")]
        moved = float((weight - before).abs().max())
        assert 0 < moved < 2 * 1.5 * 0.001  # two steps of Adam with a tenth of the rate of 0.01
    valid = sorted((photos / "images").glob("valid-*"))[:3]
    again: Any = regard.load(folder)
    for one, other in zip(captioner.run(valid), again.run(valid), strict=True):
        assert (one.text, one.log_prob) == (other.text, other.log_prob)
    found = captioner.evaluate(str(photos / "valid.jsonl"), metrics=["bleu1"])
    assert found.outputs[0] == captioner.run([found.sources[0]])[0].text
    assert say("look", folder, valid[0], "--output", folder / "look.png").code == 0


def test_what_finetuning_wants(photos: Path, say: Say) -> None:
    def said(name: str, **changes: Any) -> str:
        path = photos / f"{name}.yaml"
        path.write_text(yaml.safe_dump(recipe_of(photos, **{**FINETUNED, **changes})))
        said = say("train", path, "--output", photos / name)
        assert said.code == 1
        return said.err

    assert "data.learns: wanted false with finetune" in said("both", data__learns=True)
    wrong = said("unknown", train__rates={"backbone": 0.1})
    assert "train.rates.backbone: no weight has a name that begins so" in wrong
    assert "did you mean 'encoder.backbone'?" in wrong
    assert "train.rates.head: wanted a number of 0 or more, got -1" in said(
        "less", train__rates={"head": -1}
    )


@pytest.mark.parametrize(
    "kind",
    [
        {"model": {**SOFT, "choice": "hard"}},
        {**FINETUNED, "data__mirrored": 0.5},
        {**CRITICAL, "critical": 0.5, "draws": 1},
    ],
    ids=["hard", "finetuned", "critical"],
)
def test_killed_and_resumed(
    photos: Path, kind: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed in the middle of an epoch and started again: the same weights, bit for bit.

    Hard attention has its baseline to remember, fine-tuning its rates and what was mirrored, a
    critic what was drawn.
    """
    changes = {
        "train__updates": 5,
        "train__checkpoint_every": 1,
        "train__tokens": 150,
        **kind,
    }
    whole = trained(photos, tmp_path.name + "-whole", **changes)
    usual, calls = CaptionLearning.loss, [0]

    def dying(self: Any, *arguments: Any) -> Any:
        calls[0] += 1
        if calls[0] == 11 + 3:  # the preflight takes eleven
            raise KeyboardInterrupt
        return usual(self, *arguments)

    path = tmp_path / "killed.yaml"
    path.write_text(yaml.safe_dump(recipe_of(photos, **changes)))
    command = ["train", str(path), "--output", str(tmp_path / "killed"), "--quiet"]
    with monkeypatch.context() as patch:
        patch.setattr(CaptionLearning, "loss", dying)
        assert main(command) == 130
    assert main(command) == 0
    first, second = (
        (each / "model.safetensors").read_bytes() for each in (whole, tmp_path / "killed")
    )
    assert first == second


SMALL = {"is": "encoders.SmallCnn", "dim": 16, "size": 32}


@pytest.mark.parametrize(
    "seeing", [{}, {"data__backbone": SMALL, "data__learns": True}], ids=["frozen", "learns"]
)
def test_bad_pictures(photos: Path, seeing: dict[str, Any], say: Say, tmp_path: Path) -> None:
    """Before training begins they stop it or are left out; so they are where it is measured."""
    shutil.copytree(photos / "images", tmp_path / "images")
    for part in ("train", "valid"):
        shutil.copy(photos / f"{part}.jsonl", tmp_path)
    for part in ("valid", "train"):
        broken = tmp_path / "images" / f"{part}-red-left-0.png"
        broken.write_bytes(broken.read_bytes()[:300])
    (tmp_path / "images" / "train-red-left-1.png").unlink()
    path, out = tmp_path / "bad.yaml", tmp_path / "out"
    path.write_text(yaml.safe_dump(recipe_of(tmp_path, train__updates=1, **seeing)))
    said = say("train", path, "--output", out)
    assert said.code == 1
    assert f"there is no picture {tmp_path / 'images' / 'train-red-left-1.png'}" in said.err
    shutil.copy(photos / "images" / "train-red-left-1.png", tmp_path / "images")
    said = say("train", path, "--output", out)
    assert said.code == 1
    assert f"{broken}: the image is broken" in said.err
    assert "or set on_error: skip to leave such pictures out" in said.err
    (tmp_path / "images" / "train-red-left-1.png").unlink()
    said = say("train", path, "data.on_error=skip", "--output", out, "--fresh")
    assert said.code == 0
    for part in ("train", "valid"):
        assert f"1 of {part} left out: picture that cannot be used" in said.out + said.err
    assert "1 of train left out: missing picture" in said.out + said.err
    said = say("evaluate", out, "valid")
    assert said.code == 0
    assert "11 questions" in said.out
    assert "1 skipped: picture that cannot be used" in said.out


def test_nothing_but_bad_pictures(photos: Path, say: Say, tmp_path: Path) -> None:
    (tmp_path / "images").mkdir()
    for part in ("train", "valid"):
        shutil.copy(photos / f"{part}.jsonl", tmp_path)
    for photo in (photos / "images").iterdir():
        (tmp_path / "images" / photo.name).write_bytes(b"")
    path = tmp_path / "bad.yaml"
    path.write_text(yaml.safe_dump(recipe_of(tmp_path)))
    said = say("train", path, "data.on_error=skip", "--output", tmp_path / "out")
    assert said.code == 1
    assert f"{tmp_path / 'images'}: none of the 36 pictures can be opened" in said.err


def test_what_models_must_share_to_describe_together(
    model: Path, transformer: Path, say: Say
) -> None:
    own: Any = regard.load(model)
    other = copy.copy(own)
    assert own.joined([other]).models == [own.model, own.model]
    other.eye = Eye(SmallCnn(), learns=False, cache=Path())
    with pytest.raises(ValueError, match=r"same backbone, got encoders.Eff\S+ and encoders.Sm\S+;"):
        own.joined([other])
    other.eye = Eye(SmallCnn(), learns=True, cache=Path())
    with pytest.raises(ValueError, match=r"learned with its model; train without data\.learns"):
        own.joined([other])
    said = say("run", model, "photo.png", "--with", transformer)
    assert said.code == 1
    assert "wanted models with the same target tokenizer, got" in said.err


def test_bad_lines_are_counted_once(photos: Path, tmp_path: Path) -> None:
    rows = (photos / "train.jsonl").read_text() + '\n{"image": "none.png", "captions": ["x"]}'
    (tmp_path / "c.jsonl").write_text(rows)
    source = CaptionLines(tmp_path / "c.jsonl", images=photos / "images")
    data = CaptionData(train=source, target=Words(), learns=True, held_out=0.3, on_error="skip")
    eye = Eye(SmallCnn(), learns=True, cache=tmp_path)
    counts = []
    for part in ("train", "valid"):
        report = Report()
        assert len(data.gallery(part, eye, report, progress=False))  # type: ignore[arg-type]
        counts.append(report.counts)
    assert counts == [{"missing picture": 1}, {}]


def test_what_was_held_out_can_be_evaluated(photos: Path, say: Say) -> None:
    folder = trained(
        photos, "held-out", data__valid=None, data__held_out=0.3, train__updates=1, longest=3
    )
    card = json.loads((folder / "card.json").read_text())
    said = say("evaluate", folder, "valid", "--metrics", "bleu1")
    assert said.code == 0
    held_out = card["data"]["valid"]["pictures"]
    assert 0 < held_out < 36
    assert card["data"]["train"]["pictures"] + held_out == 36
    assert f"{held_out} questions" in said.out


def test_blank_lines_are_no_pictures(model: Path, photos: Path, say: Say, tmp_path: Path) -> None:
    photo = photos / "images" / "valid-red-left-0.png"
    (tmp_path / "list.txt").write_text(f"\n{photo}\n  \n")
    said = say("run", model, "--input", tmp_path / "list.txt")
    assert [line.split("\t")[0] for line in said.out.splitlines()] == [str(photo)]


def test_mistakes_show_what_was_seen(model: Path, photos: Path, say: Say, tmp_path: Path) -> None:
    path = tmp_path / "mistakes.svg"
    said = say("evaluate", model, photos / "valid.jsonl", "--mistakes", path)
    assert said.code == 0
    drawn = path.read_text()
    assert drawn.count("wanted: ") == 12
    outputs = regard.load(model).run(sorted((photos / "images").glob("valid-*")))
    words = sum(len(output.text.split()) for output in outputs)
    assert drawn.count("<image") == words + 12  # each photo itself, then once per word


def test_self_critical_from_a_trained_model(model: Path, photos: Path, say: Say) -> None:
    """It starts where the other ended, learns from rewards alone, and needs the other no more."""
    other = shutil.copytree(model, photos / "other")
    changes = {**CRITICAL, "train__start": str(other), "train__updates": 3}
    path = photos / "critical.yaml"
    path.write_text(yaml.safe_dump(recipe_of(photos, **changes, train__checkpoint_every=1)))
    optimizer = "train.optimizer={is: torch.optim.AdamW, lr: 0.001}"
    said = say("train", path, optimizer, "--output", photos / "critical")
    assert said.code == 0
    assert f"started from {other}" in said.out + said.err
    before, after = (load_file(each / "model.safetensors") for each in (model, photos / "critical"))
    moved = max(float((before[name] - after[name]).abs().max()) for name in before)
    assert 0 < moved < 3 * 1.5 * 0.001  # three steps of Adam
    shutil.rmtree(other)
    regard.load(photos / "critical")
    said = say("train", path, optimizer, "train.updates=4", "--output", photos / "critical")
    assert said.code == 0
    assert "started from" not in said.out + said.err


def test_a_start_brings_what_it_has(model: Path, photos: Path, say: Say) -> None:
    backbone = {"is": "encoders.EfficientNetLite", "stages": [5], "finetune": 5, "size": 64}
    changes = {"train__start": str(model), "train__updates": 1, "data__backbone": backbone}
    path = photos / "more.yaml"
    path.write_text(yaml.safe_dump(recipe_of(photos, **changes)))
    said = say("train", path, "--output", photos / "more")
    assert said.code == 0
    assert re.search(
        rf"started from {model}; \d+ weights that it lacks are new", said.out + said.err
    )


def test_what_a_start_wants(model: Path, photos: Path, say: Say) -> None:
    def wrong(**changes: Any) -> str:
        path = photos / "wrong.yaml"
        path.write_text(
            yaml.safe_dump(recipe_of(photos, **{"train__start": str(model), **changes}))
        )
        said = say("train", path, "--output", photos / "wrong", "--fresh")
        assert said.code == 1
        return said.err

    assert "another tokenizer than this recipe's" in wrong(data__plain=False)
    assert "decoder.readout.bias" in wrong(model={**SOFT, "readout": 8})
    assert "wanted the folder of a model with" in wrong(train__start=str(photos))
    assert "critical: wanted a model to start from" in wrong(critical=1.0, train__start=None)
    assert "agreement: wanted 0 where critical is 1" in wrong(critical=1.0, agreement=2.0)
    assert "critical: wanted a share above 0 and up to 1, got 2" in wrong(critical=2.0)
