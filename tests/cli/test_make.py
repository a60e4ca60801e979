"""`make` finds a Python that is new enough, or says how to name one."""

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def make(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """What make says where this folder has the only programs."""
    for program in ("make", "sh", "test", "echo"):
        (folder / program).symlink_to(str(shutil.which(program)))
    command = ["make", "-f", str(ROOT / "Makefile"), f"VENV={folder / 'env'}", *arguments]
    return subprocess.run(
        command, cwd=ROOT, env={"PATH": str(folder)}, capture_output=True, text=True
    )


@pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")
@pytest.mark.parametrize(
    ("name", "works"), [("python3.11", True), ("python3", True), ("python3", False)]
)
def test_the_newest_python_or_a_remedy(tmp_path: Path, name: str, works: bool) -> None:
    python = tmp_path / name
    python.write_text(f"#!/bin/sh\nexit {0 if works else 1}\n")
    python.chmod(0o755)
    said = make(tmp_path, str(tmp_path / "env" / ".ready"))
    told = f'wanted Python 3.11 or newer, got "{python}"; name one: make PYTHON=' in said.stderr
    assert told is not works
    assert (f"{python} -m venv" in said.stdout) is works
