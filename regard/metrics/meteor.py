"""METEOR, by the program of its authors, which needs Java."""

import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from jaxtyping import Float

from regard.metrics.base import Metric, Unavailable, number_of_references
from regard.metrics.captions import TOKENS
from regard.metrics.ptb import words

JAR = "meteor-1.5.jar"
# For English, tuned to rank: weights of exact, stem, synonym and paraphrase matches.
WEIGHTS = np.array([1.0, 0.6, 0.8, 0.6])
ALPHA, BETA, GAMMA, DELTA = 0.85, 0.2, 0.6, 0.75
ENDED = "METEOR: its program ended early; does Java work, and is there enough memory (2 GB)?"


class Meteor(Metric):
    """METEOR 1.5: words matched exactly, by stem, synonym or paraphrase, punished for disorder.

    METEOR = (1 - γ (chunks / matches)^β) · P R / (α P + (1 - α) R); content words count δ, function
    words 1 - δ. Denkowski and Lavie, "Meteor Universal", WMT 2014. The program counts the matches;
    the score of their sum is computed here, so that intervals need no Java.
    """

    name = "METEOR"
    higher_is_better = True

    def scores(self, totals: Float[np.ndarray, "sample count"]) -> Float[np.ndarray, " sample"]:
        """METEOR of each row of the program's 23 counts."""
        said, wanted, said_function, wanted_function = totals[:, :4].T
        # stage x (output's content, reference's content, output's function, reference's function)
        matches = np.einsum("s,ksm->km", WEIGHTS, totals[:, 4:20].reshape(len(totals), 4, 4))
        chunks, said_matched, wanted_matched = totals[:, 20:].T
        precision = _share(matches[:, 0], matches[:, 2], said, said_function)
        recall = _share(matches[:, 1], matches[:, 3], wanted, wanted_function)
        mean = _divided(precision * recall, ALPHA * precision + (1 - ALPHA) * recall)
        disorder = _divided(chunks, (said_matched + wanted_matched) / 2)
        return 100.0 * mean * (1 - GAMMA * disorder**BETA)

    def signature(self, references: Sequence[Sequence[str]]) -> str:
        """Such as `nrefs:5|case:lc|tok:ptb-no-punct|version:1.5|task:rank`."""
        nrefs = number_of_references(references)
        return f"nrefs:{nrefs}|{TOKENS}|version:1.5|task:rank"

    def _counts(
        self, outputs: Sequence[str], references: Sequence[Sequence[str]]
    ) -> Sequence[Sequence[int | float]]:
        with _running() as program:
            return [
                settled(
                    program.count(" ".join(words(output)), [" ".join(words(text)) for text in each])
                )
                for output, each in zip(outputs, references, strict=True)
            ]


def settled(counts: list[float]) -> list[float]:
    """Counts as the program adds them up: an output that is its reference has no chunks at all."""
    whole = counts[20] == 1 and counts[21:23] == counts[:2]
    return [*counts[:20], 0.0, *counts[21:]] if whole else counts


def _share(
    content: np.ndarray, function: np.ndarray, length: np.ndarray, small: np.ndarray
) -> np.ndarray:
    """Weighted matches of weighted words."""
    matched = DELTA * content + (1 - DELTA) * function
    return _divided(matched, DELTA * (length - small) + (1 - DELTA) * small)


def _divided(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """A / b, and 0 where there is nothing to divide by."""
    return np.asarray(np.where(b > 0, a / np.where(b > 0, b, 1.0), 0.0))


class _Program:
    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process

    def count(self, output: str, references: list[str]) -> list[float]:
        """The 23 counts of one output against the reference that it is nearest to."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        line = " ||| ".join(["SCORE", *references, output])
        self.process.stdin.write(f"{line}\n")
        self.process.stdin.flush()
        counts = [float(number) for number in self.process.stdout.readline().split()]
        if len(counts) != 23:
            raise Unavailable(ENDED)
        return counts


@contextmanager
def _running() -> Iterator[_Program]:
    command = [_java(), "-Xmx2G", "-jar", JAR, "-", "-", "-stdio", "-l", "en", "-norm"]
    with subprocess.Popen(
        command,
        cwd=_folder(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        encoding="utf-8",
    ) as process:
        try:
            yield _Program(process)
        except OSError as error:  # it no longer takes what is written to it
            raise Unavailable(ENDED) from error
        finally:
            process.kill()
            assert process.stdin is not None
            with suppress(OSError):  # there may be something left to be written
                process.stdin.close()


def _java() -> str:
    found = shutil.which("java")
    if found is None:
        raise Unavailable("METEOR: needs Java, and there is none; install a Java runtime")
    return found


def _folder() -> Path:
    spec = find_spec("pycocoevalcap")
    places = list(spec.submodule_search_locations or []) if spec else []
    if not places:
        raise Unavailable("METEOR: needs pycocoevalcap; pip install 'regard[caption]'")
    return Path(places[0]) / "meteor"
