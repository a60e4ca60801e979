"""`regard run` and `regard look` for models of pictures."""

from __future__ import annotations

import csv
import json
import os
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from stat import S_ISDIR
from typing import Any

import numpy as np

from regard.data import Report, images_in, open_image
from regard.data.images import reduced
from regard.data.progress import counting
from regard.data.text_files import mode_of
from regard.tasks.decode import Decode, Sampling
from regard.tasks.evaluate import Evaluation
from regard.tasks.output import Output

PAGE = 100
"""Pictures of a sheet: with more it would be taller than the 16,384 pixels of many viewers."""
UNSHOWN = re.compile(r'^"|[\x00-\x1f\x7f\x85\u2028\u2029\ud800-\udfff]')
"""In a name that stands in a line of output only in quotes, as JSON has it."""
TELLING = ("cider", "meteor", "rouge_l")
"""Metrics that tell single captions apart; BLEU-4 of most of them is 0."""


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
    if sheet is not None:
        check_drawable(sheet)
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
        for page in _sheets(kept, sheet):
            print(page, file=sys.stderr)
    _complain(report, len(photos))


def look_at(model: Any, photos: list[Path], *, output: str, dark: bool) -> None:
    """Several photos as a sheet with their captions."""
    check_drawable(output)
    report = Report(shown=20)
    found = [(o.source, o.text) for o in model.stream(photos, on_error="skip", report=report)]
    for page in _sheets(found, output, dark=dark):
        print(page)
    _complain(report, len(photos))


def check_drawable(path: str) -> None:
    """Refuse a file that nothing can be drawn into before hours of decoding."""
    from regard.look.style import kind_of

    kind_of(path)


def pictures(paths: Iterable[str]) -> list[Path]:
    """The pictures named, and those of the folders named."""
    found: list[Path] = []
    for name in filter(str.strip, paths):
        is_folder = name.endswith(("/", os.sep)) or S_ISDIR(mode_of(Path(name)))
        found += images_in(name) if is_folder else [Path(name)]
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
        name = json.dumps(name) if UNSHOWN.search(name) else name
        print(f"{name}\t{score}\t{text}" if every else f"{name}\t{text}", flush=True)


def _sheets(found: list[tuple[str, str]], path: str, *, dark: bool = False) -> list[Path]:
    """Pictures with their captions, on as many pages as they need; several are numbered."""
    from regard.look.overlay import contact_sheet
    from regard.look.style import save

    pages = [found[first : first + PAGE] for first in range(0, len(found), PAGE)]
    written = []
    for number, page in enumerate(pages, start=1):
        drawn = contact_sheet([(reduced(open_image(n)), t) for n, t in page], dark=dark)
        name = Path(path) if len(pages) == 1 else _numbered(Path(path), number)
        written.append(save(drawn, name))
    return written


def _numbered(path: Path, number: int) -> Path:
    return path.with_name(f"{path.stem}-{number}{path.suffix}")


def draw_mistakes(
    model: Any, found: Evaluation, path: Path, *, decode: Decode | None = None, most: int = 20
) -> Path:
    """The pictures with the lowest scores: what was said, what was wanted, and what was seen."""
    from regard.look.overlay import Strip, contact_sheet, strips
    from regard.look.style import save

    name = next((name for name in TELLING if name in found.scores), next(iter(found.scores)))
    metric = found.scores[name].metric
    each = metric.scores(found.scores[name].statistics)
    order = np.argsort(each if metric.higher_is_better else -each, kind="stable")[:most]
    texts = [
        f"{name} {each[place]:.0f}: {found.outputs[place]}\nwanted: {found.references[place][0]}"
        for place in order.tolist()
    ]
    worst = [found.sources[place] for place in order.tolist()]
    traces = [output.seen for output in model.stream(worst, decode=decode, look=True)]
    seen = [Strip(t.source, t.said, t.alignment) for t in traces if t is not None]
    if len(seen) == len(texts):
        return save(strips(list(zip(seen, texts, strict=True))), path)
    # A model that looks nowhere has nothing but the photos to show.
    photos = [reduced(open_image(source)) for source in worst]
    return save(contact_sheet(list(zip(photos, texts, strict=True))), path)


def _complain(report: Report, asked: int) -> None:
    """Say which pictures could not be used; that none could is an error."""
    for problems in report.examples.values():
        for problem in problems:
            print(f"regard: {problem}", file=sys.stderr)
    if report.total == asked:
        raise ValueError(f"none of the {asked:,} pictures could be opened")
    if report.total:
        print(f"regard: {report.total:,} of {asked:,} pictures left out", file=sys.stderr)
