"""A folder of pictures with metadata beside them, and captions by what a path looks like."""

import json
from collections.abc import Iterator
from pathlib import Path

from regard.data.caption_json import Coco
from regard.data.captioned import CaptionLines, Captions, CaptionTable, captions_in
from regard.data.json_lines import records
from regard.data.sources import JSON, OnError, Report, data_error
from regard.data.text_files import existing, kind, read_lines
from regard.words import close

METADATA = ("metadata.jsonl", "metadata.csv", "metadata.parquet")


class ImageFolder(Captions):
    """A Hugging Face `imagefolder`: metadata.jsonl, .csv or .parquet with file_name and captions.

    With `split`, the metadata of the folder of that name, such as train/metadata.jsonl.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        split: str | None = None,
        image: str = "file_name",
        caption: str = "text",
        on_error: OnError = "stop",
        longest: int = 10_000,
    ) -> None:
        super().__init__(path, path, on_error, longest)
        self.split, self.image, self.caption = split, image, caption

    @property
    def files(self) -> list[Path]:
        """The metadata."""
        return [self._metadata()]

    @property
    def settings(self) -> dict[str, JSON]:
        """The names of the columns and the checks."""
        keys: list[JSON] = [self.image, self.caption]
        return {"is": "data.ImageFolder", "keys": keys, **self.checks.as_dict()}

    def _metadata(self) -> Path:
        folder = self.path if self.split is None else self.path / self.split
        if not folder.is_dir():
            inside = [each.name for each in self.path.iterdir()] if self.path.is_dir() else []
            hint = close(folder.name, inside)
            raise data_error(folder, f"there is no such folder{hint}", "check the name")
        found = [folder / name for name in METADATA if (folder / name).is_file()]
        if not found:
            splits = sorted(each.parent.name for each in self.path.glob("*/metadata.*"))
            hint = f"; its folders {', '.join(splits)} have some" if splits else ""
            problem = f"has no {' or '.join(METADATA)}{hint}"
            raise data_error(folder, problem, "give the split, or add the metadata")
        return found[0]

    def _rows(self, report: Report) -> Iterator[tuple[str, list[str], str]]:
        path, checks = self._metadata(), self.checks
        if path.suffix == ".csv":
            rows = CaptionTable(
                path,
                image=self.image,
                caption=self.caption,
                on_error=checks.on_error,
                longest=checks.longest,
            )
            yield from rows._rows(report)
        else:
            found = _parquet(path) if path.suffix == ".parquet" else records(path, checks, report)
            yield from captions_in(found, self.image, self.caption, checks, report)

    def _place(self, name: str) -> Path:
        return self._metadata().parent / name


def _parquet(path: Path) -> Iterator[tuple[str, object]]:
    """The rows of a table of Parquet, and where they stand."""
    try:
        from pyarrow import ArrowException, parquet
    except ImportError:
        remedy = 'pip install "regard[hub]", or save it as metadata.csv'
        raise data_error(path, "the package pyarrow is not installed", remedy) from None
    try:
        batches = parquet.ParquetFile(path).iter_batches(batch_size=1000)
        rows = (row for batch in batches for row in batch.to_pylist())
        yield from ((f"{path}: row {number}", row) for number, row in enumerate(rows))
    except (OSError, ArrowException) as error:
        raise data_error(path, f"cannot be read as Parquet: {error}", "fetch it anew") from None


def as_captions(spec: Captions | str | Path, *, on_error: OnError = "stop") -> Captions:
    """Take captions as they are, a folder as an imagefolder, a file by its suffix and content.

    With `skip`, bad lines are left out and counted, whatever a source itself says.
    """
    captions = _chosen(spec)
    return captions.skipping() if on_error == "skip" else captions


def _chosen(spec: Captions | str | Path) -> Captions:
    if not isinstance(spec, str | Path):
        return spec
    path = Path(spec).expanduser()
    if path.is_dir():
        return ImageFolder(path)
    match kind(existing(spec)):
        case ".jsonl" | ".ndjson":
            return CaptionLines(path)
        case ".tsv" | ".csv":
            return CaptionTable(path)
        case ".json":
            return _by_content(path)
        case ".txt" if _names_columns(path):  # Flickr8k as Kaggle has it
            return CaptionTable(path, separator=",")
    problem = f"the suffix {kind(path)!r} does not tell the format"
    table = r'{is: data.CaptionTable, path: ..., separator: "\t", image: 0, caption: 1}'
    raise data_error(path, problem, f"use .jsonl, .csv, .tsv or .json, or write {table}")


def _names_columns(path: Path) -> bool:
    """Whether the first line is that of a table of captions with commas."""
    first = next(read_lines(path), None)
    return first is not None and {"image", "caption"} <= set(map(str.strip, first.text.split(",")))


def _by_content(path: Path) -> Captions:
    try:
        content = json.loads(path.read_text(encoding="utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise data_error(path, f"not JSON: {error}", "fetch it anew") from None
    if isinstance(content, dict) and "annotations" in content:
        return Coco(path)
    if isinstance(content, dict) and "images" in content:
        problem = "has several splits"
        raise data_error(path, problem, "write {is: data.Karpathy, path: ..., split: train}")
    problem = "wanted the keys images and annotations (COCO), or images with splits (Karpathy)"
    raise data_error(path, problem, "check that it is the file of captions")
