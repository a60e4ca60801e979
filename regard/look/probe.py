"""A model's own gradients on real text: through time, and of all its parameters."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from regard.directions import Bidirectional
from regard.language import LanguageModel
from regard.look.gradients import Flow, Matrix, Vector, flows, gradient_flow, singular_values
from regard.look.steps import Track, followed
from regard.losses import likelihood
from regard.model import Seq2Seq
from regard.recurrent import CELLS

Model = TypeVar("Model", bound=nn.Module)


@dataclass(frozen=True)
class Gradients:
    """How the gradient of a model's loss reaches its earlier steps, and what it is in all."""

    kind: str
    flows: list[Flow]
    matrices: list[Matrix]
    gradient: Vector
    """The gradient of the mean loss of a symbol, by every parameter."""
    inputs: Float[Tensor, "batch time inputs"]
    lengths: Int[Tensor, " batch"]
    dim: int

    @property
    def top(self) -> list[Flow]:
        """The flows of the top layer: h, and c where there is one."""
        return [flow for flow in self.flows if flow.layer == self.flows[-1].layer]

    def fresh(self, *, seed: int = 1) -> dict[str, Flow]:
        """How it would flow in a new RNN, LSTM and GRU of the same size, on the same inputs.

        The gradient begins in a random direction with the model's own norm, so that all begin
        alike and only what a step does to it differs.
        """
        layers, found = self.flows[-1].layer, {}
        for kind in CELLS.values():
            with torch.random.fork_rng(devices=[]):
                torch.manual_seed(seed)
                cell = kind(self.inputs.shape[2], self.dim, layers=layers).double()
                way = F.normalize(torch.randn(len(self.inputs), self.dim).double(), dim=1)
            way = way * float(self.top[0].norms[0])
            new = gradient_flow(cell, self.inputs, partial(_along, way), lengths=self.lengths)
            last = next(flow for flow in new if (flow.layer, flow.part) == (layers, "h"))
            reach = len(self.top[0].norms)
            found[kind.__name__] = last._replace(norms=last.norms[:reach])
        return found


def language_gradients(
    model: LanguageModel, tokens: np.ndarray, *, steps: int = 100, rows: int = 32
) -> Gradients:
    """The loss of one symbol, as many steps back: L_T = -log p(y_T | y_<T), h_0 = 0.

    Rows are cut from the text at even distances.
    """
    if len(tokens) < steps + 2:
        raise ValueError(
            f"gradients: wanted a text of at least {steps + 2:,} symbols to go {steps:,} steps "
            f"back, got {len(tokens):,}; give a longer text or fewer steps"
        )
    model = _exact(model)
    places = np.linspace(0, len(tokens) - steps - 2, rows).astype(int)
    cut = tokens[np.unique(places)[:, None] + np.arange(steps + 2)]
    rows_of = torch.from_numpy(cut.astype(np.int64))
    before, after = rows_of[:, :-1], rows_of[:, 1:]
    with followed(model) as tracks:
        outputs, _ = model(before)
    loss = F.cross_entropy(model.head(outputs[:, -1]), after[:, -1], reduction="sum")
    outputs, _ = model(before)
    every = likelihood(model.head, outputs, after, torch.ones_like(after, dtype=torch.bool))
    lengths = torch.full((len(before),), steps + 1)
    return _gradients(model, tracks, loss, lengths, every.loss / every.tokens)


def translation_gradients(
    model: Seq2Seq,
    source: Int[Tensor, "batch source"],
    source_mask: Bool[Tensor, "batch source"],
    inputs: Int[Tensor, "batch time"],
    targets: Int[Tensor, "batch time"],
    target_mask: Bool[Tensor, "batch time"],
    *,
    steps: int = 100,
) -> Gradients:
    """The mean loss of a target's symbols, from the end of what the encoder read back.

    L = -1/n · Σ_i log p(y_i | y_<i, x). Where the encoder reads from both ends, its states from
    left to right are followed.
    """
    model = _exact(model)
    with followed(model.encoder) as tracks:
        outputs = model(source, source_mask, inputs).outputs
    ahead = _ahead(model, tracks)
    if not ahead or any(track.inputs.shape[:2] != source.shape for track in ahead):
        raise ValueError(
            "gradients: wanted an encoder that reads the source step by step (RNN, LSTM, GRU), "
            "from its first symbol to its last, got one that does not"
        )
    each = F.cross_entropy(model.head(outputs).transpose(1, 2), targets, reduction="none")
    each = each * target_mask
    loss, mean = (each.sum(1) / target_mask.sum(1)).sum(), each.sum() / target_mask.sum()
    found = _gradients(model, ahead, loss, source_mask.sum(1), mean)
    short = [flow._replace(norms=flow.norms[: steps + 1]) for flow in found.flows]
    return replace(found, flows=short)


def _ahead(model: nn.Module, tracks: Sequence[Track]) -> list[Track]:
    """What was read from left to right."""
    both = (part for part in model.modules() if isinstance(part, Bidirectional))
    back = {id(cell) for part in both for cell in part.backwards}
    return [track for track in tracks if id(track.cell) not in back]


def _gradients(
    model: nn.Module, tracks: Sequence[Track], loss: Tensor, lengths: Tensor, mean: Tensor
) -> Gradients:
    parameters = [weight for weight in model.parameters() if weight.requires_grad]
    whole = torch.autograd.grad(mean, parameters, retain_graph=True, materialize_grads=True)
    matrices: list[Matrix] = []
    for track in tracks:
        below = matrices[-1].layer if matrices else 0
        matrices += [m._replace(layer=m.layer + below) for m in singular_values(track.cell)]
    return Gradients(
        type(tracks[0].cell).__name__,
        flows(tracks, loss, lengths),
        matrices,
        torch.cat([part.flatten() for part in whole]),
        tracks[0].inputs.detach(),
        lengths,
        tracks[0].cell.dim,
    )


def _along(way: Tensor, ends: Tensor) -> Tensor:
    """A loss whose gradient by the last outputs is `way`."""
    return (ends * way).sum()


def _exact(model: Model) -> Model:
    """A copy in double precision: what has vanished must not be rounding."""
    return copy.deepcopy(model).cpu().double().eval()
