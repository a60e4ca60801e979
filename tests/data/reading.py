"""Short ways to read pairs, and to see what a bad file says."""

from pathlib import Path

import pytest

from regard.data import DataError, Pairs, Report


def read(pairs: Pairs) -> tuple[list[tuple[str, str]], Report]:
    report = Report()
    return [(pair.source, pair.target) for pair in pairs.read(report)], report


def message(pairs: Pairs) -> str:
    with pytest.raises(DataError) as caught:
        read(pairs)
    return str(caught.value)


def put(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path
