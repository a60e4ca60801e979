"""A real browser before the real server, with models that learn their small worlds in seconds."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Request

    Opened = Callable[..., Page]

ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip


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
def address(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where the server listens: a process of its own, as a user starts it."""
    folder = tmp_path_factory.mktemp("page")
    command = [sys.executable, str(Path(__file__).parent / "worlds.py"), str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        lines = iter(server.stdout.readline, "")
        told = next((line for line in lines if line.startswith("listening on ")), None)
        assert told is not None, f"the server ended with {server.wait()}"
        yield told.removeprefix("listening on ").partition(": ")[0]
        server.terminate()


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
          return panel?.ariaBusy === "false" && panel.querySelector(".answer").innerText === text;
        }""",
        arg=text,
    )


def answer(page: Page, number: int = 0) -> str:
    return page.locator(".answer").nth(number).inner_text()
