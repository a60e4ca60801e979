"""The laws for systems whose source is a picture."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import product
from typing import Any, NamedTuple

import pytest
import torch
from torch import Tensor

from regard import systems, tree
from regard.attention import HalfHard
from regard.encoders import Pictures, SmallCnn
from regard.look.watch import watch
from regard.losses import likelihood
from regard.losses_sampled import reinforce, word_log_probs
from regard.model import Seq2Seq
from regard.search import beam, exhaustive, greedy
from regard.tasks.caption_loss import CaptionBatch, CaptionLoss

from .zoo import BEGIN, SYMBOLS, VOCAB, assert_close, assert_same_hypotheses, randomised

PICTURES = Pictures(3, (2, 2))
_TELL = {"embedding": 4, "dim": 5}
_ATTEND = {**_TELL, "attention": 3, "readout": 4}
SYSTEMS: dict[str, tuple[Any, dict[str, Any]]] = {
    "show-tell": (systems.show_tell, _TELL),
    "show-tell-gru-deep": (systems.show_tell, {**_TELL, "cell": "gru", "layers": 2}),
    "show-tell-spatial": (systems.show_tell, {**_TELL, "shown": "spatial", "annotation": 4}),
    "show-tell-spatial-gru-deep": (
        systems.show_tell,
        {**_TELL, "shown": "spatial", "cell": "gru", "layers": 2},
    ),
    "soft": (systems.show_attend_tell, _ATTEND),
    "soft-tied": (systems.show_attend_tell, {**_ATTEND, "annotation": 6, "tied": True}),
    "soft-gru-deep": (systems.show_attend_tell, {**_ATTEND, "cell": "gru", "layers": 2}),
    "transformer": (
        systems.grid_transformer,
        {"dim": 8, "heads": 2, "hidden": 6, "layers": 2, "longest": 16},
    ),
    "transformer-post-untied": (
        systems.grid_transformer,
        {"dim": 4, "heads": 1, "hidden": 6, "layers": 1, "norm": "post", "tied": False},
    ),
    "hard": (systems.show_attend_tell, {**_ATTEND, "choice": "hard"}),
    "hard-always": (systems.show_attend_tell, {**_ATTEND, "choice": "hard", "mean": 0.0}),
}
LOOKING = [name for name in SYSTEMS if "show" not in name]
"""Systems with attention."""


def build(name: str, pictures: Pictures = PICTURES, *, vocab: int = VOCAB) -> Seq2Seq:
    builder, own = SYSTEMS[name]
    return randomised(builder(pictures, vocab, **{"dropout": 0.0, **own}), name, 0)


def shown(count: int, *, seed: int = 0) -> tuple[Tensor, Tensor]:
    """Random maps with their masks."""
    generator = torch.Generator().manual_seed(seed)
    maps = torch.randn(count, 4, 3, generator=generator, dtype=torch.float64)
    return maps, torch.ones(count, 4, dtype=torch.bool)


def said(count: int, time: int, *, seed: int = 0) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    tokens = torch.randint(3, VOCAB, (count, time), generator=generator)
    tokens[:, 0] = BEGIN
    return tokens


def stepped(model: Seq2Seq, maps: Tensor, mask: Tensor, tokens: Tensor) -> Tensor:
    source = model.prepare(maps, mask)
    state, rows = model.start(source), []
    for token in tokens.unbind(1):
        log_prob, state = model.step(token, state, source)
        rows.append(log_prob)
    return torch.stack(rows, 1)


@pytest.mark.parametrize("name", SYSTEMS)
def test_whole_is_stepwise(name: str) -> None:
    model, tokens = build(name), said(3, 5)
    whole = model.head(model(*shown(3), tokens).outputs).log_softmax(-1)
    assert_close(whole, stepped(model, *shown(3), tokens))


@pytest.mark.parametrize("name", ["hard", "hard-always"])
def test_training_draws_the_same_places_either_way(name: str) -> None:
    model, (maps, mask), tokens = build(name).train(), shown(6), said(6, 5)
    torch.manual_seed(3)
    whole = model(maps, mask, tokens)
    torch.manual_seed(3)
    source = model.decoder.prepare(model.encoder(maps, mask))
    state = model.decoder.start(source)
    for time, token in enumerate(tokens.unbind(1)):
        step = model.decoder.step(token, state, source)
        state = step.state
        assert_close(step.output, whole.outputs[:, time])
        assert_close(step.read.log_prob, whole.log_prob[:, time])


@pytest.mark.parametrize("name", SYSTEMS)
def test_company_changes_nothing(name: str) -> None:
    model, (maps, mask), tokens = build(name), shown(4), said(4, 5)
    together = model(maps, mask, tokens).outputs
    alone = model(maps[2:3], mask[2:3], tokens[2:3, :3]).outputs
    assert_close(together[2:3, :3], alone)


@pytest.mark.parametrize("name", SYSTEMS)
def test_reordering_commutes(name: str) -> None:
    """Also with several hypotheses of each picture."""
    model, (maps, mask) = build(name), shown(2)
    source = model.prepare(maps, mask)
    state, token = tree.repeat(model.start(source), 2), torch.tensor([3, 4, 5, 6])
    _, state = model.step(token, state, source)
    order = torch.tensor([1, 0, 3, 3])
    log_prob, after = model.step(token, state, source)
    swapped, swapped_after = model.step(token[order], tree.select(state, order), source)
    assert_close(swapped, log_prob[order])
    assert_close(swapped_after, tree.select(after, order))


@pytest.mark.parametrize("name", SYSTEMS)
def test_beam_is_exhaustive_and_greedy(name: str) -> None:
    model = build(name)
    source = model.prepare(*shown(2))
    options: dict[str, Any] = {"symbols": SYMBOLS, "limits": torch.tensor([2, 3])}
    for got, wanted in zip(
        beam(model, source, width=200, nbest=5, **options),
        exhaustive(model, source, nbest=5, **options),
        strict=True,
    ):
        assert_same_hypotheses(got, wanted)
    narrow = beam(model, source, width=1, **options)
    for (one,), other in zip(narrow, greedy(model, source, **options), strict=True):
        assert_same_hypotheses([one], [other])


@pytest.mark.parametrize("name", LOOKING)
def test_watching_changes_nothing_and_weights_are_a_distribution(name: str) -> None:
    model, tokens = build(name), said(2, 4)
    plain = model(*shown(2), tokens)
    with watch(model) as gaze:
        watched = model(*shown(2), tokens)
    assert_close(plain.outputs, watched.outputs)
    maps = {part: look for part, look in gaze.maps(2).items() if not part.endswith("past")}
    assert maps
    for looks in maps.values():
        assert looks.shape[-1] == 4
        assert_close(looks.sum(-1), torch.ones_like(looks[..., 0]))
    if plain.weights is not None:
        assert_close(looks, plain.weights)
    if "hard" in name:
        assert set(looks.flatten().tolist()) == {0.0, 1.0}


def test_some_captions_see_the_mean_from_beginning_to_end() -> None:
    model, (maps, mask), tokens = build("hard").train(), shown(40), said(40, 3)
    torch.manual_seed(1)
    decoded = model(maps, mask, tokens)
    one_hot = (decoded.weights.amax(-1) == 1).all(1)
    soft = (decoded.weights.amax(-1) < 1).all(1)
    assert (one_hot | soft).all()
    assert 5 < int(soft.sum()) < 35
    assert (decoded.log_prob[soft] == 0).all()
    assert (decoded.log_prob[one_hot] < 0).all()
    assert (decoded.entropy > 0).all()


class Bound(NamedTuple):
    """Of captions of one picture with the places that were drawn."""

    loss: Tensor
    places: Tensor
    """log p(s)."""
    words: Tensor
    """log p(y | s)."""


def bound(model: Seq2Seq, tokens: Tensor, rows: int, baseline: float) -> Bound:
    maps, mask = shown(1)
    inputs, targets = tokens[:, :-1].expand(rows, -1), tokens[:, 1:].expand(rows, -1)
    decoded = model(maps.expand(rows, -1, -1), mask.expand(rows, -1), inputs)
    real = torch.ones_like(targets, dtype=torch.bool)
    total = likelihood(model.head, decoded.outputs, targets, real)
    rewards = word_log_probs(model.head, decoded.outputs, targets, real)
    judged = reinforce(decoded.log_prob, rewards, real, torch.tensor(baseline))
    log_p = model.head(decoded.outputs).log_softmax(-1).gather(2, targets[..., None]).sum()
    return Bound(total.loss + judged, decoded.log_prob.sum(), log_p)


def gradients(model: Seq2Seq, loss: Tensor) -> list[Tensor]:
    every = list(model.parameters())
    found = torch.autograd.grad(loss, every, allow_unused=True, retain_graph=True)
    return [torch.zeros_like(p) if g is None else g for p, g in zip(every, found, strict=True)]


@contextmanager
def drawing(places: Iterable[int], monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Hard attention draws these places, one after the other."""
    coming = iter(places)
    with monkeypatch.context() as patch:
        patch.setattr(
            "regard.attention.hard.torch.multinomial", lambda *_: torch.tensor([[next(coming)]])
        )
        yield


def enumerated(
    model: Seq2Seq, tokens: Tensor, monkeypatch: pytest.MonkeyPatch
) -> list[tuple[Tensor, Tensor, Tensor]]:
    """For every sequence of places: p(s), log p(y | s), and the loss for this sample."""
    found = []
    for places in product(range(4), repeat=tokens.shape[1] - 1):
        with drawing(places, monkeypatch):
            sample = bound(model, tokens, 1, -0.7)
        found.append((sample.places.exp(), sample.words, sample.loss))
    return found


def test_expected_gradient_is_that_of_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """sum_s p(s) grad(loss | s) = -grad sum_s p(s) log p(y | s), whatever the baseline."""
    model, tokens = build("hard-always").train(), said(1, 4)
    every = enumerated(model, tokens, monkeypatch)
    assert_close(sum(p for p, _, _ in every), torch.tensor(1.0, dtype=torch.float64))
    exact = gradients(model, -sum(p * log_p for p, log_p, _ in every))
    by_sample = [(p.detach(), gradients(model, loss)) for p, _, loss in every]
    for number, wanted in enumerate(exact):
        assert_close(sum(p * found[number] for p, found in by_sample), wanted)
    assert max(float(g.abs().max()) for g in exact) > 1e-3


def test_monte_carlo_gradient_nears_the_exact_one(monkeypatch: pytest.MonkeyPatch) -> None:
    model, tokens = build("hard-always").train(), said(1, 4)
    every = enumerated(model, tokens, monkeypatch)
    exact = gradients(model, -sum(p * log_p for p, log_p, _ in every))
    rows = 20_000
    torch.manual_seed(5)
    drawn = gradients(model, bound(model, tokens, rows, -0.7).loss / rows)
    flat, near = (torch.cat([g.flatten() for g in each]) for each in (exact, drawn))
    assert float((flat - near).norm() / flat.norm()) < 0.05


def test_without_the_sampled_term_the_gradient_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test above would notice: the attention's own weights learn by REINFORCE alone."""
    model, tokens = build("hard-always").train(), said(1, 4)
    every = enumerated(model, tokens, monkeypatch)
    exact = gradients(model, -sum(p * log_p for p, log_p, _ in every))
    plain = gradients(model, -sum(p.detach() * log_p for p, log_p, _ in every))
    names = [name for name, _ in model.named_parameters()]
    place = names.index("decoder.attention.energy.weight")
    assert float((exact[place] - plain[place]).norm() / exact[place].norm()) > 0.5


def test_a_backbone_of_its_own_learns() -> None:
    torch.manual_seed(0)
    backbone = SmallCnn(dim=8, size=32)
    model = systems.show_attend_tell(Pictures(8, (2, 2), backbone), VOCAB, **_ATTEND, dropout=0.0)
    other = systems.show_attend_tell(Pictures(8, (2, 2), backbone), VOCAB, **_ATTEND, dropout=0.0)
    pixels, mask = torch.randn(2, 3, 32, 32), torch.ones(2, 4, dtype=torch.bool)
    model(pixels, mask, said(2, 3)).outputs.sum().backward()
    own = dict(model.encoder.named_parameters())
    assert all(p.grad is not None for p in own.values())
    assert own
    assert all(p.grad is None for p in other.parameters())


def test_share_of_means() -> None:
    with pytest.raises(ValueError, match="mean: wanted a share from 0 to below 1, got 1"):
        HalfHard(2, 2, dim=2, mean=1.0)


def captioned(
    maps: Tensor, mask: Tensor, tokens: Tensor, real: Tensor, owners: Tensor
) -> CaptionBatch:
    """Captions of some pictures, as training is given them."""
    numbers = torch.arange(len(maps))
    return CaptionBatch(maps, mask, numbers, tokens[:, :-1], tokens[:, 1:], real, owners)


@pytest.mark.parametrize("name", ["show-tell", "soft", "transformer"])
def test_looking_once_for_all_captions_of_a_picture_changes_nothing(name: str) -> None:
    """Neither the loss nor its gradient, in whatever order and lengths the captions come."""
    model, (maps, mask), tokens = build(name), shown(3), said(7, 6)
    real = torch.arange(5) < torch.tensor([1, 5, 2, 2, 4, 3, 5])[:, None]
    owners = torch.tensor([2, 0, 0, 1, 2, 0, 0])
    loss = CaptionLoss(doubly=0.7, sampled=1.0, entropy=0.1, smoothing=0.1)
    found = []
    for batch in (
        captioned(maps, mask, tokens, real, owners),
        captioned(maps[owners], mask[owners], tokens, real, torch.arange(7)),
    ):
        model.zero_grad()
        total = loss(model, batch, {})
        total.loss.backward()
        found.append((total.loss, total.nll, [p.grad.clone() for p in model.parameters()]))
    assert_close(found[0], found[1])


@pytest.mark.parametrize("name", ["show-tell", "soft", "transformer"])
def test_without_dropout_two_draws_agree_and_cost_nothing(name: str) -> None:
    """With whatever is added to the likelihood, such as soft attention's wish to look around."""
    model, (maps, mask), tokens = build(name), shown(3), said(3, 5)
    real = torch.arange(4) < torch.tensor([4, 2, 3])[:, None]
    batch = captioned(maps, mask, tokens, real, torch.arange(3))
    weights = {"doubly": 0.7, "sampled": 1.0, "entropy": 0.1, "smoothing": 0.1}
    once = CaptionLoss(**weights)(model, batch, {})
    twice = CaptionLoss(**weights, agreement=5.0)(model, batch, {})
    assert_close((twice.loss, twice.nll), (once.loss, once.nll))
    assert twice.tokens == once.tokens == 9


def test_hard_attention_weighs_both_draws_as_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two draws of the same places have the loss of one."""
    model, (maps, mask), tokens = build("hard-always").train(), shown(2), said(2, 4)
    real = torch.ones(2, 3, dtype=torch.bool)
    batch = captioned(maps, mask, tokens, real, torch.arange(2))
    monkeypatch.setattr(
        "regard.attention.hard.torch.multinomial",
        lambda weights, _: weights.argmax(-1, keepdim=True),
    )
    weights = {"doubly": 0.0, "sampled": 1.3, "entropy": 0.1, "smoothing": 0.1}
    once = CaptionLoss(**weights)(model, batch, {})
    twice = CaptionLoss(**weights, agreement=5.0)(model, batch, {})
    assert_close((twice.loss, twice.nll), (once.loss, once.nll))
    assert_close(twice.carried, once.carried)


def test_two_looks_have_the_expected_gradient_of_the_bound(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """sum_s p(s) sum_s' p(s') grad(loss | s, s') = -grad sum_s p(s) log p(y | s)."""
    model, (maps, mask), tokens = build("hard-always").train(), shown(1), said(1, 3)
    batch = captioned(maps, mask, tokens, torch.ones(1, 2, dtype=torch.bool), torch.arange(1))
    loss = CaptionLoss(doubly=0.0, sampled=1.0, entropy=0.0, smoothing=0.0, looks=2)
    every = enumerated(model, tokens, monkeypatch)
    exact = gradients(model, -sum(p * log_p for p, log_p, _ in every))
    chances = [float(p.detach()) for p, _, _ in every]
    expected = [torch.zeros_like(g) for g in exact]
    for one, other in product(range(len(every)), repeat=2):
        with drawing([*divmod(one, 4), *divmod(other, 4)], monkeypatch):
            total = loss(model, batch, {})
        assert total.tokens == 2
        for into, found in zip(expected, gradients(model, total.loss), strict=True):
            into.add_(found, alpha=chances[one] * chances[other])
    for found, wanted in zip(expected, exact, strict=True):
        assert_close(found, wanted)


def test_looks_are_refused() -> None:
    weights = {"doubly": 0.0, "sampled": 1.0, "entropy": 0.0, "smoothing": 0.0}
    with pytest.raises(ValueError, match="looks: wanted 1 or more, got 0"):
        CaptionLoss(**weights, looks=0)
    with pytest.raises(ValueError, match="agreement: wanted 0 where there are 2 looks, got 5"):
        CaptionLoss(**weights, looks=2, agreement=5.0)


def test_many_positive_numbers_do_not_drown_what_tells_pictures_apart() -> None:
    """As a backbone's are: all pictures are alike in most of a thousand numbers."""
    torch.manual_seed(0)
    kinds = (torch.rand(6, 1, 1280) + 0.5 * torch.rand(1, 1, 1280)).float()
    model = systems.show_tell(Pictures(1280, (1, 1)), 12, embedding=32, dim=64, dropout=0.0)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    mask, real = torch.ones(6, 1, dtype=torch.bool), torch.ones(6, 5, dtype=torch.bool)
    # The same three words of every picture, then one of its own.
    tokens = torch.tensor([[BEGIN, 3, 4, 5, 6 + kind, 2] for kind in range(6)])
    for _ in range(400):
        decoded = model(kinds, mask, tokens[:, :-1])
        optimizer.zero_grad()
        (likelihood(model.head, decoded.outputs, tokens[:, 1:], real).loss / 30).backward()
        optimizer.step()
    said = model.head(model(kinds, mask, tokens[:, :-1]).outputs).argmax(-1)
    assert said.tolist() == tokens[:, 1:].tolist()
