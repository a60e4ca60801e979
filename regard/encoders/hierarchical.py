"""The encoder of dialogues: words become turns, turns become a context."""

from __future__ import annotations

from typing import Literal, NamedTuple

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from regard.blocks import Embedding
from regard.dropout import Dropout
from regard.encoders.base import Encoder
from regard.memory import Memory
from regard.recurrent import Reader, Recurrent


class HierarchicalEncoder(Encoder):
    """u_t = the end of words(x_t), c_1..c_T = context(u_1..u_T) (Sordoni et al., 2015).

    A turn x_t ends with the separator. All turns of a batch are rows of one batch. The summary is
    the last state of the context. What is left to look at stands at the words' own places: of
    `words`, [h_tn; c_t] for each; of `turns`, c_t where a turn ends. Dropout falls on the turns, on
    what is left and on the summary.
    """

    def __init__(
        self,
        embedding: Embedding,
        words: Reader,
        context: Recurrent,
        *,
        separator: int,
        left: Literal["words", "turns"] = "turns",
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.embedding, self.words, self.context = embedding, words, context
        self.separator, self.left, self.dropout = separator, left, Dropout(dropout)
        self.summary = context.out
        self.dim = context.out + (words.out if left == "words" else 0)

    def forward(
        self, tokens: Int[Tensor, "batch source"], mask: Bool[Tensor, "batch source"]
    ) -> Memory:
        turns = split(tokens, mask, self.separator)
        embedded = self.embedding(tokens).flatten(0, 1)
        rows = embedded[turns.rows.flatten(0, 1)]
        states, ends = self.words.read(rows, turns.words.flatten(0, 1))
        ends = self.dropout(ends).unflatten(0, turns.words.shape[:2])
        contexts, summary = self.context.read(ends, turns.words.any(-1))
        values = contexts.flatten(0, 1)[turns.turn]
        if self.left == "words":
            values = torch.cat([states.flatten(0, 1)[turns.place], values], -1)
        values = self.dropout(values) * mask[..., None].to(values.dtype)
        return Memory(values, turns.ends if self.left == "turns" else mask, self.dropout(summary))


class Turns(NamedTuple):
    """Where words stand when every turn of a batch of dialogues is a row, and where they came from.

    Places are flat: `rows` and `place` lead from the words of a turn to the flat dialogues and
    back, `turn` from a word to its turn.
    """

    rows: Int[Tensor, "batch turn word"]
    words: Bool[Tensor, "batch turn word"]
    place: Int[Tensor, "batch source"]
    turn: Int[Tensor, "batch source"]
    ends: Bool[Tensor, "batch source"]
    """True at the last word of each turn."""


def split(
    tokens: Int[Tensor, "batch source"], mask: Bool[Tensor, "batch source"], separator: int
) -> Turns:
    """Cut each dialogue behind every separator; the last turn may do without one."""
    (batch, source), device = tokens.shape, tokens.device
    closed = ((tokens == separator) & mask).long()
    turn = (closed.cumsum(1) - closed) * mask
    lengths = closed.new_zeros(batch, int(turn.max()) + 1).scatter_add(1, turn, mask.long())
    starts = lengths.cumsum(1) - lengths
    longest = max(int(lengths.max()), 1)
    words = torch.arange(longest, device=device)
    first = torch.arange(batch, device=device)[:, None]
    inside = torch.arange(source, device=device) - starts.gather(1, turn)
    turn_of = turn + first * lengths.shape[1]
    return Turns(
        # Behind a turn's end stands anything that is there: nobody looks at it.
        rows=(starts[..., None] + words).clamp(max=source - 1) + first[..., None] * source,
        words=words < lengths[..., None],
        place=turn_of * longest + inside.clamp(max=longest - 1),
        turn=turn_of,
        ends=mask & (inside == lengths.gather(1, turn) - 1),
    )
