"""Devices, precision and processes: Lightning Fabric, and weights by name whatever the strategy."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import torch
from torch import Tensor, nn

if TYPE_CHECKING:
    from lightning_fabric import Fabric

Device = Literal["auto", "cpu", "gpu", "cuda", "mps"]
Strategy = Literal["auto", "ddp", "fsdp"]
Precision = Literal["32-true", "16-mixed", "bf16-mixed", "64-true", "auto"]


def make_fabric(*, device: str, devices: int, strategy: Strategy, precision: Precision) -> Fabric:
    """One process, or the processes that torchrun or the command line started."""
    from lightning_fabric import Fabric

    launched = int(os.environ.get("WORLD_SIZE", "1"))
    local = int(os.environ.get("LOCAL_WORLD_SIZE", devices))
    chosen: Any = strategy
    if strategy == "auto":
        chosen = "ddp" if max(local, launched) > 1 else "auto"
    if strategy == "fsdp":
        from lightning_fabric.strategies import ModelParallelStrategy

        # Left alone, Lightning would make all processes of a machine share one batch.
        everyone = max(local, launched)
        chosen = ModelParallelStrategy(_shard, data_parallel_size=everyone, tensor_parallel_size=1)
    fabric = Fabric(
        accelerator=device,
        devices=local,
        strategy=chosen,
        precision=precision,
        num_nodes=max(1, launched // max(1, local)),
    )
    fabric.launch()
    return fabric


def suited(precision: Precision, device: str) -> Precision:
    """What `auto` stands for: 16 bits in products where the device has units made for them.

    A processor without them computes 16 bits slower than 32.
    """
    if precision != "auto":
        return precision
    if device in ("auto", "cuda", "gpu") and torch.cuda.is_available():
        able = torch.cuda.is_bf16_supported(including_emulation=False)
    else:
        # An older PyTorch does not tell what a processor can do.
        known: dict[str, object] = getattr(torch.cpu, "get_capabilities", dict)()
        units = ("amx_bf16", "avx512_bf16")
        able = device in ("auto", "cpu") and any(known.get(unit) for unit in units)
    return "bf16-mixed" if able else "32-true"


def _shard(model: nn.Module, mesh: Any) -> Any:
    from torch.distributed.fsdp import fully_shard

    return fully_shard(model, mesh=mesh["data_parallel"])


def weights_of(model: nn.Module) -> dict[str, Tensor]:
    """Every parameter once, by name, whole even where it is sharded."""
    return {name: whole(p.detach()) for name, p in model.named_parameters()}


def put_weights(model: nn.Module, weights: Mapping[str, Tensor]) -> None:
    """The reverse of `weights_of`; what is missing or of another shape is named."""
    own = dict(model.named_parameters())
    if own.keys() != weights.keys():
        odd = sorted(own.keys() ^ weights.keys())
        raise ValueError(
            f"the weights do not fit the model: {odd[0]} is in only one of them "
            f"({len(odd)} differ); the recipe and the file belong to different models"
        )
    for name, parameter in own.items():
        if parameter.shape != weights[name].shape:
            raise ValueError(
                f"the weights do not fit the model: {name} wanted shape "
                f"{tuple(parameter.shape)}, got {tuple(weights[name].shape)}"
            )
        with torch.no_grad():
            parameter.copy_(placed_like(parameter, weights[name]))


def optimizer_tensors(model: nn.Module, optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    """The optimizer's memory of every parameter, by the parameter's name."""
    return {
        f"{name}/{key}": whole(value).clone()
        for name, parameter in model.named_parameters()
        for key, value in optimizer.state.get(parameter, {}).items()
        if isinstance(value, Tensor)
    }


def put_optimizer_tensors(
    model: nn.Module, optimizer: torch.optim.Optimizer, tensors: Mapping[str, Tensor]
) -> None:
    """The reverse of `optimizer_tensors`."""
    parameters = dict(model.named_parameters())
    for path, value in tensors.items():
        name, _, key = path.rpartition("/")
        parameter = parameters[name]
        placed = placed_like(parameter, value) if value.shape == parameter.shape else value
        optimizer.state[parameter][key] = placed.clone()


def whole(tensor: Tensor) -> Tensor:
    """A sharded tensor gathered; any other as it is."""
    return tensor.full_tensor() if _sharded(tensor) else tensor  # type: ignore[attr-defined]


def placed_like(parameter: Tensor, value: Tensor) -> Tensor:
    """A whole tensor sharded, or put on the device, like a parameter."""
    value = value.to(parameter.device, parameter.dtype)
    if _sharded(parameter):
        from torch.distributed.tensor import distribute_tensor

        return distribute_tensor(value, parameter.device_mesh, parameter.placements)  # type: ignore[attr-defined]
    return value


def _sharded(tensor: Tensor) -> bool:
    # The module takes a second to import, and where nobody has, nothing is sharded.
    tensors = sys.modules.get("torch.distributed.tensor")
    return tensors is not None and isinstance(tensor, tensors.DTensor)
