"""Running text falls into what is learned and what is measured, whatever its lines are like."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.data import DataError
from regard.data.running import RunningText

LINES = st.lists(st.text("abc ", max_size=40), min_size=1, max_size=12)


def parts(lines: list[str], held_out: float) -> tuple[list[str], list[str]]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "text.txt")
        path.write_text("".join(line + "\n" for line in lines))
        text = RunningText(train=str(path), held_out=held_out, cache=Path(folder))
        return [*text.train()], [*text.valid()]


@given(LINES.filter(lambda lines: sum(map(len, lines)) + len(lines) > 2), st.floats(0.01, 0.99))
def test_nothing_is_lost_and_neither_part_is_empty(lines: list[str], held_out: float) -> None:
    learned, measured = parts(lines, held_out)
    mended = [*learned[:-1], learned[-1] + measured[0], *measured[1:]]
    assert lines in ([*learned, *measured], mended)
    assert learned
    assert measured


def test_whole_lines_where_they_are_short() -> None:
    lines = [f"line {number}" for number in range(100)]
    learned, measured = parts(lines, 0.1)
    assert [*learned, *measured] == lines
    assert len(measured) in (9, 10, 11)


def test_a_text_without_line_ends_is_cut_inside() -> None:
    learned, measured = parts(["word " * 1000], 0.1)
    assert (len(learned), len(measured)) == (1, 1)
    assert len(measured[0]) == pytest.approx(500, abs=2)


def test_too_little() -> None:
    with pytest.raises(DataError, match="wanted a text of two characters or more"):
        parts(["a"], 0.1)
