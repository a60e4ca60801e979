"""`regard look`: where a model looked, how its gradients flow, and what it makes of sentences."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import regard
from regard.commands.describe import look_at, pictures
from regard.commands.gradients import follow
from regard.commands.refuse import refuse, tell_unknown
from regard.commands.run import asked
from regard.look import align
from regard.look.grow import tree_text
from regard.look.trace import Trace

Load: TypeAlias = Callable[[], Any]
"""Gives the model, which takes a while: wrong options are refused before."""


def look(
    model: str,
    texts: list[str],
    gradients: bool,
    mapped: bool,
    view: str | None,
    words: bool,
    gold: str | None,
    answer: str | None,
    beam: int | None,
    penalty: str | None,
    output: str | None,
    dark: bool,
    input: list[str] | None,  # noqa: A002
    steps: int | None,
    clip: float | None,
    clip_value: float | None,
    trust: list[str],
) -> None:
    """Draw one of three pictures and say where it is."""
    path = output or "look.png"
    seeing = {
        "--view": view, "--words": words, "--gold": gold, "--answer": answer, "--beam": beam,
        "--penalty": penalty,
    }  # fmt: skip
    if gradients or mapped:
        refuse(seeing, "is for looking at a text")
    if not gradients:
        following = {"--input": input, "--steps": steps, "--clip": clip, "--clip-value": clip_value}
        refuse(following, "is for following gradients; add --gradients")
    load: Load = partial(regard.load, model, trust=tuple(trust))
    if gradients:
        follow([model, *texts], path, dark, input, steps, clip, clip_value, tuple(trust))
    elif mapped:
        file = _one(texts, "a file of sentences behind the model")
        _map(load, file, path, dark)
    else:
        _see(load, texts, seeing, output=output, dark=dark)


def _see(
    load: Load, texts: list[str], options: dict[str, Any], *, output: str | None, dark: bool
) -> None:
    """Have one text or photo answered, and show how; several photos become a sheet."""
    view, words, gold, answer, beam, penalty = options.values()
    searching = {"--beam": beam, "--penalty": penalty}
    if answer is not None:
        refuse(searching, "is for searching; an --answer is not searched for")
    if view != "heads":
        refuse({"--gold": gold}, "is for measuring heads; add --view heads")
    trained = load()
    if trained.writes:
        refuse(searching, "is for models that answer; this one writes on")
    if trained.sees:
        refuse({"--words": words, "--gold": gold}, "is for models of texts")
        photos = pictures(texts)
        if len(photos) > 1:
            refuse(options, f"is for one picture, got {len(photos)}")
            look_at(trained, photos, output=output or "look.png", dark=dark)
            return
        texts = [str(photos[0])]
    text = _one(texts, "a text to look at, in quotes if it has several words")
    how: dict[str, Any] = {"answer": answer}
    if beam is not None or penalty is not None:
        how["decode"] = asked(trained.decode, beam=beam, penalty=penalty)
    seen = trained.look(text, **how)
    seen = seen.merged() if words or gold is not None else seen
    shown = _shown(seen, view or "matrix", gold=gold, output=output, dark=dark)
    before, said = (text, seen.text) if trained.sees else _symbols(seen)
    if not trained.sees and not trained.writes:
        tell_unknown(trained.source.unknown(text), text)
    if answer is not None:
        tell_unknown(trained.target.unknown(answer), answer)
    print(f"{before} → {said}\n{shown}")


def _symbols(seen: Trace) -> tuple[str, str]:
    return " ".join(seen.source.labels), " ".join(seen.target)


def _shown(
    seen: Trace, view: str, *, gold: str | None, output: str | None, dark: bool
) -> Path | str:
    """Where the picture is; or the search itself, where no file is wanted."""
    if view == "tree" and output is None:
        return tree_text(seen.searched)
    links = None if gold is None else align.gold(gold)
    named = output or ("look.gif" if view == "animation" else "look.png")
    return seen.save(named, view=view, gold=links, dark=dark)


def _map(load: Load, file: str, path: str, dark: bool) -> None:
    from regard.look.sentence_map import beside, enough, read_sentences, sentence_map

    sentences, groups = read_sentences(file)
    enough(sentences)
    if (table := beside(Path(path))).resolve() == Path(file).resolve():
        raise ValueError(f"{table}: would be written over; choose another --output")
    trained = load()
    found = sentence_map(sentences, trained.summaries(sentences), groups)
    place = found.save(path, dark=dark)
    for sentence in sentences:
        tell_unknown(trained.source.unknown(sentence), sentence)
    print(f"{len(sentences):,} sentences\n{place}\n{beside(place)}")


def _one(texts: list[str], wanted: str) -> str:
    if len(texts) != 1:
        raise ValueError(f"wanted {wanted}, got {len(texts) or 'none'}")
    return texts[0]
