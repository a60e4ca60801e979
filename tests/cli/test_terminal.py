"""The live view on a real terminal: a pseudo-terminal that reads what a person would see."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import yaml

from tests import toy


def test_training_on_a_terminal_shows_progress_and_samples(tmp_path: Path) -> None:
    path = tmp_path / "toy.yaml"
    path.write_text(yaml.safe_dump(toy.recipe(tmp_path / "data", updates=40, validate_every=20)))
    command = [sys.executable, "-m", "regard.cli", "train", str(path), "--output"]
    screen, terminal = pty.openpty()
    process = subprocess.Popen(
        [*command, str(tmp_path / "out")],
        stdout=terminal,
        stderr=terminal,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "160", "OMP_NUM_THREADS": "1"},
    )
    os.close(terminal)
    shown = b""
    while True:
        try:
            part = os.read(screen, 65536)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        shown += part
    os.close(screen)
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.decode())
    assert process.wait() == 0, text
    for wanted in ("parameters", "40/40", "tok/s", "ppl", "|g|", "validation at 20", "→"):
        assert wanted in text
    assert "Traceback" not in text
