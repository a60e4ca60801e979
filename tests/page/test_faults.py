"""What the page says when something is wrong."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from .conftest import answer, says, settled

if TYPE_CHECKING:
    from playwright.sync_api import Route

    from .conftest import Opened

ANSWER = "heute fällt zwei alte katze"
HERE = "#model=german&text=two+old+cat+falls+today"


def test_too_long(visit: Opened) -> None:
    page = visit(HERE)
    page.fill("#text", "two old cat " * 50)
    message = page.get_by_role("alert").get_by_text("wanted at most 400 characters, got 599")
    message.wait_for()
    assert answer(page) == ""
    page.fill("#text", "two old cat falls today")
    says(page, ANSWER)
    assert message.count() == 0


def test_server_gone_and_back(visit: Opened) -> None:
    page = visit(HERE)
    page.context.route("**/v1/run", lambda route: route.abort("connectionrefused"))
    page.get_by_role("button", name="Run").click()
    page.get_by_text("The server does not answer. Is it still running?").wait_for()
    page.context.unroute("**/v1/run")
    page.get_by_role("button", name="Try again").click()
    says(page, ANSWER)


def test_server_gone_in_the_middle(visit: Opened) -> None:
    page = visit(HERE)
    half = 'event: partial\ndata: {"text": "heute", "tokens": ["▁heute"], "settled": 1}\n\n'
    page.context.route(
        "**/v1/run", lambda route: route.fulfill(body=half, content_type="text/event-stream")
    )
    page.get_by_role("button", name="Run").click()
    page.get_by_text("The server went away in the middle").wait_for()


def test_busy_server_is_asked_again(visit: Opened) -> None:
    page = visit(HERE)
    refused = []

    def busy(route: Route) -> None:
        if refused:
            route.continue_()
            return
        refused.append(route.request.url)
        body = json.dumps({"error": {"code": "busy", "message": "no room"}})
        route.fulfill(status=503, headers={"Retry-After": "1"}, body=body)

    page.context.route("**/v1/run", busy)
    page.get_by_role("button", name="Run").click()
    page.get_by_text("Trying again in 1 s.").wait_for()
    says(page, ANSWER)
    assert len(refused) == 1
    assert page.get_by_role("alert").inner_text() == ""


def test_token_is_asked_for_and_kept(visit: Opened) -> None:
    page = visit(HERE)

    def guard(route: Route) -> None:
        if route.request.headers.get("authorization") == "Bearer sesame":
            route.continue_()
            return
        body = json.dumps({"error": {"code": "no_token", "message": "wanted a token"}})
        route.fulfill(status=401, body=body)

    page.context.route("**/v1/*", guard)
    page.reload()
    page.get_by_label("Token", exact=True).fill("sesame")
    page.get_by_role("button", name="Go on").click()
    says(page, ANSWER)
    page.reload()
    says(page, ANSWER)
    assert page.get_by_label("Token", exact=True).is_hidden()


def test_no_picture(visit: Opened) -> None:
    page = visit("#model=squares", wait=False)
    broken = {"name": "a.png", "mimeType": "image/png", "buffer": b"no picture"}
    page.locator("#drop").wait_for()
    page.set_input_files("#file", [broken])
    page.get_by_text("This file is no picture that your browser can open.").wait_for()


def test_address_from_elsewhere(visit: Opened) -> None:
    page = visit("#model=none&prefix=%5B1&beam=x&with=%3Cb%3E&view=42&nbest=99")
    assert page.get_by_text("There is no model none here; this is german.").is_visible()
    assert page.locator(".answer button").count() == 5
    page.evaluate("location.hash = 'model=german&text=<img src=x onerror=alert(1)>'")
    settled(page)
    assert page.locator("main img:not(#preview)").count() == 0
