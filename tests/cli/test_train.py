import json
import shutil
from pathlib import Path

import torch
import yaml

from cli.conftest import Say, recipe_of, saved
from regard.config import complete, convert
from regard.tasks.decode import Decode
from regard.train.optim import make_optimizer
from regard.train.settings import Fit


def test_the_folder_holds_the_whole_model(model: Path) -> None:
    names = {path.name for path in model.iterdir()}
    assert {
        "model.safetensors", "recipe.yaml", "card.json", "card.md", "log.jsonl", "timing.jsonl",
        "source.tokenizer.json", "target.tokenizer.json", "checkpoints",
    } <= names  # fmt: skip
    assert not [name for name in names if name.endswith(".part")]


def test_the_recipe_is_saved_with_its_defaults(model: Path) -> None:
    recipe = yaml.safe_load((model / "recipe.yaml").read_text())
    assert recipe["is"] == "tasks.Translate"
    assert recipe["smoothing"] == 0.0
    assert recipe["model"]["cell"] == "gru"
    assert recipe["model"]["embedding"] == 24
    assert recipe["train"]["clip"] == 1.0
    assert recipe["train"]["optimizer"]["weight_decay"] == 0.01
    assert recipe["data"]["source"]["lowercase"] is False
    assert recipe["validate_with"]["beam"] == 1
    assert recipe["decode"]["beam"] == 5


def test_what_null_stands_for_is_written_as_it_is_meant() -> None:
    plain, full = Fit(epochs=1), convert(complete({"epochs": 1}, Fit), Fit, where="train")
    assert vars(full.schedule) == vars(plain.schedule)
    assert type(full.schedule) is type(plain.schedule)
    groups = [make_optimizer(torch.nn.Linear(2, 2), fit.optimizer) for fit in (full, plain)]
    assert groups[0].defaults == groups[1].defaults
    ours, theirs = Decode(), convert(complete({}, Decode), Decode, where="decode")
    assert vars(ours.penalty) == vars(theirs.penalty)
    assert complete({"schedule": None}, Fit)["schedule"]["warmup"] == plain.schedule.warmup


def test_the_card_says_what_is_known(model: Path) -> None:
    card = json.loads((model / "card.json").read_text())
    assert card["updates"] == 80
    assert card["data"]["train"]["pairs"] == 300
    assert card["about"] == "Letters backwards."
    assert card["asked"] == {"exact": "at least 50"}
    assert set(card["validation"]) == {"exact", "cer", "perplexity"}
    assert set(card["versions"]) == {"regard", "torch", "python"}
    text = (model / "card.md").read_text()
    assert "Letters backwards." in text
    assert "300 pairs" in text
    assert f"| exact | {card['validation']['exact']:.2f} |" in text


def test_it_has_learned(model: Path) -> None:
    scores = json.loads((model / "card.json").read_text())["validation"]
    assert scores["exact"] > 30
    assert scores["perplexity"] < 2


def test_the_logs_are_json_lines(model: Path) -> None:
    log = [json.loads(line) for line in (model / "log.jsonl").read_text().splitlines()]
    timing = [json.loads(line) for line in (model / "timing.jsonl").read_text().splitlines()]
    losses = [line["loss"] for line in log if "loss" in line]
    assert losses[-1] < losses[0]
    assert [line["update"] for line in log if "valid/exact" in line] == [40, 80]
    assert not any("seconds" in line for line in log)
    assert all("seconds" in line for line in timing)


def test_the_same_command_again_says_finished(say: Say, toy: Path, model: Path) -> None:
    weights = (model / "model.safetensors").read_bytes()
    said = say("train", toy / "model.yaml", "--output", model)
    assert said.code == 0
    assert "finished already" in said.err
    assert (model / "model.safetensors").read_bytes() == weights


def test_changes_apply_wherever_they_stand(say: Say, toy: Path, tmp_path: Path) -> None:
    said = say(
        "train", toy / "toy.yaml", "train.updates=1", "--output", tmp_path / "run",
        "model.cell=lstm", "metrics=[cer]", "--quiet", "train.schedule.warmup=2",
    )  # fmt: skip
    assert said == (0, "", "")
    recipe = yaml.safe_load((tmp_path / "run" / "recipe.yaml").read_text())
    assert recipe["train"]["updates"] == 1
    assert recipe["train"]["schedule"] == {"is": "train.Constant", "warmup": 2}
    assert recipe["model"]["cell"] == "lstm"
    assert recipe["metrics"] == ["cer"]
    assert json.loads((tmp_path / "run" / "card.json").read_text())["updates"] == 1


def test_the_recipe_alone_decides_the_weights(say: Say, toy: Path, tmp_path: Path) -> None:
    def weights(run: str, seed: int) -> bytes:
        torch.rand(1)  # whatever this process has drawn before
        changes = ("train.updates=2", f"train.seed={seed}")
        assert say("train", toy / "toy.yaml", *changes, "--output", tmp_path / run).code == 0
        return (tmp_path / run / "model.safetensors").read_bytes()

    first = weights("first", 1)
    assert weights("again", 1) == first
    assert weights("other", 2) != first


def test_without_quiet_it_tells(say: Say, toy: Path, tmp_path: Path) -> None:
    said = say("train", toy / "toy.yaml", "train.updates=1", "--output", tmp_path / "run")
    assert said.code == 0
    assert said.out == ""
    for word in ("300 training pairs", "40 validation questions", "parameters", "regard run"):
        assert word in said.err


def test_another_recipe_into_the_same_folder_is_refused(say: Say, toy: Path, model: Path) -> None:
    before = (model / "recipe.yaml").read_text()
    said = say("train", toy / "model.yaml", "model.encoder=32", "--output", model)
    assert said.code == 1
    for word in ("model.encoder differs", "--output", "--fresh"):
        assert word in said.err
    assert (model / "recipe.yaml").read_text() == before


def test_fresh_starts_anew(say: Say, toy: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    assert say("train", toy / "toy.yaml", "train.updates=1", "--output", run).code == 0
    (run / "left").touch()
    other = ("train", toy / "toy.yaml", "train.updates=1", "model.encoder=8", "--output", run)
    assert say(*other).code == 1
    assert say(*other, "--fresh").code == 0
    assert not (run / "left").exists()
    assert yaml.safe_load((run / "recipe.yaml").read_text())["model"]["encoder"] == 8


def test_fresh_deletes_nothing_but_a_run(say: Say, toy: Path, tmp_path: Path) -> None:
    precious = tmp_path / "thesis.tex"
    precious.touch()
    said = say("train", toy / "toy.yaml", "--output", tmp_path, "--fresh")
    assert said.code == 1
    assert "--fresh deletes an earlier run only" in said.err
    assert precious.exists()


def test_fresh_with_a_mistake_deletes_nothing(say: Say, toy: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    assert say("train", toy / "toy.yaml", "train.updates=1", "--output", run).code == 0
    missing = saved(tmp_path / "bad.yaml", recipe_of(toy, data__train=str(toy / "trian.tsv")))
    assert say("train", missing, "--output", run, "--fresh").code == 1
    assert (run / "model.safetensors").exists()


def test_a_mistake_leaves_no_folder(say: Say, toy: Path, tmp_path: Path) -> None:
    missing = saved(tmp_path / "bad.yaml", recipe_of(toy, data__valid=str(toy / "vaild.tsv")))
    assert say("train", missing, "--output", tmp_path / "run").code == 1
    assert not (tmp_path / "run").exists()


def test_what_training_does_not_read_may_change(
    say: Say, toy: Path, model: Path, tmp_path: Path
) -> None:
    run = shutil.copytree(model, tmp_path / "run")
    changes = ("about=something else", "decode={beam: 2}", f"data.test={toy / 'valid.tsv'}")
    said = say("train", toy / "toy.yaml", *changes, "--output", run)
    assert said.code == 0, said.err
    assert "finished already" in said.err
    recipe = yaml.safe_load((run / "recipe.yaml").read_text())
    assert recipe["decode"]["beam"] == 2
    said = say("train", toy / "toy.yaml", "validate_with={beam: 2}", "--output", run)
    assert "validate_with" in said.err
    assert said.code == 1


def test_a_run_older_than_a_setting_goes_on(say: Say, toy: Path, tmp_path: Path) -> None:
    """What a setting does that a run never heard of is what has been done all along."""
    run, recipe = tmp_path / "run", toy / "toy.yaml"
    assert say("train", recipe, "train.updates=2", "--output", run).code == 0
    written = (run / "recipe.yaml").read_text()
    (run / "recipe.yaml").write_text(written.replace("positions: 1.0\n", ""))
    said = say("train", recipe, "train.updates=2", "--output", run)
    assert said.code == 0, said.err
    (run / "recipe.yaml").write_text(written.replace("positions: 1.0\n", ""))
    said = say("train", recipe, "train.updates=2", "positions=0.5", "--output", run)
    assert said.code == 1
    assert "positions differs" in said.err
