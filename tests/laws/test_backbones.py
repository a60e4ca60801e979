"""Backbones: one interface, whoever trained them; the company in a batch changes nothing."""

from __future__ import annotations

import json
import shutil
import sys
import types
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from regard.encoders import Backbone, EfficientNetLite, SmallCnn, Timm, Transformers


def lite(_: Path) -> Backbone:
    pytest.importorskip("efficientnet_lite_pytorch")
    return EfficientNetLite(stages=[4, 8], size=64)


def small(_: Path) -> Backbone:
    return SmallCnn(dim=24, size=64)


def resnet(folder: Path) -> Backbone:
    transformers = pytest.importorskip("transformers")
    config = transformers.ResNetConfig(embedding_size=8, hidden_sizes=[8, 16], depths=[1, 1])
    return saved(folder, transformers.ResNetModel(config), {"shortest_edge": 64})


def vit(folder: Path) -> Backbone:
    """With a class token before the fields."""
    transformers = pytest.importorskip("transformers")
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    config = transformers.ViTConfig(**sizes, intermediate_size=16, image_size=64, patch_size=16)
    return saved(folder, transformers.ViTModel(config), {"height": 64, "width": 64})


def staged_resnet(folder: Path) -> Backbone:
    resnet(folder)
    return Transformers(str(folder), stage=1)


def saved(folder: Path, model: Any, size: dict[str, int]) -> Backbone:
    model.save_pretrained(folder)
    settings = {"size": size, "image_mean": [0.5, 0.5, 0.5], "image_std": [0.5, 0.4, 0.25]}
    (folder / "preprocessor_config.json").write_text(json.dumps({**settings, "resample": 2}))
    return Transformers(str(folder))


class Foreign(nn.Module):
    """What timm's models have in common, for a machine without it."""

    num_features, num_prefix_tokens = 6, 1

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.kind, self.patches = kind, nn.Conv2d(3, 6, 16, stride=16)

    def forward_intermediates(
        self, pixels: Tensor, *, indices: list[int], intermediates_only: bool
    ) -> list[Tensor]:
        assert intermediates_only
        assert 0 <= indices[0] < 2, f"feature index {indices[0]} is out of range"
        fine = F.interpolate(self.patches(pixels)[:, :4], scale_factor=2)
        return [[fine, self.patches(pixels)][index] for index in indices]

    def forward_features(self, pixels: Tensor) -> Tensor:
        maps = self.patches(pixels)
        if self.kind == "channels last":
            return maps.permute(0, 2, 3, 1)
        if self.kind == "tokens":
            tokens = maps.flatten(2).transpose(1, 2)
            return torch.cat([tokens.mean(1, keepdim=True), tokens], 1)
        return maps


class Plain(nn.Module):
    """Tells less of itself, as some of timm's models do."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.kind, self.patches = kind, nn.Conv2d(3, 6, 16, stride=16)

    def forward_features(self, pixels: Tensor) -> Any:
        tokens = self.patches(pixels).flatten(2).transpose(1, 2)
        return {"flat": tokens.mean(1), "several": [tokens, tokens]}.get(self.kind, tokens)


@pytest.fixture
def timm(monkeypatch: pytest.MonkeyPatch) -> None:
    module: Any = types.ModuleType("timm")
    module.__spec__ = ModuleSpec("timm", None)
    kinds = {"maps": Foreign, "channels last": Foreign, "tokens": Foreign}
    kinds |= {"plain": Plain, "flat": Plain, "several": Plain}
    module.create_model = lambda name, pretrained, num_classes: kinds[name](name)
    module.list_models = lambda: [*kinds]
    found = {"input_size": (3, 64, 64), "mean": (0.5, 0.5, 0.5), "std": (0.5, 0.4, 0.25)}
    module.data = types.SimpleNamespace(resolve_model_data_config=lambda model: found)
    monkeypatch.setitem(sys.modules, "timm", module)


MAKERS = [lite, small, resnet, staged_resnet, vit, lambda _: Timm("maps", stage=1)]
MAKERS += [lambda _, kind=kind: Timm(kind) for kind in ("maps", "channels last", "tokens", "plain")]


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.usefixtures("timm")
def test_one_interface(make: Callable[[Path], Backbone], tmp_path: Path) -> None:
    torch.manual_seed(2)
    backbone = make(tmp_path).eval()
    size = backbone.preprocessing.size
    assert size == 64
    pixels = torch.randn(3, 3, size, size)
    with torch.inference_mode():
        values, (rows, columns) = backbone(pixels)
        alone = backbone(pixels[1:2]).values
        last = backbone(pixels.contiguous(memory_format=torch.channels_last)).values
    assert values.shape == (3, rows * columns, backbone.dim)
    torch.testing.assert_close(values[1:2], alone, rtol=1e-3, atol=1e-3)
    torch.testing.assert_close(values, last, rtol=1e-3, atol=1e-3)
    assert values.std() > 0
    assert backbone.fingerprint() == backbone.fingerprint()
    assert str(backbone.settings["is"]).startswith("encoders.")


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.usefixtures("timm")
def test_fields_stand_in_the_order_of_the_picture(
    make: Callable[[Path], Backbone], tmp_path: Path
) -> None:
    """What changes in the top right corner of a picture changes most in that corner of the map."""
    torch.manual_seed(2)
    backbone = make(tmp_path).eval()
    pixels = torch.randn(1, 3, 64, 64)
    other = pixels.clone()
    other[:, :, :10, -10:] += 3.0
    with torch.inference_mode():
        before, (rows, columns) = backbone(pixels)
        change = (backbone(other).values - before).norm(dim=2).view(rows, columns)
    place = divmod(int(change.argmax()), columns)
    assert place[0] < rows / 2
    assert place[1] >= columns / 2


@pytest.mark.usefixtures("timm")
def test_a_stage_decides_on_the_grid(tmp_path: Path) -> None:
    whole, staged = resnet(tmp_path), Transformers(str(tmp_path), stage=1)
    pixels = torch.randn(1, 3, 64, 64)
    with torch.inference_mode():
        fine, coarse = staged(pixels), whole(pixels)
        assert Timm("maps", stage=1)(pixels).grid == (8, 8)
        assert Timm("maps", stage=2)(pixels).grid == Timm("maps")(pixels).grid == (4, 4)
        torch.testing.assert_close(
            Transformers(str(tmp_path), stage=2)(pixels).values, coarse.values
        )
    assert (staged.dim, fine.grid) == (8, tuple(2 * side for side in coarse.grid))
    assert staged.settings == {**whole.settings, "stage": 1}
    with pytest.raises(ValueError, match=r"stage: wanted one of the 2 of .*, got 3"):
        Transformers(str(tmp_path), stage=3)
    with pytest.raises(ValueError, match="stage: maps has no stage 3: feature index 2"):
        Timm("maps", stage=3)


@pytest.mark.usefixtures("timm")
def test_what_a_model_of_timm_lacks() -> None:
    with pytest.raises(ValueError, match="stage: plain gives nothing out of its middle; leave"):
        Timm("plain", stage=1)
    for kind, came in (("flat", "an output of 2 axes"), ("several", "several outputs")):
        with pytest.raises(ValueError, match=f"{kind} cannot be used as a backbone: .* got {came}"):
            Timm(kind)
    with pytest.raises(ValueError, match=r"name: tokns cannot be .*; did you mean 'tokens'\?"):
        Timm("tokns")


def test_a_folder_is_found_from_everywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And where it lies changes nothing: neither the maps in the cache nor what may be joined."""
    whole = vit(tmp_path / "tf" / "vit")
    monkeypatch.chdir(tmp_path)
    near = Transformers("tf/vit")
    assert near.settings == whole.settings
    assert str(tmp_path) not in json.dumps(near.settings)
    changed = json.loads((tmp_path / "tf/vit/config.json").read_text())
    heads = {**changed, "num_attention_heads": 1}
    copied = Path(shutil.copytree(tmp_path / "tf/vit", tmp_path / "other"))
    (copied / "config.json").write_text(json.dumps(heads))
    assert Transformers(str(copied)).settings != whole.settings  # with the same weights
    assert near.fingerprint() == whole.fingerprint()
    for name, told in (
        ("./tf/vti", rf"got {tmp_path}/tf/vti: there is no such folder; did you mean 'vit'"),
        ("tf/vit/config.json", "config.json: there is no such folder"),
        ("tf/elsewhere/vit", "there is no folder"),
    ):
        with pytest.raises(
            ValueError, match=f"name: wanted a model's folder or Hub name, .*{told}"
        ):
            Transformers(name)


def test_a_model_that_does_not_see_is_refused(tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    config = transformers.BertConfig(**sizes, intermediate_size=16, vocab_size=9)
    refused = rf"name: {tmp_path}/\w+ cannot be used as a backbone: "
    with pytest.raises(ValueError, match=f"{refused}.* You must .*; wanted a model of pictures"):
        saved(tmp_path / "bert", transformers.BertModel(config), {"height": 64, "width": 64})
    other = vit(tmp_path / "vit").model
    with pytest.raises(ValueError, match=f"{refused}given pictures of 96 x 96 pixels, .* fails: "):
        saved(tmp_path / "vit", other, {"height": 96, "width": 96})
    (tmp_path / "vit" / "preprocessor_config.json").unlink()
    with pytest.raises(ValueError, match=rf"{refused}how .*; wanted .* preprocessor_config\.json"):
        Transformers(str(tmp_path / "vit"))
    (tmp_path / "vit" / "model.safetensors").unlink()
    with pytest.raises(ValueError, match=f"{refused}.*; wanted a folder that save_pretrained has"):
        Transformers(str(tmp_path / "vit"))


@pytest.mark.usefixtures("timm")
def test_preprocessing_of_others() -> None:
    own = Timm("maps").preprocessing
    assert own.mean == (127.5, 127.5, 127.5)
    assert own.std == (127.5, 102.0, 63.75)
    assert own.resample == "bicubic"


def test_weights_of_16_bits_are_used_with_32(tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    config = transformers.ResNetConfig(embedding_size=8, hidden_sizes=[8, 16], depths=[1, 1])
    model = transformers.ResNetModel(config).to(torch.bfloat16)
    backbone = saved(tmp_path, model, {"shortest_edge": 64})
    assert (
        backbone.fingerprint()
        == saved(tmp_path, model.float(), {"shortest_edge": 64}).fingerprint()
    )


def test_preprocessing_of_a_processor(tmp_path: Path) -> None:
    own = resnet(tmp_path).preprocessing
    assert (own.size, own.resample) == (64, "bilinear")
    assert own.std == (127.5, 102.0, 63.75)


def finetuned(first: int, stages: list[int]) -> EfficientNetLite:
    pytest.importorskip("efficientnet_lite_pytorch")
    return EfficientNetLite(stages=stages, finetune=first, size=64)


@pytest.mark.parametrize(("first", "stages"), [(8, [8]), (6, [8]), (6, [5, 7]), (5, [6])])
def test_two_halves_are_the_whole(first: int, stages: list[int]) -> None:
    """What stays, then what learns on: the same map as from pixels; what stays is a backbone."""
    whole = finetuned(first, stages)
    fixed, own = whole.halves()
    assert fixed is not None
    assert own is not None
    pixels = torch.randn(2, 3, 64, 64)
    values, grid = own(fixed(pixels).values)
    assert grid == whole(pixels).grid
    assert values.shape[-1] == own.dim == whole.dim
    torch.testing.assert_close(values, whole(pixels).values, rtol=1e-3, atol=1e-3)
    plain = EfficientNetLite(stages=[first - 1], size=64)
    assert (fixed.settings, fixed.fingerprint()) == (plain.settings, plain.fingerprint())
    assert whole.settings["finetune"] == first


def test_halves_of_what_is_not_finetuned(tmp_path: Path) -> None:
    whole = small(tmp_path)
    assert whole.halves() == (whole, None)


def test_what_learns_on_keeps_its_normalisation() -> None:
    """In training: the running means stay, gradients flow, the company changes nothing."""
    _, own = finetuned(7, [8]).halves()
    assert own is not None
    model = nn.Sequential(own).train()
    before = {name: buffer.clone() for name, buffer in own.named_buffers()}
    assert before
    maps = torch.randn(3, 4, 192)
    together = model(maps).values
    together.sum().backward()
    assert all(p.grad is not None for p in own.parameters())
    torch.testing.assert_close(together[1:2], model(maps[1:2]).values, rtol=1e-4, atol=1e-4)
    assert all(torch.equal(before[name], buffer) for name, buffer in own.named_buffers())


def test_what_cannot_be_finetuned_is_refused() -> None:
    with pytest.raises(
        ValueError, match="finetune: wanted a stage from 5 to the last one taken, 7"
    ):
        finetuned(8, [7])
    with pytest.raises(ValueError, match=r"got 4; to train all of them, set data\.learns"):
        finetuned(4, [8])
    with pytest.raises(ValueError, match=r"stages: wanted none before 6.*got \[5, 8\]"):
        finetuned(7, [5, 8])


def test_pretrained_normalisation_stays(tmp_path: Path) -> None:
    backbone = lite(tmp_path).train()
    assert not any(module.training for module in backbone.modules())
    before = backbone.fingerprint()
    backbone(torch.randn(2, 3, 64, 64))
    assert backbone.fingerprint() == before


def test_what_cannot_be_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="stages: wanted one or more of 4 to 8, got"):
        EfficientNetLite(stages=[3])
    with pytest.raises(ValueError, match="size: wanted a multiple of 32 pixels, got 100"):
        EfficientNetLite(size=100)
    with pytest.raises(ValueError, match="dim: wanted a multiple of 8, got 4"):
        SmallCnn(dim=4)
    pytest.importorskip("transformers")
    with pytest.raises(ValueError, match="name: wanted a model's folder or Hub name"):
        Transformers(str(tmp_path / "nothing"))


def test_missing_packages_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("timm", "transformers", "efficientnet_lite_pytorch"):
        monkeypatch.setitem(sys.modules, module, None)
    for make, package in (
        (lambda: Timm("x"), "pip install timm"),
        (lambda: Transformers("x"), "pip install transformers"),
        (lambda: EfficientNetLite(), r"pip install 'regard\[caption\]'"),
    ):
        with pytest.raises(ImportError, match=package):
            make()
