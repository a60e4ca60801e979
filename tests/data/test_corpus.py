"""The encoded corpus: content, keys, and that nothing half-written or broken is ever used."""

import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from regard.data import (
    Bpe,
    Characters,
    Corpus,
    DataError,
    Table,
    Tokenizer,
    Words,
    files,
    prepare,
    train_tokenizers,
)
from regard.data.progress import counting

ROWS = [("the cat", "die katze"), ("a dog", "ein hund"), ("the dog", "der hund")]
Make = Callable[..., Corpus]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "a.tsv"
    path.write_text("".join(f"{source}\t{target}\n" for source, target in ROWS))
    os.utime(path, (1e9, 1e9))
    return path


@pytest.fixture
def words() -> tuple[Tokenizer, Tokenizer]:
    return Words().train(row[0] for row in ROWS), Words().train(row[1] for row in ROWS)


@pytest.fixture
def make(table: Path, words: tuple[Tokenizer, Tokenizer], tmp_path: Path) -> Make:
    def prepared(*, max_tokens: int = 1024, longest: int = 100, skip: bool = False) -> Corpus:
        pairs = Table(table, longest=longest, on_error="skip" if skip else "stop")
        cache = tmp_path / "cache"
        return prepare(pairs, *words, cache=cache, max_tokens=max_tokens, progress=False)

    return prepared


def test_rows_come_back(make: Make, words: tuple[Tokenizer, Tokenizer]) -> None:
    corpus = make()
    assert len(corpus) == 3
    source, target = corpus.rows([2, 0])
    assert [words[0].decode(row) for row in source] == ["the dog", "the cat"]
    assert [words[1].decode(row) for row in target] == ["der hund", "die katze"]
    assert corpus.source_lengths.tolist() == [2, 2, 2]
    assert corpus.rows([]) == ([], [])
    again = pickle.loads(pickle.dumps(corpus))
    assert len(pickle.dumps(corpus)) < 1_000
    assert again.rows([1])[0][0].tolist() == corpus.rows([1])[0][0].tolist()


def test_unknown_symbols_are_counted(table: Path, tmp_path: Path) -> None:
    few = Words().train(["the dog der hund"])
    corpus = prepare(Table(table), few, few, cache=tmp_path, progress=False)
    assert corpus.meta["source_unknown"] == 2
    assert corpus.meta["source_unknown_examples"] == [["a", 1], ["cat", 1]]
    assert corpus.meta["target_unknown_examples"] == [["die", 1], ["ein", 1], ["katze", 1]]
    assert corpus.meta["target_tokens"] == 6


def test_long_pairs_stop_or_are_counted(make: Make, table: Path) -> None:
    table.write_text(table.read_text() + "a the cat dog\tein hund\n")
    with pytest.raises(DataError, match=r"a\.tsv:4: the source side has 4 tokens.*on_error: skip"):
        make(max_tokens=3)
    corpus = make(max_tokens=3, skip=True)
    assert len(corpus) == 3
    assert corpus.meta["skipped"]["source over 3 tokens"]["count"] == 1


def test_nothing_left(make: Make, table: Path) -> None:
    with pytest.raises(DataError, match="no pair is left; 3 skipped: source over 1 characters"):
        make(longest=1, skip=True)


def test_key_follows_content_and_settings(make: Make, table: Path, tmp_path: Path) -> None:
    first = make().folder
    assert make().folder == first
    assert make(max_tokens=7).folder != first
    assert make(longest=50).folder != first
    assert make(skip=True).folder != first
    table.write_text(table.read_text().replace("cat", "dog"))
    assert make().folder != first
    letters = Characters().train(["the cat die katze a dog ein hund der"])
    other = prepare(Table(table), letters, letters, cache=tmp_path / "cache", progress=False)
    assert other.folder != make().folder


def test_moving_the_file_keeps_the_key(make: Make, table: Path, tmp_path: Path) -> None:
    first = make().folder
    (tmp_path / "b").mkdir()
    table.rename(tmp_path / "b" / "a.tsv").rename(table)
    assert make().folder == first


def test_same_size_and_new_time_is_read_again(make: Make, table: Path) -> None:
    first = make().folder
    table.write_text(table.read_text().replace("dog", "cat"))
    os.utime(table, (2e9, 2e9))
    assert make().folder != first


def test_file_changed_just_now_is_not_trusted_to_its_time(table: Path, tmp_path: Path) -> None:
    os.utime(table)
    stamp = table.stat().st_mtime_ns
    before = files.fingerprints([table], tmp_path)
    table.write_text(table.read_text().replace("dog", "cat"))
    os.utime(table, ns=(stamp, stamp))
    assert files.fingerprints([table], tmp_path) != before


def test_opening_reads_neither_text_nor_numbers(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read(*_: object) -> None:
        raise AssertionError("read again")

    make()
    monkeypatch.setattr("regard.data.files.hashlib.file_digest", read)
    monkeypatch.setattr("regard.data.tables.read_lines", read)
    monkeypatch.setattr("regard.data.prepared._write", read)
    assert len(make()) == 3


def test_interrupted_preparation_leaves_nothing(
    make: Make, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def interrupted(*_: object) -> bool:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("regard.data.prepared._fits", interrupted)
        with pytest.raises(KeyboardInterrupt):
            make()
    assert not list((tmp_path / "cache").glob("*corpus-*"))
    assert len(make()) == 3


def test_killed_preparation_is_never_used(make: Make, tmp_path: Path) -> None:
    folder = make().folder
    half = folder.rename(folder.with_name(f".{folder.name}.killed"))
    (half / "meta.json").unlink()
    os.utime(half, (1e9, 1e9))
    assert len(make()) == 3
    assert not half.exists()


@pytest.mark.parametrize("damage", ["{", "[]", "{}", '{"version": 1}'])
def test_broken_meta_is_made_anew(make: Make, damage: str) -> None:
    folder = make().folder
    (folder / "meta.json").write_text(damage)
    with pytest.raises(ValueError, match="not a whole corpus"):
        Corpus(folder)
    assert len(make()) == 3
    assert [path.name for path in folder.parent.glob("*corpus-*")] == [folder.name]


def test_cut_file_is_made_anew(make: Make) -> None:
    folder = make().folder
    (folder / "source.tokens").write_bytes(b"")
    assert len(make()) == 3
    assert (folder / "source.tokens").stat().st_size == 12


def test_broken_memo_is_forgotten(make: Make, tmp_path: Path) -> None:
    first = make().folder
    (tmp_path / "cache" / "fingerprints.json").write_text("][")
    assert make().folder == first


def test_another_process_may_be_first(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = make().folder
    kept = folder.rename(folder.with_name("aside"))
    whole = files._publish

    def slow(temporary: Path, name: Path, usable: Callable[[Path], bool]) -> None:
        kept.rename(folder)
        whole(temporary, name, usable)

    monkeypatch.setattr(files, "_publish", slow)
    assert len(make()) == 3
    assert [path.name for path in folder.parent.glob("*corpus-*")] == [folder.name]


def test_tokenizers_are_kept_by_content_and_settings(table: Path, tmp_path: Path) -> None:
    def trained(settings: Bpe | Words) -> tuple[Tokenizer, Tokenizer]:
        return train_tokenizers(Table(table), settings, None, cache=tmp_path, progress=False)

    source, target = trained(Bpe(size=50))
    assert source is target
    (path,) = tmp_path.glob("tokenizer-*.json")
    written = path.stat().st_mtime_ns
    assert trained(Bpe(size=50))[0].fingerprint == source.fingerprint
    assert path.stat().st_mtime_ns == written
    path.write_text(path.read_text()[:100])
    assert trained(Bpe(size=50))[0].fingerprint == source.fingerprint
    trained(Bpe(size=40))
    assert len(list(tmp_path.glob("tokenizer-*.json"))) == 2


def test_tokenizers_apart(table: Path, tmp_path: Path) -> None:
    pair = train_tokenizers(Table(table), Words(), Characters(), cache=tmp_path, progress=False)
    assert pair[0].decode(pair[0].encode(["the cat"])[0]) == "the cat"
    assert Tokenizer.UNK in pair[0].encode(["katze"])[0]


def test_plain_progress_off_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    with counting("encoding", "pairs", shown=True) as advance:
        advance(12)
    assert "encoding: 12 pairs in" in capsys.readouterr().err


PROGRAM = """
import resource, sys
from pathlib import Path
from regard.data import Table, Words, prepare, train_tokenizers
pairs, cache = Table(sys.argv[1]), Path(sys.argv[2])
prepared = prepare(pairs, *train_tokenizers(pairs, Words(size=100), None, cache=cache,
                   progress=False), cache=cache, progress=False)
print(len(prepared), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


@pytest.mark.slow
def test_memory_stays_flat(tmp_path: Path) -> None:
    def run(count: int) -> int:
        path = tmp_path / f"{count}.tsv"
        with path.open("w") as stream:
            for n in range(count):
                line = " ".join(f"w{(n * k) % 89}" for k in range(12))
                stream.write(f"{line}\t{line}\n")
        arguments = [sys.executable, "-c", PROGRAM, str(path), str(tmp_path / "cache")]
        said = subprocess.run(arguments, capture_output=True, check=True, text=True).stdout.split()
        assert int(said[0]) == count
        return int(said[1])

    assert run(300_000) - run(20_000) < 20_000
