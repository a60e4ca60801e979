"""Pictures with captions: what every format gives, and what is said of bad files."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image

from regard.data import (
    CaptionLines,
    Captions,
    CaptionTable,
    Coco,
    DataError,
    ImageFolder,
    Karpathy,
    Report,
    as_captions,
)

from .reading import put

WANTED = [("a.jpg", ["a dog", "the dog"]), ("b.jpg", ["a cat, asleep"])]


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    (tmp_path / "images").mkdir()
    for name in ("a.jpg", "b.jpg"):
        Image.new("RGB", (4, 4)).save(tmp_path / "images" / name)
    return tmp_path


def lines(folder: Path) -> Captions:
    rows = [{"image": name, "captions": said} for name, said in WANTED]
    return CaptionLines(put(folder / "c.jsonl", "\n".join(map(json.dumps, rows))))


def lines_with_one_caption(folder: Path) -> Captions:
    rows = [{"file": {"name": n}, "text": text} for n, said in WANTED for text in said]
    path = put(folder / "c.jsonl", "\n".join(map(json.dumps, rows)))
    return CaptionLines(path, image="file.name", captions="text", images=folder / "images")


def table(folder: Path) -> Captions:
    text = 'image,caption\na.jpg,a dog\nb.jpg,"a cat, asleep"\na.jpg,the dog\n'
    return CaptionTable(put(folder / "c.csv", text))


def numbered(folder: Path) -> Captions:
    text = "a.jpg#0\ta dog\na.jpg#1\tthe dog\nb.jpg#0\ta cat, asleep\n"
    return CaptionTable(
        put(folder / "Flickr8k.token.txt", text), image=0, caption=1, separator="\t"
    )


def coco(folder: Path) -> Captions:
    content = {
        "images": [{"id": 7, "file_name": "a.jpg"}, {"id": 9, "file_name": "b.jpg"}],
        "annotations": [
            {"image_id": 7, "caption": " a dog"},
            {"image_id": 9, "caption": "a cat, asleep"},
            {"image_id": 7, "caption": "the dog"},
        ],
    }
    return Coco(put(folder / "c.json", json.dumps(content)))


def karpathy(folder: Path) -> Captions:
    def row(name: str, split: str, said: list[str]) -> dict[str, object]:
        return {"filename": name, "split": split, "sentences": [{"raw": text} for text in said]}

    rows = [row(*WANTED[0][:1], "train", WANTED[0][1]), row("x.jpg", "test", ["no"])]
    rows.append({**row("b.jpg", "restval", WANTED[1][1]), "filepath": "."})
    path = put(folder / "c.json", json.dumps({"images": rows}))
    return Karpathy(path, split="train+restval")


def imagefolder(folder: Path) -> Captions:
    rows = [{"file_name": name, "text": said} for name, said in WANTED]
    put(folder / "images" / "metadata.jsonl", "\n".join(map(json.dumps, rows)))
    return ImageFolder(folder, split="images")


def imagefolder_csv(folder: Path) -> Captions:
    text = 'file_name,text\na.jpg,a dog\na.jpg,the dog\nb.jpg,"a cat, asleep"\n'
    put(folder / "images" / "metadata.csv", text)
    return ImageFolder(folder / "images")


FORMATS = [
    lines,
    lines_with_one_caption,
    table,
    numbered,
    coco,
    karpathy,
    imagefolder,
    imagefolder_csv,
]


@pytest.mark.parametrize("make", FORMATS, ids=lambda make: make.__name__)
def test_every_format_gives_the_same(make: Callable[[Path], Captions], photos: Path) -> None:
    captions, report = make(photos), Report()
    found = list(captions.read(report))
    assert [(each.path.name, each.captions) for each in found] == WANTED
    assert all(each.path.is_file() and each.where for each in found)
    assert report.total == 0
    assert all(path.is_file() for path in captions.files)
    assert str(captions.settings["is"]).startswith("data.")


def test_a_path_tells_the_format(photos: Path) -> None:
    for make, kind in ((lines, CaptionLines), (table, CaptionTable), (coco, Coco)):
        captions = make(photos)
        assert type(as_captions(str(captions.path))) is kind
        assert as_captions(captions) is captions
    imagefolder_csv(photos)
    assert type(as_captions(photos / "images")) is ImageFolder
    with pytest.raises(DataError, match=r"several splits.*data.Karpathy"):
        as_captions(karpathy(photos).path)
    with pytest.raises(DataError, match=r"the suffix '.txt' does not tell the format"):
        as_captions(numbered(photos).path)


def wrong(captions: Captions) -> str:
    with pytest.raises(DataError) as caught:
        list(captions.read(Report()))
    return str(caught.value)


def test_missing_picture(photos: Path) -> None:
    (photos / "images" / "a.jpg").rename(photos / "images" / "aa.jpg")
    message = wrong(lines(photos))
    assert "c.jsonl:1: there is no picture" in message
    assert "did you mean 'aa.jpg'?" in message
    assert "on_error: skip" in message
    report = Report()
    skipping = CaptionLines(photos / "c.jsonl", on_error="skip")
    assert [each.path.name for each in skipping.read(report)] == ["b.jpg"]
    assert report.counts == {"missing picture": 1}
    assert "no folder" in wrong(CaptionLines(photos / "c.jsonl", images=photos / "elsewhere"))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("c.csv", "image,caption\na.jpg,\nb.jpg,a cat\n"),
        ("c.jsonl", '{"image": "a.jpg", "captions": ""}\n{"image": "b.jpg", "captions": "a cat"}'),
    ],
)
def test_any_source_can_be_told_to_skip(photos: Path, name: str, text: str) -> None:
    path = put(photos / name, text)
    assert f"{name}:{2 if name == 'c.csv' else 1}:" in wrong(as_captions(path))
    skipping = as_captions(path, on_error="skip")
    assert [each.path.name for each in skipping.read(Report())] == ["b.jpg"]
    assert as_captions(as_captions(path), on_error="skip").settings == skipping.settings


def test_bad_rows(photos: Path) -> None:
    rows = [
        '{"image": "a.jpg", "captions": ["a dog", ""]}',
        '{"image": "b.jpg", "captions": 7}',
        '{"imgae": "b.jpg", "captions": "x"}',
        "not json",
        '{"image": "b.jpg", "captions": []}',
    ]
    path = put(photos / "c.jsonl", "\n".join(rows))
    assert "c.jsonl:1: the caption is empty" in wrong(CaptionLines(path))
    report = Report()
    found = list(CaptionLines(path, on_error="skip").read(report))
    assert [(each.path.name, each.captions) for each in found] == [("a.jpg", ["a dog"])]
    assert report.counts == {
        "empty caption": 1,
        "missing key": 2,
        "bad JSON": 1,
        "picture without captions": 1,
    }
    put(path, rows[2])
    assert "did you mean 'imgae'?" in wrong(CaptionLines(path))
    put(path, '{"image": "a.jpg", "captions": "aaaa"}')
    assert "4 characters, wanted at most 3" in wrong(CaptionLines(path, longest=3))


def test_bad_json_files(photos: Path) -> None:
    path = put(photos / "c.json", "{")
    for make in (Coco, lambda path: Karpathy(path, split="train")):
        assert "not JSON" in wrong(make(put(path, "{")))
        assert "holds a list, wanted an object with 'images'" in wrong(make(put(path, "[]")))
        assert "the key 'images' holds nothing, wanted a list" in wrong(make(put(path, "{}")))
    put(path, '{"images": [{"id": 1}], "annotations": []}')
    assert "images[0]: no key 'file_name'" in wrong(Coco(path))
    put(path, '{"images": [], "annotations": [{"image_id": 3, "caption": "x"}]}')
    assert "annotations[0]: no picture has the id 3." in wrong(Coco(path))
    put(path, '{"images": [{"id": 3, "file_name": "a"}], "annotations": [{"image_id": "3"}]}')
    assert "no picture has the id '3'; there is 3, a number." in wrong(Coco(path))
    put(path, '{"images": [], "annotations": "none"}')
    assert "the key 'annotations' holds a text, wanted a list" in wrong(Coco(path))
    message = wrong(Karpathy(karpathy(photos).path, split="vall+train"))
    assert "has no split 'vall', only restval, test, train" in message


def test_a_picture_without_a_name_is_counted_once(photos: Path) -> None:
    captions = coco(photos)
    content = json.loads(captions.path.read_text())
    del content["images"][0]["file_name"]
    put(captions.path, json.dumps(content))
    report = Report()
    found = list(Coco(captions.path, on_error="skip").read(report))
    assert [each.path.name for each in found] == ["b.jpg"]
    assert report.counts == {"missing key": 1}


@pytest.mark.parametrize(
    ("row", "told"),
    [
        (
            '{"split": "train", "filename": "a.jpg", "sentences": ["a b"]}',
            "no key 'raw': wanted an",
        ),
        (
            '{"split": "train", "filename": "a.jpg", "sentences": 7}',
            "holds a number, wanted a list",
        ),
        ('{"filename": "a.jpg", "sentences": []}', "no key 'split', only filename"),
        ('{"split": "train", "filepath": 7}', "the key 'filepath' holds a number, wanted a text"),
        ("[]", "no key 'split': wanted an object there, got a list"),
    ],
)
def test_bad_rows_of_karpathy(photos: Path, row: str, told: str) -> None:
    good = '{"split": "train", "filepath": null, "filename": "b.jpg", "sentences": [{"raw": "x"}]}'
    path = put(photos / "c.json", f'{{"images": [{row}, {good}]}}')
    message = wrong(Karpathy(path, split="train"))
    assert "c.json: images[0]: " in message
    assert told in message
    found = Karpathy(path, split="train", on_error="skip").read(Report())
    assert [each.path.name for each in found] == ["b.jpg"]


@pytest.mark.parametrize("name", ["x" * 300, "x" * 300 + "/a.jpg", "a\0.jpg"])
def test_names_that_no_file_can_have(photos: Path, name: str) -> None:
    rows = [{"image": name, "captions": "x"}, {"image": "b.jpg", "captions": "a cat"}]
    path = put(photos / "c.jsonl", "\n".join(map(json.dumps, rows)))
    assert "c.jsonl:1: there is no picture" in wrong(CaptionLines(path))
    report = Report()
    found = CaptionLines(path, on_error="skip").read(report)
    assert [each.path.name for each in found] == ["b.jpg"]
    assert report.counts == {"missing picture": 1}


def test_names_that_lead_nowhere(photos: Path) -> None:
    (photos / "images" / "c.jpg").symlink_to(photos / "gone.jpg")
    for name, told in (
        ("c.jpg", "c.jpg, only a link that leads nowhere."),
        (" ", "c.jsonl:1: the picture's name is empty."),
    ):
        path = put(photos / "c.jsonl", json.dumps({"image": name, "captions": "x"}))
        assert told in wrong(CaptionLines(path))


def test_tables_of_another_form_say_how_to_read_them(photos: Path) -> None:
    path = put(photos / "c.csv", "image;caption\na.jpg;a dog\n")
    assert 'Remedy: say what stands between the columns: separator: ";".' in wrong(
        CaptionTable(path)
    )
    assert [each.captions for each in CaptionTable(path, separator=";").read(Report())] == [
        ["a dog"]
    ]
    path = put(photos / "c.tsv", "a.jpg#0\ta man\n")
    assert "image: 0, caption: 1." in wrong(CaptionTable(path))
    path = put(photos / "Flickr8k.token.txt", "a.jpg#0\ta man\n")
    with pytest.raises(DataError, match=r'separator: "\\t", image: 0, caption: 1}'):
        as_captions(path)


def test_flickr8k_as_kaggle_has_it(photos: Path) -> None:
    (photos / "images").rename(photos / "Images")
    path = put(photos / "captions.txt", 'image,caption\na.jpg,"a dog , asleep"\n')
    assert [each.captions for each in as_captions(path).read(Report())] == [["a dog , asleep"]]


def test_a_name_may_hold_the_folder(photos: Path) -> None:
    path = put(photos / "c.csv", "image,caption\nimages/a.jpg,A dog.\na.jpg,A cat.\n")
    found = list(as_captions(path).read(Report()))
    assert [each.path for each in found] == [photos / "images" / "a.jpg"] * 2


def test_metadata_of_parquet(photos: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    rows = [{"file_name": name, "text": said} for name, said in WANTED]
    path = photos / "images" / "metadata.parquet"
    parquet.write_table(pyarrow.Table.from_pylist([*rows, {"file_name": None}]), path)
    folder = ImageFolder(photos / "images", on_error="skip")
    report = Report()
    assert [(each.path.name, each.captions) for each in folder.read(report)] == WANTED
    assert report.examples == {"missing key": [f"{path}: row 2"]}
    put(path, b"PAR1 and no more")
    assert "metadata.parquet: cannot be read as Parquet" in wrong(ImageFolder(photos / "images"))
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert "the package pyarrow is not installed" in wrong(ImageFolder(photos / "images"))


def test_imagefolder_without_metadata(photos: Path) -> None:
    (photos / "train").mkdir()
    put(photos / "train" / "metadata.csv", "file_name,text\n")
    assert "its folders train have some" in wrong(ImageFolder(photos))
    assert "there is no such folder; did you mean 'train'?" in wrong(
        ImageFolder(photos, split="trian")
    )
