"""`regard run`: texts in, answers out."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import regard
from regard.commands.describe import describe
from regard.commands.refuse import refuse, tell_unknown
from regard.commands.talk import converse
from regard.commands.write import write
from regard.data.sources import data_error
from regard.data.text_files import Line, existing, numbered, read_lines
from regard.search import Average, Gnmt, Penalty, Raw
from regard.tasks.decode import Decode, Sampling
from regard.tasks.output import Output
from regard.tasks.talk import Talk

PENALTIES: dict[str, type[Penalty]] = {"gnmt": Gnmt, "average": Average, "none": Raw}
BATCH, PICTURES = 64, 32
"""Texts, or pictures, that are decoded together, unless another number is asked for."""


def run(
    model: str,
    texts: list[str],
    input: str | None,  # noqa: A002
    others: list[str],
    beam: int | None,
    penalty: str | None,
    nbest: int,
    sample: bool,
    temperature: float | None,
    top_k: int | None,
    top_p: float | None,
    seed: int | None,
    prefix: str,
    json: bool,
    batch: int | None,
    length: int | None,
    talk: bool,
    csv: bool,
    sheet: str | None,
    trust: list[str],
) -> None:
    """Answer every text, in order; or write on from it, or keep a dialogue going."""
    if texts and input:
        raise ValueError("wanted either texts or --input FILE, got both")
    drawing = {"temperature": temperature, "top_k": top_k, "top_p": top_p, "seed": seed}
    drawn = {name: value for name, value in drawing.items() if value is not None}
    sampling = Sampling(**drawn)  # type: ignore[arg-type]
    trained = together(model, others, trust=trust)
    if not trained.sees:
        refuse({"--csv": csv, "--sheet": sheet}, "is for models that describe pictures")
    if trained.writes:
        answering = {"--beam": beam, "--penalty": penalty, "--prefix": prefix, "--talk": talk}
        several = {"--batch": batch, "--nbest": nbest > 1}
        refuse({**answering, **several}, "is for models that answer; this one writes on")
        wanted = 500 if length is None else length
        write(trained, _prompts(texts, input), length=wanted, how=sampling, as_json=json)
        return
    refuse({"--length": length}, "is for language models, which write on; this model answers")
    if not sample:
        options = {f"--{name.replace('_', '-')}": True for name in drawn}
        refuse(options, "is for drawing at random; add --sample")
    how = asked(trained.decode, beam=beam, penalty=penalty, nbest=nbest, sampled=sample)
    chosen, at_once = sampling if sample else None, BATCH if batch is None else batch
    if trained.sees:
        refuse({"--prefix": prefix, "--talk": talk}, "is for models that answer texts")
        refuse({"--json": json and csv}, "is one form of output, --csv another; leave one out")
        photos = texts or (list(_lines(input)) if input else [])
        form: dict[str, Any] = {"as_json": json, "as_csv": csv, "sheet": sheet}
        seen_together = PICTURES if batch is None else batch
        describe(trained, photos, decode=how, sampling=chosen, batch=seen_together, **form)
        return
    if talk:
        given = {"TEXT": texts, "--input": input, "--prefix": prefix, "--json": json}
        spare = {**given, "--batch": batch, "--nbest": nbest > 1}
        refuse(spare, "a dialogue is made of lines alone; leave it out")
        converse(Talk(trained, decode=how, sampling=chosen))
        return
    way: dict[str, Any] = {"decode": how, "sampling": chosen, "prefix": prefix}
    _answer(trained, texts, input, at_once, json, nbest > 1, way)


def _answer(
    trained: Any,
    texts: list[str],
    path: str | None,
    batch: int,
    as_json: bool,
    every: bool,
    how: dict[str, Any],
) -> None:
    """Print the answer to every text, in order."""
    # Somebody who types waits for each answer; files and pipes are read ahead.
    typed = not texts and not path and sys.stdin.isatty()
    chunk = 1 if typed else max(16 * batch, 1)
    lines = texts or _lines(path, trained.unfit)
    for output in trained.stream(lines, chunk=chunk, look=as_json, batch=batch, **how):
        _print(output, as_json=as_json, every=every)


def together(model: str, others: Sequence[str], *, trust: Sequence[str]) -> Any:
    """A model, or an ensemble of it and others."""
    models: list[Any] = [regard.load(each, trust=tuple(trust)) for each in (model, *others)]
    first, *rest = models
    if rest and any(each.writes for each in (first, *rest)):
        raise ValueError("--with: is for models that answer; language models write alone")
    return first.joined(rest) if rest else first


def asked(
    own: Decode, *, beam: int | None, penalty: str | None, nbest: int = 1, sampled: bool = False
) -> Decode:
    """The model's own way of decoding with what the command line changes."""
    chosen = PENALTIES[penalty]() if penalty else None
    return own.asked(beam=beam, nbest=nbest, penalty=chosen, sampled=sampled)


def _prompts(texts: list[str], path: str | None) -> Iterator[str]:
    """What to write on from: the texts or the lines that are given, or nothing at all."""
    typed = not texts and not path and sys.stdin.isatty()
    given = iter([""] if typed else texts or _lines(path))
    yield next(given, "")
    yield from given


def _lines(path: str | None, unfit: Callable[[str], str] = lambda _: "") -> Iterator[str]:
    """The texts of a file's lines; one that a model cannot read ends them, by its number."""
    for read in _standard_input() if path is None else read_lines(existing(path)):
        where = f"{path or 'standard input'}:{read.number}"
        if read.fault:
            raise data_error(where, read.fault, "mend or delete the line")
        if fault := unfit(read.text):
            raise data_error(where, fault, "cut the line into parts")
        yield read.text


def _standard_input() -> Iterator[Line]:
    if isinstance(sys.stdin, io.TextIOWrapper):  # as files are read, whatever the locale
        sys.stdin.reconfigure(encoding="utf-8-sig", errors="surrogateescape")
    return numbered(sys.stdin.readline)


def _print(output: Output, *, as_json: bool, every: bool) -> None:
    if as_json:
        print(json.dumps(output.as_dict(), ensure_ascii=False), flush=True)
        return
    for answer in (output, *output.others):
        print(f"{answer.score:.4f}\t{answer.text}" if every else answer.text, flush=True)
    tell_unknown(output.unknown, output.source)
