"""`regard train`: from a recipe to a model's folder."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import yaml

from regard.commands.recipes import find
from regard.config import RecipeError, complete, strangers
from regard.data.files import read_json, write_whole
from regard.tasks.base import Task
from regard.tasks.folder import DEFAULT, RECIPE, filled, read_recipe, task_of
from regard.tasks.start import start_from
from regard.train.fit import fit
from regard.train.learning import Learning
from regard.train.view import View

DATA = "fingerprints.json"
EXTENDABLE = {
    "epochs",
    "updates",
    "patience",
    "validate_every",
    "checkpoint_every",
    "log_every",
    "device",
    "devices",
    "strategy",
    "tensorboard",
}
"""Settings of `train` that a run may be continued with although they differ."""
UNREAD = ("about", "result", "decode", "data.test", "ngrams.weight")
"""Keys that training does not read, or only when it has ended."""


def train(recipe: str, changes: list[str], output: str | None, fresh: bool, quiet: bool) -> None:
    """Train until the recipe's end, from wherever the output folder stands."""
    path = find(recipe)
    given = changed(read_recipe(path), changes)
    wanted = filled(given)
    task: Any = task_of(wanted)
    folder = Path(output or Path("runs") / path.stem)
    first = os.environ.get("RANK", os.environ.get("LOCAL_RANK", "0")) == "0"
    view = View(quiet=quiet or not first)
    resolved = task.anchored(complete({"is": DEFAULT, **wanted}, Task))
    if first:
        _check_deletable(folder) if fresh else _same_run(folder, task, resolved, wanted)
    learning = task.prepare(progress=first and not quiet)
    if first:  # only now: preparing finds the mistakes that are left
        _enter(folder, resolved, _fingerprints(learning), fresh=fresh)
    if task.train.start is not None and (fresh or not _begun(folder)):
        view.say(start_from(task.train.start, learning))
    if wanted != given:
        view.say(f"fitted to the data: {_fitted(given, wanted)}")
    what, *oddities = learning.told()
    view.say(what)
    for oddity in oddities:
        view.say(oddity, style="yellow")
    trained = fit(task.train, learning, folder, view=view, card={"recipe": path.stem})
    if first and trained and not quiet:
        view.say("\nwhat to expect of it:")
        for line in learning.expected(folder):
            view.say(f"  {line}")
    trust = "".join(f" --trust {package}" for package in strangers(resolved))
    words = "".join(f"\n  regard {words.format(folder)}{trust}" for words in learning.next_words)
    view.say(f"\nthe model is in {folder}; try{words}")


def _fitted(given: dict[str, Any], wanted: dict[str, Any]) -> str:
    """What a recipe left out, in one line."""
    left_out = {key: value for key, value in wanted.items() if value != given.get(key)}
    left_out["data"] = {k: v for k, v in wanted["data"].items() if k not in given["data"]}
    return yaml.safe_dump(left_out, default_flow_style=True, sort_keys=False, width=10**6).strip()


def changed(recipe: dict[str, Any], changes: list[str]) -> dict[str, Any]:
    """The recipe with `a.b=value` put in; values are read as YAML."""
    for change in changes:
        keys, found, value = change.partition("=")
        if not found:
            raise RecipeError(f"{change!r}: wanted key=value, such as train.updates=500")
        *above, last = keys.split(".")
        place = recipe
        for key in above:
            place = place.setdefault(key, {})
            if not isinstance(place, dict):
                raise RecipeError(f"{keys}: {key} is {place!r} in the recipe, not a mapping")
        try:
            place[last] = yaml.safe_load(value)
        except yaml.YAMLError as error:
            raise RecipeError(f"{keys}: wanted a value as in YAML, got {value!r}") from error
    return recipe


def _check_deletable(folder: Path) -> None:
    """Refuse to delete what is not an earlier run."""
    if folder.exists() and any(folder.iterdir()) and not (folder / RECIPE).is_file():
        raise ValueError(
            f"{folder}: --fresh deletes an earlier run only, and this folder holds none; choose "
            "another --output"
        )


def _enter(folder: Path, resolved: dict[str, Any], data: dict[str, str], *, fresh: bool) -> None:
    """Write down in a run's folder what it is a run of."""
    if fresh and folder.exists():
        shutil.rmtree(folder)
    _same_data(folder, data)
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / RECIPE, yaml.safe_dump(resolved, sort_keys=False, allow_unicode=True))
    write_whole(folder / DATA, json.dumps(data, indent=1) + "\n")


def _fingerprints(learning: Learning) -> dict[str, str]:
    """Of all that a recipe does not hold but only names."""
    symbols = {name: own.fingerprint for name, own in learning.tokenizers.items()}
    return {"examples": learning.fingerprint(), **symbols}


def _begun(folder: Path) -> bool:
    return any((folder / "checkpoints").glob("step-*"))


def _same_run(folder: Path, task: Task, resolved: dict[str, Any], wanted: dict[str, Any]) -> None:
    """Refuse to go on with another recipe than the folder's own.

    A setting that neither the folder's recipe nor the `wanted` one has is newer than the run, which
    has had its default all along.
    """
    if not (folder / RECIPE).exists() or not _begun(folder):
        return
    before = task.anchored(read_recipe(folder / RECIPE))
    different = [
        key
        for key in _differences(before, resolved, wanted)
        if key.removeprefix("train.") not in EXTENDABLE
        and not any(f"{key}.".startswith(f"{unread}.") for unread in UNREAD)
    ]
    if different:
        raise RecipeError(
            f"{folder} holds a run of another recipe: {', '.join(different[:3])} "
            f"{'differs' if len(different) == 1 else 'differ'}; choose another --output, go on "
            f"as it began with `regard train {folder / RECIPE} --output {folder}`, or --fresh to "
            "delete it and start anew"
        )


def _same_data(folder: Path, data: dict[str, str]) -> None:
    """Refuse to go on with other data than at the start; an older run may not have noted them."""
    before = read_json(folder / DATA) if _begun(folder) else {}
    changed = [name for name, fingerprint in before.items() if data.get(name) != fingerprint]
    if changed:
        raise ValueError(
            f"{folder}: the training data changed since this run began ({', '.join(changed)}); "
            "restore the data, choose another --output, or --fresh to delete the run and start anew"
        )


def _differences(before: Any, now: Any, told: Any, where: str = "") -> list[str]:
    """The keys whose values differ, but for those that are only in `now`, not in `told`."""
    if not (isinstance(before, dict) and isinstance(now, dict)):
        return [] if before == now else [where]
    told = told if isinstance(told, dict) else {}
    return [
        different
        for key in {**before, **now}
        if key in before or key in told
        for different in _differences(
            before.get(key), now.get(key), told.get(key), f"{where}.{key}".lstrip(".")
        )
    ]
