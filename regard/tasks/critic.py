"""Self-critical training: captions are drawn and judged by CIDEr-D."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from regard import tree
from regard.data import Tokenizer
from regard.losses_sampled import of_the_others, self_critical
from regard.metrics.captions import CiderD, NGrams, Rarity, Vector, ngrams
from regard.metrics.ptb import words
from regard.model import Seq2Seq
from regard.search import Symbols

END = "."
"""Stands for the end of a caption; it is no word, since punctuation is taken out."""


class Spoken(NamedTuple):
    """Captions, each up to and with its end, and the log probability of all that was drawn."""

    tokens: list[list[int]]
    log_prob: Float[Tensor, " batch"]


def speak(
    model: Seq2Seq, source: Any, rows: int, *, symbols: Symbols, longest: int, drawn: bool
) -> Spoken:
    """One caption for each picture: drawn symbol by symbol, or always the likeliest.

    What hard attention draws (where it looks) is drawn with the words, and its probability with
    theirs. A caption of more than `longest` symbols is cut there.
    """
    device = model.head.weight.device
    never = torch.zeros(len(model.head.weight), device=device, dtype=torch.bool)
    never[list(symbols.never)] = True
    state, token = model.start(source), torch.full((rows,), symbols.begin, device=device)
    left = torch.arange(rows, device=device)
    log_prob = torch.zeros(rows, device=device, dtype=model.head.weight.dtype)
    said: list[list[int]] = [[] for _ in range(rows)]
    for _ in range(longest + 1):
        step = model.decoder.step(token, state, source)
        scores = model.head(step.output).masked_fill(never, -torch.inf).log_softmax(-1)
        chances, state = scores.detach().exp(), step.state
        token = torch.multinomial(chances, 1)[:, 0] if drawn else chances.argmax(-1)
        picked = scores.gather(1, token[:, None])[:, 0]
        if step.read is not None and step.read.log_prob is not None:
            picked = picked + step.read.log_prob
        log_prob = log_prob.index_add(0, left, picked)
        for row, symbol in zip(left.tolist(), token.tolist(), strict=True):
            said[row].append(symbol)
        going = (token != symbols.end).nonzero().squeeze(1)
        if not len(going):
            break
        if len(going) < len(left):  # a caption that has ended leaves the batch
            left, token = left[going], token[going]
            state, source = tree.select(state, going), tree.select(source, going)
    return Spoken(said, log_prob)


class Critic:
    """Judges captions of training's pictures by CIDEr-D against their references.

    r = CIDEr-D with the rarity of n-grams among the training captions. The end counts as a word:
    without it captions learn to break off, as in "a man with a" (Rennie et al., 2017, appendix E).
    """

    def __init__(self, references: list[list[str]], target: Tokenizer, *, draws: int = 1) -> None:
        self.target, self.draws, self.metric = target, draws, CiderD()
        self.rarity = Rarity(self._counted(each) for each in references)
        self._references = references
        self._wanted: dict[int, list[Vector]] = {}

    def loss(
        self,
        model: Seq2Seq,
        source: Float[Tensor, "batch ..."],
        mask: Bool[Tensor, "batch field"],
        pictures: Int[Tensor, " batch"],
        *,
        symbols: Symbols,
        longest: int,
    ) -> Float[Tensor, ""]:
        """The mean over `draws` captions of each picture.

        A single one has to beat what the model says greedily, one of several the others.
        """
        how: dict[str, Any] = {"symbols": symbols, "longest": longest}
        rows = torch.arange(len(source), device=source.device).repeat_interleave(self.draws)
        known = tree.select(model.prepare(source, mask), rows)
        drawn = speak(model, known, len(rows), drawn=True, **how)
        rewards = self.rewards(drawn.tokens, pictures[rows]).view(-1, self.draws)
        baseline = (
            of_the_others(rewards)
            if self.draws > 1
            else self._greedy(model, source, mask, pictures, how)[:, None]
        )
        log_prob = drawn.log_prob.view_as(rewards)
        return self_critical(log_prob, *(x.to(log_prob) for x in (rewards, baseline))) / self.draws

    @torch.no_grad()
    def _greedy(
        self, model: Seq2Seq, source: Tensor, mask: Tensor, pictures: Tensor, how: dict[str, Any]
    ) -> Float[Tensor, " batch"]:
        """The rewards of what the model says when it is used: without dropout."""
        learning = model.training
        model.eval()
        said = speak(model, model.prepare(source, mask), len(source), drawn=False, **how)
        model.train(learning)
        return self.rewards(said.tokens, pictures)

    def rewards(
        self, said: list[list[int]], pictures: Int[Tensor, " batch"]
    ) -> Float[Tensor, " batch"]:
        """The score of each caption."""
        return torch.tensor(
            [
                self.metric.one(self._said(tokens), self._references_of(picture))
                for tokens, picture in zip(said, pictures.tolist(), strict=True)
            ],
            dtype=torch.float64,
        )

    def _references_of(self, picture: int) -> list[Vector]:
        """Kept once they were needed: a picture is judged many times."""
        if picture not in self._wanted:
            counted = self._counted(self._references[picture])
            self._wanted[picture] = [self.rarity.vector(each) for each in counted]
        return self._wanted[picture]

    def _said(self, tokens: list[int]) -> Vector:
        ended = (END,) if tokens[-1] == Tokenizer.EOS else ()
        spoken = (*words(self.target.decode(tokens)), *ended)
        return self.rarity.vector(ngrams(spoken, CiderD.n))

    def _counted(self, captions: list[str]) -> list[NGrams]:
        return [ngrams((*words(text), END), CiderD.n) for text in captions]
