"""A real browser before the real server, with models that learn their small worlds in seconds."""

from __future__ import annotations

import itertools
import json
import random
import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import yaml
from PIL import Image

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Request

    Opened = Callable[..., Page]

ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip
PARTS = [
    {"one": "eine", "two": "zwei", "three": "drei", "four": "vier"},
    {"red": "rote", "green": "grüne", "small": "kleine", "old": "alte", "young": "junge"},
    {"cat": "katze", "bee": "biene", "flower": "blume", "lamp": "lampe", "bell": "glocke"},
    {"sleeps": "schläft", "falls": "fällt", "waits": "wartet", "sings": "singt"},
    {"here": "hier", "outside": "draußen", "today": "heute"},
]
COLOURS = {"red": (220, 30, 30), "blue": (40, 40, 230)}
SIDES = {"left": (2, 12, 26, 36), "right": (38, 12, 62, 36)}


def pairs() -> list[tuple[str, str]]:
    """Sentences of five words, and the same in another order and language."""
    made = []
    for chosen in itertools.product(*(part.items() for part in PARTS)):
        number, adjective, noun, verb, place = (german for _, german in chosen)
        source = " ".join(english for english, _ in chosen)
        made.append((source, f"{place} {verb} {number} {adjective} {noun}"))
    random.Random(1).shuffle(made)
    return made


def draw(colour: str, side: str, seed: int) -> Image.Image:
    """A square on noisy grey."""
    noise = np.random.default_rng(seed).integers(90, 130, (48, 64, 3), np.uint8)
    image = Image.fromarray(noise)
    image.paste(COLOURS[colour], SIDES[side])
    return image


def schedule(updates: int, rate: float) -> dict[str, Any]:
    return {
        "updates": updates,
        "tokens": 800,
        "optimizer": {"is": "torch.optim.AdamW", "lr": rate},
        "schedule": {"is": "train.Constant"},
        "validate_every": updates,
        "tensorboard": False,
    }


def translation(folder: Path, model: dict[str, Any], rate: float) -> dict[str, Any]:
    return {
        "about": "Five words of English in German.",
        "data": {
            "train": str(folder / "train.tsv"),
            "valid": str(folder / "valid.tsv"),
            "source": {"is": "data.Words"},
            "target": {"is": "data.Bpe", "size": 60},
            "cache": str(folder / "cache"),
        },
        "model": model,
        "train": schedule(90, rate),
        "metrics": ["exact"],
    }


def captions(folder: Path) -> dict[str, Any]:
    return {
        "is": "tasks.Caption",
        "about": "Squares, described.",
        "data": {
            "train": str(folder / "train.jsonl"),
            "valid": str(folder / "valid.jsonl"),
            "target": {"is": "data.Words"},
            "backbone": {"is": "encoders.EfficientNetLite", "stages": [5], "size": 64},
            "cache": str(folder / "cache"),
        },
        "model": {
            "is": "systems.show_attend_tell", "annotation": 32, "embedding": 16, "dim": 48,
            "attention": 16, "readout": 16, "dropout": 0.0,
        },
        "train": schedule(15, 0.01),
        "metrics": ["bleu4"],
    }  # fmt: skip


def writing(folder: Path) -> dict[str, Any]:
    return {
        "is": "tasks.ModelText",
        "data": {"train": str(folder / "text.txt"), "cache": str(folder / "cache")},
        "model": {"is": "systems.language_model", "embedding": 8, "dim": 16},
        "train": {"updates": 3, "tokens": 128, "tensorboard": False},
    }


def write_data(folder: Path) -> None:
    made = pairs()
    for part, some in {"train": made[:600], "valid": made[600:640]}.items():
        text = "".join(f"{source}\t{target}\n" for source, target in some)
        (folder / f"{part}.tsv").write_text(text)
    (folder / "images").mkdir()
    rows = []
    for seed, (colour, side) in itertools.product(range(5), itertools.product(COLOURS, SIDES)):
        name = f"{colour}-{side}-{seed}.png"
        draw(colour, side, seed).save(folder / "images" / name)
        rows.append({"image": name, "captions": [f"a {colour} square on the {side}"]})
    for part, chosen in {"train": rows[:-4], "valid": rows[-4:]}.items():
        (folder / f"{part}.jsonl").write_text("\n".join(map(json.dumps, chosen)))
    (folder / "text.txt").write_text("to be or not to be\n" * 60)


@pytest.fixture(scope="session")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Two models that translate, one that sees where its backbone is installed, one that writes."""
    from regard.cli import main

    folder = tmp_path_factory.mktemp("page")
    write_data(folder)
    bahdanau = {
        "is": "systems.bahdanau", "embedding": 24, "encoder": 24, "decoder": 48, "attention": 24,
        "readout": 24, "dropout": 0.0,
    }  # fmt: skip
    transformer = {
        "is": "systems.transformer", "dim": 32, "heads": 2, "hidden": 64, "layers": 2,
        "longest": 40, "dropout": 0.0,
    }  # fmt: skip
    recipes = {
        "german": translation(folder, bahdanau, 0.015),
        "other": translation(folder, transformer, 0.004),
        "writer": writing(folder),
        "squares": captions(folder),
    }
    for name, recipe in recipes.items():
        path = folder / f"{name}.yaml"
        path.write_text(yaml.safe_dump(recipe, allow_unicode=True))
        assert main(["train", str(path), "--output", str(folder / name), "--quiet"]) == 0
    return [str(folder / name) for name in recipes]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    reason = "the page is tried in a real browser; to run this, install"
    api = pytest.importorskip("playwright.sync_api", reason=f"{reason} playwright")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        pytest.skip(f"{reason} chromium")
    with api.sync_playwright() as started:
        opened = started.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        yield opened
        opened.close()


@pytest.fixture(scope="session")
def address(browser: Browser, folders: list[str]) -> Iterator[str]:
    """Where the server listens."""
    import uvicorn

    from regard.serve import server
    from regard.serve.app import build
    from regard.serve.house import House
    from regard.serve.limits import Limits
    from regard.serve.served import load

    limits = Limits(characters=400)
    house = House(load(folders, limits), limits=limits)
    begun = threading.Event()
    with server.listen("127.0.0.1", 0) as opened:
        config = uvicorn.Config(build(house), log_level="warning", lifespan="on")
        running = server.Server(config, house, begun=begun.set)
        thread = threading.Thread(target=running.run, kwargs={"sockets": [opened]}, daemon=True)
        thread.start()
        assert begun.wait(60)
        yield server.address(opened)
        running.should_exit = True
        thread.join(20)


@pytest.fixture
def visit(browser: Browser, address: str) -> Iterator[Opened]:
    """Open the page; whatever it does, it asks nobody else and says nothing in the console."""
    contexts, strange, said = [], [], []

    def check(request: Request) -> None:
        if not request.url.startswith((address, "data:", "blob:", "file:")):
            strange.append(request.url)

    def opened(
        place: str = "",
        *,
        width: int = 1100,
        dark: bool = False,
        calm: bool = True,
        wait: bool = True,
    ) -> Page:
        context = browser.new_context(
            viewport={"width": width, "height": 800},
            color_scheme="dark" if dark else "light",
            reduced_motion="reduce" if calm else "no-preference",
        )
        contexts.append(context)
        context.set_default_timeout(15_000)
        context.on("request", check)
        page = context.new_page()
        page.on("pageerror", lambda error: said.append(str(error)))
        page.goto(f"{address}/{place}")
        if wait:
            settled(page)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert strange == []
    assert said == []


def settled(page: Page) -> None:
    """Wait until every answer is there."""
    page.wait_for_function(
        """() => {
          const panels = [...document.querySelectorAll(".panel")];
          return panels.length && panels.every((panel) =>
            panel.ariaBusy === "false" && panel.querySelector(".answer").childNodes.length);
        }"""
    )


def says(page: Page, text: str) -> None:
    """Wait until the first answer is this one, to its end."""
    page.wait_for_function(
        """(text) => {
          const panel = document.querySelector(".panel");
          return panel.ariaBusy === "false" && panel.querySelector(".answer").innerText === text;
        }""",
        arg=text,
    )


def answer(page: Page, number: int = 0) -> str:
    return page.locator(".answer").nth(number).inner_text()
