"""`regard run`: texts in, answers out."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import regard
from regard.commands.describe import describe
from regard.commands.refuse import refuse, tell_unknown
from regard.commands.talk import converse
from regard.commands.write import write
from regard.data.sources import data_error
from regard.data.text_files import existing, read_lines
from regard.search import Average, Gnmt, Penalty, Raw
from regard.tasks.decode import Decode, Sampling
from regard.tasks.output import Output
from regard.tasks.talk import Talk

PENALTIES: dict[str, type[Penalty]] = {"gnmt": Gnmt, "average": Average, "none": Raw}


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
    batch: int,
    length: int | None,
    talk: bool,
    csv: bool,
    sheet: str | None,
) -> None:
    """Answer every text, in order; or write on from it, or keep a dialogue going."""
    if texts and input:
        raise ValueError("wanted either texts or --input FILE, got both")
    drawing = {"temperature": temperature, "top_k": top_k, "top_p": top_p, "seed": seed}
    drawn = {name: value for name, value in drawing.items() if value is not None}
    sampling = Sampling(**drawn)  # type: ignore[arg-type]
    trained = together(model, others)
    if trained.writes:
        answering = {"--beam": beam, "--penalty": penalty, "--prefix": prefix, "--talk": talk}
        refuse({**answering, "--nbest": nbest > 1}, "is for models that answer; this one writes on")
        typed = not texts and not input and sys.stdin.isatty()
        prompts = [""] if typed else texts or list(_lines(input)) or [""]
        write(
            trained, prompts, length=500 if length is None else length, how=sampling, as_json=json
        )
        return
    refuse({"--length": length}, "is for language models, which write on; this model answers")
    if not sample:
        options = {f"--{name.replace('_', '-')}": True for name in drawn}
        refuse(options, "is for drawing at random; add --sample")
    how = asked(trained.decode, beam=beam, penalty=penalty, nbest=nbest, sampled=sample)
    chosen = sampling if sample else None
    if trained.sees:
        refuse({"--prefix": prefix, "--talk": talk}, "is for models that answer texts")
        photos = texts or (list(_lines(input)) if input else [])
        form: dict[str, Any] = {"as_json": json, "as_csv": csv, "sheet": sheet}
        describe(trained, photos, decode=how, sampling=chosen, batch=min(batch, 32), **form)
        return
    refuse({"--csv": csv, "--sheet": sheet}, "is for models that describe pictures")
    if talk:
        beside = {"TEXT": texts, "--input": input, "--prefix": prefix, "--json": json}
        refuse({**beside, "--nbest": nbest > 1}, "a dialogue is made of lines alone; leave it out")
        converse(Talk(trained, decode=how, sampling=chosen))
        return
    way: dict[str, Any] = {"decode": how, "sampling": chosen, "prefix": prefix}
    _answer(trained, texts, input, batch, json, nbest > 1, way)


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
    lines = texts or _lines(path)
    for output in trained.stream(lines, chunk=chunk, look=as_json, batch=batch, **how):
        _print(output, as_json=as_json, every=every)


def together(model: str, others: Sequence[str]) -> Any:
    """A model, or an ensemble of it and others."""
    first: Any = regard.load(model)
    rest: list[Any] = [regard.load(other) for other in others]
    if rest and any(each.writes for each in (first, *rest)):
        raise ValueError("--with: is for models that answer; language models write alone")
    return first.joined(rest) if rest else first


def asked(
    own: Decode, *, beam: int | None, penalty: str | None, nbest: int = 1, sampled: bool = False
) -> Decode:
    """The model's own way of decoding with what the command line changes."""
    chosen = PENALTIES[penalty]() if penalty else None
    return own.asked(beam=beam, nbest=nbest, penalty=chosen, sampled=sampled)


def _lines(path: str | None) -> Iterator[str]:
    if path is None:
        for line in sys.stdin:
            yield line.rstrip("\n")
        return
    for read in read_lines(existing(path)):
        if read.fault:
            raise data_error(f"{path}:{read.number}", read.fault, "mend or delete the line")
        yield read.text


def _print(output: Output, *, as_json: bool, every: bool) -> None:
    if as_json:
        print(json.dumps(output.as_dict(), ensure_ascii=False), flush=True)
        return
    for answer in (output, *output.others):
        print(f"{answer.score:.4f}\t{answer.text}" if every else answer.text, flush=True)
    tell_unknown(output.unknown, output.source)
