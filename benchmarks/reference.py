"""The models that the speed benchmark is measured against: the way a tutorial writes them.

Plain torch.nn: nn.Transformer, packed nn.GRU, a GRUCell in a loop, nn.Dropout, logits for every
position, F.cross_entropy, AdamW as it comes. Same sizes, same batches, same loss.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from regard.blocks import sinusoids
from regard.tasks.text import TextBatch


class TutorialTransformer(nn.Module):
    """Four and four layers of 128 with 4 heads and 256 inside, one table for all embeddings."""

    def __init__(self, vocab: int, *, dim: int = 128, dropout: float = 0.3) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocab, dim)
        self.register_buffer("places", sinusoids(512, dim))
        self.body = nn.Transformer(dim, 4, 4, 4, 256, dropout, batch_first=True, norm_first=True)
        self.output = nn.Linear(dim, vocab)
        self.output.weight = self.embedding.weight
        self.dropout, self.scale = nn.Dropout(dropout), dim**0.5

    def forward(self, batch: TextBatch) -> Tensor:
        """The summed loss of a batch."""
        mask = nn.Transformer.generate_square_subsequent_mask(batch.inputs.shape[1])
        hidden = self.body(
            self._embed(batch.source),
            self._embed(batch.inputs),
            tgt_mask=mask,
            src_key_padding_mask=~batch.source_mask,
            memory_key_padding_mask=~batch.source_mask,
            tgt_is_causal=True,
        )
        return summed(self.output(hidden), batch)

    def _embed(self, tokens: Tensor) -> Tensor:
        places: Tensor = self.places  # type: ignore[assignment]
        return self.dropout(self.embedding(tokens) * self.scale + places[: tokens.shape[1]])


class TutorialRNNsearch(nn.Module):
    """A bidirectional GRU of 256 and a decoder of 512 with additive attention."""

    def __init__(
        self, vocab: int, *, embedding: int = 256, dim: int = 256, dropout: float = 0.2
    ) -> None:
        super().__init__()
        wide = 2 * dim
        self.source, self.target = nn.Embedding(vocab, embedding), nn.Embedding(vocab, embedding)
        self.encoder = nn.GRU(embedding, dim, bidirectional=True, batch_first=True)
        self.cell = nn.GRUCell(embedding + wide, wide)
        self.first, self.query = nn.Linear(wide, wide), nn.Linear(wide, 256, bias=False)
        self.key, self.energy = nn.Linear(wide, 256), nn.Linear(256, 1, bias=False)
        self.readout = nn.Linear(wide + embedding + wide, 256)
        self.output, self.dropout = nn.Linear(256, vocab), nn.Dropout(dropout)

    def forward(self, batch: TextBatch) -> Tensor:
        """The summed loss of a batch."""
        lengths = batch.source_mask.sum(1)
        packed = pack_padded_sequence(
            self.dropout(self.source(batch.source)), lengths, batch_first=True, enforce_sorted=False
        )
        states, last = self.encoder(packed)
        memory, _ = pad_packed_sequence(states, batch_first=True)
        keys, state = self.key(memory), self.first(torch.cat([last[0], last[1]], 1)).tanh()
        embedded = self.dropout(self.target(batch.inputs))
        outputs = []
        for token in embedded.unbind(1):
            scores = self.energy((self.query(state)[:, None] + keys).tanh()).squeeze(2)
            weights = scores.masked_fill(~batch.source_mask, -torch.inf).softmax(1)
            context = (weights[:, :, None] * memory).sum(1)
            state = self.cell(torch.cat([token, context], 1), state)
            outputs.append(self.readout(torch.cat([state, token, context], 1)).tanh())
        return summed(self.output(self.dropout(torch.stack(outputs, 1))), batch)


def summed(logits: Tensor, batch: TextBatch) -> Tensor:
    """Cross entropy with label smoothing, summed over the real positions."""
    wanted = batch.targets.masked_fill(~batch.target_mask, -100)
    return F.cross_entropy(
        logits.flatten(0, 1),
        wanted.flatten(),
        reduction="sum",
        label_smoothing=0.1,
        ignore_index=-100,
    )
