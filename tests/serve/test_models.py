"""Trained models behind the server: the same answers as without it, whoever else asks."""

from __future__ import annotations

import base64
import json
import os
import pickle
import random
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
import yaml
from toy import recipe

import regard
from regard.cli import main
from regard.data.images import open_image
from regard.serve.hands import Thread
from regard.serve.house import House
from regard.serve.limits import Limits
from regard.serve.served import load
from regard.tasks.decode import Decode, Sampling
from serve.conftest import Place, Reply, served, together
from serve.fuzz import ANSWERS, bombard

WORDS = ["".join(random.Random(n).choices("abcdef", k=2 + n % 5)) for n in range(24)]


def trained(folder: Path, content: dict[str, Any]) -> Path:
    path = folder.with_suffix(".yaml")
    path.write_text(yaml.safe_dump(content))
    assert main(["train", str(path), "--output", str(folder), "--quiet"]) == 0
    return folder


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Path]]:
    """Three models of seconds: one reads, one sees, one writes on."""
    pytest.importorskip("efficientnet_lite_pytorch")
    from cli.test_caption import SOFT, draw

    top = tmp_path_factory.mktemp("models")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("REGARD_CACHE", str(top / "cache"))
        (top / "images").mkdir()
        rows = []
        for colour in ("red", "blue"):
            draw(top / "images" / f"{colour}.png", colour, "left", 1)
            rows.append({"image": f"{colour}.png", "captions": [f"a {colour} square"]})
        (top / "photos.jsonl").write_text("\n".join(map(json.dumps, rows)))
        photos = str(top / "photos.jsonl")
        short = {"updates": 1, "tokens": 200, "tensorboard": False}
        seeing = {
            "is": "tasks.Caption",
            "data": {
                "train": photos,
                "valid": photos,
                "target": {"is": "data.Words"},
                "backbone": {"is": "encoders.EfficientNetLite", "stages": [5], "size": 64},
            },
            "model": SOFT,
            "train": short,
            "metrics": ["bleu4"],
        }
        (top / "text.txt").write_text("to be or not to be\n" * 60)
        writing = {
            "is": "tasks.ModelText",
            "data": {"train": str(top / "text.txt")},
            "model": {"is": "systems.language_model", "embedding": 8, "dim": 16},
            "train": short,
        }
        yield {
            "reads": trained(top / "reads", recipe(top / "toy", updates=25)),
            "sees": trained(top / "sees", seeing),
            "writes": trained(top / "writes", writing),
            "photo": top / "images" / "red.png",
        }


@pytest.fixture(scope="module")
def where(folders: dict[str, Path]) -> Iterator[Place]:
    limits = Limits(seconds=60.0, pixels=1_000_000)
    models = load({name: str(folders[name]) for name in ("reads", "sees", "writes")}, limits)
    with served(House(models, hands=[Thread(models, limits)], limits=limits)) as place:
        yield place


@pytest.fixture(scope="module")
def reader(folders: dict[str, Path]) -> Any:
    return regard.load(folders["reads"])


def best(reply: Reply) -> tuple[str, list[str], bool]:
    answer = reply.json["answers"][0]
    return answer["text"], answer["tokens"], answer["complete"]


def test_answers_under_load_are_those_of_run(where: Place, reader: Any) -> None:
    alone = reader.run(WORDS)
    replies = together(*[lambda text=text: where.ask(model="reads", text=text) for text in WORDS])
    assert [best(reply) for reply in replies] == [(o.text, o.tokens, o.complete) for o in alone]
    for reply, output in zip(replies, alone, strict=True):
        assert reply.json["answers"][0]["log_prob"] == pytest.approx(output.log_prob, abs=1e-4)
        assert reply.json["answers"][0]["score"] == pytest.approx(output.score, abs=1e-4)
    sizes = where.get("/metrics").body.decode()
    assert 'regard_group_inputs_count{model="reads"} 24.0' not in sizes


def test_ways_of_asking(where: Place, reader: Any) -> None:
    own = reader.decode
    text = "abcd"

    def changed(**how: Any) -> Decode:
        return Decode(penalty=own.penalty, ratio=own.ratio, extra=own.extra, **how)

    wide = reader.run([text], decode=changed(beam=7, nbest=3))[0]
    answers = where.ask(model="reads", text=text, beam=7, nbest=3).json["answers"]
    assert [each["text"] for each in answers] == [wide.text, *(each.text for each in wide.others)]
    drawn = reader.run([text], decode=changed(beam=5), sampling=Sampling(seed=3, top_k=4))[0]
    reply = where.ask(model="reads", text=text, sample={"seed": 3, "top_k": 4})
    assert reply.text == drawn.text
    begun = reader.run([text], prefix="f e")[0]
    for prefix in ("f e", ["f", "e"]):
        assert where.ask(model="reads", text=text, prefix=prefix).text == begun.text
    assert begun.text.startswith("f e")


def test_what_the_model_cannot_read(where: Place) -> None:
    for fields in ({"text": ""}, {"text": "a", "prefix": "zz"}):
        reply = where.ask(model="reads", **fields)
        assert reply.fault == (422, "unfit"), fields
    reply = where.ask(model="reads", text="a", prefix=["a", "nothing"])
    assert "prefix" in reply.json["error"]["message"]
    assert where.ask(model="reads", text="abz").json["unknown"] == ["z"]


def test_traces_in_company(where: Place, reader: Any) -> None:
    calls = [
        lambda text=text: where.ask(model="reads", text=text, trace=True) for text in WORDS[:6]
    ]
    for text, reply in zip(WORDS, together(*calls), strict=False):
        got, alone = reply.json["trace"], reader.look(text).as_dict()
        assert got["target"] == alone["target"]
        assert got["source"] == alone["source"]
        assert got["search"]["best"] == alone["search"]["best"]
        kept = [[fork[2] for fork in t["search"]["forks"] if fork[4]] for t in (got, alone)]
        assert kept[0] == kept[1]
        for row, wanted in zip(got["alignment"], alone["alignment"], strict=True):
            assert row == pytest.approx(wanted, abs=1e-3)


def test_beginnings(where: Place, reader: Any) -> None:
    """What is settled stays, and the attention has a row for each token."""
    *partials, (_, answer) = where.ask(model="reads", text="abcdef", trace=True, stream=True).events
    tokens = answer["answers"][0]["tokens"]
    assert answer["answers"][0]["text"] == reader.run(["abcdef"])[0].text
    settled: list[str] = []
    for name, begun in partials:
        assert name == "partial"
        now = begun["tokens"][: begun["settled"]]
        assert now[: len(settled)] == settled
        settled = now
        assert len(begun["attention"]) == len(begun["tokens"])
        assert begun["source"]["tokens"] == [*"abcdef", "</s>"]
    assert tokens[: len(settled)] == settled
    *partials, _ = where.ask(model="reads", text="abcdef", stream=True).events
    assert all(begun["attention"] is None for _, begun in partials)


def test_photos(where: Place, folders: dict[str, Path]) -> None:
    captioner: Any = regard.load(folders["sees"])
    content = folders["photo"].read_bytes()
    alone = captioner.run([folders["photo"]])[0]
    image = base64.b64encode(content).decode()
    replies = together(
        lambda: where.ask(model="sees", image=image),
        lambda: where.ask(model="sees", image=f"data:image/png;base64,{image}"),
        lambda: where.form({"model": b"sees", "image": content}),
    )
    assert [reply.text for reply in replies] == [alone.text] * 3
    traced = where.form({"model": b"sees", "image": content, "trace": b"true"}).json["trace"]
    assert traced["kind"] == "picture"
    assert traced["source"]["size"] == [64, 48]
    events = where.form({"model": b"sees", "image": content, "stream": b"1"}).events
    assert events[-1][1]["answers"][0]["text"] == alone.text


def test_language_models(where: Place, folders: dict[str, Path]) -> None:
    writer: Any = regard.load(folders["writes"])
    alone = "".join(writer.write("to be", length=12, sampling=Sampling(seed=5)))
    fields = {"model": "writes", "text": "to be", "length": 12, "sample": {"seed": 5}}
    assert where.ask(**fields).text == alone
    *partials, (_, answer) = where.ask(**fields, stream=True, trace=True).events
    assert answer["answers"][0]["text"] == alone
    assert all(alone.startswith(begun["text"]) for _, begun in partials)
    assert where.ask(**fields, beam=2).fault == (422, "invalid")
    assert where.ask(model="writes", text="", length=2).status == 200


def test_facts(where: Place) -> None:
    reads, sees, writes = where.get("/v1/models").json["models"]
    assert (reads["about"], reads["attention"], reads["beam"]) == ("Letters backwards.", True, 5)
    assert "exact" in reads["scores"]
    assert (sees["input"], sees["output"]) == ("picture", "answer")
    assert (writes["output"], writes["attention"]) == ("continuation", False)


@pytest.mark.slow
def test_ten_thousand_leave_nothing_behind(where: Place) -> None:
    own = psutil.Process()
    names = {"reads": "reads", "sees": "sees"}
    bombard(where, 2_000, seed=1, **names)
    before = own.memory_info().rss
    assert set(bombard(where, 10_000, seed=2, **names)) <= ANSWERS
    assert own.memory_info().rss < 1.05 * before


def refused(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    assert main(["serve", *map(str, arguments), "--port", "0", "--workers", "1"]) == 1
    said = capsys.readouterr()
    assert "listening" not in said.out
    assert said.err.count("\n") <= 3
    return said.err


class Touch:
    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.path,)


def test_hostile_folders(
    folders: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    marker, spoilt = tmp_path / "marker", tmp_path / "spoilt"
    shutil.copytree(folders["reads"], spoilt, ignore=shutil.ignore_patterns("checkpoints"))
    weights, own = spoilt / "model.safetensors", spoilt / "recipe.yaml"
    whole, said = weights.read_bytes(), own.read_text()
    for content in (
        pickle.dumps(Touch(marker)),
        (2**63).to_bytes(8, "little") + whole[8:],
        (len(whole) * 1000).to_bytes(8, "little") + whole[8:],
    ):
        weights.write_bytes(content)
        with pytest.raises(ValueError, match=r"model\.safetensors: not a whole file of weights"):
            load({"spoilt": str(spoilt)}, Limits())
    assert "model.safetensors: not a whole file of weights" in refused(capsys, spoilt)
    weights.write_bytes(whole)
    for part in ({"is": "os.system", "command": f"touch {marker}"}, {"is": "../../os.system"}):
        own.write_text(yaml.safe_dump({**yaml.safe_load(said), "model": part}))
        with pytest.raises(ValueError, match=str(own)):
            load({"spoilt": str(spoilt)}, Limits())
    assert not marker.exists()


def test_mistakes_at_the_start(
    folders: dict[str, Path],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    twin = tmp_path / "reads"
    shutil.copytree(folders["reads"], twin, ignore=shutil.ignore_patterns("checkpoints"))
    assert "got 'reads' twice" in refused(capsys, folders["reads"], twin)
    assert "no such folder" in refused(capsys, tmp_path / "nothing")
    assert "queue: wanted a bound above 0, got 0" in refused(capsys, twin, "--queue", 0)
    assert "--token: wanted" in refused(capsys, twin, "--token", "a b")
    assert "cannot listen there" in refused(capsys, twin, "--host", "192.0.2.1")
    monkeypatch.setattr("regard.commands.serve.find_spec", lambda name: None)
    assert 'pip install "regard[serve]"' in refused(capsys, twin)


def test_beginnings_go_from_process_to_process(folders: dict[str, Path]) -> None:
    """With what the attention lies on, but without the picture itself."""
    trained: Any = regard.load(folders["sees"])
    asking = trained.ask([open_image(folders["photo"]).resize((1200, 900))], trace=True)
    asking.step()
    partial = asking.partial(0, look=True)
    assert partial.attention is not None
    assert len(pickle.dumps(partial)) < 20_000


def test_the_command(folders: dict[str, Path]) -> None:
    command = [sys.executable, "-m", "regard.cli", "serve", str(folders["reads"]), "--port", "0"]
    env = {**os.environ, "OMP_NUM_THREADS": "1"}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env)
    assert process.stdout is not None
    assert process.stdout.readline() == "reads: Letters backwards.\n"
    line = process.stdout.readline()
    assert line.startswith("listening on http://127.0.0.1:")
    place = Place(line.split()[2].rstrip(":"), None)  # type: ignore[arg-type]
    assert place.ask(text="abc").status == 200
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) == 0
