"""What a recipe leaves out, chosen to fit its data: symbols, size, dropout, length of training."""

from __future__ import annotations

import inspect
import json
from collections import Counter
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from regard.config import SUPPLIED, RecipeError
from regard.data import Pairs, Report
from regard.data.files import key, read_json, write_whole
from regard.data.prepared import content
from regard.data.sources import data_error
from regard.systems import transformer
from regard.words import nearest

LENGTHS = {"epochs", "updates", "minutes"}
LOOKED_AT = 20_000
HELD_OUT = 2_000


class Survey(NamedTuple):
    """What the training pairs are like."""

    pairs: int
    spaced: bool
    """Whether both sides put blanks between their words."""
    alike: float
    """The share of the letters of either side that the other side uses too."""


ANY = Survey(pairs=10_000, spaced=True, alike=1.0)
"""Stands in until the pairs are read: which keys a recipe may have does not depend on them."""


def survey(pairs: Pairs, *, cache: Path) -> Survey:
    """What the pairs are like; pairs that were looked at before are known from the cache."""
    path = cache / f"survey-{key({**content(pairs, cache), 'looked_at': LOOKED_AT})}.json"
    known: dict[str, Any] = read_json(path)
    if known.keys() == set(Survey._fields):
        return Survey(**known)
    found = _survey(pairs)
    write_whole(path, json.dumps(found._asdict()))
    return found


def _survey(pairs: Pairs) -> Survey:
    """Count the pairs and look at the first of them."""
    reading = pairs.read(Report())
    letters: tuple[Counter[str], Counter[str]] = (Counter(), Counter())
    count = 0
    for count, pair in enumerate(islice(reading, LOOKED_AT), start=1):  # noqa: B007
        for counts, text in zip(letters, (pair.source, pair.target), strict=True):
            counts.update(text.lower())
    count += sum(1 for _ in reading)
    if not count:
        raise data_error(pairs.settings["is"], "there is no pair to learn from", "check data.train")
    shares = [counts[" "] / max(1, counts.total()) for counts in letters]
    common = [
        sum(n for letter, n in one.items() if letter in other) / max(1, one.total())
        for one, other in (letters, letters[::-1])
    ]
    return Survey(count, min(shares) > 1 / 20, min(common))


def incomplete(recipe: dict[str, Any]) -> bool:
    """Whether there is something to choose."""
    data = recipe.get("data")
    if not isinstance(data, dict) or "train" not in data:
        return False  # which no default can mend
    left_out = {"metrics"} - recipe.keys() or {"source"} - data.keys()
    every = (unnamed(recipe), untimed(recipe), left_out, not {"valid", "held_out"} & data.keys())
    return any(every)


def unnamed(recipe: dict[str, Any]) -> bool:
    """Whether a model is to be chosen; a recipe may still say some things about it."""
    own = recipe.get("model", {})
    return isinstance(own, dict) and "is" not in own


def untimed(recipe: dict[str, Any]) -> bool:
    """Whether how long to train is to be chosen."""
    own = recipe.get("train") or {}
    return isinstance(own, dict) and not LENGTHS & own.keys()


def _checked(own: dict[str, Any]) -> dict[str, Any]:
    """What a recipe says about a model that it does not name."""
    known = [name for name in inspect.signature(transformer).parameters if name not in SUPPLIED]
    for name in own:
        if name not in known:
            raise RecipeError(
                f"model.{name}: unknown key{nearest(str(name), known)}\nmodel.is is missing, so "
                "the system is systems.transformer; name another there if you mean one"
            )
    return own


def fitted(recipe: dict[str, Any], found: Survey) -> dict[str, Any]:
    """The recipe with everything that it leaves out."""
    data = dict(recipe["data"])
    if "valid" not in data:
        data.setdefault("held_out", round(min(0.1, max(0.001, HELD_OUT / found.pairs)), 4))
    if "source" not in data:
        data |= symbols(found)
    metrics = ["bleu", "chrf"] if found.spaced else ["chrf"]
    full = {"metrics": metrics, **recipe, "data": data}
    if unnamed(recipe):
        shared = "target" not in data
        own = _checked(recipe.get("model", {}))
        sizes = {"is": "systems.transformer"} if "size" in own else model(found.pairs)
        full["model"] = {**sizes, "shared": shared, **own}
    # Who names a model and says for how long it is trained has a way of their own with it.
    if unnamed(recipe) or (untimed(recipe) and isinstance(full["model"], dict)):
        steady = full["model"]["is"] == "systems.transformer"
        full["train"] = merged(training(found.pairs, steady=steady), recipe.get("train") or {})
        full.setdefault("smoothing", 0.1)
        full.setdefault("decode", {"beam": 5, "penalty": {"is": "search.Gnmt", "alpha": 1.0}})
    return full


def merged(chosen: dict[str, Any], own: Any) -> Any:
    """What was chosen with the recipe's own settings on top; it says one length of training."""
    if not isinstance(own, dict):
        return own
    if LENGTHS & own.keys() - {"epochs"}:
        chosen = {key: value for key, value in chosen.items() if key != "epochs"}
        chosen["schedule"] = {**chosen["schedule"], "warmup": 0.1}
    return {**chosen, **{key: _within(chosen.get(key), value) for key, value in own.items()}}


def _within(chosen: Any, own: Any) -> Any:
    """A part's own settings on top of those that were chosen, unless it names another part."""
    parts = isinstance(chosen, dict) and isinstance(own, dict) and "is" not in own
    return {**chosen, **own} if parts else own


def symbols(found: Survey) -> dict[str, Any]:
    """Pieces of words, the more pairs the more of them; one vocabulary for one alphabet."""
    sizes = {20_000: 4_000, 100_000: 8_000, 400_000: 12_000}
    size = next((size for most, size in sizes.items() if found.pairs < most), 16_000)
    kind = "data.Bpe" if found.spaced else "data.Unigram"
    if found.alike > 0.8:
        return {"source": {"is": kind, "size": size}}
    return {side: {"is": kind, "size": size * 3 // 4} for side in ("source", "target")}


def model(pairs: int) -> dict[str, Any]:
    """A Transformer: small and with much dropout for few pairs, larger and with less for many."""
    if pairs < 100_000:
        dropout = 0.3 if pairs >= 20_000 else 0.35
        return {"is": "systems.transformer", "dim": 128, "hidden": 256, "dropout": dropout}
    dropout = 0.2 if pairs < 400_000 else 0.1
    sizes = {"dim": 256, "hidden": 512, "layers": 3}
    return {"is": "systems.transformer", **sizes, "dropout": dropout}


def training(pairs: int, *, steady: bool = True) -> dict[str, Any]:
    """About a million and a half sentences, seen in at least three and at most 80 rounds.

    A model that is not as steady as a Transformer learns in half of that, in smaller steps.
    """
    large = pairs >= 100_000
    seen = 1_500_000 if steady else 750_000
    epochs, tokens = max(3, min(80, round(seen / pairs))), 4096 if large else 2500
    updates = epochs * pairs * 12 // tokens  # about a dozen symbols a pair
    return {
        "epochs": epochs,
        "tokens": tokens,
        "optimizer": {"is": "torch.optim.AdamW", "lr": 0.004 if steady and not large else 0.002},
        "schedule": {"is": "train.Cosine", "warmup": max(20, min(800, updates // 10))},
        "ema": 0.999,
        "precision": "auto",
    }
