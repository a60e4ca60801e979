"""The map shows the two axes of largest variance, and its labels keep apart."""

import csv
import warnings

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from regard.look import style
from regard.look.scatter import MOST, boxes, scatter
from regard.look.sentence_map import principal, read_sentences, sentence_map


def points(*shape):
    return np.random.default_rng(0).normal(size=shape)


def test_axes_of_largest_variance():
    """The eigenvectors of the covariance, found without a singular value decomposition."""
    given = points(30, 5) * [1.0, 4.0, 0.5, 2.0, 1.0] + 7.0
    found = principal(given)
    values, vectors = np.linalg.eigh(np.cov(given.T))
    np.testing.assert_allclose(found.shares, values[::-1][:2] / values.sum())
    for axis in (0, 1):
        vector = vectors[:, -1 - axis]
        vector = vector * np.sign(vector[np.abs(vector).argmax()])
        expected = (given - given.mean(0)) @ vector
        np.testing.assert_allclose(found.places[:, axis], expected, atol=1e-9)


def test_the_sign_is_the_same_whatever_the_order():
    given = points(12, 6)
    order = np.random.default_rng(1).permutation(12)
    np.testing.assert_allclose(
        principal(given[order]).places, principal(given).places[order], atol=1e-9
    )


def test_groups_that_differ_lie_apart():
    """An encoder that counts words: sentences about weather here, about money there."""
    groups = {"weather": ["rain", "wind", "sun", "snow"], "money": ["bank", "coin", "debt", "loan"]}
    chance = np.random.default_rng(0)
    words = [word for group in groups.values() for word in group] + ["the", "a", "is"]
    sentences, names = [], []
    for name, own in groups.items():
        for _ in range(10):
            sentences.append(" ".join([*chance.choice(own, 4), *chance.choice(words[-3:], 3)]))
            names.append(name)
    themes = points(2, 16)
    table = {
        word: themes[number // 4] if number < 8 else np.zeros(16)
        for number, word in enumerate(words)
    }
    noise = 0.1 * points(len(sentences), 16)
    summaries = np.array([sum(table[w] for w in s.split()) for s in sentences]) + noise
    found = sentence_map(sentences, summaries, names)
    left, right = found.places[:10, 0], found.places[10:, 0]
    assert left.max() < right.min() or right.max() < left.min()
    assert found.shares[0] > 0.9


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (points(2, 5), "wanted 3 sentences or more, got 2"),
        (np.ones((4, 5)), "the same vector for each"),
        (points(4, 1), r"wanted 2 points and sizes or more, got \(4, 1\)"),
    ],
)
def test_nothing_to_map(given, message):
    with pytest.raises(ValueError, match=message):
        sentence_map(["a"] * len(given), given)


def test_a_file_of_sentences(tmp_path):
    path = tmp_path / "sentences.txt"
    path.write_text("\ufeffOne house.\tbuildings\r\n\n  Two dogs. \t animals\nThree.\n", "utf-8")
    assert read_sentences(path) == (
        ["One house.", "Two dogs.", "Three."],
        ["buildings", "animals", ""],
    )
    path.write_text("One.\ngroup\tto\tmany\n")
    with pytest.raises(ValueError, match=r"sentences.txt:2: .* got 2 tabs"):
        read_sentences(path)
    path.write_bytes(b"One.\n\xff\n")
    with pytest.raises(ValueError, match=r"sentences.txt:2: invalid UTF-8"):
        read_sentences(path)


def test_picture_and_table(tmp_path):
    sentences = ['Say "no".', "中文 $x^2$", "Three.", "\ud83dFour"[1:]]
    found = sentence_map(sentences, points(4, 3), ["a", "", "a", "b"])
    path = found.save(tmp_path / "map.svg", dark=True)
    assert "中文 $x^2$" in path.read_text()
    with (tmp_path / "map.places.tsv").open(encoding="utf-8") as file:
        head, *rows = csv.reader(file, delimiter="\t")
    assert head == ["sentence", "group", "x", "y"]
    assert [row[:2] for row in rows] == [
        list(each) for each in zip(sentences, ["a", "", "a", "b"], strict=True)
    ]
    places = np.array([[float(x), float(y)] for *_, x, y in rows])
    np.testing.assert_allclose(places, found.places, rtol=1e-4)
    first = path.read_bytes()
    assert found.save(tmp_path / "again.svg", dark=True).read_bytes() == first


def test_points_groups_and_axes():
    places, labels, groups = points(5, 2), list("abcde"), ["x", "y", "x", "", "y"]
    figure = scatter(places, labels, groups, shares=np.array([0.5, 0.25]), title="a $ b")
    (axes,) = figure.axes
    drawn = {line.get_label(): line.get_xydata() for line in axes.lines[:3]}
    np.testing.assert_array_equal(drawn["x"], places[[0, 2]])
    np.testing.assert_array_equal(drawn["no group"], places[[3]])
    assert len({line.get_marker() for line in axes.lines[:3]}) == 3
    assert axes.get_xlabel() == "first principal axis (50% of the variance)"
    assert axes.get_ylabel() == "second principal axis (25% of the variance)"
    assert [text.get_text() for text in axes.texts] == labels


@pytest.mark.parametrize("number", [3, 20, MOST])
def test_labels_do_not_overlap(number):
    """As the renderer draws them, whatever was planned."""
    labels = [f"a sentence of some length, number {n}" for n in range(number)]
    places = points(number, 2)
    figure = scatter(places, labels, [""] * number, shares=np.array([0.5, 0.25]))
    figure.set_dpi(72)
    renderer = FigureCanvasAgg(figure).get_renderer()
    (axes,) = figure.axes
    drawn = [text.get_window_extent(renderer) for text in axes.texts]
    dots = axes.transData.transform(places)
    assert len(drawn) == number
    for one, label in enumerate(drawn):
        assert not any(label.overlaps(other) for other in drawn[one + 1 :])
        assert not any(label.contains(*dot) for dot in dots)
        assert axes.bbox.padded(2).contains(label.x0, label.y0)
        assert axes.bbox.padded(2).contains(label.x1, label.y1)


def test_many_points_are_dots():
    places = points(MOST + 1, 2)
    figure = scatter(places, ["x"] * len(places), [""] * len(places), shares=np.array([0.5, 0.2]))
    assert not figure.axes[0].texts
    assert len(figure.axes[0].lines) == 1


def test_a_lonely_label_is_beside_its_dot():
    (box,) = boxes(np.array([[200.0, 100.0]]), [(50.0, 10.0)], (400.0, 200.0))
    np.testing.assert_allclose(box, [206, 95, 256, 105])
    # At the right edge it goes to the other side.
    (box,) = boxes(np.array([[390.0, 100.0]]), [(50.0, 10.0)], (400.0, 200.0))
    assert box[2] < 390


def test_all_on_one_line_and_strange_scripts():
    places = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0]])
    labels = ["日本語 שלום", "😀\x00", "x" * 99]
    figure = scatter(places, labels, ["$", "مرحبا", "$"], shares=np.array([1.0, 0.0]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        style.render(figure, "png")
    assert [len(text.get_text()) for text in figure.axes[0].texts][2] == 44
