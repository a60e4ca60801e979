"""Reading pairs: what good files give, and what each kind of bad file says."""

import gzip
import json
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from regard.data import (
    DataError,
    HuggingFace,
    JsonLines,
    Parallel,
    Report,
    Table,
    as_pairs,
    text_files,
)

from .reading import message, put, read


def test_table_by_suffix_and_place(tmp_path: Path) -> None:
    path = put(tmp_path / "a.tsv", 'a "quoted\tb\nc\td\textra\n')
    pairs = list(Table(path).read(Report()))
    assert pairs[0] == ('a "quoted', "b", f"{path}:1")
    assert pairs[1][:2] == ("c", "d")


def test_table_by_name_with_csv_quotes(tmp_path: Path) -> None:
    path = put(tmp_path / "a.csv", 'en,de\n"one, two","ei""ns\nzwei"\nx,y\n')
    table = Table(path, source="en", target="de")
    pairs = list(table.read(Report()))
    assert [pair[:2] for pair in pairs] == [("one, two", 'ei"ns\nzwei'), ("x", "y")]
    assert [pair.where for pair in pairs] == [f"{path}:2", f"{path}:4"]


def test_any_separator_and_without(tmp_path: Path) -> None:
    train = put(tmp_path / "train.txt", "A  X Y\nB  Z\n")
    dev = put(tmp_path / "dev.txt", "A  X\nC  W W\n")
    pairs, report = read(Table(dev, separator="  ", without=train))
    assert pairs == [("C", "W W")]
    assert report.counts == {"source also stands in the file of without": 1}
    assert f"{dev}:1" in report.lines()[0]


def test_json_lines_with_dotted_keys(tmp_path: Path) -> None:
    rows = [{"translation": {"en": "a", "de": "b"}}, {"translation": {"en": "c", "de": "d"}}]
    path = put(tmp_path / "a.jsonl", "\n".join(map(json.dumps, rows)) + "\n\n")
    pairs, report = read(JsonLines(path, source="translation.en", target="translation.de"))
    assert pairs == [("a", "b"), ("c", "d")]
    assert report.counts == {"blank line": 1}


@pytest.mark.parametrize("suffix", ["gz", "bz2", "xz", "zst"])
def test_compressed(tmp_path: Path, suffix: str) -> None:
    names = {"gz": "gzip", "bz2": "bz2", "xz": "lzma", "zst": "zstandard"}
    compress = pytest.importorskip(names[suffix]).compress
    path = put(tmp_path / f"a.tsv.{suffix}", compress(b"a\tb\n"))
    assert read(as_pairs(str(path)))[0] == [("a", "b")]


def test_zst_without_a_package_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr("importlib.import_module", missing)
    path = put(tmp_path / "a.tsv.zst", b"")
    assert "pip install zstandard" in message(Table(path))


def test_truncated_compression(tmp_path: Path) -> None:
    lines = "".join(f"{n} {n * 7919}\tb\n" for n in range(5000)).encode()
    path = put(tmp_path / "a.tsv.gz", gzip.compress(lines)[:-500])
    said = message(Table(path))
    assert f"{path}:" in said
    assert "cannot be read further" in said


def test_lines_end_only_where_lines_end(tmp_path: Path) -> None:
    strange = "a\u2028b\x0bc\x85d\x1ce"
    path = put(tmp_path / "a.tsv", f"\ufeff{strange}\tx\r\ny\tz\rv\tw".encode())
    assert read(Table(path))[0] == [(strange, "x"), ("y", "z"), ("v", "w")]


def test_parallel_counts_must_agree(tmp_path: Path) -> None:
    source, target = put(tmp_path / "a.en", "1\n2\n3\n"), put(tmp_path / "a.de", "1\n2\n")
    for on_error in ("stop", "skip"):
        said = message(Parallel(source, target, on_error=on_error))
        assert f"{source}: has 3 lines, but {target} has 2" in said
        assert "Remedy" in said


def test_parallel_stays_aligned_over_bad_lines(tmp_path: Path) -> None:
    source = put(tmp_path / "a.en", b"1\n\xff\n3\n4\n")
    target = put(tmp_path / "a.de", "eins\nzwei\n \nvier\n")
    pairs, report = read(Parallel(source, target, on_error="skip"))
    assert pairs == [("1", "eins"), ("4", "vier")]
    assert report.counts == {"unreadable line": 1, "empty target": 1}
    assert report.as_dict()["empty target"] == {"count": 1, "examples": [f"{source}:3"]}


def test_without_for_parallel(tmp_path: Path) -> None:
    source, target = put(tmp_path / "a.en", "1\n2\n"), put(tmp_path / "a.de", "x\ny\n")
    assert read(Parallel(source, target, without=source))[0] == []


BAD_TABLES = [
    (b"a\tb\nc\t\n", ":2: the target side is empty", "empty target"),
    (b"a\tb\nc\n", ":2: has 1 columns, wanted at least 2", "missing column"),
    (b"a\tb\nx \xe4\tc\n", ":2: invalid UTF-8: byte 0xe4, byte 3 of the line", "unreadable line"),
    (
        b"a\tb\n" + b"x" * 50 + b"\tc\n",
        ":2: the source side has 50 characters, wanted at most 20",
        "",
    ),
]


@pytest.mark.parametrize(("content", "wanted", "reason"), BAD_TABLES)
def test_bad_rows_stop_or_are_counted(
    tmp_path: Path, content: bytes, wanted: str, reason: str
) -> None:
    path = put(tmp_path / "a.tsv", content)
    said = message(Table(path, longest=20))
    assert f"{path}{wanted}" in said
    assert "on_error: skip" in said
    pairs, report = read(Table(path, longest=20, on_error="skip"))
    assert pairs == [("a", "b")]
    assert report.counts == {reason or "source over 20 characters": 1}


BAD_JSON = [
    ("{", ":2: not JSON"),
    ("[1]", ":2: wanted an object with keys, got a list"),
    (
        '{"source": "a", "targt": "b"}',
        ":2: no key 'target', only source, targt; did you mean 'targt'?",
    ),
    ('{"source": "a", "target": 3}', ":2: the key 'target' holds a number, wanted a text"),
    ('{"source": "a", "target": "\\ud800"}', ":2: the key 'target' holds half a surrogate pair"),
]


@pytest.mark.parametrize(("line", "wanted"), BAD_JSON)
def test_bad_json_stops_or_is_counted(tmp_path: Path, line: str, wanted: str) -> None:
    path = put(tmp_path / "a.jsonl", '{"source": "a", "target": "b"}\n' + line + "\n")
    assert f"{path}{wanted}" in message(JsonLines(path))
    pairs, report = read(JsonLines(path, on_error="skip"))
    assert pairs == [("a", "b")]
    assert report.total == 1


def test_missing_column_names_the_nearest(tmp_path: Path) -> None:
    path = put(tmp_path / "a.csv", "english,german\nx,y\n")
    said = message(Table(path, source="english", target="germn"))
    assert f"{path}:1: has no column 'germn', only english, german" in said
    assert "did you mean 'german'?" in said
    assert "count: source: 0, target: 1." in said


@pytest.mark.parametrize("name", ["a.tsv", "a.csv"])
def test_a_row_of_names_is_no_pair(tmp_path: Path, name: str) -> None:
    between = "\t" if name == "a.tsv" else ","
    path = put(tmp_path / name, f"Source{between}target\nx{between}y\n")
    assert f"{path}:1: a row of names (Source, target) would be a pair" in message(Table(path))
    assert read(Table(path, header=True))[0] == [("x", "y")]
    assert read(Table(path, on_error="skip"))[0] == [("x", "y")]


def test_bad_csv_names_the_row_start(tmp_path: Path) -> None:
    path = put(tmp_path / "a.csv", 'a,b\n"c,d\ne,f\n')
    assert f"{path}:2: the row that starts here is not CSV" in message(Table(path))
    assert read(Table(path, on_error="skip"))[0] == [("a", "b")]


def test_duplicated_ids_name_both_lines(tmp_path: Path) -> None:
    path = put(tmp_path / "a.tsv", "a\tb\t7\nc\td\t8\ne\tf\t7\n")
    said = message(Table(path, id=2))
    assert f"{path}:3: the id '7' stands at {path}:1 already" in said
    assert len(read(Table(path, id=2, on_error="skip"))[0]) == 2
    rows = put(tmp_path / "a.jsonl", '{"source":"a","target":"b","n":1}\n' * 2)
    assert f"{rows}:2: the id '1' stands at {rows}:1" in message(JsonLines(rows, id="n"))


def test_missing_file_names_the_nearest(tmp_path: Path) -> None:
    put(tmp_path / "train.tsv", "")
    with pytest.raises(DataError, match=r"no such file; did you mean 'train.tsv'\? Remedy"):
        as_pairs(tmp_path / "trian.tsv")
    with pytest.raises(DataError, match="there is no folder"):
        as_pairs(tmp_path / "nowhere" / "a.tsv")


def test_line_without_end_does_not_fill_the_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_files, "LINE_LIMIT", 100)
    path = put(tmp_path / "a.tsv", "a\tb\n" + "x" * 350 + "\nc\td\n")
    assert f"{path}:2: the line is longer than 100" in message(Table(path))
    assert read(Table(path, on_error="skip"))[0] == [("a", "b"), ("c", "d")]


def test_settings_that_mean_nothing(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="longest: wanted a number of characters above 0, got 0"):
        Table("a.tsv", longest=0)
    with pytest.raises(DataError, match="no separator is known"):
        Table("a.txt")
    with pytest.raises(DataError, match="header is false"):
        Table("a.tsv", source="en", header=False)
    with pytest.raises(DataError, match="wanted two parallel files, got 1"):
        as_pairs(["a"])
    with pytest.raises(DataError, match=r"suffix '.txt' does not tell the format"):
        as_pairs(put(tmp_path / "a.txt", ""))


def test_unknown_ways_without_type_checks() -> None:
    # Under pytest the signature is checked first, so ask a plain interpreter.
    program = "import regard.data as d\nd.Table('a.tsv', on_error='ignore')"
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stderr
    assert "ValueError: on_error: wanted stop or skip, got 'ignore'" in said


def test_as_pairs(tmp_path: Path) -> None:
    put(tmp_path / "a.jsonl", "")
    table = Table("a.tsv")
    assert as_pairs(table) is table
    assert as_pairs(table, on_error="skip").checks.on_error == "skip"
    assert table.checks.on_error == "stop"
    assert isinstance(as_pairs(["a.en", "a.de"]), Parallel)
    assert isinstance(as_pairs(tmp_path / "a.jsonl"), JsonLines)
    assert isinstance(as_pairs(tmp_path), HuggingFace)


def test_errors_survive_a_process_boundary() -> None:
    error = DataError("a.tsv:1: bad")
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
