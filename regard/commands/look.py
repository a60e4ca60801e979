"""`regard look`: where a model looked, how its gradients flow, and what it makes of sentences."""

from __future__ import annotations

from collections.abc import Mapping

import regard
from regard.commands.describe import look_at
from regard.commands.gradients import follow


def look(
    model: str,
    texts: list[str],
    gradients: bool,
    mapped: bool,
    answer: str | None,
    output: str | None,
    heads: bool,
    dark: bool,
    input: list[str] | None,  # noqa: A002
    steps: int | None,
    clip: float | None,
    clip_value: float | None,
) -> None:
    """Draw one of three pictures and say where it is."""
    path = output or "look.png"
    if gradients or mapped:
        _refuse({"--answer": answer, "--heads": heads or None}, "for looking at a text")
    if not gradients:
        following = {"--input": input, "--steps": steps, "--clip": clip, "--clip-value": clip_value}
        _refuse(following, "for following gradients; add --gradients")
    if gradients:
        follow([model, *texts], path, dark, input, steps, clip, clip_value)
    elif mapped:
        _map(model, _one(texts, "a file of sentences behind the model"), path, dark)
    else:
        trained = regard.load(model)
        if trained.sees:
            _refuse({"--heads": heads or None}, "for models of texts")
            look_at(trained, texts, answer=answer, output=path, dark=dark)
            return
        text = _one(texts, "a text to look at, in quotes if it has several words")
        seen = trained.look(text, answer=answer)
        place = seen.save(path, heads=heads, dark=dark)
        print(f"{' '.join(seen.source.labels)} → {' '.join(seen.target)}\n{place}")


def _map(model: str, file: str, path: str, dark: bool) -> None:
    from regard.look.sentence_map import read_sentences, sentence_map

    sentences, groups = read_sentences(file)
    found = sentence_map(sentences, regard.load(model).summaries(sentences), groups)
    place = found.save(path, dark=dark)
    print(f"{len(sentences):,} sentences\n{place}\n{place.with_suffix('.tsv')}")


def _one(texts: list[str], wanted: str) -> str:
    if len(texts) != 1:
        raise ValueError(f"wanted {wanted}, got {len(texts) or 'none'}")
    return texts[0]


def _refuse(options: Mapping[str, object], purpose: str) -> None:
    for option, value in options.items():
        if value is not None:
            raise ValueError(f"{option}: is {purpose}")
