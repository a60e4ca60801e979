"""Pairs set aside by a fixed rule, and the short ones."""

import json
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.data import DataError, Dialogues, Pair, Report, SetAside, Table, UpTo


def written(folder: Path, rows: list[tuple[str, str]]) -> Table:
    path = folder / "pairs.tsv"
    path.write_text("".join(f"{a}\t{b}\n" for a, b in rows), encoding="utf-8")
    return Table(path)


def read(pairs: SetAside | UpTo) -> list[Pair]:
    return list(pairs.read(Report()))


def test_every_pair_stands_on_one_side_and_a_source_never_on_both(tmp_path: Path) -> None:
    rows = [(f"text {n % 700}", f"answer {n}") for n in range(1000)]
    whole = written(tmp_path, rows)
    kept = read(SetAside(whole, share=0.1, part="kept"))
    aside = read(SetAside(whole, share=0.1, part="aside"))
    assert sorted(kept + aside) == sorted(whole.read(Report()))
    assert not {pair.source for pair in kept} & {pair.source for pair in aside}
    assert 40 < len(aside) < 180


def test_further_lines_move_no_line_that_was_there(tmp_path: Path) -> None:
    rows = [(f"text {n}", "x") for n in range(300)]
    before = {p.source for p in read(SetAside(written(tmp_path, rows), share=0.2, part="aside"))}
    more = [("something new", "y"), *rows, ("and more", "z")]
    after = {p.source for p in read(SetAside(written(tmp_path, more), share=0.2, part="aside"))}
    assert after - {"something new", "and more"} == before


def test_parts_have_settings_of_their_own(tmp_path: Path) -> None:
    whole = written(tmp_path, [("a", "b")])
    parts = [
        SetAside(whole, share=0.1, part="kept"),
        SetAside(whole, share=0.1, part="aside"),
        SetAside(whole, share=0.2, part="kept"),
        UpTo(whole, words=3),
        UpTo(whole, words=4),
    ]
    assert len({repr(part.settings) for part in parts}) == len(parts)
    assert all(part.files == whole.files for part in parts)


@given(limit=st.integers(1, 6))
def test_short_pairs_are_kept_and_the_others_counted(
    limit: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    rows = [("w " * a, "v " * b) for a in range(1, 6) for b in range(1, 6)]
    whole = written(tmp_path_factory.mktemp("short"), rows)
    report = Report()
    kept = list(UpTo(whole, words=limit).read(report))
    assert len(kept) + report.total == len(rows)
    assert all(max(len(p.source.split()), len(p.target.split())) <= limit for p in kept)
    assert len(kept) == min(limit, 5) ** 2


def test_what_the_whole_leaves_out_is_counted_once(tmp_path: Path) -> None:
    whole = written(tmp_path, [("a", ""), *((f"text {n}", "x") for n in range(50))]).skipping()
    reports = {part: Report() for part in ("kept", "aside")}
    for part, report in reports.items():
        list(SetAside(whole, share=0.3, part=part).read(report))  # type: ignore[arg-type]
    assert reports["kept"].counts == {"empty target": 1}
    assert not reports["aside"].counts


@pytest.mark.parametrize("part", ["kept", "aside"])
def test_a_part_skips_what_its_whole_skips(tmp_path: Path, part: Literal["kept", "aside"]) -> None:
    aside = SetAside(written(tmp_path, [("a", ""), ("b", "c")]), share=0.5, part=part)
    with pytest.raises(DataError, match="the target side is empty"):
        read(aside)
    read(aside.skipping())
    assert aside.skipping().checks.on_error == "skip"
    assert repr(aside.skipping().settings) != repr(aside.settings)


@pytest.mark.parametrize("share", [0.0, 1.0, -1.0])
def test_a_share_is_a_share(share: float, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="share: wanted a share between 0 and 1"):
        SetAside(written(tmp_path, [("a", "b")]), share=share, part="kept")


def test_a_limit_is_a_number_of_words(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="words: wanted 1 or more, got 0"):
        UpTo(written(tmp_path, [("a", "b")]), words=0)


@pytest.mark.parametrize("bare", [True, False])
def test_a_dialogue_is_not_torn_apart(tmp_path: Path, bare: bool) -> None:
    path = tmp_path / "talks.jsonl"
    turns = ([f"{talk} {turn}" for turn in range(5)] for talk in range(60))
    path.write_text("".join(f"{json.dumps(each)}\n" for each in turns))
    whole = Dialogues(path) if bare else UpTo(Dialogues(path), words=99)
    sides = [
        {pair.target.split()[0] for pair in read(SetAside(whole, share=0.3, part=part))}
        for part in ("kept", "aside")
    ]
    assert sides[0]
    assert sides[1]
    assert not sides[0] & sides[1]
