"""`regard run` and `regard look` for models of pictures."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from regard.data import Report, images_in, open_image
from regard.data.progress import counting
from regard.tasks.decode import Decode, Sampling
from regard.tasks.evaluate import Evaluation
from regard.tasks.output import Output


def describe(
    model: Any,
    paths: list[str],
    *,
    decode: Decode,
    sampling: Sampling | None,
    as_json: bool,
    as_csv: bool,
    sheet: str | None,
    batch: int,
) -> None:
    """Say what every picture shows: a line with its path and a caption, JSON, or CSV.

    Pictures that cannot be opened are left out; what is wrong with each is said in the end.
    """
    photos, report = pictures(paths), Report(shown=20)
    live = not sys.stdout.isatty() and len(photos) > batch
    written = csv.writer(sys.stdout, lineterminator="\n")
    if as_csv:
        written.writerow(["image", "rank", "score", "caption"])
    kept: list[tuple[str, str]] = []
    with counting("describing", "pictures", shown=live, total=len(photos)) as advance:
        for output in model.stream(
            photos,
            decode=decode,
            sampling=sampling,
            look=as_json,
            batch=batch,
            on_error="skip",
            report=report,
        ):
            kept.append((output.source, output.text))
            if as_csv:
                written.writerows(ranked(output))
            else:
                _print(output, as_json=as_json, every=decode.nbest > 1)
            advance(1)
    if sheet is not None:
        print(_sheet(kept, sheet), file=sys.stderr)
    _complain(report, len(photos))


def look_at(model: Any, photos: list[Path], *, output: str, dark: bool) -> None:
    """Several photos as a sheet with their captions."""
    report = Report(shown=20)
    found = [(o.source, o.text) for o in model.stream(photos, on_error="skip", report=report)]
    print(_sheet(found, output, dark=dark))
    _complain(report, len(photos))


def pictures(paths: Iterable[str]) -> list[Path]:
    """The pictures named, and those of the folders named."""
    found: list[Path] = []
    for path in map(Path, paths):
        found += images_in(path) if path.is_dir() else [path]
    if not found:
        raise ValueError("wanted pictures or folders of pictures behind the model, got none")
    return found


def ranked(output: Output) -> Iterator[tuple[str, int, str, str]]:
    """A row for each caption of a picture, the best first."""
    for rank, each in enumerate((output, *output.others), start=1):
        yield output.source, rank, f"{each.score:.4f}", each.text


def _print(output: Output, *, as_json: bool, every: bool) -> None:
    if as_json:
        print(json.dumps(output.as_dict(), ensure_ascii=False), flush=True)
        return
    for name, _, score, text in ranked(output):
        print(f"{name}\t{score}\t{text}" if every else f"{name}\t{text}", flush=True)


def _sheet(found: list[tuple[str, str]], path: str, *, dark: bool = False) -> Path:
    from regard.look.overlay import contact_sheet, reduced
    from regard.look.style import save

    return save(contact_sheet([(reduced(open_image(n)), t) for n, t in found], dark=dark), path)


def draw_mistakes(found: Evaluation, path: Path, *, most: int = 20) -> Path:
    """The pictures with the lowest scores of the first metric, with what was said and wanted."""
    from regard.look.overlay import contact_sheet, reduced
    from regard.look.style import save

    name, score = next(iter(found.scores.items()))
    each = score.metric.scores(score.statistics)
    order = np.argsort(each if score.metric.higher_is_better else -each, kind="stable")[:most]
    rows = [
        (
            reduced(open_image(found.sources[place])),
            f"{name} {each[place]:.0f}: {found.outputs[place]} ≠ {found.references[place][0]}",
        )
        for place in order.tolist()
    ]
    return save(contact_sheet(rows), path)


def _complain(report: Report, asked: int) -> None:
    """Say which pictures could not be used; that none could is an error."""
    for problems in report.examples.values():
        for problem in problems:
            print(f"regard: {problem}", file=sys.stderr)
    if report.total == asked:
        raise ValueError(f"none of the {asked:,} pictures could be opened")
    if report.total:
        print(f"regard: {report.total:,} of {asked:,} pictures left out", file=sys.stderr)
