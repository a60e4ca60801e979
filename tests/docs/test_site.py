"""The pages hang together, and become a site that fetches nothing."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.pages import ROOT, WRITTEN, anchors, links


@pytest.mark.parametrize("page", WRITTEN, ids=lambda page: page.name)
def test_links_resolve(page: Path) -> None:
    for link in links(page):
        file, _, anchor = link.partition("#")
        target = (page.parent / file).resolve() if file else page
        assert target.exists(), f"{page.name} links to {link}"
        if anchor and target.suffix == ".md":
            assert anchor in anchors(target), f"{page.name} links to {link}"


@pytest.mark.skipif(importlib.util.find_spec("mkdocs") is None, reason="mkdocs is not installed")
def test_site_builds(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-d", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    fetched = re.compile(r'<(?:script[^>]*src|link[^>]*rel="stylesheet"[^>]*href)="https?:')
    for page in tmp_path.glob("*.html"):
        assert not fetched.search(page.read_text(encoding="utf-8")), page.name
