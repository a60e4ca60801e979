"""Gradients through time: they vanish, explode and are carried at the rates that theory gives."""

import math

import numpy as np
import pytest
import torch

from regard.look.flow import flow
from regard.look.gradients import (
    clip_by_norm,
    clip_by_value,
    clipped,
    gradient_flow,
    singular_values,
    value_for,
)
from regard.look.probe import language_gradients, translation_gradients
from regard.look.steps import followed
from regard.recurrent import CELLS, GRU, LSTM, RNN
from regard.systems import bahdanau, gnmt, sutskever, transformer
from regard.systems.language_model import language_model
from regard.tasks.text import text_batch


def total(ends):
    return ends.sum()


def rnn(recurrent):
    """A vanilla RNN without biases and with this recurrent matrix."""
    cell = RNN(3, len(recurrent)).double()
    with torch.no_grad():
        for bias in (cell.stack.bias_ih_l0, cell.stack.bias_hh_l0):
            bias.zero_()
        cell.stack.weight_hh_l0.copy_(recurrent)
    return cell


def orthogonal(size):
    return torch.linalg.qr(torch.randn(size, size, dtype=torch.float64))[0]


def draw(*shape):
    return torch.randn(*shape, dtype=torch.float64)


def test_vanishes_below_one():
    torch.manual_seed(0)
    matrix = draw(8, 8)
    cell = rnn(0.5 * matrix / torch.linalg.matrix_norm(matrix, 2))
    assert singular_values(cell)[0].values[0] == pytest.approx(0.5)
    (found,) = gradient_flow(cell, draw(4, 101, 3), total)
    assert found.norms[0] == pytest.approx(math.sqrt(8))
    assert (found.norms <= found.norms[0] * 0.5 ** np.arange(101) * (1 + 1e-9)).all()
    assert 0 < found.rate < 0.5


def test_explodes_above_one():
    torch.manual_seed(0)
    cell = rnn(1.5 * orthogonal(8))
    np.testing.assert_allclose(singular_values(cell)[0].values, 1.5)
    # So small that tanh is a straight line even after it has grown a hundred times.
    (found,) = gradient_flow(cell, 1e-22 * draw(4, 101, 3), total)
    np.testing.assert_allclose(found.norms, found.norms[0] * 1.5 ** np.arange(101), rtol=1e-3)
    assert found.rate == pytest.approx(1.5, rel=1e-4)
    # What saturates does not explode any more.
    (bounded,) = gradient_flow(cell, draw(4, 101, 3), total)
    assert bounded.norms[100] < 1e-3 * found.norms[100]


def test_open_forget_gates_carry_the_gradient():
    torch.manual_seed(0)
    cell = LSTM(3, 8).double()
    with torch.no_grad():
        cell.stack.bias_ih_l0[:8] = -15.0  # input gates closed
        cell.stack.bias_ih_l0[8:16] = 15.0  # forget gates open
    hidden, carried = gradient_flow(cell, draw(4, 101, 3), total)
    assert (hidden.part, carried.part) == ("h", "c")
    assert carried.norms[100] / carried.norms[0] == pytest.approx(1, abs=1e-3)
    assert hidden.norms[100] < 1e-3 * hidden.norms[0]
    with torch.no_grad():
        cell.stack.bias_ih_l0[8:16] = 0.0  # half open
    _, lost = gradient_flow(cell, draw(4, 101, 3), total)
    assert lost.norms[100] < 1e-20 * lost.norms[0]


@pytest.mark.parametrize("kind", CELLS.values())
def test_finite_differences(kind, monkeypatch):
    """Every entry of the gradient at one state of each layer, by pushing that state alone."""
    torch.manual_seed(0)
    cell, x, weights = kind(2, 3, layers=2).double(), draw(1, 9, 2), draw(3)
    found = gradient_flow(cell, x, lambda ends: (ends * weights).sum())
    back, small, one_step = 4, 1e-6, cell.cell

    def loss(layer, part, push):
        calls = iter(range(100))

        def pushed(*given):
            new = list(one_step(*given))
            if next(calls) == (8 - back) * 2 + layer:
                if part == 1:  # h = o tanh(c) changes with c
                    new[0] = new[0] / new[1].tanh() * (new[1] + push).tanh()
                new[part] = new[part] + push
            return tuple(new)

        monkeypatch.setattr(cell, "cell", pushed)
        state = cell.start(1)
        for number in range(9):
            output, state = cell.step(x[:, number], state)
        return float((output * weights).sum())

    with torch.no_grad():
        for each in found:
            place = each.layer - 1, "hc".index(each.part)
            slopes = [
                (loss(*place, push) - loss(*place, -push)) / (2 * small)
                for push in small * torch.eye(3).double()
            ]
            assert each.norms[back] == pytest.approx(np.linalg.norm(slopes), rel=1e-6)


def test_shorter_rows_count_from_their_own_end():
    torch.manual_seed(0)
    cell, x = GRU(2, 4).double(), draw(2, 9, 2)
    both = gradient_flow(cell, x, total, lengths=torch.tensor([9, 6]))[0]
    alone = [
        gradient_flow(cell, row[None, :length], total)[0].norms[:6]
        for row, length in zip(x, (9, 6), strict=True)
    ]
    np.testing.assert_allclose(both.norms, np.mean(alone, axis=0))


@pytest.mark.parametrize("kind", CELLS.values())
def test_following_changes_nothing(kind):
    cell, x = kind(2, 3, layers=2).eval(), torch.randn(2, 5, 2)
    plain, last = cell(x)
    with followed(cell) as tracks:
        outputs, end = cell(x)
        again, _ = cell(x[:, :2], last)
    torch.testing.assert_close(outputs, plain)
    torch.testing.assert_close(end, last)
    assert [len(track.states) for track in tracks] == [5, 2]
    torch.testing.assert_close(again, cell(x[:, :2], last)[0])
    assert len(tracks) == 2


@pytest.mark.parametrize("kind", CELLS.values())
def test_singular_values_of_every_gate(kind):
    cell = kind(2, 5, layers=2)
    found = singular_values(cell)
    assert len(found) == 2 * cell.gates
    weight = cell.stack.weight_hh_l1.detach().numpy()
    for number, matrix in enumerate(found[cell.gates :]):
        assert matrix.layer == 2
        part = weight[5 * number : 5 * number + 5]
        np.testing.assert_allclose(matrix.values, np.linalg.svd(part)[1], rtol=1e-4)


def test_gates_have_their_names():
    assert [m.gate for m in singular_values(LSTM(2, 3))] == ["input", "forget", "cell", "output"]
    assert [m.gate for m in singular_values(GRU(2, 3))] == ["reset", "update", "new"]


def test_clipping_by_hand():
    gradient = torch.tensor([3.0, -4.0, 0.0]).double()
    shorter = clip_by_norm(gradient, 1.0)
    torch.testing.assert_close(shorter, torch.tensor([0.6, -0.8, 0.0]).double())
    done = clipped(gradient, shorter, 1.0)
    assert (done.before, done.after) == (5.0, pytest.approx(1.0))
    assert done.changed == pytest.approx(2 / 3)
    assert done.angle == pytest.approx(0, abs=1e-6)

    cut = clip_by_value(gradient, 3.5)
    torch.testing.assert_close(cut, torch.tensor([3.0, -3.5, 0.0]).double())
    done = clipped(gradient, cut, 3.5)
    assert done.changed == pytest.approx(1 / 3)
    apart = math.degrees(math.atan2(4, 3) - math.atan2(3.5, 3))
    assert done.angle == pytest.approx(apart)
    # All entries cut: every direction becomes a diagonal.
    cut = clipped(gradient[:2], clip_by_value(gradient[:2], 0.1), 0.1)
    assert cut.angle == pytest.approx(45 - math.degrees(math.atan2(3, 4)))


def test_what_is_small_is_not_clipped():
    gradient = torch.tensor([0.3, -0.4], dtype=torch.float64)
    for after in (clip_by_norm(gradient, 1.0), clip_by_value(gradient, 1.0)):
        assert clipped(gradient, after, 1.0)[1:] == (0.5, 0.5, 0.0, 0.0)
    nothing = torch.zeros(2).double()
    assert clipped(nothing, clip_by_norm(nothing, 1.0), 1.0)[1:] == (0.0, 0.0, 0.0, 0.0)


@pytest.mark.parametrize("share", [0.01, 0.3, 0.9, 1.0])
def test_the_value_that_leaves_a_norm(share):
    torch.manual_seed(0)
    gradient = draw(500) ** 3
    wanted = share * float(gradient.norm())
    left = clip_by_value(gradient, value_for(gradient, wanted)).norm()
    assert float(left) == pytest.approx(wanted)


@pytest.mark.parametrize("cell", CELLS)
def test_language_models(cell):
    """The loss of the last symbol only, by hand for one row."""
    torch.manual_seed(0)
    model = language_model(9, cell=cell, embedding=4, dim=6, layers=2, dropout=0.3)
    tokens = np.random.default_rng(0).integers(0, 9, 200)
    found = language_gradients(model, tokens, steps=20, rows=1)
    assert found.kind == CELLS[cell].__name__
    assert {len(each.norms) for each in found.flows} == {21}
    assert [each.layer for each in found.top] == [2] * CELLS[cell].parts
    assert [matrix.layer for matrix in found.matrices] == sorted([1, 2] * model.cell.gates)

    model.double().eval()
    text = torch.from_numpy(tokens[:22])
    outputs, _ = model(text[None, :-1])
    end = outputs[0, -1].detach().requires_grad_()
    loss = -model.head(end).log_softmax(-1)[text[-1]]
    (slope,) = torch.autograd.grad(loss, end)
    assert found.top[0].norms[0] == pytest.approx(float(slope.norm()))

    every = -model.head(outputs[0]).log_softmax(-1).gather(1, text[1:, None]).mean()
    parts = torch.autograd.grad(every, list(model.parameters()))
    assert float(found.gradient.norm()) == pytest.approx(
        math.sqrt(sum(float(part.square().sum()) for part in parts))
    )


def test_a_short_text():
    with pytest.raises(ValueError, match=r"at least 102 symbols .* got 50; give a longer text"):
        language_gradients(language_model(9, dim=4), np.zeros(50, np.int64))


PAIRS = [[4, 5, 6, 4, 5], [5, 5, 4]], [[4, 5], [6, 6, 5]]


def test_encoders():
    torch.manual_seed(0)
    sizes = {"embedding": 4, "encoder": 5, "decoder": 6, "attention": 4, "readout": 4}
    model = bahdanau(9, 9, **sizes, encoder_layers=2)
    batch = text_batch(*PAIRS)
    found = translation_gradients(model, *batch)
    # Two layers that read ahead; those that read from the end are not followed.
    assert [each.layer for each in found.flows if each.part == "h"] == [1, 2]
    assert {matrix.layer for matrix in found.matrices} == {1, 2}
    # As far as the shortest source goes, its end included.
    assert {len(each.norms) for each in found.flows} == {4}
    assert {len(each.norms) for each in translation_gradients(model, *batch, steps=2).flows} == {3}

    # The top layer's states are the first half of the memory: its gradient by hand.
    model.double().eval()
    memory = model.encoder(batch.source, batch.source_mask)
    values, summary = memory.values.detach().requires_grad_(), memory.summary.detach()
    summary.requires_grad_()
    outputs = model.decoder(batch.inputs, memory._replace(values=values, summary=summary)).outputs
    each = -model.head(outputs).log_softmax(-1).gather(2, batch.targets[..., None])[..., 0]
    loss = ((each * batch.target_mask).sum(1) / batch.target_mask.sum(1)).sum()
    by_values, by_summary = torch.autograd.grad(loss, [values, summary])
    ends = by_values[[0, 1], [5, 3], :5] + by_summary[:, :5]
    top = next(each for each in found.top if each.part == "h")
    assert top.norms[0] == pytest.approx(float(ends.norm(dim=1).mean()))


@pytest.mark.parametrize("kind", ["rnn", "lstm", "gru"])
def test_rows_of_several_lengths_are_followed_to_their_own_ends(kind):
    torch.manual_seed(0)
    cell, x, lengths = (
        CELLS[kind](3, 5, layers=2).double(),
        draw(4, 6, 3),
        torch.tensor([6, 1, 4, 6]),
    )
    outputs, state = cell(x, None, lengths)
    with followed(cell) as tracks:
        stepped, ends = cell(x, None, lengths)
    assert len(tracks[0].states) == 6
    for layer, other in zip(state, ends, strict=True):
        for part, same in zip(layer, other, strict=True):
            np.testing.assert_allclose(same.detach(), part.detach(), atol=1e-12)
    for row, length in enumerate(lengths):
        real = slice(None, length)
        np.testing.assert_allclose(
            stepped[row, real].detach(), outputs[row, real].detach(), atol=1e-12
        )


def test_a_deep_stack_is_followed_layer_by_layer():
    torch.manual_seed(0)
    model = gnmt(9, 9, embedding=4, dim=6, layers=4)
    found = translation_gradients(model, *text_batch(*PAIRS))
    assert [each.layer for each in found.flows if each.part == "h"] == [1, 2, 3, 4]
    assert all((each.norms > 0).all() for each in found.flows)
    assert [each.layer for each in found.fresh().values()] == [4, 4, 4]


def test_reading_from_the_end_is_followed_in_its_own_order():
    torch.manual_seed(0)
    model = sutskever(9, 9, cell="rnn", embedding=4, dim=5, layers=1)
    found = translation_gradients(model, *text_batch(*PAIRS))
    # The only way to the loss is through the last state: nothing comes in on the way.
    assert (np.diff(np.log(found.flows[0].norms)) < 0).all()


def test_what_does_not_recur_is_refused():
    model = transformer(9, 9, dim=8, heads=2, hidden=8, layers=1)
    with pytest.raises(ValueError, match="wanted an encoder that reads the source step by step"):
        translation_gradients(model, *text_batch(*PAIRS))


def looked(cell, **sizes):
    torch.manual_seed(0)
    model = language_model(9, cell=cell, embedding=4, dim=6, **sizes)
    return language_gradients(model, np.arange(300) % 9, steps=12, rows=3)


def test_new_cells_begin_where_the_model_does():
    found = looked("lstm", layers=2)
    before = torch.get_rng_state()
    new = found.fresh()
    assert torch.equal(before, torch.get_rng_state())
    assert list(new) == ["RNN", "LSTM", "GRU"]
    for each in new.values():
        assert (each.layer, each.part, len(each.norms)) == (2, "h", 13)
        assert each.norms[0] == pytest.approx(found.top[0].norms[0])
        assert each.norms[-1] < 0.1 * each.norms[0]


@pytest.mark.parametrize("dark", [False, True])
def test_the_picture_has_every_line(dark):
    models = {"runs/$one": looked("lstm"), "two": looked("rnn")}
    new = models["two"].fresh()
    clips = {"two": clipped(torch.tensor([3.0, 4.0]), torch.tensor([3.0, 3.0]), 3.0)}
    figure = flow(models, new=new, clips=clips, title="x_1 $", dark=dark)
    time, matrices, clipping = figure.axes
    lines = {line.get_label(): line.get_ydata() for line in time.lines}
    assert list(lines) == [
        "new RNN", "new LSTM", "new GRU", "runs/$one (LSTM), h", "runs/$one (LSTM), c",
        "two (RNN), h",
    ]  # fmt: skip
    np.testing.assert_array_equal(lines["two (RNN), h"], models["two"].top[0].norms)
    assert time.get_yscale() == "log"
    names = [text.get_text() for text in matrices.get_yticklabels()]
    assert names == ["LSTM input", "LSTM forget", "LSTM cell", "LSTM output", "RNN U"]
    assert sum(line.get_marker() == "o" for line in clipping.lines) == 1


def test_nothing_left_can_be_drawn():
    found = looked("rnn")
    norms = found.flows[0].norms.copy()
    norms[3:] = 0.0
    gone = found.flows[0]._replace(norms=norms)
    axes = flow({"gone": type(found)(**{**vars(found), "flows": [gone]})}).axes[0]
    assert np.isnan(axes.lines[0].get_ydata()).sum() == len(norms) - 3
