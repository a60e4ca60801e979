import argparse
import resource
import subprocess
import sys

import pytest

from cli.conftest import Say
from regard.cli import parser

HELP = """
import sys
from regard.cli import main
try:
    main(["--help"])
except SystemExit:
    pass
slow = [name for name in ("torch", "numpy", "rich", "yaml") if name in sys.modules]
print(*slow, file=sys.stderr)
"""


def words() -> dict[str, argparse.ArgumentParser]:
    actions = parser()._actions
    return next(a.choices for a in actions if isinstance(a, argparse._SubParsersAction))


def test_help_is_instant() -> None:
    seconds = []
    for _ in range(5):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(
            [sys.executable, "-c", HELP], capture_output=True, text=True, check=True
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds.append(after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)
        assert done.stderr.strip() == ""
        assert "examples:" in done.stdout
        if seconds[-1] < 0.5:
            break
    assert min(seconds) < 0.5


def test_every_word_has_its_function() -> None:
    from importlib import import_module

    for word in words():
        assert callable(getattr(import_module(f"regard.commands.{word}"), word))


@pytest.mark.parametrize("word", words())
def test_every_option_has_a_help_text(say: Say, word: str) -> None:
    for action in words()[word]._actions:
        assert action.help, f"{word} {action.dest}"
    said = say(word, "--help")
    assert said.code == 0
    assert said.out.startswith(f"usage: regard {word}")


def test_version(say: Say) -> None:
    import regard

    assert say("--version").out == f"regard {regard.__version__}\n"
