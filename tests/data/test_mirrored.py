"""Pictures that are learned from with left and right swapped."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

from regard.tasks.caption_learning import CaptionLearning
from regard.tasks.folder import task_of

LITE = {"is": "encoders.EfficientNetLite", "stages": [5], "size": 64}
SMALL = {"is": "encoders.SmallCnn", "dim": 16, "size": 32}


def learning(folder: Path, backbone: dict[str, Any], share: float) -> CaptionLearning:
    if backbone is LITE:
        pytest.importorskip("efficientnet_lite_pytorch")
    (folder / "images").mkdir(exist_ok=True)
    random = np.random.default_rng(0)
    rows = []
    for name in ("a", "b", "c", "d", "e", "f"):
        pixels = random.integers(0, 255, (40, 60, 3), np.uint8)
        Image.fromarray(pixels).save(folder / "images" / f"{name}.png")
        rows.append(f'{{"image": "{name}.png", "captions": ["{name} b c", "{name}"]}}')
    (folder / "all.jsonl").write_text("\n".join(rows))
    data = {
        "train": str(folder / "all.jsonl"),
        "valid": str(folder / "all.jsonl"),
        "target": {"is": "data.Words"},
        "backbone": backbone,
        "learns": backbone is SMALL,
        "mirrored": share,
        "cache": str(folder / "cache"),
    }
    task: Any = task_of(
        {
            "is": "tasks.Caption",
            "data": data,
            "model": {"is": "systems.show_attend_tell", "dim": 8},
            "train": {"updates": 1},
            "metrics": ["bleu1"],
        }
    )
    prepared = task.prepare(progress=False)
    assert isinstance(prepared, CaptionLearning)
    return prepared


@pytest.mark.parametrize("backbone", [LITE, SMALL])
def test_each_picture_is_as_it_is_or_swapped(tmp_path: Path, backbone: dict[str, Any]) -> None:
    places = np.arange(6)
    plain = learning(tmp_path, backbone, 0.0).batch(places).source
    swapped = learning(tmp_path, backbone, 1.0).batch(places).source
    if backbone is SMALL:  # pixels, so that it can be seen what swapping is
        torch.testing.assert_close(swapped, plain.flip(3))
    assert not torch.equal(plain, swapped)
    half = learning(tmp_path, backbone, 0.5)
    found = set()
    for seed in range(8):
        torch.manual_seed(seed)
        drawn = half.batch(places).source
        torch.manual_seed(seed)
        assert torch.equal(drawn, half.batch(places).source)  # as when it is resumed
        ways = [bool(torch.equal(row, other)) for row, other in zip(drawn, swapped, strict=True)]
        wanted = torch.where(torch.tensor(ways).view(-1, *[1] * (plain.dim() - 1)), swapped, plain)
        assert torch.equal(drawn, wanted)
        found.add(tuple(ways))
    assert len(found) > 4


def test_validation_is_never_swapped(tmp_path: Path) -> None:
    swapped, plain = learning(tmp_path, SMALL, 1.0), learning(tmp_path, SMALL, 0.0)
    assert torch.equal(swapped.valid.given([0, 1]), plain.valid.given([0, 1]))


def test_shares_that_mean_nothing(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="mirrored: wanted a share from 0 to 1, got 2"):
        learning(tmp_path, SMALL, 2.0)
