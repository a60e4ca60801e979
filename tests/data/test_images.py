"""Opening pictures: every common kind as upright RGB, and what each kind of broken file says."""

import io
import struct
import subprocess
import sys
import threading
import warnings
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from regard.data import DataError, Preprocessing, images_in, open_image
from regard.data.images import TooManyPixelsError

RED, BLUE = (200, 30, 30), (30, 30, 200)


def halves(mode: str = "RGB", size: tuple[int, int] = (40, 20)) -> Image.Image:
    """Red on the left, blue on the right."""
    image = Image.new("RGB", size, BLUE)
    image.paste(RED, (0, 0, size[0] // 2, size[1]))
    return image.quantize(4) if mode == "P" else image.convert(mode)


def corners(image: Image.Image) -> list[tuple[int, ...]]:
    pixels = np.asarray(image).astype(int)
    return [tuple(pixels[2, 2]), tuple(pixels[-3, -3])]


def near(got: tuple[int, ...], wanted: tuple[int, ...], within: int = 12) -> bool:
    return max(abs(a - b) for a, b in zip(got, wanted, strict=True)) <= within


@pytest.mark.parametrize(
    ("mode", "name"),
    [
        ("RGB", "a.jpg"),
        ("CMYK", "a.jpg"),
        ("RGB", "a.png"),
        ("RGBA", "a.png"),
        ("P", "a.png"),
        ("P", "a.gif"),
        ("RGB", "a.webp"),
        ("RGBA", "a.webp"),
        ("RGB", "a.bmp"),
        ("CMYK", "a.tiff"),
    ],
)
def test_every_mode_is_rgb(tmp_path: Path, mode: str, name: str) -> None:
    halves(mode).save(tmp_path / name)
    opened = open_image(tmp_path / name)
    assert (opened.mode, opened.size) == ("RGB", (40, 20))
    left, right = corners(opened)
    assert near(left, RED)
    assert near(right, BLUE)


@pytest.mark.parametrize(("mode", "name"), [("L", "a.jpg"), ("L", "a.png"), ("1", "a.png")])
def test_grey(tmp_path: Path, mode: str, name: str) -> None:
    image = Image.new("L", (10, 10), 0)
    image.paste(255, (0, 0, 5, 10))
    image.convert(mode).save(tmp_path / name)
    left, right = corners(open_image(tmp_path / name))
    assert near(left, (255, 255, 255))
    assert near(right, (0, 0, 0))


def test_grey_of_16_bits(tmp_path: Path) -> None:
    levels = np.full((10, 10), 257 * 40, np.uint16)
    levels[:, 5:] = 257 * 200
    Image.fromarray(levels).save(tmp_path / "a.png")
    left, right = corners(open_image(tmp_path / "a.png"))
    assert left == (40, 40, 40)
    assert right == (200, 200, 200)


@pytest.mark.parametrize("name", ["a.png", "a.tif", "a.pgm"])
def test_dark_grey_of_16_bits_stays_dark(tmp_path: Path, name: str) -> None:
    """Also where 8 bits would hold all of its levels: a darker picture never comes out brighter."""
    Image.fromarray(np.full((10, 10), 255, np.uint16)).save(tmp_path / name)
    assert corners(open_image(tmp_path / name)) == [(0, 0, 0)] * 2


def test_a_tiff_of_32_bits_may_hold_8(tmp_path: Path) -> None:
    for level, shown in ((200, 200), (257 * 200, 200)):
        Image.fromarray(np.full((10, 10), level, np.int32)).save(tmp_path / "a.tif")
        assert corners(open_image(tmp_path / "a.tif")) == [(shown,) * 3] * 2


def test_transparent_grey_of_16_bits_is_white_as_that_of_8(tmp_path: Path) -> None:
    for kind, scale in ((np.uint8, 1), (np.uint16, 257)):
        levels = np.full((10, 10), 40 * scale, kind)
        levels[:, 5:] = 100 * scale
        Image.fromarray(levels).save(tmp_path / "a.png", transparency=100 * scale)
        assert corners(open_image(tmp_path / "a.png")) == [(40, 40, 40), (255, 255, 255)]


def test_transparent_parts_are_white(tmp_path: Path) -> None:
    for mode in ("RGBA", "LA", "P"):
        image = Image.new("RGBA", (10, 10), (0, 0, 0, 0))
        image.paste((0, 0, 0, 255), (0, 0, 5, 10))
        path = tmp_path / f"{mode}.png"
        if mode == "P":
            palette = Image.new("P", (10, 10), 1)
            palette.putpalette([0, 0, 0, 9, 9, 9])
            palette.paste(0, (0, 0, 5, 10))
            palette.save(path, transparency=1)
        else:
            image.convert(mode).save(path)
        left, right = corners(open_image(path))
        assert left == (0, 0, 0), mode
        assert right == (255, 255, 255), mode


@pytest.mark.parametrize("turn", range(1, 9))
def test_exif_rotation_is_applied(tmp_path: Path, turn: int) -> None:
    """A picture stored turned, with the tag that says so, opens upright."""
    upright = halves()
    undo = {
        2: Image.Transpose.FLIP_LEFT_RIGHT,
        3: Image.Transpose.ROTATE_180,
        4: Image.Transpose.FLIP_TOP_BOTTOM,
        5: Image.Transpose.TRANSPOSE,
        6: Image.Transpose.ROTATE_90,
        7: Image.Transpose.TRANSVERSE,
        8: Image.Transpose.ROTATE_270,
    }
    stored = upright.transpose(undo[turn]) if turn in undo else upright
    exif = Image.Exif()
    exif[0x0112] = turn
    stored.save(tmp_path / "a.jpg", exif=exif, quality=95)
    opened = open_image(tmp_path / "a.jpg")
    assert opened.size == (40, 20)
    left, right = corners(opened)
    assert near(left, RED)
    assert near(right, BLUE)


def told(path: Path, **options: int) -> str:
    with pytest.raises(DataError) as caught:
        open_image(path, **options)
    assert str(path) in str(caught.value)
    assert "Remedy: " in str(caught.value)
    return str(caught.value)


def test_missing_and_folder(tmp_path: Path) -> None:
    halves().save(tmp_path / "photo.jpg")
    assert "did you mean 'photo.jpg'?" in told(tmp_path / "phoot.jpg")
    assert "is a folder" in told(tmp_path)
    (tmp_path / "link.jpg").symlink_to("gone.jpg")
    assert "is a link that leads nowhere: gone.jpg" in told(tmp_path / "link.jpg")
    (tmp_path / "env.sh").write_text("")
    with pytest.raises(DataError, match=r"envs: there is no such folder\."):
        open_image(f"{tmp_path}/envs/")
    assert "there is no such file" in told(tmp_path / ("x" * 300))


@pytest.mark.parametrize("name", ["a.jpg", "a.png", "a.webp"])
@pytest.mark.parametrize("share", [0.3, 0.9])
def test_truncated(tmp_path: Path, name: str, share: float) -> None:
    noise = np.random.default_rng(1).integers(0, 255, (64, 64, 3), np.uint8)
    Image.fromarray(noise).save(tmp_path / name)
    content = (tmp_path / name).read_bytes()
    (tmp_path / name).write_bytes(content[: int(len(content) * share)])
    assert "broken" in told(tmp_path / name) or "no image" in told(tmp_path / name)


def test_corrupt(tmp_path: Path) -> None:
    (tmp_path / "empty.jpg").write_bytes(b"")
    assert "is empty" in told(tmp_path / "empty.jpg")
    (tmp_path / "text.jpg").write_text("<html>404 not found</html>")
    assert "no image of a known kind" in told(tmp_path / "text.jpg")
    halves().save(tmp_path / "a.png")
    content = bytearray((tmp_path / "a.png").read_bytes())
    content[45:60] = bytes(15)
    (tmp_path / "a.png").write_bytes(content)
    assert "broken" in told(tmp_path / "a.png")


def test_other_programs_are_never_started(tmp_path: Path) -> None:
    (tmp_path / "a.jpg").write_bytes(b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\nshowpage\n")
    assert "no image of a known kind" in told(tmp_path / "a.jpg")


def bomb(path: Path, side: int) -> Path:
    """A PNG whose header promises side x side pixels and whose few bytes hold next to none."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        checked = kind + content
        return struct.pack(">I", len(content)) + checked + struct.pack(">I", zlib.crc32(checked))

    header = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    path.write_bytes(
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(bytes(1000)))
        + chunk(b"IEND", b"")
    )
    return path


def test_bomb_is_refused_before_it_is_decoded(tmp_path: Path) -> None:
    message = told(bomb(tmp_path / "a.png", 60_000))
    assert "attack; wanted at most 100,000,000 pixels. Remedy: make it smaller." in message
    message = told(bomb(tmp_path / "b.png", 12_000))
    assert "has 12,000 x 12,000 pixels; wanted at most 100,000,000 pixels" in message
    halves().save(tmp_path / "c.png")
    assert "40 x 20 pixels; wanted at most 799" in told(tmp_path / "c.png", most_pixels=799)
    assert open_image(tmp_path / "c.png", most_pixels=800).size == (40, 20)


def test_preprocessing_by_hand() -> None:
    seen = Preprocessing(size=4, mean=(100.0, 10.0, 0.0), std=(50.0, 5.0, 1.0))(
        Image.new("RGB", (8, 2), (200, 30, 7))
    )
    assert seen.shape == (3, 4, 4)
    assert seen.dtype == np.float32
    np.testing.assert_allclose(seen, np.broadcast_to([[[2.0]], [[4.0]], [[7.0]]], (3, 4, 4)))


def test_crop_sees_the_middle_and_stretch_all() -> None:
    image = Image.new("RGB", (40, 10), "white")
    image.paste("black", (15, 0, 25, 10))
    crop, stretch = Preprocessing(size=8, fit="crop"), Preprocessing(size=8, fit="stretch")
    assert crop.region(40, 10) == (15.0, 0.0, 25.0, 10.0)
    assert stretch.region(40, 10) == (0.0, 0.0, 40.0, 10.0)
    assert crop(image).max() < -0.9  # the filter reaches a little beyond the edge
    assert stretch(image).max() == 1.0


def test_preprocessing_is_kept_whole() -> None:
    own = Preprocessing(size=96, fit="crop", resample="bilinear", mean=(1.0, 2.0, 3.0))
    assert Preprocessing.from_dict(own.as_dict()) == own
    assert "mirrored" not in own.as_dict()  # caches and folders know nothing of it
    swapped = replace(own, mirrored=True)
    assert Preprocessing.from_dict(swapped.as_dict()) == swapped
    picture = Image.fromarray(np.arange(48, dtype=np.uint8).reshape(4, 4, 3))
    np.testing.assert_array_equal(swapped(picture), own(picture)[:, :, ::-1])
    with pytest.raises(ValueError, match="size: wanted 1 pixel or more, got 0"):
        Preprocessing(size=0)
    with pytest.raises(ValueError, match="std: wanted numbers above 0"):
        Preprocessing(std=(1.0, 0.0, 1.0))


def test_pictures_of_a_folder(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    for name in ("b.JPG", "deep/a.png", "notes.txt", ".hidden.png"):
        (tmp_path / name).write_bytes(b"")
    assert images_in(tmp_path) == [tmp_path / "b.JPG", tmp_path / "deep/a.png"]
    (tmp_path / "none").mkdir()
    with pytest.raises(DataError, match=r"holds no picture, wanted files in \.apng, "):
        images_in(tmp_path / "none")
    with pytest.raises(DataError, match="there is no such folder; did you mean 'none'"):
        images_in(tmp_path / "nose")


def test_pictures_of_every_kind_are_found(tmp_path: Path) -> None:
    kinds = {"JPEG": ".jfif .jpe", "PNG": ".apng", "PPM": ".pgm .pnm .pbm", "": ".heic .nef .svg"}
    for kind, suffixes in kinds.items():
        for suffix in suffixes.split():
            path = tmp_path / f"a{suffix}"
            if kind:
                halves("L").save(path, kind)
                assert open_image(path).size == (40, 20)
            else:
                path.write_bytes(b"ftypheic")
                assert "save it as JPEG, PNG or WebP" in told(path)
    assert len(images_in(tmp_path)) == 9
    halves().save(tmp_path / "b.nef", "TIFF")  # as such files have a small preview in them
    assert "is a camera's raw data" in told(tmp_path / "b.nef")


def test_from_a_binary_file() -> None:
    file = io.BytesIO()
    halves().save(file, "PNG")
    assert near(corners(open_image(file))[0], RED)
    with pytest.raises(TooManyPixelsError, match=r"^upload: has 40 x 20 pixels; wanted at most 99"):
        open_image(file, name="upload", most_pixels=99)
    for content, problem in ((b"", "is empty"), (b"no picture", "is no image of a known kind")):
        with pytest.raises(DataError, match=f"^the picture: {problem}"):
            open_image(io.BytesIO(content))
    with pytest.raises(DataError, match=r"^upload: the image is broken"):
        open_image(io.BytesIO(file.getvalue()[:-40]), name="upload")


def odd(path: Path) -> Path:
    """A photo of whose metadata the most part is missing, of which Pillow warns."""
    exif = Image.Exif()
    exif[0x010E] = "a long description of what is shown"
    halves().save(path, exif=exif.tobytes()[:-20])
    return path


def test_threads_leave_the_warnings_of_the_process_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The one that began first ends first: what it put back would be taken for its own."""
    halves().save(tmp_path / "a.png")
    opened, begun = Image.open, [threading.Event(), threading.Event()]

    def slowly(*arguments: Any, **options: Any) -> Image.Image:
        name = threading.current_thread().name
        begun[name == "second"].set()
        if name == "first":
            begun[1].wait(5)
        else:
            first.join(5)
        return opened(*arguments, **options)

    monkeypatch.setattr(Image, "open", slowly)
    before = list(warnings.filters)
    first, second = (
        threading.Thread(target=open_image, args=[tmp_path / "a.png"], name=name)
        for name in ("first", "second")
    )
    first.start()
    begun[0].wait(5)
    second.start()
    second.join(5)
    assert warnings.filters == before


def test_nothing_is_said_of_odd_metadata(tmp_path: Path) -> None:
    path = odd(tmp_path / "a.jpg")
    with pytest.warns(UserWarning, match="Truncated File Read"), Image.open(path) as image:
        image.getexif()
    code = (
        "import sys, warnings\nfrom regard.data import open_image\n"
        "open_image(sys.argv[1])\nwarnings.warn('of its own')"
    )
    told = subprocess.run(
        [sys.executable, "-W", "always", "-c", code, str(path)],
        capture_output=True, text=True, check=True,
    ).stderr  # fmt: skip
    assert "Truncated" not in told
    assert "of its own" in told


def test_broken_metadata_turn_nothing(tmp_path: Path) -> None:
    from PIL.PngImagePlugin import PngInfo

    told = PngInfo()
    told.add(b"eXIf", b"MM\x00\x2a\xff\xff\xff\xffnothing that could be read")
    halves().save(tmp_path / "a.png", pnginfo=told)
    assert open_image(tmp_path / "a.png").size == (40, 20)


@pytest.mark.parametrize("level", [-5, 1_000_000])
def test_grey_of_no_known_scale_is_refused(tmp_path: Path, level: int) -> None:
    Image.fromarray(np.full((4, 4), level, np.int32)).save(tmp_path / "a.tif")
    assert f"its pixels go from {level:,} to {level:,}, wanted 0 to 65,535" in told(
        tmp_path / "a.tif"
    )
