"""Captions that stand together in one JSON file, as COCO has them and as Karpathy does."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeAlias

from regard.data.captioned import Captions
from regard.data.json_lines import MissingKeyError, as_text, called, reach
from regard.data.sources import JSON, OnError, Report, data_error
from regard.data.text_files import existing
from regard.words import close

Id: TypeAlias = int | float | str


class _OneJson(Captions):
    """A file that is one JSON object with lists of pictures and what belongs to them."""

    def _list(self, *names: str) -> list[list[Any]]:
        """What stands under some names."""
        try:
            content = json.loads(existing(self.path).read_text(encoding="utf-8-sig"))
        except (ValueError, RecursionError) as error:
            raise data_error(self.path, f"not JSON: {error}", "fetch it anew") from None
        try:
            if not isinstance(content, dict):
                wanted = " and ".join(map(repr, names))
                raise MissingKeyError(f"holds {called(content)}, wanted an object with {wanted}")
            return [_as_list(content.get(name), f"the key {name!r}") for name in names]
        except MissingKeyError as error:
            remedy = "check that it is the file of captions"
            raise data_error(self.path, str(error), remedy) from None


def _as_list(value: object, name: str) -> list[Any]:
    if not isinstance(value, list):
        raise MissingKeyError(f"{name} holds {called(value)}, wanted a list")
    return value


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
        images, annotations = self._list("images", "annotations")
        names = self._names(images, report)
        for number, row in enumerate(annotations):
            where = f"{self.path}: annotations[{number}]"
            try:
                name = self._name(_id(row, "image_id"), names)
                text = as_text(reach(row, "caption"), "the key 'caption'").strip()
            except MissingKeyError as error:
                self.checks.refuse(report, "missing key", where, str(error))
            else:
                if name is not None:  # of a picture that was refused before
                    yield name, [text], where

    def _names(self, images: list[Any], report: Report) -> dict[Id, str | None]:
        """By id; None for a picture without a name."""
        names: dict[Id, str | None] = {}
        for number, row in enumerate(images):
            try:
                own = _id(row, "id")
                names[own] = None
                names[own] = as_text(reach(row, "file_name"), "the key 'file_name'")
            except MissingKeyError as error:
                where = f"{self.path}: images[{number}]"
                self.checks.refuse(report, "missing key", where, str(error))
        return names

    def _name(self, own: Id, names: dict[Id, str | None]) -> str | None:
        if own in names:
            return names[own]
        hint = ""
        if self.checks.on_error == "stop":  # a look through all ids, which is said once
            twins = (f"; there is {e!r}, {called(e)}" for e in names if str(e) == str(own))
            hint = next(twins, "")
        raise MissingKeyError(f"no picture has the id {own!r}{hint}")


def _id(row: object, key: str) -> Id:
    value = reach(row, key)
    if not isinstance(value, int | float | str):
        raise MissingKeyError(f"the key {key!r} holds {called(value)}, wanted a number or a text")
    return value


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
        (rows,) = self._list("images")
        told = [row.get("split") for row in rows if isinstance(row, dict)]
        known = {split for split in told if isinstance(split, str)}
        wanted = self.split.split("+")
        for name in wanted:
            if name not in known:
                others = ", ".join(sorted(known)) or "rows without one"
                problem = f"has no split {name!r}, only {others}{close(name, known)}"
                raise data_error(self.path, problem, "name one of them")
        for number, row in enumerate(rows):
            where = f"{self.path}: images[{number}]"
            try:
                if as_text(reach(row, "split"), "the key 'split'") not in wanted:
                    continue
                name, texts = _sentences(row)
            except MissingKeyError as error:
                self.checks.refuse(report, "missing key", where, str(error))
            else:
                yield name, texts, where


def _sentences(row: dict[str, Any]) -> tuple[str, list[str]]:
    """The path of a row's picture below the folder of pictures, and its captions."""
    folder = as_text(row.get("filepath") or "", "the key 'filepath'")
    name = as_text(reach(row, "filename"), "the key 'filename'")
    said = _as_list(reach(row, "sentences"), "the key 'sentences'")
    texts = [as_text(reach(each, "raw"), "the key 'raw' of sentences").strip() for each in said]
    return str(Path(folder) / name) if name else "", texts
