"""A language model: the decoder alone, with nothing to look at."""

from __future__ import annotations

from jaxtyping import Float, Int
from torch import Tensor, nn

from regard.blocks import Embedding
from regard.dropout import Dropout
from regard.heads import Categorical
from regard.recurrent import Recurrent, RecurrentState


class LanguageModel(nn.Module):
    """p(y) = prod_t softmax(head(h_t)), h_t = f(h_{t-1}, y_{t-1}) (Mikolov et al., 2010).

    It is also the scorer that a search sees; its source is a tensor with one row per text.
    """

    def __init__(
        self, embedding: Embedding, cell: Recurrent, head: Categorical, *, dropout: float = 0.0
    ) -> None:
        super().__init__()
        self.embedding, self.cell, self.head = embedding, cell, head
        self.dropout = Dropout(dropout)

    def forward(
        self, tokens: Int[Tensor, "batch time"], state: RecurrentState | None = None
    ) -> tuple[Float[Tensor, "batch time dim"], RecurrentState]:
        """Outputs for known symbols, from the state that the text before them left."""
        outputs, state = self.cell(self.embedding(tokens), state)
        return self.dropout(outputs), state

    def start(self, source: Int[Tensor, " batch"]) -> RecurrentState:
        """The state before any text."""
        return self.cell.start(len(source))

    def step(
        self,
        token: Int[Tensor, " rows"],
        state: RecurrentState,
        source: Int[Tensor, " batch"],  # noqa: ARG002
    ) -> tuple[Float[Tensor, "rows vocab"], RecurrentState]:
        """Log probabilities of the next symbol."""
        output, state = self.cell.step(self.embedding(token[:, None])[:, 0], state)
        return self.head(output).log_softmax(-1), state
