"""The viewer by itself, on traces of every kind and in every script."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest
from PIL import Image

from regard.look import html

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

    Shown = Callable[..., Page]


@pytest.fixture(scope="module")
def tab(browser: Browser) -> Iterator[Page]:
    """One tab for all traces; nothing is asked of anybody."""
    with browser.new_context(viewport={"width": 900, "height": 700}) as context:
        context.set_default_timeout(15_000)
        yield context.new_page()


@pytest.fixture
def shown(tab: Page) -> Iterator[Shown]:
    wrong: list[str] = []

    def note(error: object) -> None:
        wrong.append(str(error))

    def show(trace: dict[str, Any], image: Image.Image | None = None) -> Page:
        tab.set_content(html.page(trace, image=image))
        return tab

    tab.on("pageerror", note)
    tab.on("request", lambda request: note(request.url) if "://" in request.url else None)
    yield show
    tab.remove_listener("pageerror", note)
    assert wrong == []


def text(source: list[str], target: list[str], **more: Any) -> dict[str, Any]:
    """Each target token looks mostly at the source token of its place."""
    rows = [
        [
            0.7 if j == min(t, len(source) - 1) else 0.3 / (len(source) - 1)
            for j in range(len(source))
        ]
        for t in range(len(target))
    ]
    return {
        "kind": "text",
        "text": "".join(target[:-1]).replace("▁", " ").strip(),
        "source": {"tokens": source, "words": words(source)},
        "target": {"tokens": target, "words": words(target)},
        "alignment": rows,
        "log_probs": [-0.1] * len(target),
        "choices": [[]] * len(target),
        "search": None,
        **more,
    }


def words(tokens: list[str]) -> list[list[int]]:
    spans: list[list[int]] = []
    for place, token in enumerate(tokens[:-1]):
        if spans and not token.startswith("▁"):
            spans[-1][1] = place + 1
        else:
            spans.append([place, place + 1])
    return spans


def test_subwords_merge_and_the_end_stands_apart(shown: Shown) -> None:
    page = shown(text(["▁clean", "ing", "▁up", "</s>"], ["▁auf", "räumen", "▁jetzt", "</s>"]))
    page.get_by_role("tab", name="Matrix").click()
    assert page.locator("thead th").all_inner_texts() == ["cleaning", "up", "end"]
    assert page.locator("tbody th").all_inner_texts() == ["aufräumen", "jetzt", "end"]
    # The sum over the source's pieces, the mean over the target's.
    assert page.locator("tbody td").first.inner_text() == "0.80"
    page.get_by_label("whole words").uncheck()
    assert page.locator("tbody td").first.inner_text() == "0.70"
    assert page.locator("tbody tr.rv-end").count() == 1
    assert page.locator("tbody td.rv-end").count() == 4


def test_letters_stay_letters(shown: Shown) -> None:
    page = shown(text([*"know", "</s>"], ["N", "OW1", "</s>"]))
    assert page.locator(".rv-line").first.inner_text().split() == ["k", "n", "o", "w", "end"]


def test_right_to_left_and_japanese(shown: Shown) -> None:
    arabic = ["▁الرجل", "▁يقف", "</s>"]
    page = shown(text(["▁男性", "が", "▁走る", "</s>"], arabic))
    lines = page.locator(".rv-line")
    assert [lines.nth(i).get_attribute("dir") for i in (0, 1)] == ["ltr", "rtl"]
    first, second = (lines.nth(1).locator("button").nth(i).bounding_box() for i in (0, 1))
    assert first is not None
    assert second is not None
    assert first["x"] > second["x"]
    assert lines.nth(0).locator("button").first.inner_text() == "男性が"


def test_tokens_are_never_markup(shown: Shown) -> None:
    evil = "▁<img/src=x/onerror=alert(1)>"
    page = shown(text([evil, "</script>", "</s>"], [evil, "\u2028", "</s>"]))
    for name in ("Matrix", "Arcs"):
        page.get_by_role("tab", name=name).click()
        assert page.locator("img").count() == 0
    assert page.locator(".rv-line button").first.inner_text().startswith("<img")


def test_where_greedy_goes_wrong(shown: Shown) -> None:
    """Greedy says "nose", which ends badly; the beam keeps "knows" and is right."""
    forks = [
        [0, 0, "▁nose", -0.5, True, False, -0.5],
        [0, 0, "▁knows", -0.9, True, False, -0.9],
        [0, 0, "▁no", -2.4, False, False, -2.4],
        [1, 1, "</s>", -1.0, True, True, -0.8],
        [1, 0, "</s>", -3.1, True, True, -2.6],
        [1, 0, "▁job", -3.6, False, False, -3.2],
    ]
    search = {"width": 2, "best": [1, 3], "forks": forks}
    page = shown(text(["▁weiß", "</s>"], ["▁knows", "</s>"], search=search))
    page.get_by_role("tab", name="Search").click()
    note = page.locator(".rv-tree .rv-note").first.inner_text()
    assert "A beam of 2 looked at 6 forks in 2 steps and kept 4." in note
    assert "leaves the answer at step 1: it says “nose” (−0.50), the answer “knows” (−0.90)" in note
    assert "Its way ends with score −2.60." in note
    pruned = page.locator(".rv-node.rv-pruned")
    assert pruned.all_inner_texts() == ["no\n−1.50", "job\n−0.50"]
    assert page.locator(".rv-node.rv-greedy em").all_inner_texts() == ["greedy"]
    page.locator(".rv-node.rv-answer").last.focus()
    said = page.locator(".rv-tree output").inner_text()
    assert said == "knows · end, finished with score −0.80, log probability −1.00"
    page.keyboard.press("ArrowLeft")
    assert page.locator(".rv-tree output").inner_text().startswith("knows · knows, kept")


def test_picture(shown: Shown) -> None:
    weights = [[0.7, 0.1, 0.1, 0.1], [0.1, 0.1, 0.1, 0.7], [0.25] * 4]
    target = {"tokens": ["▁a", "▁dog", "</s>"], "words": [[0, 1], [1, 2]]}
    source = {"grid": [2, 2], "region": [10, 0, 50, 40], "size": [60, 40]}
    trace = {
        "kind": "picture", "text": "a dog", "source": source, "target": target,
        "alignment": weights, "weights": [[weights, weights]], "search": None,
    }  # fmt: skip
    page = shown(trace, Image.new("RGB", (60, 40), "white"))
    page.locator(".rv-thumb").last.click()
    large = page.locator("figure canvas")
    assert (large.get_attribute("aria-label") or "").startswith("dog: looked mostly at the bottom")
    light = "(it, at) => it.getContext('2d').getImageData(...at, 1, 1).data[0]"
    dark, looked_at = large.evaluate(light, [14, 4]), large.evaluate(light, [46, 36])
    beyond = large.evaluate(light, [55, 36])
    assert dark < 60
    assert looked_at > 240
    assert beyond == pytest.approx(0.15 * 255, abs=2)
    page.get_by_role("tab", name="Heads").click()
    assert page.locator(".rv-head").count() == 2


def test_time(shown: Shown) -> None:
    rows = [[0.8, 0.2, 0.0, 0.0], [0.0, 0.0, 0.1, 0.9]]
    source = {"seconds": 2.0, "steps": 4, "marks": []}
    target = {"tokens": ["▁hi", "</s>"], "words": [[0, 1]]}
    trace = {"kind": "time", "text": "hi", "source": source, "target": target, "alignment": rows}
    page = shown({**trace, "search": None})
    label = page.locator(".rv-track").first.get_attribute("aria-label")
    assert label == "hi: most at 0.25 s (0.80), on average at 0.35 s"
    assert page.locator(".rv-axis span").all_inner_texts() == ["0", "0.5", "1", "1.5", "2"]


def test_no_attention(shown: Shown) -> None:
    trace = text(["▁a", "</s>"], ["▁b", "</s>"])
    del trace["alignment"]
    page = shown(trace)
    assert page.get_by_text("This model has no attention").is_visible()
    assert page.get_by_role("tab").count() == 0
