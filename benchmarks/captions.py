"""How fast photos become maps, and maps captions: `python -m benchmarks.captions MODEL FOLDER`.

Maps are made by the model's own backbone of the photos of a folder, opened and prepared on the way,
into an empty cache; beside them stands the plain loop of tutorials (batches of 32, all cores share
one), in turns. Captions are those of the model, from maps that are there, with a greedy search, a
beam of 5 and the model's own way of decoding.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

import regard
from benchmarks.speed import matmul_peak
from regard.data import images_in, open_image
from regard.data.features import extract
from regard.encoders.image import Backbone
from regard.machine import keep_memory
from regard.tasks.decode import Decode


def seconds(work: Callable[[], Any]) -> float:
    """How long some work takes."""
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def extracted(paths: list[Path], backbone: Backbone) -> None:
    """As training does it, into a cache that has nothing yet."""
    with tempfile.TemporaryDirectory() as cache:
        extract(paths, backbone, cache=Path(cache), progress=False)


@torch.inference_mode()
def looped(paths: list[Path], backbone: Backbone, *, batch: int = 32) -> None:
    """Batch after batch, each on all cores."""
    for first in range(0, len(paths), batch):
        images = [backbone.preprocessing(open_image(p)) for p in paths[first : first + batch]]
        backbone(torch.from_numpy(np.stack(images)))


def main() -> None:
    """Measure, print."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("model", type=Path, help="the folder of a captioner")
    options.add_argument("photos", type=Path)
    options.add_argument("--most", type=int, default=256, help="photos")
    options.add_argument("--rounds", type=int, default=3)
    given = options.parse_args()
    keep_memory()
    model: Any = regard.load(given.model)
    paths = images_in(given.photos)[: given.most]
    fixed: Backbone = model.eye.halves.fixed
    print(f"{len(paths)} photos, {torch.get_num_threads()} cores, {matmul_peak():.0f} GFLOP/s")
    ways = {"maps": extracted, "maps, plain loop": looped}
    times: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(given.rounds):
        for name, way in ways.items():
            times[name].append(seconds(partial(way, paths, fixed)))
    for name, found in times.items():
        print(f"{name}: {len(paths) / np.median(found):.1f} images/s")
    asked = model.given(paths)

    def captioned(decode: Decode) -> None:
        model._begin(asked, decode, None, [], None).finish()

    ways_of_decoding = {
        "greedy": Decode(beam=1),
        "beam of 5": Decode(),
        "as its recipe says": model.decode,
    }
    for name, decode in ways_of_decoding.items():
        taken = [seconds(partial(captioned, decode)) for _ in range(given.rounds)]
        print(f"captions, {name}: {len(paths) / np.median(taken):.1f} a second")


if __name__ == "__main__":
    main()
