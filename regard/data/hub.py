"""Data sets that the package `datasets` can load: local folders and files, or names on the Hub."""

from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

from regard.data.json_lines import MissingKeyError, dig
from regard.data.sources import JSON, Checks, OnError, Pair, Pairs, Report, data_error
from regard.data.text_files import kind
from regard.words import close

LOADERS = {".json": "json", ".csv": "csv", ".parquet": "parquet", ".arrow": "arrow"}


class HuggingFace(Pairs):
    """A data set of the Hugging Face Hub or of a local folder or file, memory-mapped."""

    def __init__(
        self,
        path: str | Path,
        *,
        split: str = "train",
        source: str = "source",
        target: str = "target",
        name: str | None = None,
        on_error: OnError = "stop",
        longest: int = 10_000,
    ) -> None:
        self.path, self.split, self.name = str(path), split, name
        self.source, self.target = source, target
        self.checks = Checks(on_error, longest)

    @property
    def files(self) -> list[Path]:
        """The memory-mapped files that hold the loaded table."""
        return [Path(file["filename"]) for file in self._table.cache_files]

    @property
    def settings(self) -> dict[str, JSON]:
        """The part, the keys and the checks."""
        return {
            "is": "data.HuggingFace",
            "split": self.split,
            "name": self.name,
            "keys": [self.source, self.target],
            **self.checks.as_dict(),
        }

    def read(self, report: Report) -> Iterator[Pair]:
        """Give one pair a row, looking at the needed columns only."""
        yield from self.checks.kept(self._pairs(report), (), report)

    def _pairs(self, report: Report) -> Iterator[Pair]:
        columns = sorted({self._column(self.source), self._column(self.target)})
        rows: Iterable[dict[str, object]] = self._table.select_columns(columns)
        for number, row in enumerate(rows):
            where = f"{self.path}[{self.split}]:{number}"
            try:
                yield Pair(dig(row, self.source).strip(), dig(row, self.target).strip(), where)
            except MissingKeyError as error:
                self.checks.refuse(report, "missing key", where, str(error))

    def _column(self, key: str) -> str:
        names: list[str] = self._table.column_names
        column = key if key in names else key.partition(".")[0]
        if column in names:
            return column
        problem = f"has no column {column!r}, only {', '.join(names)}{close(column, names)}"
        remedy = "name a column, or a dotted key such as translation.en"
        raise data_error(self.path, problem, remedy)

    @cached_property
    def _table(self) -> Any:
        try:
            import datasets
        except ImportError:
            remedy = 'pip install "regard[hub]"'
            raise data_error(self.path, "the package datasets is not installed", remedy) from None
        try:
            return self._load(datasets)
        except (OSError, ValueError, KeyError, datasets.exceptions.DatasetsError) as error:
            # The package wraps what a bad file raised in an error that says nothing.
            why = " ".join((str(error.__cause__ or "") or str(error)).split())
            problem = f"cannot load split {self.split!r}: {why}"
            remedy = "check the path, name and split (and the network, for a name on the Hub)"
            raise data_error(self.path, problem, remedy) from error

    def _load(self, datasets: Any) -> Any:
        path = Path(self.path).expanduser()
        if (path / "dataset_dict.json").is_file():
            return datasets.load_from_disk(str(path))[self.split]
        if (path / "state.json").is_file():
            return datasets.load_from_disk(str(path))
        if path.is_file():
            loader = LOADERS.get(kind(path), "json")
            return datasets.load_dataset(loader, data_files=str(path), split=self.split)
        folder = str(path) if path.is_dir() else self.path
        return datasets.load_dataset(folder, name=self.name, split=self.split)
