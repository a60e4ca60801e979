"""A model is a folder: weights, recipe, tokenizers, card. Reading one never runs code from it."""

from __future__ import annotations

import json
import platform
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import torch
import yaml
from safetensors import SafetensorError, safe_open
from torch import Tensor, nn

import regard
from regard.config import OWN, RecipeError, build, resolve
from regard.data.files import write_whole
from regard.tasks.base import Task, Trained
from regard.train.checkpoint import write_tensors
from regard.train.engine import put_weights

WEIGHTS, RECIPE, CARD = "model.safetensors", "recipe.yaml", "card.json"
DEFAULT = "tasks.Translate"
SOURCE, TARGET = "source.tokenizer.json", "target.tokenizer.json"
PICTURES = "pictures.json"
NGRAMS = "ngrams.safetensors"
CHECKSUM = "sha256"


def load(folder: str | Path, *, trust: tuple[str, ...] = ()) -> Trained:
    """The trained model in a folder.

    Its recipe may name Regard's own parts only, unless `trust` adds packages of the user's.
    """
    path = Path(folder)
    if not (path / RECIPE).is_file() or not (path / WEIGHTS).is_file():
        raise ValueError(
            f"{path}: wanted a folder with {WEIGHTS} and {RECIPE}, {_what_is_there(path)}"
        )
    try:
        return task_in(path, trust=trust).restore(path)
    except RecipeError as error:
        named = str(error).removeprefix(f"{path / RECIPE}: ")
        raise ValueError(f"{path / RECIPE}: {named}") from error


def task_in(folder: str | Path, *, trust: Sequence[str] = ()) -> Task:
    """The task that a model in a folder was trained for; see `load`."""
    return task_of(read_recipe(Path(folder) / RECIPE), trust=(*OWN, *trust))


def task_of(recipe: Mapping[str, Any], *, trust: tuple[str, ...] | None = None) -> Task:
    """The task that a recipe describes; without `is`, text to text."""
    spec = {"is": DEFAULT, **recipe}
    return build(spec, Task, trust=trust).build()


def filled(recipe: dict[str, Any]) -> dict[str, Any]:
    """A recipe with what it leaves out to be chosen by its data."""
    kind: type[Task] = resolve(recipe.get("is", DEFAULT), Task, where="is", trust=None)
    return kind.filled(recipe)


def read_recipe(path: Path) -> dict[str, Any]:
    """A recipe file as a mapping."""
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise RecipeError(f"{path}: not YAML: {error}") from error
    recipe = parsed(text, where=str(path))
    if not isinstance(recipe, dict):
        got = {type(None): "nothing", list: "a list", str: "a text"}.get(type(recipe), repr(recipe))
        raise RecipeError(f"{path}: wanted a recipe, keys with values, got {got}")
    return recipe


def parsed(text: str, *, where: str) -> Any:
    """What a text says in YAML, as in a recipe."""
    try:
        return yaml.load(text, _Once)
    except yaml.YAMLError as error:
        raise RecipeError(f"{where}: not YAML: {' '.join(str(error).split())}") from error


class _Once(yaml.SafeLoader):
    """YAML in which no key of a mapping stands twice: the first of them would be lost unseen."""

    def compose_mapping_node(self, anchor: Any) -> yaml.MappingNode:
        node = super().compose_mapping_node(anchor)
        # As they are written: what is merged in (<<) may well be said anew.
        keys = [key.value for key, _ in node.value if key.value != "<<"]
        if twice := [key for place, key in enumerate(keys) if key in keys[:place]]:
            line = node.start_mark.line + 1
            raise yaml.YAMLError(f"the key {twice[0]!r} stands twice in the mapping of line {line}")
        return node


def weights_in(folder: Path) -> dict[str, Tensor]:
    """A folder's weights by name."""
    try:
        with safe_open(folder / WEIGHTS, framework="pt") as file:
            wanted = (file.metadata() or {}).get(CHECKSUM)
            weights = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        if wanted not in (None, _checksum(weights)):
            raise OSError("its content does not fit its checksum")
        return weights
    except (SafetensorError, OSError) as error:
        raise ValueError(
            f"{folder / WEIGHTS}: not a whole file of weights ({error}); "
            "copy or train the model again"
        ) from error


def read_weights(folder: Path, model: nn.Module) -> None:
    """Fill a model with a folder's weights."""
    weights = weights_in(folder)
    try:
        put_weights(model, weights)
    except ValueError as error:
        raise ValueError(f"{folder / WEIGHTS}: {error}") from error


def read_card(folder: Path) -> dict[str, Any]:
    """What is known of a model; {} where there is no card."""
    try:
        return dict(json.loads((folder / CARD).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return {}


def write(folder: Path, weights: Mapping[str, Tensor], card: Mapping[str, Any]) -> None:
    """Write weights and card, each whole or not at all; the weights last."""
    versions = {
        "regard": regard.__version__,
        "torch": torch.__version__,
        "python": platform.python_version(),
    }
    facts = {**card, "versions": versions}
    write_whole(folder / CARD, json.dumps(facts, indent=1, ensure_ascii=False) + "\n")
    write_whole(folder / "card.md", _card_text(folder.name, facts))
    part = folder / f".{WEIGHTS}.part"
    write_tensors(part, weights, {CHECKSUM: _checksum(weights)})
    part.replace(folder / WEIGHTS)


def _checksum(weights: Mapping[str, Tensor]) -> str:
    """Of all weights: a bit that has turned would change what a model says, and no more."""
    found = sha256()
    for name, tensor in sorted(weights.items()):
        found.update(name.encode())
        found.update(tensor.detach().cpu().contiguous().flatten().view(torch.uint8).numpy().data)
    return found.hexdigest()


def _card_text(name: str, facts: Mapping[str, Any]) -> str:
    data = facts.get("data", {}).get("train", {})
    unit = next((u for u in ("pairs", "images", "characters") if u in data), "pairs")
    scores = "\n".join(f"| {k} | {v:.2f} |" for k, v in facts.get("validation", {}).items())
    return (
        f"# {name}\n\n{facts.get('about') or 'A model trained with Regard.'}\n\n"
        f"Trained on {data.get(unit, 0):,} {unit} ({data.get('target_tokens', 0):,} target "
        f"symbols) for {', '.join(_run(facts))}; weights: {facts.get('weights')}.\n\n"
        f"| validation | score |\n|---|---|\n{scores}\n\n"
        f"Made with {', '.join(f'{k} {v}' for k, v in facts['versions'].items())}. "
        "The recipe is in recipe.yaml, everything else that is known in card.json.\n"
    )


def _run(facts: Mapping[str, Any]) -> Iterator[str]:
    minutes = facts.get("training_seconds", 0) / 60
    yield f"{facts.get('updates', 0):,} updates in {minutes:.1f} minutes"
    if "seed" in facts:
        yield f"seed {facts['seed']}"
    if "precision" in facts:
        yield str(facts["precision"])
    if facts.get("peak_memory"):
        yield f"{facts['peak_memory'] / 2**30:.1f} GiB at the peak"


def _what_is_there(path: Path) -> str:
    if not path.exists():
        near = sorted(p.name for p in path.parent.glob("*") if p.is_dir())[:5]
        return f"but there is no such folder; beside it: {', '.join(near) or 'nothing'}"
    if (path / "checkpoints").is_dir():
        return "but its training has not finished; give the same train command again to go on"
    return "got a folder without them; did you mean the --output of regard train?"
