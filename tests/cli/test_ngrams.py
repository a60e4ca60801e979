"""Joint n-grams choose among a beam's answers, from the recipe to the answers."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import regard
from cli.conftest import Say, trained
from regard.ngrams import JointNgrams
from regard.search import Consensus, Hypothesis
from regard.tasks import Decode

WEIGHT = 0.7


@pytest.fixture(scope="module")
def second(toy: Path) -> Path:
    ngrams = {"order": 3, "weight": WEIGHT}
    return trained(toy, "second", ngrams=ngrams, decode={"beam": 6}, train__updates=20)


def test_both_opinions_count(second: Path) -> None:
    model: Any = regard.load(second)
    ngrams = JointNgrams.load(second / "ngrams.safetensors")
    decode = model.decode.asked(nbest=6)
    [found] = model.run(["fade"], decode=decode)
    answers = [found, *found.others]
    assert len(answers) == 6
    source = model.source.encode(["fade"])
    for answer in answers:
        own = ngrams.log_prob(source, [model.target.numbers(answer.tokens)])[0]
        assert answer.score == pytest.approx(answer.log_prob + WEIGHT * own, abs=1e-3)
    scores = [answer.score for answer in answers]
    assert scores == sorted(scores, reverse=True)
    network = regard.load(second)
    network.judge = None
    [plain] = network.run(["fade"], decode=decode)
    assert {each.text for each in answers} == {each.text for each in (plain, *plain.others)}


def test_company_changes_nothing_and_traces_show_the_choice(second: Path) -> None:
    model: Any = regard.load(second)
    words = ["fade", "abc", "ef", "bead"]
    together = [each.text for each in model.run(words)]
    assert together == [model.run([word])[0].text for word in words]
    assert [model.look(word).text for word in words] == together
    asking = model.ask(words[:2], trace=True)
    first = asking.join(model.ask(words[2:], trace=True))
    assert first == 2
    while asking.live:
        asking.step()
    assert [asking.output(place).text for place in range(4)] == together


def test_who_asks_for_a_consensus_gets_it(second: Path) -> None:
    model: Any = regard.load(second)
    decode = Decode(beam=6, consensus=Consensus())
    assert 0 <= model.run(["fade"], decode=decode)[0].score <= 1


def test_an_ensemble_has_the_ngrams_of_whoever_has_some(second: Path, untrained: Path) -> None:
    with_them: Any = regard.load(second)
    without: Any = regard.load(untrained)
    decode = Decode(beam=4)
    one = with_them.joined([without]).run(["fade", "bead"], decode=decode)
    other = without.joined([with_them]).run(["fade", "bead"], decode=decode)
    assert [each.score for each in one] == pytest.approx([each.score for each in other], abs=1e-4)
    assert one[0].score < one[0].log_prob


def test_ngrams_of_another_model_are_refused(say: Say, second: Path, tmp_path: Path) -> None:
    copied = tmp_path / "copied"
    shutil.copytree(second, copied)
    JointNgrams.learn([[0, 1]], [[0, 1]], (2, 2), order=2).save(copied / "ngrams.safetensors")
    said = say("run", copied, "fade")
    assert said.code != 0
    assert "ngrams.safetensors: wanted n-grams of" in said.err
    assert "copy the whole folder" in said.err


def test_a_finished_run_may_weigh_them_otherwise(say: Say, second: Path, toy: Path) -> None:
    again = toy / "weighed"
    shutil.copytree(second, again)
    said = say("train", toy / "second.yaml", "ngrams.weight=0.1", "--output", again)
    assert said.code == 0, said.err
    model: Any = regard.load(again)
    assert model.judge.weight == 0.1
    refused = say("train", toy / "second.yaml", "ngrams.order=2", "--output", again)
    assert refused.code != 0


def test_commands_use_it(say: Say, second: Path, toy: Path, tmp_path: Path) -> None:
    said = say("run", second, "fade", "--nbest", 2, "--json")
    assert said.code == 0, said.err
    answer = json.loads(said.out)
    assert answer["score"] < answer["log_prob"]
    assert say("evaluate", second, toy / "valid.tsv").code == 0
    assert say("run", second, "fade", "--beam", 1).code == 0
    mean = tmp_path / "mean"
    assert say("average", second, "--last", 1, "--output", mean).code == 0
    assert say("run", mean, "fade", "--nbest", 2, "--json").out == said.out


def test_training_says_what_it_counted(say: Say, toy: Path) -> None:
    settings = ["ngrams={order: 2}", "train.updates=1"]
    said = say("train", toy / "toy.yaml", *settings, "--output", toy / "counted")
    assert said.code == 0, said.err
    assert "learning n-grams: " in said.err
    assert "joint n-grams of" in said.out + said.err
    assert "ngrams:\n  order: 2\n  weight: 1.0\n" in (toy / "counted/recipe.yaml").read_text()


def test_what_cannot_be_cut_is_far_behind_but_not_beyond_all_numbers(second: Path) -> None:
    ngrams = JointNgrams.load(second / "ngrams.safetensors")
    short, long = ngrams.log_prob([[4], [4]], [[4], [4] * 5])
    assert -200 < long < short - 10


def test_nothing_is_the_last_of_all_answers(second: Path) -> None:
    judge: Any = regard.load(second).judge  # type: ignore[attr-defined]
    nothing, some = Hypothesis([], -0.1, -0.1), Hypothesis([4, 5, 6], -40.0, -40.0)
    [[first, last]] = judge([[4, 1]], [[nothing, some]])
    assert (first.tokens, last.tokens) == ([4, 5, 6], [])
    assert first.score < last.score


def test_they_are_learned_once(say: Say, toy: Path) -> None:
    settings = ["ngrams={order: 4}", "train.updates=1"]
    for number in range(2):
        said = say("train", toy / "toy.yaml", *settings, "--output", toy / f"once{number}")
        assert said.code == 0, said.err
    assert "learning n-grams" not in said.err
    first, again = (toy / f"once{n}/ngrams.safetensors" for n in range(2))
    assert first.read_bytes() == again.read_bytes()


def test_a_folder_without_its_ngrams_is_refused(say: Say, second: Path, tmp_path: Path) -> None:
    for path in second.glob("*.*"):
        if path.is_file() and path.name != "ngrams.safetensors":
            (tmp_path / path.name).write_bytes(path.read_bytes())
    said = say("run", tmp_path, "fade")
    assert said.code != 0
    assert "ngrams.safetensors: not a whole file of n-grams" in said.err


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (["ngrams={order: 0}"], "ngrams.order: wanted 1 to 20, the most units of a run, got 0"),
        (["ngrams={weight: -1}"], "ngrams.weight: wanted a number above 0, got -1"),
        (["ngrams={ordre: 4}"], "order"),
        (
            ["ngrams={}", "decode={consensus: {is: search.Consensus}}"],
            "ngrams: wanted one way to choose an answer",
        ),
        (["ngrams={}", "decode={beam: 1}"], "ngrams: wanted a decode.beam of 2 or more"),
    ],
)
def test_ngrams_that_mean_nothing_are_refused(
    say: Say, toy: Path, settings: list[str], message: str
) -> None:
    said = say("train", toy / "toy.yaml", *settings, "--output", toy / "none")
    assert said.code != 0
    assert message in said.err
