"""Encoder, decoder, head: one sentence, one module."""

from __future__ import annotations

from typing import Any

from jaxtyping import Bool, Float, Int, Shaped
from torch import Tensor, nn

from regard.decoders.base import Decoded, Decoder
from regard.encoders.base import Encoder
from regard.heads import Categorical
from regard.memory import State


class Seq2Seq(nn.Module):
    """p(y | x) = prod_t softmax(head(decoder(y_<t, encoder(x)))).

    It is also the scorer that a search sees: `prepare`, `start`, `step`.
    """

    def __init__(self, encoder: Encoder, decoder: Decoder, head: Categorical) -> None:
        super().__init__()
        self.encoder, self.decoder, self.head = encoder, decoder, head

    def forward(
        self,
        source: Shaped[Tensor, "batch ..."],
        mask: Bool[Tensor, "batch place"],
        tokens: Int[Tensor, "batch time"],
    ) -> Decoded:
        """Outputs for known symbols; `tokens` starts with the begin-of-sequence symbol."""
        return self.decoder(tokens, self.encoder(source, mask))

    def prepare(
        self, source: Shaped[Tensor, "batch ..."], mask: Bool[Tensor, "batch place"]
    ) -> Any:
        """Read the sources once."""
        return self.decoder.prepare(self.encoder(source, mask))

    def start(self, source: Any) -> State:
        """The state before the first symbol."""
        return self.decoder.start(source)

    def step(
        self, token: Int[Tensor, " rows"], state: State, source: Any
    ) -> tuple[Float[Tensor, "rows vocab"], State]:
        """Log probabilities of the next symbol."""
        done = self.decoder.step(token, state, source)
        return self.head(done.output).log_softmax(-1), done.state
