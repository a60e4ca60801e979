"""Self-critical training: the gradient of the expected reward, and rewards that rise."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import pytest
import torch
from torch import Tensor

from regard.data import Tokenizer, Words
from regard.metrics import CiderD
from regard.model import Seq2Seq
from regard.search import Symbols, greedy
from regard.tasks.critic import END, Critic, speak

from .test_captions import build, gradients, shown
from .zoo import assert_close

CAPTIONS = [["dog runs", "a dog runs"], ["a dog", "a dog"], ["cat runs", "a cat"]]
TARGET = Words().train((text for each in CAPTIONS for text in each), progress=False)
SYMBOLS = Symbols(Tokenizer.BOS, Tokenizer.EOS, (Tokenizer.PAD, Tokenizer.BOS, Tokenizer.UNK))
LONGEST = 2


@pytest.fixture
def critic() -> Critic:
    return Critic(CAPTIONS, TARGET)


def test_rewards_are_those_of_the_metric(critic: Critic) -> None:
    """With document frequencies of all captions, and the end as a word."""
    said = ["dog runs", "dog runs a cat", "runs"]
    wanted = CiderD().statistics(
        [f"{text} theend" for text in said],
        [[f"{text} theend" for text in each] for each in CAPTIONS],
    )
    tokens = [[*row, Tokenizer.EOS] for row in TARGET.encode(said)]
    got = critic.rewards(tokens, torch.arange(3)).tolist()
    assert got == pytest.approx(wanted[:, 0].tolist())
    assert got[0] > max(got[1:])


def test_a_caption_that_breaks_off_is_worth_less(critic: Critic) -> None:
    whole = TARGET.encode(["dog runs"])[0]
    ended, cut = critic.rewards([[*whole, Tokenizer.EOS], whole], torch.tensor([0, 0])).tolist()
    assert ended > cut > 0
    assert END not in {word for each in CAPTIONS for text in each for word in text.split()}


def model_of(name: str) -> Seq2Seq:
    return build(name, vocab=TARGET.size)


@pytest.mark.parametrize("name", ["show-tell", "soft", "transformer", "hard"])
def test_the_likeliest_is_what_greedy_search_says(name: str) -> None:
    model = model_of(name)
    source = model.prepare(*shown(5))
    with torch.inference_mode():
        got = speak(model, source, 5, symbols=SYMBOLS, longest=4, drawn=False)
    found = greedy(model, source, symbols=SYMBOLS, limits=torch.full((5,), 4))
    for tokens, answer in zip(got.tokens, found, strict=True):
        assert tokens[:-1] == answer.tokens if answer.complete else tokens[:4] == answer.tokens


def everything() -> list[list[int]]:
    """All that could be said; one word more than is allowed is cut, without its end."""
    words = [n for n in range(TARGET.size) if n not in (*SYMBOLS.never, SYMBOLS.end)]
    ended = [[*said, SYMBOLS.end] for n in range(LONGEST + 1) for said in product(words, repeat=n)]
    return ended + [[*said] for said in product(words, repeat=LONGEST + 1)]


def outcomes(model: Seq2Seq, critic: Critic, picture: int) -> tuple[Tensor, Tensor]:
    """Log probability and reward of everything that could be said of a picture."""
    maps, mask = shown(3)
    said = everything()
    tokens = torch.tensor([row + [SYMBOLS.end] * (LONGEST + 1 - len(row)) for row in said])
    real = torch.tensor([[place < len(row) for place in range(LONGEST + 1)] for row in said])
    rows = torch.full((len(said),), picture)
    inputs = torch.cat([torch.full((len(said), 1), SYMBOLS.begin), tokens[:, :-1]], 1)
    scores = model.head(model(maps[rows], mask[rows], inputs).outputs)
    scores[..., list(SYMBOLS.never)] = -torch.inf
    log_p = scores.log_softmax(-1).gather(2, tokens[..., None])[..., 0]
    return (log_p * real).sum(1), critic.rewards(said, rows)


@pytest.mark.parametrize("name", ["show-tell", "soft"])
def test_expected_gradient_is_that_of_the_expected_reward(
    name: str, critic: Critic, monkeypatch: pytest.MonkeyPatch
) -> None:
    """sum_w p(w) grad(loss | w) = -grad sum_w p(w) r(w), everything enumerated."""
    model, (maps, mask) = model_of(name).train(), shown(3)
    log_p, rewards = outcomes(model, critic, 0)
    assert_close(log_p.exp().sum(), torch.tensor(1.0, dtype=torch.float64))
    exact = gradients(model, -(log_p.exp() * rewards).sum())
    expected = [torch.zeros_like(g) for g in exact]
    for said, chance in zip(everything(), log_p.detach().exp(), strict=True):
        coming = iter(said)

        def draw(chances: Tensor, _: int, coming: Iterator[int] = coming) -> Tensor:
            return torch.tensor([[next(coming)]])

        with monkeypatch.context() as patch:
            patch.setattr("regard.tasks.critic.torch.multinomial", draw)
            loss = critic.loss(
                model, maps[:1], mask[:1], torch.tensor([0]), symbols=SYMBOLS, longest=LONGEST
            )
        for total, part in zip(expected, gradients(model, loss), strict=True):
            total += chance * part
    for got, wanted in zip(expected, exact, strict=True):
        assert_close(got, wanted)
    assert max(float(g.abs().max()) for g in exact) > 1e-3


def test_what_hard_attention_draws_is_judged_too(critic: Critic) -> None:
    """Its own weights learn by the probability of the places alone."""
    model, (maps, mask) = model_of("hard-always").train(), shown(3)
    torch.manual_seed(4)
    critic.loss(model, maps, mask, torch.arange(3), symbols=SYMBOLS, longest=3).backward()
    energy = dict(model.named_parameters())["decoder.attention.energy.weight"]
    assert energy.grad is not None
    assert float(energy.grad.abs().max()) > 0
    assert model.training


def test_the_mean_of_many_draws_nears_the_exact_gradient() -> None:
    """Each against the others: what is subtracted leaves the gradient as it is."""
    model, (maps, mask) = model_of("show-tell").train(), shown(3)
    critic = Critic(CAPTIONS, TARGET, draws=20_000)
    log_p, rewards = outcomes(model, critic, 0)
    exact = gradients(model, -(log_p.exp() * rewards).sum())
    torch.manual_seed(3)
    one = torch.tensor([0])
    loss = critic.loss(model, maps[:1], mask[:1], one, symbols=SYMBOLS, longest=LONGEST)
    flat, near = (
        torch.cat([g.flatten() for g in each]) for each in (exact, gradients(model, loss))
    )
    assert float((flat - near).norm() / flat.norm()) < 0.05


@pytest.mark.parametrize(
    ("name", "draws"), [("soft", 1), ("show-tell-gru-deep", 1), ("show-tell-gru-deep", 4)]
)
def test_the_expected_reward_rises(name: str, draws: int) -> None:
    model, (maps, mask) = model_of(name).train(), shown(3)
    critic = Critic(CAPTIONS, TARGET, draws=draws)

    def expected() -> float:
        with torch.no_grad():
            found = [outcomes(model, critic, picture) for picture in range(3)]
        return sum(float((log_p.exp() * rewards).sum()) for log_p, rewards in found) / 3

    before, optimizer = expected(), torch.optim.Adam(model.parameters(), lr=0.05)
    torch.manual_seed(2)
    rows = torch.arange(3).repeat(8 // draws)
    for _ in range(40):
        loss = critic.loss(model, maps[rows], mask[rows], rows, symbols=SYMBOLS, longest=LONGEST)
        optimizer.zero_grad()
        (loss / len(rows)).backward()
        optimizer.step()
    assert expected() > before + 0.5
