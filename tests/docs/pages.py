"""The pages as data: their code blocks, links, headings and tables."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
PAGES = [*sorted((ROOT / "docs").glob("*.md")), ROOT / "README.md"]
WRITTEN = [*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]

_BLOCK = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_TITLE = re.compile(r'title="([^"]+)"')
_COMMAND = re.compile(r"^(?:\$ )?(?:[A-Z_]+=\S+ )*(regard .*)$", re.MULTILINE)


class Block(NamedTuple):
    """A fenced block of a page, with its language, its title and the line where it begins."""

    language: str
    title: str
    text: str
    line: int

    def commands(self) -> list[str]:
        """The lines that call Regard."""
        if self.language not in ("console", "sh"):
            return []
        return [line.partition(" # ")[0].strip() for line in _COMMAND.findall(self.text)]


def text(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def blocks(page: Path) -> list[Block]:
    """All fenced blocks, in order."""
    content = text(page)
    found = []
    for match in _BLOCK.finditer(content):
        title = _TITLE.search(match[2])
        line = content.count("\n", 0, match.start()) + 2
        found.append(Block(match[1], title[1] if title else "", match[3], line))
    return found


def prose(page: Path) -> str:
    """A page without its fenced blocks."""
    return _BLOCK.sub("", text(page))


def links(page: Path) -> list[str]:
    """What a page links to or shows, inside the repository."""
    targets = re.findall(r"\]\(([^)\s]+)\)", prose(page))
    return [target for target in targets if "://" not in target]


def anchors(page: Path) -> set[str]:
    """The names by which headings can be linked to."""
    titles = re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE)
    plain = (re.sub(r"[^\w\s-]", "", title).strip().lower() for title in titles)
    return {re.sub(r"[-\s]+", "-", title) for title in plain}


def sections(page: Path) -> dict[str, str]:
    """The text under each heading that is one name in backquotes, such as `data.Table`."""
    parts = re.split(r"^#+ (.+)$", prose(page), flags=re.MULTILINE)
    named = zip(parts[1::2], parts[2::2], strict=True)
    return {title.strip("`"): body for title, body in named if re.fullmatch(r"`[\w.]+`", title)}


def rows(section: str) -> list[list[str]]:
    """The cells of a table, without its head."""
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]
