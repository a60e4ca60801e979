"""Many pictures at once: on all cores, with what came of them in order."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

import torch

from regard.data.images import open_image
from regard.data.progress import counting
from regard.data.sources import DataError, OnError, Report

UNUSABLE = "picture that cannot be used"
"""What a report calls it."""

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


def side_by_side(
    work: Callable[[_Item], _Result], items: Iterable[_Item], *, threads: int
) -> Iterator[_Result]:
    """The results in the order of the items, of which few are begun before they are asked for."""
    waiting: deque[Future[_Result]] = deque()
    with ThreadPoolExecutor(max_workers=threads) as pool:
        try:
            for item in items:
                waiting.append(pool.submit(work, item))
                if len(waiting) > 2 * threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def openable(
    paths: Sequence[Path], *, on_error: OnError, report: Report, progress: bool
) -> list[int]:
    """The places of pictures that can be opened; another stops it, or is counted in the report.

    All are decoded: the header of a picture that was cut off is as good as any.
    """
    kept = []
    with counting("opening pictures", "images", shown=progress, total=len(paths)) as advance:
        faults = side_by_side(_fault, paths, threads=torch.get_num_threads())
        for place, fault in enumerate(faults):
            if fault is None:
                kept.append(place)
            elif on_error == "stop":
                raise fault.or_skipped("pictures")
            else:
                report.skip(UNUSABLE, str(paths[place]))
            advance(1)
    return kept


def _fault(path: Path) -> DataError | None:
    try:
        open_image(path)
    except DataError as error:
        return error
    return None
