"""Pictures with their captions, from every file format that they come in."""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from pathlib import Path
from stat import S_ISDIR, S_ISLNK, S_ISREG
from typing import Literal, NamedTuple

from regard.data.json_lines import MissingKeyError, as_text, reach, records
from regard.data.sources import JSON, Checked, Checks, OnError, Report, set_aside
from regard.data.tables import Column, Table
from regard.data.text_files import existing, mode_of
from regard.words import close

# Flickr8k.token.txt and its kin number the captions of a picture: NAME.jpg#2.
NUMBERED = re.compile(r"#\d+$")
FOLDERS = ("images", "Images")
"""Where pictures lie beside their captions; the second in Flickr8k as Kaggle has it."""


class Captioned(NamedTuple):
    """One picture with all its captions, and where they were read."""

    path: Path
    captions: list[str]
    where: str


class Captions(Checked, ABC):
    """Pictures with captions that can be read again and again, in the same order each time.

    `images` is the folder of the pictures; without it, the folder "images" (or "Images") beside
    the file of captions, or else the folder of that file.
    """

    def __init__(
        self, path: str | Path, images: str | Path | None, on_error: OnError, longest: int
    ) -> None:
        self.path = Path(path).expanduser()
        self.folder = None if images is None else Path(images).expanduser()
        self.checks = Checks(on_error, longest)

    @property
    def files(self) -> list[Path]:
        """The files whose content decides what is read; pictures are known by their content."""
        return [existing(self.path)]

    @property
    @abstractmethod
    def settings(self) -> dict[str, JSON]:
        """Whatever else decides what is read."""

    @abstractmethod
    def _rows(self, report: Report) -> Iterator[tuple[str, list[str], str]]:
        """Name of a picture, some of its captions, and where they stand."""

    def read(self, report: Report) -> Iterator[Captioned]:
        """Give every picture once, with all its captions; what is left out is counted."""
        found: dict[str, Captioned] = {}
        for name, captions, where in self._rows(report):
            if not name.strip():
                self.checks.refuse(report, "empty name", where, "the picture's name is empty")
                continue
            kept = [text for text in captions if self._passes(text, where, report)]
            if name not in found:
                found[name] = Captioned(self._place(name), [], where)
            found[name].captions.extend(kept)
        for picture in found.values():
            if not picture.captions:
                report.skip("picture without captions", picture.where)
            elif not S_ISREG(mode_of(picture.path)):
                self._miss(picture, report)
            else:
                yield picture

    def _passes(self, text: str, where: str, report: Report) -> bool:
        most = self.checks.longest
        if not text:
            self.checks.refuse(report, "empty caption", where, "the caption is empty")
        elif len(text) > most:
            problem = f"the caption has {len(text):,} characters, wanted at most {most:,} (longest)"
            self.checks.refuse(report, f"caption over {most} characters", where, problem)
        return 0 < len(text) <= most

    def _place(self, name: str) -> Path:
        """Where a picture of this name lies."""
        own = self.path.parent
        beside = [own / each for each in FOLDERS if (own / each).is_dir()]
        places = [self.folder / name] if self.folder else [each / name for each in (*beside, own)]
        return next((each for each in places if S_ISREG(mode_of(each))), places[0])

    def _miss(self, picture: Captioned, report: Report) -> None:
        path, folder, hint = picture.path, picture.path.parent, ""
        if not S_ISDIR(mode_of(folder)):
            hint = f", for there is no folder {folder}"
        elif S_ISLNK(mode_of(path, follow=False)):
            hint = ", only a link that leads nowhere"
        elif self.checks.on_error == "stop":  # a look through the folder, which is said once
            files = (each.name for each in folder.iterdir() if each.is_file())
            hint = close(path.name, files, cutoff=0.8)
        problem = f"there is no picture {path}{hint}"
        self.checks.refuse(report, "missing picture", picture.where, problem)


class CaptionsAside(Captions):
    """A share of the pictures that is set aside, or all the others; their names alone decide."""

    def __init__(self, of: Captions, *, share: float, part: Literal["kept", "aside"]) -> None:
        super().__init__(of.path, of.folder, of.checks.on_error, of.checks.longest)
        self.of, self.share, self.part = of, share, part

    def skipping(self) -> "CaptionsAside":
        """Give the same part of the whole without what is bad in it."""
        return CaptionsAside(self.of.skipping(), share=self.share, part=self.part)

    @property
    def files(self) -> list[Path]:
        """Those of the whole."""
        return self.of.files

    @property
    def settings(self) -> dict[str, JSON]:
        """Those of the whole, with the rule."""
        inner: JSON = self.of.settings
        return {"is": "data.CaptionsAside", "of": inner, "share": self.share, "part": self.part}

    def _rows(self, report: Report) -> Iterator[tuple[str, list[str], str]]:
        return self.of._rows(report)

    def read(self, report: Report) -> Iterator[Captioned]:
        """Give the pictures of this part; what the whole leaves out is counted with those kept."""
        for each in self.of.read(report if self.part == "kept" else Report()):
            if set_aside(each.path.name, self.share) == (self.part == "aside"):
                yield each


def captions_in(
    found: Iterable[tuple[str, object]], image: str, captions: str, checks: Checks, report: Report
) -> Iterator[tuple[str, list[str], str]]:
    """The names and captions that records hold under two keys, with where they stand."""
    for where, record in found:
        try:
            name = as_text(reach(record, image), f"the key {image!r}")
            said = reach(record, captions)
            several = said if isinstance(said, list) else [said]
            texts = [as_text(text, f"the key {captions!r}").strip() for text in several]
        except MissingKeyError as error:
            checks.refuse(report, "missing key", where, str(error))
        else:
            yield name, texts, where


class CaptionLines(Captions):
    """A file with one JSON object a line: the picture's name, one caption or a list of them."""

    def __init__(
        self,
        path: str | Path,
        *,
        images: str | Path | None = None,
        image: str = "image",
        captions: str = "captions",
        on_error: OnError = "stop",
        longest: int = 10_000,
    ) -> None:
        super().__init__(path, images, on_error, longest)
        self.image, self.captions = image, captions

    @property
    def settings(self) -> dict[str, JSON]:
        """The keys and the checks."""
        keys: list[JSON] = [self.image, self.captions]
        return {"is": "data.CaptionLines", "keys": keys, **self.checks.as_dict()}

    def _rows(self, report: Report) -> Iterator[tuple[str, list[str], str]]:
        found = records(self.path, self.checks, report)
        yield from captions_in(found, self.image, self.captions, self.checks, report)


class _Rows(Table):
    """Calls its columns what a source of captions calls them."""

    KEYS = ("image", "caption")


class CaptionTable(Captions):
    """A .csv or .tsv file with a picture's name and a caption in each row.

    Rows of one picture belong together; a number behind its name, as in a.jpg#2, is cut off.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        images: str | Path | None = None,
        image: Column = "image",
        caption: Column = "caption",
        separator: str | None = None,
        header: bool | None = None,
        on_error: OnError = "stop",
        longest: int = 10_000,
    ) -> None:
        super().__init__(path, images, on_error, longest)
        self.table = _Rows(
            path,
            source=image,
            target=caption,
            separator=separator,
            header=header,
            on_error=on_error,
            longest=longest,
        )

    def skipping(self) -> "CaptionTable":
        """Give the same captions without the bad rows of the table."""
        other = super().skipping()
        other.table = self.table.skipping()
        return other

    @property
    def settings(self) -> dict[str, JSON]:
        """How the table is read."""
        return {**self.table.settings, "is": "data.CaptionTable"}

    def _rows(self, report: Report) -> Iterator[tuple[str, list[str], str]]:
        for pair in self.table.read(report):
            yield NUMBERED.sub("", pair.source), [pair.target], pair.where
