"""What a reader does on the page."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING

import pytest

from .conftest import answer, says, settled
from .worlds import draw

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Page

    from .conftest import Opened

SENTENCE, ANSWER = "two old cat falls today", "heute fällt zwei alte katze"
HERE = "#model=german&text=two+old+cat+falls+today"


def photo(colour: str, side: str) -> bytes:
    buffer = io.BytesIO()
    draw(colour, side, 7).save(buffer, "PNG")
    return buffer.getvalue()


def strength(page: Page, word: str) -> float:
    """How strongly a source word is lit."""
    lit = page.locator(".rv-line").first.locator("button", has_text=word)
    return float(lit.evaluate("it => it.style.getPropertyValue('--w')"))


def test_translate(visit: Opened) -> None:
    page = visit("#model=german")
    example = page.locator("#examples button").first
    assert page.locator("#text").input_value() == example.inner_text()
    page.fill("#text", SENTENCE)
    page.keyboard.press("Enter")
    says(page, ANSWER)
    assert page.locator("#live").inner_text() == f"german: {ANSWER}"
    sources = page.locator(".rv-line").first.locator("button")
    assert sources.all_inner_texts() == [*SENTENCE.split(), "end"]
    page.locator(".answer button", has_text="katze").hover()
    assert strength(page, "cat") > 0.3 > strength(page, "two")


def test_matrix_by_keyboard(visit: Opened) -> None:
    page = visit(HERE)
    page.get_by_role("tab", name="Arcs").focus()
    page.keyboard.press("ArrowRight")
    assert page.get_by_role("tab", name="Matrix").get_attribute("aria-selected") == "true"
    assert page.locator(".rv-matrix tbody td").count() == 6 * 6
    page.get_by_label("whole words").uncheck()
    assert page.locator(".rv-matrix tbody td").count() > 6 * 6
    page.locator(".rv-matrix tbody td").first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    said = page.locator(".rv-matrix output").inner_text()
    assert re.fullmatch(r"\S+ looked at old: 0\.\d+", said), said


def test_typing_asks_once_after_a_pause(visit: Opened) -> None:
    page = visit(HERE)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.locator("#text").fill("")
    page.locator("#text").press_sequentially("one red bee sings here", delay=5)
    says(page, "hier singt eine rote biene")
    assert len([url for url in asked if url.endswith("/v1/run")]) == 1


def test_words_come_one_by_one_and_attention_with_them(visit: Opened) -> None:
    page = visit(HERE, calm=False)
    page.evaluate(
        """() => {
          window.seen = [];
          const panel = document.querySelector(".panel");
          new MutationObserver(() => {
            if (panel.ariaBusy !== "true") return;
            const lit = [...document.querySelectorAll(".rv-line:first-child .rv-word")]
              .filter((word) => Number(word.style.getPropertyValue("--w")) > 0.1);
            window.seen.push([panel.querySelector(".answer").innerText, lit.length]);
          }).observe(panel, { childList: true, subtree: true });
        }"""
    )
    asked = {
        "four small bell waits outside": "draußen wartet vier kleine glocke",
        "two young bee sings today": "heute singt zwei junge biene",
        "three old lamp falls here": "hier fällt drei alte lampe",
    }
    said: list[str] = []
    for source, target in asked.items():  # on a busy machine a page may see few beginnings of one
        page.evaluate("window.seen = []")
        page.fill("#text", source)
        says(page, target)
        seen = page.evaluate("window.seen")
        said = list(dict.fromkeys(text for text, _ in seen))
        assert len(said[0]) < len(said[-1])
        assert max(lit for _, lit in seen) >= 1
        if len(said) > 4:
            break
    assert len(said) > 2


def test_change_a_word_and_the_model_goes_on(visit: Opened) -> None:
    page = visit(HERE)
    page.locator(".answer button").first.click()
    menu = page.get_by_role("dialog", name="Instead of heute")
    others = menu.locator(".offered button:not([aria-current])")
    other = others.first.locator("bdi").inner_text()
    others.first.click()
    page.wait_for_function("() => document.querySelector('.answer .fixed')")
    settled(page)
    changed = answer(page)
    assert changed.startswith(other)
    assert "katze" in changed
    assert page.locator(".answer button.fixed").all_inner_texts() == [changed.split()[0]]
    assert page.locator(".answer button.fixed").evaluate("it => it === document.activeElement")
    page.get_by_role("button", name="Undo").click()
    says(page, ANSWER)
    assert page.locator(".answer .fixed").count() == 0


def test_a_word_of_ones_own_by_keyboard(visit: Opened) -> None:
    page = visit(HERE)
    page.locator(".answer button").first.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    menu = page.get_by_role("dialog", name="Instead of fällt")
    assert menu.is_visible()
    page.keyboard.press("Escape")
    assert menu.count() == 0
    assert page.locator(".answer button").nth(1).evaluate("it => it === document.activeElement")
    page.keyboard.press("Enter")
    page.get_by_label("Something else").fill("singt")
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.querySelector('.answer').innerText.includes('singt')")
    settled(page)
    assert answer(page).startswith("heute singt ")
    assert page.locator(".answer button.fixed").all_inner_texts() == ["heute", "singt"]


def test_search_tree(visit: Opened) -> None:
    page = visit(f"{HERE}&view=tree&beam=3")
    nodes = page.locator(".rv-node")
    assert page.get_by_text("A beam of 3 looked at").inner_text().count(str(nodes.count())) == 1
    path = page.locator(".rv-node.rv-answer bdi").all_inner_texts()
    assert path[0] == "heute"
    assert path[-1] == "end"
    pruned = page.locator(".rv-node.rv-pruned").first
    assert pruned.is_visible()
    page.get_by_label("show what was pruned").uncheck()
    assert not pruned.is_visible()
    nodes.first.focus()
    for _ in range(len(path) - 1):
        page.keyboard.press("ArrowRight")
    said = page.locator(".rv-tree output").inner_text()
    assert "log probability −" in said


def test_heads(visit: Opened) -> None:
    page = visit("#model=other&text=two+old+cat+falls+today&view=heads")
    heads = page.locator(".rv-head")
    assert heads.count() == 2 * 2
    assert page.locator(".rv-head.rv-best").count() == 1
    heads.nth(2).click()
    assert page.get_by_role("heading", name="Layer 2, head 1").is_visible()
    assert page.get_by_role("grid", name="Layer 2, head 1").count() == 1


def test_two_models(visit: Opened) -> None:
    page = visit(HERE)
    page.get_by_label("Compare with").select_option("other")
    page.wait_for_function("() => document.querySelectorAll('.panel').length === 2")
    settled(page)
    assert answer(page, 0) == ANSWER
    assert len(answer(page, 1)) > 4
    boxes = [page.locator(".panel").nth(number).bounding_box() for number in (0, 1)]
    assert boxes[0] is not None
    assert boxes[1] is not None
    assert boxes[0]["y"] == boxes[1]["y"]
    page.locator(".panel").nth(1).locator(".answer button").first.click()
    page.locator(".keep").click()
    page.wait_for_function("() => document.querySelector('.answer .fixed')")
    settled(page)
    assert page.locator(".panel").nth(0).locator(".fixed").count() == 0


def test_answers_and_draws(visit: Opened) -> None:
    page = visit(f"{HERE}&nbest=3")
    assert page.locator(".others li").count() == 2
    page.get_by_label("Draw at random").check()
    page.get_by_label("Temperature").fill("3")
    page.get_by_label("Seed").fill("5")
    page.get_by_label("Seed").blur()
    page.wait_for_function("() => location.hash.includes('seed=5')")
    settled(page)
    drawn = answer(page)
    assert drawn != ANSWER
    again = visit("#" + page.url.split("#")[1])
    assert answer(again) == drawn


@pytest.mark.parametrize("way", ["choose", "drop", "paste"])
def test_photo(visit: Opened, way: str) -> None:
    page = visit("#model=squares" if way == "choose" else "", wait=way != "choose")
    content = photo("red", "left")
    if way == "choose":
        file = {"name": "red.png", "mimeType": "image/png", "buffer": content}
        page.set_input_files("#file", [file])
    else:
        page.evaluate(HAND_OVER, [way, list(content)])
    page.wait_for_selector(".rv-overlay .rv-play")
    settled(page)
    words = answer(page).split()
    assert words[0] == "a"
    assert page.locator(".rv-thumb").count() == len(words)
    large = page.locator(".rv-overlay figure canvas")
    whole = large.evaluate(LIGHT)
    page.locator(".rv-thumb").first.click()
    assert large.evaluate(LIGHT) < 0.9 * whole
    assert "looked mostly at the" in (large.get_attribute("aria-label") or "")
    page.get_by_role("button", name="Play").click()
    assert page.get_by_role("button", name="Stop").count() == 1
    assert "photo=1" in page.url


LIGHT = """(canvas) => {
  const { width, height } = canvas;
  return canvas.getContext("2d").getImageData(0, 0, width, height).data.reduce((a, b) => a + b);
}"""
HAND_OVER = """([way, bytes]) => {
  const data = new DataTransfer();
  data.items.add(new File([new Uint8Array(bytes)], "red.png", { type: "image/png" }));
  const event = way === "drop"
    ? new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true })
    : new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true });
  document.body.dispatchEvent(event);
}"""


def test_link_restores_all_but_the_photo(visit: Opened) -> None:
    page = visit(f"{HERE}&with=other&view=matrix&beam=4")
    page.locator(".answer button").nth(1).click()
    page.locator(".keep").click()
    page.wait_for_function("() => document.querySelector('.answer .fixed')")
    settled(page)
    place = "#" + page.url.split("#")[1]
    again = visit(place)
    assert [answer(again, number) for number in (0, 1)] == [
        answer(page, number) for number in (0, 1)
    ]
    assert again.locator(".answer .fixed").count() == 2
    assert again.locator("#beam").input_value() == "4"
    tabs = again.get_by_role("tab", name="Matrix")
    assert [tab.get_attribute("aria-selected") for tab in tabs.all()] == ["true", "true"]
    shown = visit("#model=squares&photo=1", wait=False)
    shown.get_by_text("A link holds no photo.").wait_for()


def test_text_that_continues(visit: Opened) -> None:
    page = visit("#model=writer&text=to+be")
    page.wait_for_function("() => document.querySelector('.answer').innerText.length > 100")
    assert answer(page).startswith("to be")
    assert page.get_by_label("Beam").is_hidden()


def test_viewer_opens_from_the_disk(visit: Opened, address: str, tmp_path: Path) -> None:
    from regard.look import html

    page = visit(HERE)
    asked = {"model": "german", "text": SENTENCE, "trace": True}
    found = page.request.post(f"{address}/v1/run", data=asked).json()["trace"]
    frames = html.fragment(found) + html.fragment(found)
    (tmp_path / "twice.html").write_text(f"<!doctype html>{frames}", encoding="utf-8")
    page.goto((tmp_path / "twice.html").as_uri())
    for frame in page.frames[1:]:
        frame.get_by_role("tab", name="Matrix").click()
        assert frame.locator(".rv-matrix tbody td").count() == 6 * 6
    heights = page.locator("iframe").evaluate_all("all => all.map((one) => one.offsetHeight)")
    assert len(heights) == 2
    assert min(heights) > 250
