"""Inverted residual blocks, of which small backbones are made, with norms that are settled."""

from __future__ import annotations

from typing import Any

from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F


class Convolution(nn.Module):
    """relu6(γ (W * x - μ) / σ + β), μ and σ settled: one convolution with γ/σ W and β - γ/σ μ.

    W, γ and β may learn on. Channels come last, so that a convolution with single fields is one
    product. `before` and `after` are the rows (and columns) of zeros around the picture.
    """

    mean: Tensor
    deviation: Tensor

    def __init__(
        self,
        weight: Float[Tensor, "out in height width"],
        norm: nn.BatchNorm2d,
        *,
        active: bool,
        stride: int = 1,
        groups: int = 1,
        before: int = 0,
        after: int = 0,
    ) -> None:
        super().__init__()
        self.weight, self.gain, self.bias = nn.Parameter(weight), norm.weight, norm.bias
        assert norm.running_mean is not None
        assert norm.running_var is not None
        self.register_buffer("mean", norm.running_mean)
        self.register_buffer("deviation", (norm.running_var + norm.eps).sqrt())
        self.active, self.stride, self.groups = active, stride, groups
        self.before, self.after = before, after

    def forward(
        self, maps: Float[Tensor, "batch height width in"]
    ) -> Float[Tensor, "batch rows columns out"]:
        factor = self.gain / self.deviation
        weight = self.weight * factor[:, None, None, None]
        bias = self.bias - self.mean * factor
        if weight.shape[1:] == (maps.shape[3], 1, 1):
            rows = F.linear(maps.flatten(0, 2), weight.flatten(1), bias)
            return self._bounded(rows).unflatten(0, maps.shape[:3])
        channels = maps.permute(0, 3, 1, 2)
        if self.before != self.after:
            channels = F.pad(channels, (self.before, self.after) * 2)
        padding = self.before if self.before == self.after else 0
        found = F.conv2d(channels, weight, bias, self.stride, padding, groups=self.groups)
        return self._bounded(found).permute(0, 2, 3, 1)

    def _bounded(self, found: Tensor) -> Tensor:
        return F.relu6(found, inplace=True) if self.active else found


class Inverted(nn.Module):
    """x + W_2 * d(W_1 * x): few channels become many, each is seen by itself, and few are left.

    Sandler et al., CVPR 2018, https://arxiv.org/abs/1801.04381. The sum is left out where the map
    changes its shape.
    """

    def __init__(self, layers: list[Convolution], *, residual: bool) -> None:
        super().__init__()
        self.layers, self.residual = nn.Sequential(*layers), residual

    def forward(
        self, maps: Float[Tensor, "batch height width in"]
    ) -> Float[Tensor, "batch rows columns out"]:
        found: Tensor = self.layers(maps)
        return maps + found if self.residual else found


def convolution(found: Any, norm: nn.BatchNorm2d, *, active: bool) -> Convolution:
    """One of the convolutions of `efficientnet_lite_pytorch`, with the norm behind it."""
    around = found.static_padding
    left, right = around.padding[:2] if isinstance(around, nn.ZeroPad2d) else (0, 0)
    return Convolution(
        found.weight.detach(),
        norm,
        active=active,
        stride=found.stride[0],
        groups=found.groups,
        before=left,
        after=right,
    )


def inverted(block: Any) -> Inverted:
    """One of the blocks of `efficientnet_lite_pytorch`."""
    asked = block._block_args
    single = convolution(block._depthwise_conv, block._bn1, active=True)
    layers = [single, convolution(block._project_conv, block._bn2, active=False)]
    if asked.expand_ratio != 1:
        layers.insert(0, convolution(block._expand_conv, block._bn0, active=True))
    same = single.stride == 1 and asked.input_filters == asked.output_filters
    return Inverted(layers, residual=same)
