"""Trees of tensors: map, select, repeat and join over nested tuples, named tuples and dicts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import torch
from torch import Tensor
from torch.nn import functional as F

Tree = TypeVar("Tree")


def map(function: Callable[..., Any], tree: Tree, *others: Tree) -> Tree:  # noqa: A001
    """Apply `function` to each tensor (and to its like in `others`); the rest stays as it is."""
    value: Any = tree
    if isinstance(value, Tensor):
        return cast(Tree, function(value, *others))
    if isinstance(value, dict):
        return cast(Tree, {k: map(function, v, *(o[k] for o in others)) for k, v in value.items()})  # type: ignore[index]
    if isinstance(value, tuple):
        parts = [map(function, *branch) for branch in zip(value, *others, strict=True)]  # type: ignore[arg-type]
        named = type(value) is not tuple
        return cast(Tree, type(value)(*parts) if named else tuple(parts))
    return tree


def leaves(tree: Any) -> list[Tensor]:
    """All tensors of a tree, in order."""
    found: list[Tensor] = []
    map(lambda leaf: found.append(leaf) or leaf, tree)  # type: ignore[func-returns-value]
    return found


def select(tree: Tree, rows: Tensor) -> Tree:
    """The given rows of every tensor."""
    return map(lambda leaf: leaf.index_select(0, rows), tree)


def repeat(tree: Tree, times: int) -> Tree:
    """Every row `times` times, the copies of one row standing together."""
    return map(lambda leaf: leaf.repeat_interleave(times, dim=0), tree)


def join(trees: list[Tree], *, fill: float = 0.0) -> Tree:
    """The rows of several trees, one after the other.

    Where tensors differ in another axis than that of their rows, `fill` stands behind the shorter.
    """
    return map(lambda *parts: _joined(parts, fill), trees[0], *trees[1:])


def _joined(parts: tuple[Tensor, ...], fill: float) -> Tensor:
    if len({part.shape[1:] for part in parts}) == 1:
        return torch.cat(parts)
    longest = [max(sizes) for sizes in zip(*(part.shape[1:] for part in parts), strict=True)]
    filled = []
    for part in parts:
        missing = [most - size for most, size in zip(longest, part.shape[1:], strict=True)]
        # As F.pad wants them: from the last axis on, before and behind.
        around = [count for behind in reversed(missing) for count in (0, behind)]
        filled.append(F.pad(part, around, value=fill))
    return torch.cat(filled)
