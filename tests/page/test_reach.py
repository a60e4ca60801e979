"""The page is for everyone: narrow screens, both themes, screen readers, and no network."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from .conftest import settled

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from .conftest import Opened

HERE = "#model=german&text=two+old+cat+falls+today"


def faults(page: Page) -> list[Any]:
    """What axe-core finds of serious and critical faults."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    found = axe.Axe().run(page).response["violations"]
    return [
        (fault["id"], [node["target"] for node in fault["nodes"]][:3])
        for fault in found
        if fault["impact"] in ("serious", "critical")
    ]


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_no_serious_accessibility_fault(visit: Opened, dark: bool) -> None:
    page = visit(f"{HERE}&with=other&nbest=2&view=tree", dark=dark)
    page.get_by_role("tab", name="Matrix").first.click()
    assert faults(page) == [], "a tree and a matrix"
    page.get_by_role("tab", name="Heads").click()
    page.get_by_role("tab", name="Arcs").first.click()
    page.locator(".answer button").first.click()
    assert faults(page) == [], "heads, arcs and a menu"


def test_narrow_screen(visit: Opened) -> None:
    page = visit(f"{HERE}&with=other&nbest=2&temperature=1&seed=1", width=360)
    for view in ("Arcs", "Matrix"):
        page.get_by_role("tab", name=view).first.click()
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, view
    page.get_by_label("Draw at random").uncheck()
    page.get_by_role("tab", name="Search").first.click()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.locator(".answer button").first.click()
    menu = page.locator(".choices").bounding_box()
    assert menu is not None
    assert menu["x"] >= 0
    assert menu["x"] + menu["width"] <= 360


def test_theme_is_chosen_and_kept(visit: Opened) -> None:
    page = visit(HERE)
    paper = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(paper) == "rgb(255, 255, 255)"
    page.get_by_role("button", name="Dark").click()
    assert page.evaluate(paper) == "rgb(14, 17, 23)"
    page.reload()
    settled(page)
    assert page.evaluate(paper) == "rgb(14, 17, 23)"
    assert page.get_by_role("button", name="Light").is_visible()


def test_keyboard_reaches_everything_in_order(visit: Opened) -> None:
    page = visit(HERE)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the answer"
    reached = []
    for _ in range(14):
        page.keyboard.press("Tab")
        reached.append(
            page.evaluate("document.activeElement.id || document.activeElement.textContent")
        )
    wanted = ["link", "theme", "model", "other", "text"]
    assert reached[:5] == wanted
    assert reached.index("go") < reached.index("heute")
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"


def test_page_allows_no_other_address(visit: Opened, address: str) -> None:
    page = visit(HERE)
    asked = "fetch('https://example.org/').then(() => 'reached', () => 'refused')"
    page.context.route("https://example.org/**", lambda route: route.fulfill(body="reached"))
    assert page.evaluate(asked) == "refused"
    policy = page.request.get(address).headers["content-security-policy"]
    assert "default-src 'self'" in policy
