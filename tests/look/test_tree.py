"""A search by hand: what is kept and pruned, by how much, and where greedy goes wrong."""

import math
from itertools import pairwise

import pytest
from matplotlib.colors import to_hex
from matplotlib.patches import FancyBboxPatch, PathPatch

from regard.look import style
from regard.look.grow import grow, tree_text
from regard.look.trace import Branch, SearchTree
from regard.look.tree import tree

# A beam of 2. Greedy says "n ow z", which scores less than the answer "k n ow".
SEARCH = SearchTree(
    2,
    [
        Branch(0, 0, "n", math.log(0.5), -0.7, True, False),
        Branch(0, 0, "k", math.log(0.4), -0.9, True, False),
        Branch(0, 0, "z", math.log(0.1), -2.3, False, False),
        Branch(1, 1, "n", math.log(0.36), -0.5, True, False),
        Branch(1, 0, "ow", math.log(0.2), -0.8, True, False),
        Branch(1, 0, "ah", math.log(0.15), -0.9, False, False),
        Branch(2, 0, "ow", math.log(0.3), -0.4, True, False),
        Branch(2, 1, "z", math.log(0.1), -0.75, True, False),
        Branch(2, 1, "s", math.log(0.05), -1.0, False, False),
        Branch(3, 0, "</s>", math.log(0.27), -0.33, True, True),
        Branch(3, 1, "</s>", math.log(0.09), -0.6, True, True),
    ],
    [1, 3, 6, 9],
)
ONE = SearchTree(1, [Branch(0, 0, "</s>", -0.1, -0.1, True, True)], [0])


def words(figure):
    return [text.get_text() for text in figure.texts]


def colour_of(figure, word):
    return {text.get_color() for text in figure.texts if text.get_text() == word}


def edges(figure):
    return [patch for patch in figure.axes[0].patches if isinstance(patch, PathPatch)]


def test_who_continues_whom():
    grown = grow(SEARCH)
    assert [len(column) for column in grown.columns] == [3, 3, 3, 2]
    assert grown.columns[3][0].said == ["k", "n", "ow", "</s>"]
    assert grown.columns[2][2].said == ["n", "ow", "s"]
    assert grown.columns[1][2].lost == pytest.approx(math.log(0.2 / 0.15))
    assert grown.columns[1][0].probability == pytest.approx(0.9)
    assert [node.branch.token for node in grown.best] == ["k", "n", "ow", "</s>"]
    assert [node.branch.token for node in grown.greedy] == ["n", "ow", "z", "</s>"]
    assert grown.parting == 0


def test_rows_keep_the_order_of_their_parents():
    for column in grow(SEARCH).columns[1:]:
        by_row = sorted(column, key=lambda node: node.row)
        parents = [node.parent.row for node in by_row]
        assert parents == sorted(parents)
        assert [node.row for node in by_row] == list(range(len(column)))


def test_why_greedy_went_wrong():
    assert grow(SEARCH).why() == (
        "At step 1 greedy takes n (50%), not k (40%): "
        "it ends with the score -0.60; the answer's is -0.33."
    )
    assert grow(ONE).why() == "Greedy search finds the same answer."


def test_greedy_may_be_pruned_or_lost_from_sight():
    pruned = [*SEARCH.forks[:3], SEARCH.forks[3], SEARCH.forks[4]._replace(kept=False)]
    assert (
        grow(SearchTree(2, pruned, [1, 3])).why().endswith("it is pruned at step 2, short by 0.59.")
    )
    alone = [*SEARCH.forks[:3], SEARCH.forks[3]]
    assert grow(SearchTree(2, alone, [1, 3])).why().endswith("it is out of sight after step 1.")


def test_text_for_a_terminal():
    assert tree_text(SEARCH).splitlines() == [
        "step 1",
        "  · n              -0.693  greedy",
        "  · k              -0.916  answer",
        "  × z              -2.303  pruned, short by 1.39",
        "step 2",
        "  · k n            -1.022  answer",
        "  · n ow           -1.609  greedy",
        "  × n ah           -1.897  pruned, short by 0.29",
        "step 3",
        "  · k n ow         -1.204  answer",
        "  · n ow z         -2.303  greedy",
        "  × n ow s         -2.996  pruned, short by 0.69",
        "step 4",
        "  ■ k n ow </s>    -1.309  ended, score -0.330, answer",
        "  ■ n ow z </s>    -2.408  ended, score -0.600, greedy",
        grow(SEARCH).why(),
    ]


def test_who_else_chose_the_answer_is_said():
    assert grow(SEARCH).passed_over() == ""
    other = [n for column in grow(SEARCH).columns for n in column if n.branch.score == -0.6]
    assert len(other) == 1
    forks = [f._replace(score=-0.1) if f.score == -0.6 else f for f in SEARCH.forks]
    said = tree_text(SearchTree(SEARCH.width, forks, SEARCH.best)).splitlines()[-1]
    assert said.startswith("The beam ranks n ow z </s> first (-0.10); the answer (-0.33) was")


def test_long_beginnings_keep_their_end():
    forks = [Branch(step, 0, "word", -1.0 - step, -1.0, True, False) for step in range(30)]
    lines = tree_text(SearchTree(1, forks, list(range(30)))).splitlines()
    assert max(map(len, lines)) < 100
    assert "…" in lines[-2]
    assert "word  " in lines[-2]


def test_kept_pruned_ended_and_the_answer_are_drawn_as_such():
    figure = tree(SEARCH)
    assert colour_of(figure, "k") == {style.LIGHT.accent}
    assert colour_of(figure, "ah") == colour_of(figure, "s") == {style.LIGHT.dim}
    other = style.colours(1)[0]
    assert colour_of(figure, "n") == {other, style.LIGHT.accent}
    assert {"× 0.29", "× 0.69", "−0.33", "−0.60"} <= set(words(figure))
    assert [text for text in words(figure) if text in "1234"] == ["1", "2", "3", "4"]
    assert any("At step 1 greedy takes n (50%)" in text for text in words(figure))
    lines = [(to_hex(edge.get_edgecolor()), edge.get_linestyle()) for edge in edges(figure)]
    assert lines.count((style.LIGHT.accent.lower(), "-")) == 4
    assert lines.count((other.lower(), "--")) == 4
    assert lines.count((style.LIGHT.faint, "-")) == 3
    boxes = [p for p in figure.axes[0].patches if isinstance(p, FancyBboxPatch)]
    assert [to_hex(box.get_edgecolor()) for box in boxes] == [
        style.LIGHT.accent.lower(),
        other.lower(),
    ]


def test_an_edge_begins_where_its_parent_is():
    figure = tree(SEARCH)
    texts = {(text.get_text(), round(text.get_position()[1], 4)) for text in figure.texts}
    height = figure.get_size_inches()[1]
    ends = {round(1 - edge.get_path().vertices[-1][1] / height, 4) for edge in edges(figure)}
    assert ends == {y for word, y in texts if word in ("n", "k", "z", "ow", "ah", "s", "</s>")}


def test_labels_do_not_overlap():
    forks = [
        Branch(step, 0, f"token{step}{place}", -1.0 * place - step, -1.0, place < 5, False)
        for step in range(15)
        for place in range(10)
    ]
    figure = tree(SearchTree(5, forks, []))
    figure.canvas.draw()
    boxes = [
        text.get_window_extent()
        for text in figure.texts
        if text.get_text().startswith("token") or text.get_text()[:1] in ("−", "×")
    ]
    assert len(boxes) == 300
    boxes.sort(key=lambda box: (round(box.y0), box.x0))
    for one, other in pairwise(boxes):
        assert not one.overlaps(other)


@pytest.mark.parametrize("dark", [False, True])
def test_the_same_bytes(dark):
    first, second = (style.render(tree(SEARCH, title="$ knows", dark=dark), "svg") for _ in "ab")
    assert first == second
    assert b"$ knows" in first


def test_nothing_to_draw():
    with pytest.raises(ValueError, match="at least one step"):
        tree(SearchTree(2, [], []))
    assert tree_text(SearchTree(2, [], [])) == ""
