"""The coverage penalty, from the recipe to the answer."""

from pathlib import Path
from typing import Any

import pytest

import regard
from cli.conftest import Say
from regard.search import Coverage
from regard.tasks import Decode


def test_coverage_costs_what_was_not_looked_at(model: Path) -> None:
    translator = regard.load(model)
    plain, covered = (
        translator.run("abcdef", decode=Decode(nbest=3, coverage=beta))[0] for beta in (0.0, 0.5)
    )
    scores = [answer.score for answer in (covered, *covered.others)]
    assert scores == sorted(scores, reverse=True)
    length = len(covered.tokens) + 1
    assert covered.score < covered.log_prob / Decode().penalty.divisor(length)
    assert {a.text for a in (plain, *plain.others)} & {a.text for a in (covered, *covered.others)}


def test_without_coverage_a_search_sees_the_model_itself(model: Path) -> None:
    translator: Any = regard.load(model)
    plain, covering = (translator.ask(["abc"], decode=Decode(coverage=c)) for c in (0.0, 0.5))
    assert (plain.search.scorer, plain.search.ending) == (translator.model, None)
    assert isinstance(covering.search.scorer, Coverage)
    assert covering.search.ending is not None


def test_models_without_attention_are_refused_before_training(
    say: Say, blind: Path, toy: Path
) -> None:
    with pytest.raises(ValueError, match="coverage: wanted a model with attention"):
        regard.load(blind).run("abc", decode=Decode(coverage=0.2))
    said = say("train", toy / "blind.yaml", "decode.coverage=0.2", "--output", toy / "refused")
    assert said.code != 0
    assert "coverage: wanted a model with attention, or coverage 0" in said.err
    assert not (toy / "refused" / "model.safetensors").exists()
