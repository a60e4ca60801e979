"""Our scores of captions are those of the COCO caption code."""

import json
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.metrics import CaptionBleu, CiderD, Meteor, RougeL, Unavailable, interval, paired
from regard.metrics.meteor import settled
from regard.metrics.ptb import words

FLICKR = Path("/work/shared/data/flickr8k/dev.jsonl")
OUTPUTS = [
    "A man is riding a bicycle down the street .",
    "two dogs play in the snow",
    "the the the the the",
    "",
    "A woman, who is tired, sits on a bench.",
]
REFERENCES = [
    ["A man rides a bike down the street.", "A man is riding a bicycle along the street."],
    ["Two dogs are playing in the snow."],
    ["The cat is on the mat.", "On the mat a cat sits."],
    ["Nothing at all."],
    ["A tired woman sits on a bench.", "A woman sits.", "The woman is tired."],
]


def real() -> tuple[list[str], list[list[str]]]:
    """What one person wrote against what four others did."""
    if not FLICKR.exists():
        pytest.skip("no Flickr8k here")
    rows = [json.loads(line)["captions"] for line in FLICKR.read_text().splitlines()[:150]]
    return [row[0] for row in rows], [row[1:] for row in rows]


def theirs(kind: str, outputs: list[str], references: list[list[str]]) -> tuple[list[float], list]:
    """Scores and scores by picture of pycocoevalcap, as percentages."""
    pytest.importorskip("pycocoevalcap.eval")
    from pycocoevalcap.bleu.bleu import Bleu
    from pycocoevalcap.cider.cider import Cider
    from pycocoevalcap.rouge.rouge import Rouge

    said = {i: [" ".join(words(text))] for i, text in enumerate(outputs)}
    wanted = {i: [" ".join(words(text)) for text in each] for i, each in enumerate(references)}
    if kind == "bleu":
        score, each = Bleu(4).compute_score(wanted, said, verbose=0)
        return [100 * value for value in score], each
    score, each = {"cider": Cider, "rouge": Rouge}[kind]().compute_score(wanted, said)
    return [100 * score], [100 * value for value in each]


@pytest.mark.parametrize("source", ["made up", "real"])
def test_same_as_the_coco_caption_code(source):
    outputs, references = (OUTPUTS, REFERENCES) if source == "made up" else real()
    for n, wanted in enumerate(theirs("bleu", outputs, references)[0], start=1):
        assert CaptionBleu(n)(outputs, references) == pytest.approx(wanted, rel=1e-9)
    for metric, kind in ((CiderD(), "cider"), (RougeL(), "rouge")):
        (wanted,), each = theirs(kind, outputs, references)
        assert metric(outputs, references) == pytest.approx(wanted, rel=1e-9)
        ours = 100 * metric.statistics(outputs, references)[:, 0]
        np.testing.assert_allclose(ours, each, rtol=1e-9, atol=1e-12)


WORDS = st.lists(st.sampled_from(["a", "dog", "cat", "on", "the", "mat"]), min_size=1, max_size=9)
CAPTION = WORDS.map(" ".join)
SAYING = st.one_of(CAPTION, st.just(""))


@given(st.lists(st.tuples(SAYING, st.lists(CAPTION, min_size=1, max_size=3)), min_size=2))
def test_same_for_any_sentences(pairs):
    outputs, references = [a for a, _ in pairs], [b for _, b in pairs]
    for n, wanted in enumerate(theirs("bleu", outputs, references)[0], start=1):
        assert CaptionBleu(n)(outputs, references) == pytest.approx(wanted, rel=1e-9, abs=1e-9)
    wanted = theirs("cider", outputs, references)[0][0]
    assert CiderD()(outputs, references) == pytest.approx(wanted, rel=1e-9, abs=1e-9)
    wanted = theirs("rouge", outputs, references)[0][0]
    assert RougeL()(outputs, references) == pytest.approx(wanted, rel=1e-9, abs=1e-9)


def test_intervals_and_comparisons():
    outputs, references = real()
    worse = [" ".join(reversed(text.split())) for text in outputs]
    for metric in (CaptionBleu(4), RougeL(), CiderD()):
        rows, other = (metric.statistics(each, references) for each in (outputs, worse))
        found = interval(metric, rows, samples=200)
        assert found.low < found.score < found.high
        assert found.high - found.low < found.score
        assert paired(metric, rows, other, samples=200).winner == "a"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("A man's dog doesn't run.", "a man 's dog does n't run"),
        ('He said "hello", (softly)...', "he said hello -lrb- softly -rrb-"),
        ("A T-shirt -- at 3:30, for $1,000!", "a t-shirt at 3:30 for $ 1,000"),
        (
            "Mr. Smith cannot swim; Q&A at avrovulcan.com",
            "mr. smith can not swim q&a at avrovulcan.com",
        ),
        ("They’re gonna   go\n", "they 're gon na go"),
        ("S.C.U.B.A. divers' gear & masks", "s.c.u.b.a. divers gear & masks"),
        ("", ""),
    ],
)
def test_words(text, wanted):
    assert " ".join(words(text)) == wanted


def java() -> str:
    found, package = shutil.which("java"), find_spec("pycocoevalcap")
    if found is None or package is None:
        pytest.skip("needs Java and pycocoevalcap")
    return found


def test_words_are_those_of_stanford(tmp_path):
    command, outputs = java(), [*OUTPUTS, *(text for each in real()[1] for text in each)]
    outputs = [text for text in outputs if text]
    (tmp_path / "captions").write_text("\n".join(outputs))
    jar = Path(next(iter(find_spec("pycocoevalcap.tokenizer").submodule_search_locations)))
    done = subprocess.run(
        [command, "-cp", jar / "stanford-corenlp-3.4.1.jar",
         "edu.stanford.nlp.process.PTBTokenizer", "-preserveLines", "-lowerCase",
         tmp_path / "captions"], capture_output=True, text=True, check=True,
    )  # fmt: skip
    from pycocoevalcap.tokenizer.ptbtokenizer import PUNCTUATIONS

    lines = done.stdout.split("\n")
    wanted = [tuple(w for w in line.split() if w not in PUNCTUATIONS) for line in lines]
    assert [words(text) for text in outputs] == wanted[: len(outputs)]


# What the program counts for six pairs, and what it then says of each and of all.
COUNTS = """
6 7 3 4 2 2 2 2 0 0 0 0 0 0 0 0 1 0 0 1 2 5 5
8 4 5 1 0 0 0 0 0 0 0 0 0 0 0 0 2 3 3 1 1 5 4
0 3 0 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
2 3 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
7 7 4 4 3 3 4 4 0 0 0 0 0 0 0 0 0 0 0 0 1 7 7
8 7 3 3 1 1 2 2 1 1 0 0 1 1 0 0 1 1 0 0 2 6 6
"""
SAID = [0.340788958617614, 0.3078672330546918, 0.0, 0.0, 1.0, 0.369055384620225]


def test_meteor_from_its_counts():
    rows = [list(map(float, line.split())) for line in COUNTS.split("\n")[1:-1]]
    counts = np.array([settled(row) for row in rows])
    np.testing.assert_allclose(Meteor().scores(counts), 100 * np.array(SAID), rtol=1e-12)
    assert Meteor().score(counts.sum(axis=0)) == pytest.approx(32.38475603434018, rel=1e-12)


@pytest.mark.slow
def test_meteor_is_that_of_the_coco_caption_code():
    java()
    from pycocoevalcap.meteor.meteor import Meteor as Theirs

    outputs, references = real()
    said = {i: [" ".join(words(text))] for i, text in enumerate(outputs)}
    wanted = {i: [" ".join(words(text)) for text in each] for i, each in enumerate(references)}
    score, each = Theirs().compute_score(wanted, said)
    rows = Meteor().statistics(outputs, references)
    assert Meteor().score(rows.sum(axis=0)) == pytest.approx(100 * score, rel=1e-9)
    np.testing.assert_allclose(Meteor().scores(rows), 100 * np.array(each), rtol=1e-9)


def test_meteor_says_what_it_needs(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(Unavailable, match="METEOR: needs Java, and there is none"):
        Meteor()(OUTPUTS, REFERENCES)


def test_arguments():
    with pytest.raises(ValueError, match="n: wanted 1 to 4, got 5"):
        CaptionBleu(5)


@pytest.mark.parametrize("code", ["exit 1", "read line; exit 1"])
def test_meteor_whose_java_ends(code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A closed pipe must not look like a reader of ours that has seen enough."""
    pytest.importorskip("pycocoevalcap")
    fake = tmp_path / "java"
    fake.write_text(f"#!/bin/sh\n{code}\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    long = "a dog runs over the grass " * 20_000  # more than a pipe holds
    for outputs in (["a dog"], [long]):
        with pytest.raises(Unavailable, match="METEOR: its program ended early; does Java work"):
            Meteor().statistics(outputs, [["a cat"]])
