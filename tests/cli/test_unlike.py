"""Pictures unlike those of training are noticed: swapped colours, lost light; others are not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import yaml
from PIL import Image

import regard
from cli.test_caption import SMALL, recipe_of
from regard.cli import main
from regard.data import open_image
from regard.encoders import SmallCnn
from regard.tasks.doubts import STRANGE, doubts
from regard.tasks.eye import Eye
from regard.tasks.gallery import Gallery
from regard.tasks.usual import Usual, looks

FLICKR = Path("/work/shared/data/flickr8k")
FAULTS = {
    "right": lambda pixels: pixels,
    "swapped": lambda pixels: np.ascontiguousarray(pixels[..., ::-1]),
    "dark": lambda pixels: pixels // 2,
}


def outdoors(seed: int) -> np.ndarray:
    """A photo with the colours of many: often bluish above and brown below, in varied light."""
    draw = np.random.default_rng(seed)
    sky, ground = draw.normal((140, 150, 165), 35), draw.normal((120, 105, 80), 35)
    horizon, light = draw.uniform(0.1, 0.6), draw.uniform(0.6, 1.3)
    above = (np.arange(40) < 40 * horizon)[:, None, None]
    pixels = np.where(above, sky, ground) + draw.normal(0, 25, (40, 56, 3))
    return (light * pixels).clip(0, 255).astype(np.uint8)


def put(folder: Path, name: str, seeds: range, fault: Any) -> Path:
    """Photos with captions."""
    (folder / "images").mkdir(exist_ok=True)
    rows = []
    for seed in seeds:
        path = folder / "images" / f"{name}-{seed}.png"
        Image.fromarray(fault(outdoors(seed))).save(path)
        rows.append({"image": path.name, "captions": [f"a photo of number {seed % 3}"]})
    (folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return folder / f"{name}.jsonl"


@pytest.mark.parametrize(
    "seeing", [{}, {"data__backbone": SMALL, "data__learns": True}], ids=["maps", "pixels"]
)
def test_an_evaluation_notices(seeing: dict[str, Any], tmp_path: Path) -> None:
    put(tmp_path, "train", range(150), FAULTS["right"])
    put(tmp_path, "valid", range(200, 210), FAULTS["right"])
    path = tmp_path / "recipe.yaml"
    path.write_text(yaml.safe_dump(recipe_of(tmp_path, train__updates=1, longest=2, **seeing)))
    assert main(["train", str(path), "--output", str(tmp_path / "out"), "--quiet"]) == 0
    captioner: Any = regard.load(tmp_path / "out")
    for name, fault in FAULTS.items():
        test = put(tmp_path, name, range(300, 400), fault)
        doubts = " ".join(captioner.evaluate(str(test), metrics=["bleu1"]).doubts)
        assert ("unlike those of training" in doubts) == (name != "right"), name


def test_it_counts_in_standard_errors() -> None:
    """Like pictures are about 1 away, few or many; the same shift is the farther the more see it.

    The dimensions go together as those of real maps do.
    """
    draw = np.random.default_rng(1)
    mixing = draw.normal(size=(20, 40))

    def some(count: int) -> np.ndarray:
        return draw.normal(size=(count, 20)) @ mixing

    train = some(500)
    usual = Usual(train.mean(0), train.std(0), len(train))
    for count in (20, 100, 1000):
        away = [usual.away(some(count)) for _ in range(100)]
        assert 0.7 < np.mean(away) < 1.3
        assert max(away) < STRANGE
    shifted = [usual.away(some(count) + 0.25 * usual.spread) for count in (20, 100, 1000)]
    assert shifted[0] < STRANGE < shifted[1] < shifted[2]


def test_what_a_picture_looks_like() -> None:
    maps = torch.tensor([[[1.0, 5.0], [3.0, 7.0]]])
    np.testing.assert_allclose(looks(maps), [[2, 6]])
    pixels = torch.stack([torch.full((4, 4), value) for value in (0.9, 0.3, 0.0)])[None]
    pixels[..., 2:, 2:] = 1
    np.testing.assert_allclose(looks(pixels), [[0.4, 0.3, 0.1] * 3 + [1, 0, 0]], atol=1e-6)


def test_it_is_kept(tmp_path: Path) -> None:
    usual = Usual(np.array([0.5, 1.0]), np.array([0.1, 0.2]), 7)
    again = Usual.from_dict(json.loads(json.dumps(usual.as_dict())))
    assert again is not None
    assert (again.mean.tolist(), again.spread.tolist(), again.count) == ([0.5, 1.0], [0.1, 0.2], 7)
    # As folders were written before the number was kept, and where nothing was known.
    assert Usual.from_dict({"usual": [[0.5], [0.1]]}).count == 500  # type: ignore[union-attr]
    assert Usual.from_dict({"usual": None}) is None


@pytest.mark.skipif(not FLICKR.is_dir(), reason="Flickr8k is not here")
def test_real_photos() -> None:
    def some(part: str, step: int) -> list[Path]:
        rows = (FLICKR / f"{part}.jsonl").read_text().splitlines()[::step]
        return [FLICKR / "images" / json.loads(row)["image"] for row in rows]

    eye = Eye(SmallCnn(size=32), learns=True, cache=Path())
    train = some("train", 40)
    usual = Usual.of(Gallery(train, [[] for _ in train], None, eye))
    photos = [np.asarray(open_image(path)) for path in some("dev", 10)]
    away = {}
    for name, fault in FAULTS.items():
        away[name] = usual.away(
            looks(eye.see([eye.prepared(Image.fromarray(fault(p))) for p in photos]))
        )
    assert away["right"] < STRANGE < 2 * STRANGE < min(away["swapped"], away["dark"])


def test_captions_that_fit_other_pictures_as_well() -> None:
    """Three captions in turns, none of them said to half of the pictures; then the right ones."""
    shown = [("dog", "runs"), ("cat", "sleeps"), ("bird", "sings"), ("fish", "swims")]
    wanted = [[f"a {who} {what}", f"the {who} {what} there"] for who, what in shown * 8]
    in_turns = [f"a {who} {what}" for who, what in shown[:3]] * 11
    (said,) = doubts(in_turns[:32], wanted, np.zeros((32, 2)), None)
    assert "captions fit other pictures about as well as their own" in said
    assert doubts([texts[0] for texts in wanted], wanted, np.zeros((32, 2)), None) == []
    assert doubts(in_turns[:19], wanted[:19], np.zeros((19, 2)), None) == []
