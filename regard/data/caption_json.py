"""Captions that stand together in one JSON file, as COCO has them and as Karpathy does."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from regard.data.captioned import Captions
from regard.data.json_lines import MissingKeyError, as_text, called
from regard.data.sources import JSON, OnError, Report, data_error
from regard.data.text_files import existing
from regard.words import close


class _OneJson(Captions):
    """A file that is one JSON object with a list of pictures."""

    def _content(self) -> dict[str, Any]:
        try:
            content = json.loads(existing(self.path).read_text(encoding="utf-8-sig"))
        except (ValueError, RecursionError) as error:
            raise data_error(self.path, f"not JSON: {error}", "fetch it anew") from None
        if not isinstance(content, dict) or not isinstance(content.get("images"), list):
            problem = f"wanted an object with a list 'images', got {called(content)}"
            raise data_error(self.path, problem, "check that it is the file of captions")
        return content

    def _refuse(self, report: Report, where: str, error: Exception) -> None:
        missing = f"no key {error}" if isinstance(error, KeyError) else str(error)
        self.checks.refuse(report, "missing key", where, missing)


class Coco(_OneJson):
    """A COCO file: `images` with id and file_name, `annotations` with image_id and caption.

    Lin et al., "Microsoft COCO: Common Objects in Context", ECCV 2014.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        images: str | Path | None = None,
        on_error: OnError = "stop",
        longest: int = 10_000,
    ) -> None:
        super().__init__(path, images, on_error, longest)

    @property
    def settings(self) -> dict[str, JSON]:
        """The kind of the file and its checks."""
        return {"is": "data.Coco", **self.checks.as_dict()}

    def _rows(self, report: Report) -> Iterator[tuple[str, list[str], str]]:
        content = self._content()
        names: dict[Any, str] = {}
        for number, row in enumerate(content["images"]):
            try:
                names[row["id"]] = as_text(row["file_name"], "file_name")
            except (KeyError, TypeError, MissingKeyError) as error:
                self._refuse(report, f"{self.path}: images[{number}]", error)
        for number, row in enumerate(content.get("annotations") or []):
            where = f"{self.path}: annotations[{number}]"
            try:
                yield names[row["image_id"]], [as_text(row["caption"], "caption").strip()], where
            except (KeyError, TypeError, MissingKeyError) as error:
                self._refuse(report, where, error)


class Karpathy(_OneJson):
    """The splits of Karpathy and Fei-Fei (CVPR 2015): `images` with filename, split, sentences.

    Several splits are joined by a plus: COCO's usual training part is train+restval.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        split: str,
        images: str | Path | None = None,
        on_error: OnError = "stop",
        longest: int = 10_000,
    ) -> None:
        super().__init__(path, images, on_error, longest)
        self.split = split

    @property
    def settings(self) -> dict[str, JSON]:
        """The split and the checks."""
        return {"is": "data.Karpathy", "split": self.split, **self.checks.as_dict()}

    def _rows(self, report: Report) -> Iterator[tuple[str, list[str], str]]:
        rows = self._content()["images"]
        known = {str(row.get("split")) for row in rows if isinstance(row, dict)}
        wanted = self.split.split("+")
        for name in wanted:
            if name not in known:
                problem = f"has no split {name!r}, only {', '.join(sorted(known))}"
                raise data_error(self.path, f"{problem}{close(name, known)}", "name one of them")
        for number, row in enumerate(rows):
            where = f"{self.path}: images[{number}]"
            try:
                if row["split"] in wanted:
                    name = str(Path(row.get("filepath", "")) / as_text(row["filename"], "filename"))
                    texts = [as_text(each["raw"], "raw").strip() for each in row["sentences"]]
                    yield name, texts, where
            except (KeyError, TypeError, MissingKeyError) as error:
                self._refuse(report, where, error)
