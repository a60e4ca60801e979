"""Every system and part, tiny, in float64, with random weights; and batches for them."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeVar
from zlib import crc32

import torch
from torch import Tensor, nn

from regard import attention, systems, tree
from regard.attention import Attention, Hard
from regard.memory import Memory, Read
from regard.model import Seq2Seq
from regard.search import Average, Gnmt, Hypothesis, Penalty, Raw, Symbols

Module = TypeVar("Module", bound=nn.Module)

PAD, BEGIN, END = 0, 1, 2
VOCAB = 7
WORDS = range(3, VOCAB)
SYMBOLS = Symbols(begin=BEGIN, end=END, never=(PAD, BEGIN))

_RNNSEARCH = {"embedding": 4, "encoder": 3, "decoder": 5, "attention": 4, "readout": 4}
_LUONG = {"embedding": 4, "dim": 4, "layers": 1}
_GNMT = {"embedding": 4, "dim": 4, "attention": 3}
_CONVS2S = {"embedding": 4, "dim": 5, "layers": 2, "longest": 16}
_CHO = {"embedding": 4, "dim": 5, "readout": 4}
_SUTSKEVER = {"embedding": 4, "dim": 4, "layers": 1}
_HIERARCHICAL = {"embedding": 4, "encoder": 3, "context": 5, "decoder": 4}
_TRANSFORMER = {"dim": 8, "heads": 2, "hidden": 6, "layers": 2, "longest": 16}

SYSTEMS: dict[str, tuple[Any, dict[str, Any]]] = {
    **{
        f"bahdanau-{cell}": (systems.bahdanau, {**_RNNSEARCH, "cell": cell})
        for cell in ("gru", "lstm", "rnn")
    },
    "bahdanau-hard": (systems.bahdanau, {**_RNNSEARCH, "choice": "hard"}),
    "bahdanau-hard-lstm-deep": (
        systems.bahdanau,
        {**_RNNSEARCH, "choice": "hard", "cell": "lstm", "encoder_layers": 2, "decoder_layers": 2},
    ),
    "bahdanau-deep": (systems.bahdanau, {**_RNNSEARCH, "encoder_layers": 2, "decoder_layers": 3}),
    "bahdanau-tanh": (systems.bahdanau, {**_RNNSEARCH, "deep_output": "tanh"}),
    "bahdanau-tied": (systems.bahdanau, {**_RNNSEARCH, "tied": True}),
    **{
        f"luong-{score}{'-feeding' if fed else ''}": (
            systems.luong,
            {**_LUONG, "score": score, "input_feeding": fed},
        )
        for score in ("dot", "general", "concat", "scaled")
        for fed in (False, True)
    },
    "luong-gru-deep": (
        systems.luong,
        {**_LUONG, "cell": "gru", "layers": 2, "input_feeding": False},
    ),
    "luong-both-ways": (
        systems.luong,
        {**_LUONG, "cell": "gru", "reads": "both ways", "input_feeding": False},
    ),
    "luong-deep-feeding-tied": (systems.luong, {**_LUONG, "layers": 2, "tied": True}),
    "luong-rnn-feeding": (systems.luong, {**_LUONG, "cell": "rnn"}),
    "luong-monotonic": (
        systems.luong,
        {**_LUONG, "window": "monotonic", "width": 1, "input_feeding": False},
    ),
    "luong-monotonic-feeding": (systems.luong, {**_LUONG, "window": "monotonic", "width": 2}),
    "luong-predictive": (
        systems.luong,
        {**_LUONG, "window": "predictive", "width": 1, "score": "dot", "input_feeding": False},
    ),
    "gnmt": (systems.gnmt, _GNMT),
    "gnmt-gru-tied": (systems.gnmt, {**_GNMT, "cell": "gru", "layers": 2, "tied": True}),
    "convs2s": (systems.convs2s, _CONVS2S),
    "convs2s-wide-tied": (
        systems.convs2s,
        {**_CONVS2S, "width": 5, "decoder_layers": 1, "tied": True},
    ),
    "cho-lstm-deep-tied": (systems.cho, {**_CHO, "cell": "lstm", "layers": 2, "tied": True}),
    "cho-mean-rnn-tanh": (
        systems.cho,
        {**_CHO, "summary": "mean", "cell": "rnn", "deep_output": "tanh"},
    ),
    "cho-max": (systems.cho, {**_CHO, "summary": "max"}),
    "cho-attend": (systems.cho, {**_CHO, "summary": "attend"}),
    **{
        f"sutskever-{cell}": (systems.sutskever, {**_SUTSKEVER, "cell": cell})
        for cell in ("lstm", "gru", "rnn")
    },
    "sutskever-forwards": (systems.sutskever, {**_SUTSKEVER, "reverse": False}),
    "sutskever-deep-tied": (systems.sutskever, {**_SUTSKEVER, "layers": 2, "tied": True}),
    "conversation-lstm": (systems.conversation, {**_SUTSKEVER, "layers": 2}),
    "conversation-words-tied": (
        systems.conversation,
        {**_SUTSKEVER, "attention": "words", "tied": True},
    ),
    **{  # one of the random words ends a turn
        f"hierarchical-{attention}": (
            systems.hierarchical,
            {**_HIERARCHICAL, "attention": attention, "separator": separator},
        )
        for attention, separator in (("none", 3), ("turns", 4), ("words", 6))
    },
    "hierarchical-words-lstm-deep-tied": (
        systems.hierarchical,
        {**_HIERARCHICAL, "attention": "words", "cell": "lstm", "layers": 2, "tied": True},
    ),
    **{
        f"transformer-{norm}-{positions}": (
            systems.transformer,
            {**_TRANSFORMER, "norm": norm, "positions": positions},
        )
        for norm in ("pre", "post")
        for positions in ("sinusoidal", "learned")
    },
    "transformer-untied": (systems.transformer, {**_TRANSFORMER, "tied": False}),
    "transformer-shared": (systems.transformer, {**_TRANSFORMER, "shared": True}),
    "transformer-shared-untied": (
        systems.transformer,
        {**_TRANSFORMER, "shared": True, "tied": False},
    ),
    "transformer-small-keys": (systems.transformer, {**_TRANSFORMER, "key": 3, "norm": "post"}),
    "transformer-shallow-decoder": (systems.transformer, {**_TRANSFORMER, "decoder_layers": 1}),
}
HARD = [name for name in SYSTEMS if "hard" in name]
BLIND = [
    name
    for name in SYSTEMS
    if name.startswith(("sutskever", "cho", "conversation-lstm", "hierarchical-none"))
]
"""Systems without attention."""
FEW = [
    "bahdanau-gru",
    "luong-general-feeding",
    "luong-scaled",
    "luong-monotonic",
    "gnmt-gru-tied",
    "convs2s",
    "sutskever-lstm",
    "cho-attend",
    "hierarchical-turns",
    "transformer-post-sinusoidal",
    "transformer-pre-learned",
]
"""One of each kind, for laws that cost much."""

ATTENTIONS: dict[str, Any] = {
    "dot": attention.Dot,
    "scaled": attention.ScaledDot,
    "general": lambda **choice: attention.General(4, 4, **choice),
    "additive": lambda **choice: attention.Additive(4, 4, dim=3, **choice),
    "additive-unbiased": lambda **choice: attention.Additive(4, 4, dim=3, bias=False, **choice),
    "concat": lambda **choice: attention.Concat(4, 4, **choice),
    "monotonic": lambda **choice: attention.Dot(window=attention.Monotonic(width=1), **choice),
    "predictive": lambda **choice: attention.General(
        4, 4, window=attention.Predictive(4, width=2), **choice
    ),
}
"""Content attentions with queries and values of size 4, of any choice."""

PENALTIES: dict[str, Penalty] = {
    "raw": Raw(),
    "average": Average(),
    "gnmt": Gnmt(0.6),
    "gnmt-2": Gnmt(2.0),
}


def build(name: str, *, seed: int = 0, **options: Any) -> Seq2Seq:
    """A system without dropout (unless told), in evaluation mode."""
    builder, own = SYSTEMS[name]
    return randomised(builder(VOCAB, VOCAB, **{"dropout": 0.0, **own, **options}), name, seed)


def make_attention(name: str) -> Attention:
    """A content attention, its hard twin ("dot-hard") or one of several heads."""
    if name == "multihead":
        return randomised(attention.MultiHead(4, 2), name, 0)
    kind, hard, _ = name.partition("-hard")
    return randomised(ATTENTIONS[kind](choice=Hard() if hard else None), name, 0)


def look(attention: Attention, query: Tensor, seen: Memory) -> Read:
    """The first look, with one row or more for each source."""
    keys = attention.keys(seen)
    return attention(query, keys, tree.repeat(attention.start(keys), len(query) // len(seen.mask)))


ALL_ATTENTIONS = [*ATTENTIONS, *(f"{name}-hard" for name in ATTENTIONS), "multihead"]


def randomised(module: Module, name: str, seed: int) -> Module:
    """Weights large enough that what is likely is not what is short or first."""
    generator = torch.Generator().manual_seed(crc32(name.encode()) + seed)
    module.double()
    with torch.no_grad():
        for weight in module.parameters():
            weight.normal_(std=0.8, generator=generator)
    return module.eval()


class Batch(NamedTuple):
    """Padded sources and targets, and the single sentences that they were made of."""

    source: Tensor
    mask: Tensor
    tokens: Tensor
    targets: Tensor
    target_mask: Tensor

    def alone(self, sentence: int) -> Batch:
        """One sentence without company and without padding."""
        one = [x[sentence : sentence + 1] for x in self]
        size, length = int(one[1].sum()), int(one[4].sum())
        return Batch(one[0][:, :size], one[1][:, :size], *(x[:, :length] for x in one[2:]))


def batch(lengths: list[int], times: list[int] | None = None, *, seed: int = 0) -> Batch:
    """Random sentences; what stands in the padding is random too, for nobody may look at it."""
    generator = torch.Generator().manual_seed(seed)
    times = times or [3] * len(lengths)

    def words(widths: list[int]) -> Tensor:
        return torch.randint(3, VOCAB, (len(widths), max(widths)), generator=generator)

    tokens, targets = words(times), words(times)
    tokens[:, 0] = BEGIN
    return Batch(words(lengths), mask(lengths), tokens, targets, mask(times))


def mask(lengths: list[int]) -> Tensor:
    return torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]


def memory(lengths: list[int], *, dim: int = 4, seed: int = 0) -> Memory:
    """A random memory for parts that are tested without an encoder."""
    generator = torch.Generator().manual_seed(seed)
    real = mask(lengths)
    values = torch.randn(*real.shape, dim, generator=generator, dtype=torch.float64)
    return Memory(values, real, values[:, 0])


class Table:
    """A scorer that is no network: p(y | x, y_<t) is a random row for each source and beginning."""

    def start(self, source: Tensor) -> Tensor:
        return torch.zeros(len(source), dtype=torch.long)

    def step(self, token: Tensor, state: Tensor, source: Tensor) -> tuple[Tensor, Tensor]:
        state = (state * 31 + token * 7 + 3) % source.shape[1]
        rows = state.view(len(source), -1, 1).expand(-1, -1, source.shape[2])
        return source.gather(1, rows).flatten(0, 1).log_softmax(-1), state


def table(sentences: int, *, seed: int, vocab: int = VOCAB, sharp: float = 1.5) -> Tensor:
    """The source of a `Table`."""
    generator = torch.Generator().manual_seed(seed)
    return sharp * torch.randn(sentences, 97, vocab, generator=generator, dtype=torch.float64)


def sentence(source: Any, number: int) -> Any:
    """One sentence of a prepared source."""
    return tree.select(source, torch.tensor([number]))


def forced(model: Seq2Seq, source: Tensor, real: Tensor, hypothesis: Hypothesis) -> float:
    """The log probability of a whole hypothesis, by one pass with the right symbols as input."""
    said = torch.tensor([[*hypothesis.tokens, END]])
    before = torch.tensor([[BEGIN, *hypothesis.tokens]])
    with torch.no_grad():
        log_prob = model.head(model(source, real, before).outputs).log_softmax(-1)
    return float(log_prob.gather(2, said[..., None]).sum())


def assert_same_hypotheses(got: list[Hypothesis], wanted: list[Hypothesis]) -> None:
    """The same tokens, ends and (but for rounding) numbers, in the same order."""
    assert [h.tokens for h in got] == [h.tokens for h in wanted]
    assert [h.complete for h in got] == [h.complete for h in wanted]
    for one, other in zip(got, wanted, strict=True):
        assert abs(one.log_prob - other.log_prob) < 1e-9
        assert abs(one.score - other.score) < 1e-9


def assert_close(got: Any, wanted: Any, message: str = "") -> None:
    """Two trees with equal leaves."""
    ours, theirs = tree.leaves(got), tree.leaves(wanted)
    assert len(ours) == len(theirs) > 0
    for one, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(
            one, other, rtol=1e-9, atol=1e-10, msg=lambda found: f"{message} {found}"
        )
