"""What the pages say of keys, defaults and names is what the code says."""

from __future__ import annotations

import importlib
import inspect
import re
import tomllib
from typing import Any

import pytest

from regard import data, encoders, search, systems, train
from regard.commands.train import EXTENDABLE, UNREAD
from regard.metrics import NAMES, named
from tests.docs.pages import ROOT, blocks, links, prose, rows, sections, text

SECTIONS = sections(ROOT / "docs" / "recipes.md")
SUPPLIED = {"source_vocab", "target_vocab", "vocab", "pictures"}


def parts(module: Any, kind: type) -> set[str]:
    """The concrete classes of a kind that a package offers."""
    found = {name: vars(module)[name] for name in module.__all__}
    return {
        f"{module.__name__.removeprefix('regard.')}.{name}"
        for name, part in found.items()
        if inspect.isclass(part) and issubclass(part, kind) and not inspect.isabstract(part)
    }


EVERY = (
    {"tasks.Translate", "tasks.TextData", "tasks.ModelText", "tasks.Decode", "train.Fit"}
    | {"tasks.Ngrams", "data.RunningText", "tasks.Caption", "tasks.CaptionData"}
    | parts(data, data.Captions)
    | parts(encoders, encoders.Backbone)
    | parts(data, data.Pairs)
    | parts(data, data.TokenizerSettings)
    | parts(train, train.Schedule)
    | parts(search, search.Penalty)
    | {"search.Consensus"}
    | {f"systems.{name}" for name in systems.__all__}
)


def written(default: Any) -> str:
    """A default as a recipe writes it."""
    if default is inspect.Parameter.empty:
        return "required"
    plain = {None: "null", True: "true", False: "false", "": '""'}
    is_plain = default is None or isinstance(default, bool | str)
    return f"`{plain.get(default, default) if is_plain else default}`"


def test_every_part_is_described() -> None:
    assert set(SECTIONS) == EVERY


@pytest.mark.parametrize("part", sorted(EVERY))
def test_keys_and_defaults(part: str) -> None:
    module, _, last = part.rpartition(".")
    function = getattr(importlib.import_module(f"regard.{module}"), last)
    parameters = inspect.signature(function).parameters
    wanted = [
        (f"`{key}`", written(p.default)) for key, p in parameters.items() if key not in SUPPLIED
    ]
    told = [(key, default) for key, default, _ in rows(SECTIONS[part])]
    assert told == wanted


def test_metrics() -> None:
    page = prose(ROOT / "docs" / "evaluating.md")
    table = page.partition("## Metrics")[2].partition("\n## ")[0]
    told = {key.strip("`"): better for key, _, better in rows(table)}
    better = {name: "higher" if named(name).higher_is_better else "lower" for name in NAMES}
    assert told == better


def test_what_may_differ_when_resuming() -> None:
    page = prose(ROOT / "docs" / "training.md")
    sentence = page.partition("These may differ:")[2].partition(".\n")[0]
    assert set(re.findall(r"`(\w+)`", sentence)) == EXTENDABLE
    sentence = page.partition("may differ, too:")[2].partition(". ")[0]
    assert set(re.findall(r"`([\w.]+)`", sentence)) == set(UNREAD)


def test_the_map_of_the_house() -> None:
    (house,) = (block for block in blocks(ROOT / "CONTRIBUTING.md") if block.language == "text")
    told = set(re.findall(r"^  (\w[\w.]*)/? ", house.text, re.MULTILINE))
    there = {path.name for path in (ROOT / "regard").iterdir() if not path.name.startswith("_")}
    assert told == there - {"py.typed"}
    for name in re.findall(r"^(\w+)/", house.text, re.MULTILINE):
        assert (ROOT / name).is_dir()


def test_every_extra_is_named() -> None:
    extras = tomllib.loads(text(ROOT / "pyproject.toml"))["project"]["optional-dependencies"]
    install = prose(ROOT / "docs" / "start.md").partition("## The demo")[0]
    assert set(re.findall(r"`(\w+)`", install)) >= extras.keys() - {"dev", "docs"}


def test_the_first_page_leads_to_every_other() -> None:
    first = ROOT / "docs" / "index.md"
    assert {*links(first), first.name} >= {page.name for page in first.parent.glob("*.md")}
