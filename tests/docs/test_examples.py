"""Every example in the pages works."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from regard.cli import main, parser
from regard.tasks.folder import task_of
from tests.docs.pages import PAGES, Block, blocks

TRIED = {"start.md", "design.md"}
"""Pages whose commands are not only parsed but run, on the toy corpus."""
SMALL = {
    "start.md": [
        "model.dim=16",
        "model.hidden=16",
        "model.layers=1",
        "data.source={is: data.Bpe, size: 60}",
    ],
    "design.md": ["model.dim=8"],
}
SHORT = [
    "train.epochs=null",
    "train.updates=1",
    "train.tensorboard=false",
    "decode={beam: 2, ratio: 1, extra: 0}",
    "validate_with={beam: 1, ratio: 1, extra: 0}",
]


def name(page: Path) -> str:
    return page.name


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_code_runs(page: Path, place: Path) -> None:
    """In order, in one namespace; files that a page shows are there for what comes after."""
    space: dict[str, Any] = {"__name__": "example"}
    shown = []
    try:
        for block in blocks(page):
            if block.title:
                (place / block.title).write_text(block.text, encoding="utf-8")
                shown.append(Path(block.title).stem)
            if block.language == "python":
                code = "\n" * (block.line - 1) + block.text
                exec(compile(code, str(page), "exec"), space)
            if page.name in TRIED:
                run_commands(page, block)
    finally:
        for module in shown:
            sys.modules.pop(module, None)


def run_commands(page: Path, block: Block) -> None:
    for command in block.commands():
        _, word, *rest = shlex.split(command)
        if word == "demo" or "demo/model" in rest:
            continue  # minutes of training; the parser has its say below
        if word == "train":
            rest = [*rest, *SMALL[page.name], *SHORT, "--quiet"]
        assert main([word, *rest]) == 0, command


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_commands_parse(page: Path) -> None:
    for block in blocks(page):
        for command in block.commands():
            try:
                parser().parse_args(shlex.split(command)[1:])
            except SystemExit:
                pytest.fail(f"{page.name}:{block.line}: {command}")


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_recipes_build(page: Path, place: Path) -> None:
    """Every mapping with data and a model is a recipe; its `is` may name a module of the page."""
    try:
        for block in blocks(page):
            if block.language == "python" and block.title:
                (place / block.title).write_text(block.text, encoding="utf-8")
        for block in blocks(page):
            recipe = yaml.safe_load(block.text) if block.language == "yaml" else None
            if isinstance(recipe, dict) and {"data", "model"} <= recipe.keys():
                learning: Any = task_of(recipe).prepare(progress=False)
                assert learning.model is not None
    finally:
        sys.modules.pop("mine", None)


def test_own_files_need_few_lines() -> None:
    (start,) = (page for page in PAGES if page.name == "start.md")
    recipe = next(block for block in blocks(start) if block.language == "yaml")
    assert len(recipe.text.splitlines()) < 15
