"""Maps that are computed once: the same as computed directly, and safe against every kill."""

import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

from regard.data import DataError, Report, open_image
from regard.data.features import INDEX, VALUES, extract, store_for
from regard.encoders import EfficientNetLite, FeatureMap, SmallCnn


def draw(folder: Path, count: int) -> list[Path]:
    """Pictures of noise, each another."""
    folder.mkdir(exist_ok=True)
    paths = []
    for number in range(count):
        noise = np.random.default_rng(number).integers(0, 255, (20, 30, 3), np.uint8)
        paths.append(folder / f"{number}.png")
        Image.fromarray(noise).save(paths[-1])
    return paths


class Counting(SmallCnn):
    """Knows how many pictures it has seen, and may stop before some."""

    def __init__(self, *, most: int = 10**9) -> None:
        torch.manual_seed(5)
        super().__init__(dim=8, size=32)
        self.seen, self.most = 0, most

    def forward(self, pixels: Any) -> FeatureMap:
        if self.seen + len(pixels) > self.most:
            raise KeyboardInterrupt
        self.seen += len(pixels)
        return super().forward(pixels)


def quietly(paths: list[Path], backbone: SmallCnn, cache: Path, **options: Any) -> Any:
    return extract(paths, backbone, cache=cache, progress=False, **options)


def directly(paths: list[Path], backbone: SmallCnn) -> np.ndarray:
    pixels = np.stack([backbone.preprocessing(open_image(path)) for path in paths])
    with torch.inference_mode():
        return backbone.eval()(torch.from_numpy(pixels)).values.numpy()


def test_cache_is_what_the_backbone_says(tmp_path: Path) -> None:
    paths, backbone = draw(tmp_path / "p", 7), Counting()
    found = quietly(paths, backbone, tmp_path / "cache", batch=3)
    assert found.grid == (2, 2)
    assert found[range(7)].dtype == np.float16
    np.testing.assert_allclose(found[range(7)], directly(paths, backbone), rtol=2e-3, atol=2e-3)
    np.testing.assert_array_equal(found[[5, 2]], found[range(7)][[5, 2]])
    again = Counting()
    np.testing.assert_array_equal(
        quietly(paths, again, tmp_path / "cache")[range(7)], found[range(7)]
    )
    assert again.seen == 0


class Meeting(SmallCnn):
    """Waits, once it has pictures, until others of its kind are at work as well."""

    def __init__(self, *, others: int) -> None:
        torch.manual_seed(5)
        super().__init__(dim=8, size=32)
        self.others, self.threads, self.cores = threading.Barrier(others), set(), set()

    def forward(self, pixels: Any) -> FeatureMap:
        if torch.any(pixels != 0):
            self.threads.add(threading.get_ident())
            self.cores.add(torch.get_num_threads())
            self.others.wait(timeout=60)
        return super().forward(pixels)


def test_all_cores_look(tmp_path: Path) -> None:
    """Several batches at a time, each on one core; the maps stand where they belong."""
    paths, backbone = draw(tmp_path / "p", 9), Meeting(others=3)
    torch.set_num_threads(3)
    try:
        found = quietly(paths, backbone, tmp_path / "cache", batch=1)
        assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(1)
    assert len(backbone.threads) == 3
    assert backbone.cores == {1}
    np.testing.assert_allclose(found[range(9)], directly(paths, Counting()), rtol=2e-3, atol=2e-3)


def test_content_decides(tmp_path: Path) -> None:
    paths = draw(tmp_path / "p", 3)
    quietly(paths, Counting(), tmp_path / "cache")
    twin = tmp_path / "p" / "twin.png"
    twin.write_bytes(paths[1].read_bytes())
    backbone = Counting()
    found = quietly([twin, *paths], backbone, tmp_path / "cache")
    assert backbone.seen == 0
    np.testing.assert_array_equal(found[[0]], found[[2]])
    draw(tmp_path / "p", 9)
    paths[0].write_bytes((tmp_path / "p" / "8.png").read_bytes())
    quietly(paths, backbone, tmp_path / "cache")
    assert backbone.seen == 1


def test_backbone_and_preprocessing_decide(tmp_path: Path) -> None:
    torch.manual_seed(1)
    kinds = [SmallCnn(dim=8, size=32), SmallCnn(dim=8, size=48), SmallCnn(dim=16, size=32)]
    kinds.append(SmallCnn(dim=8, size=32, fit="crop"))
    other = SmallCnn(dim=8, size=32)
    folders = {store_for(backbone, tmp_path).folder for backbone in [*kinds, other]}
    assert len(folders) == 5
    other.load_state_dict(kinds[0].state_dict())
    assert store_for(other, tmp_path).folder == store_for(kinds[0], tmp_path).folder


def test_interrupted_and_resumed(tmp_path: Path) -> None:
    paths, cache = draw(tmp_path / "p", 10), tmp_path / "cache"
    first = Counting(most=7)  # one of zeros, to learn the grid, and three batches
    with pytest.raises(KeyboardInterrupt):
        quietly(paths, first, cache, batch=2)
    second = Counting()
    found = quietly(paths, second, cache, batch=2)
    assert second.seen == 10 - 6
    np.testing.assert_allclose(found[range(10)], directly(paths, second), rtol=2e-3, atol=2e-3)


@pytest.mark.parametrize("values", [0, 7, 16, 21])
@pytest.mark.parametrize("index", [0, 5, 32])
def test_half_written_entries_are_never_used(tmp_path: Path, values: int, index: int) -> None:
    """Whatever a process that died left behind the last whole entry is written anew."""
    paths, cache = draw(tmp_path / "p", 5), tmp_path / "cache"
    backbone = Counting()
    whole = quietly(paths, backbone, cache)[range(5)]
    folder = store_for(backbone, cache).folder
    size = 2 * 2 * 2 * 8
    with (folder / VALUES).open("r+b") as file:
        file.truncate(3 * size + values)
    with (folder / INDEX).open("r+b") as file:
        file.truncate(3 * 32 + index)
    after = Counting()
    found = quietly(paths, after, cache)
    assert after.seen == 2
    np.testing.assert_array_equal(found[range(5)], whole)
    assert (folder / VALUES).stat().st_size == 5 * size
    assert (folder / INDEX).stat().st_size == 5 * 32


def test_broken_pictures_stop_or_are_counted(tmp_path: Path) -> None:
    paths = draw(tmp_path / "p", 4)
    content = paths[2].read_bytes()
    paths[2].write_bytes(content[: len(content) // 2])
    with pytest.raises(DataError, match=r"2\.png: the image is broken.*, or set on_error: skip"):
        quietly(paths, Counting(), tmp_path / "cache")
    report = Report()
    found = quietly(paths, Counting(), tmp_path / "cache", on_error="skip", report=report)
    assert (found.rows >= 0).tolist() == [True, True, False, True]
    assert report.counts == {"picture that cannot be used": 1}
    assert report.examples["picture that cannot be used"] == [str(paths[2])]


KILLED = """
import sys, time
from pathlib import Path
from tests.data.test_features import Counting, quietly

class Slow(Counting):
    def forward(self, pixels):
        time.sleep(0.05)
        return super().forward(pixels)

paths = sorted(Path(sys.argv[1]).iterdir())
quietly(paths, Slow(), Path(sys.argv[2]), batch=1)
"""


def test_killed_and_resumed(tmp_path: Path) -> None:
    paths, cache = sorted(draw(tmp_path / "p", 60)), tmp_path / "cache"
    root = Path(__file__).parents[2]
    command = [sys.executable, "-c", KILLED, str(tmp_path / "p"), str(cache)]
    with subprocess.Popen(command, cwd=root) as process:
        deadline = time.monotonic() + 60
        while not any(f.stat().st_size > 200 for f in cache.glob(f"*/{INDEX}")):
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
    backbone = Counting()
    found = quietly(paths, backbone, cache)
    assert 1 < backbone.seen < 60
    np.testing.assert_allclose(found[range(60)], directly(paths, backbone), rtol=2e-3, atol=2e-3)


def test_efficientnet_from_its_package(tmp_path: Path) -> None:
    pytest.importorskip("efficientnet_lite_pytorch")
    paths = draw(tmp_path / "p", 2)
    backbone = EfficientNetLite(stages=[5, 8], size=64)
    found = extract(paths, backbone, cache=tmp_path / "cache", progress=False)
    assert found.grid == (4, 4)
    assert found[[0]].shape == (1, 16, 112 + 1280)
    np.testing.assert_allclose(
        found[[0, 1]].astype(np.float32), directly(paths, backbone), rtol=5e-3, atol=5e-3
    )


def test_says_how_fast(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    extract(draw(tmp_path / "p", 3), Counting(), cache=tmp_path / "cache")
    assert re.search(r"looking at pictures: 3 images in .* s \(.*/s\)", capsys.readouterr().err)


@pytest.mark.skipif(
    not Path("/proc/self/mem").exists(), reason="needs a file that fails to be read"
)
def test_unreadable_files_stop_or_are_counted(tmp_path: Path) -> None:
    paths = draw(tmp_path, 2)
    bad = tmp_path / "bad.png"
    bad.symlink_to("/proc/self/mem")
    with pytest.raises(DataError, match=r"bad\.png: cannot be read"):
        quietly([*paths, bad], SmallCnn(dim=8, size=32), tmp_path / "cache")
    report = Report()
    found = quietly(
        [bad, *paths], SmallCnn(dim=8, size=32), tmp_path / "cache", on_error="skip", report=report
    )
    assert (found.rows >= 0).tolist() == [False, True, True]
    assert report.total == 1


def test_files_that_vanish_stop_or_are_counted(tmp_path: Path) -> None:
    paths = [*draw(tmp_path, 1), tmp_path / "gone.png"]
    with pytest.raises(DataError, match=r"gone\.png: cannot be read: No such file"):
        quietly(paths, SmallCnn(dim=8, size=32), tmp_path / "cache")
    found = quietly(paths, SmallCnn(dim=8, size=32), tmp_path / "cache", on_error="skip")
    assert (found.rows >= 0).tolist() == [True, False]
