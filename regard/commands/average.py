"""`regard average`: several checkpoints of one run as one model."""

from __future__ import annotations

import shutil
from pathlib import Path

from regard.tasks import folder
from regard.train import checkpoint, state


def average(run: str, last: int | None, best: int | None, output: str) -> None:
    """Write a new model's folder with the mean of a run's checkpoints."""
    source, target = Path(run), Path(output)
    files = checkpoint.listed(source / "checkpoints")
    if not files:
        raise ValueError(
            f"{source}: wanted the output folder of regard train, got one without checkpoints"
        )
    wanted = (
        _last(files, last) if last is not None else _best(files, best if best is not None else 1)
    )
    if target.exists():
        raise ValueError(f"{target}: is there already; choose a new --output")
    chosen = [_read(path) for path in wanted]
    kind = "ema" if any(name.startswith("ema/") for name in chosen[0].tensors) else "model"
    if not (source / folder.WEIGHTS).exists():
        raise ValueError(f"{source / folder.WEIGHTS} is missing: let the training finish once")
    target.mkdir(parents=True)
    # Tokenizers, preprocessing and n-grams, whatever the task has of them.
    for path in (source / folder.RECIPE, *source.glob("*.json"), *source.glob(folder.NGRAMS)):
        shutil.copyfile(path, target / path.name)
    updates = ", ".join(str(checkpoint.update_of(path)) for path in wanted)
    card = {**folder.read_card(source), "weights": f"average of updates {updates}"}
    card.pop("validation", None)  # measured on other weights
    folder.write(target, state.averaged([state.part(each, kind) for each in chosen]), card)
    print(f"the average of updates {updates} is in {target}")


def _read(path: Path) -> checkpoint.Checkpoint:
    try:
        return checkpoint.read(path)
    except ValueError as error:
        raise ValueError(f"{error}; delete it, and another one is taken in its place") from error


def _last(files: list[Path], count: int) -> list[Path]:
    by_update = {checkpoint.update_of(path): path for path in files}
    if not 1 <= count <= len(by_update):
        raise ValueError(
            f"--last: wanted 1 to {len(by_update)}, the number of checkpoints that this run kept, "
            f"got {count}; train with a larger train.average and train.average_of=last to keep more"
        )
    return list(by_update.values())[-count:]


def _best(files: list[Path], count: int) -> list[Path]:
    ranked = _read(files[-1]).facts["best"]
    by_update = {checkpoint.update_of(path): path for path in files}
    kept = [by_update[update] for update in ranked if update in by_update]
    if not 1 <= count <= len(kept):
        raise ValueError(
            f"--best: wanted 1 to {len(kept)}, the number of best checkpoints that "
            f"this run kept, got {count}; train with a larger train.average to keep more"
        )
    return kept[:count]
