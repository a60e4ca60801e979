"""Sheets of pictures: a bounded number on a page, and the worst captions to be read whole."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from regard.commands import describe
from regard.tasks.decode import Decode
from regard.tasks.evaluate import Evaluation, measured
from regard.tasks.output import Output

LONG = (
    "a small child in a bright red jacket and two brown dogs run over the grey sand of "
    "a wide beach towards the white waves of the sea under a cloudy evening sky"
)


class Fake:
    """Says of every picture what it is called."""

    def stream(self, photos: list[Path], **_: Any) -> Iterator[Output]:
        for photo in photos:
            yield Output(str(photo), f"this is {Path(photo).stem}", [], 0.0, 0.0)


@pytest.fixture
def photos(tmp_path: Path) -> list[Path]:
    paths = [tmp_path / f"p{number}.png" for number in range(7)]
    for path in paths:
        Image.new("RGB", (20, 10), "red").save(path)
    return paths


def test_a_sheet_has_pages(
    photos: list[Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(describe, "PAGE", 3)
    describe.look_at(Fake(), photos[:3], output=str(tmp_path / "one.svg"), dark=False)
    assert capsys.readouterr().out.split() == [str(tmp_path / "one.svg")]
    describe.look_at(Fake(), photos, output=str(tmp_path / "all.svg"), dark=False)
    pages = [tmp_path / f"all-{number}.svg" for number in (1, 2, 3)]
    assert capsys.readouterr().out.split() == [str(page) for page in pages]
    assert [page.read_text().count("this is") for page in pages] == [3, 3, 1]
    assert "this is p6" in pages[2].read_text()


def test_a_file_that_no_sheet_can_be_is_refused_at_once(photos: list[Path]) -> None:
    how: dict[str, Any] = {"decode": Decode(), "sampling": None, "batch": 2}
    with pytest.raises(ValueError, match="wanted a file that ends in"):
        describe.describe(
            None, list(map(str, photos)), as_json=False, as_csv=False, sheet="all.jpg", **how
        )
    with pytest.raises(ValueError, match="wanted a file that ends in"):
        describe.look_at(None, photos, output="all.jpg", dark=False)


def evaluation(photos: list[Path], metrics: list[str]) -> Evaluation:
    """Captions of which the later ones are less right; BLEU-4 is 0 for all of them."""
    said = ["a dog runs fast", "a dog runs", "a dog sits", LONG]
    wanted = [[f"a dog runs and number {n} too", LONG] for n in range(3)] + [["number four swims"]]
    sources = [str(photo) for photo in photos[:4]]
    scores, _ = measured(metrics, said, wanted)
    return Evaluation(sources, said, wanted, [], scores)


def test_mistakes_are_ranked_by_what_tells_captions_apart(
    photos: list[Path], tmp_path: Path
) -> None:
    path = describe.draw_mistakes(
        Fake(), evaluation(photos, ["bleu4", "cider"]), tmp_path / "m.svg"
    )
    drawn = path.read_text()
    assert "bleu4" not in drawn
    places = [drawn.index(text) for text in ("cider 0: a small", "a dog sits", "a dog runs fast")]
    assert places == sorted(places)
    drawn = describe.draw_mistakes(Fake(), evaluation(photos, ["bleu1"]), path).read_text()
    assert "bleu1" in drawn


def test_mistakes_are_whole(photos: list[Path], tmp_path: Path) -> None:
    path = describe.draw_mistakes(Fake(), evaluation(photos, ["bleu1"]), tmp_path / "m.svg")
    drawn = path.read_text()
    assert all(word in drawn for word in LONG.split())
    assert "wanted: number four swims" in drawn
