"""A trace is saved as any view that fits it, by the suffix of the file."""

import numpy as np
import pytest
from PIL import Image

from regard.look.align import gold
from regard.look.places import Photo, Timeline, Tokens
from regard.look.trace import Branch, Choice, SearchTree, Trace

SEARCH = SearchTree(1, [Branch(0, 0, "</s>", -0.1, -0.1, True, True)], [0])
PLACES = {
    "text": Tokens(["▁a", "▁la", "dder", "</s>"], [(0, 1), (1, 3)]),
    "picture": Photo(Image.new("RGB", (32, 32), "red"), (2, 2), (0.0, 0.0, 32.0, 32.0)),
    "time": Timeline(2.0, 4, []),
}
BEGINS = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF", "gif": b"GIF8", "html": b"<!doctype"}


def trace(kind, *, search=SEARCH):
    weights = np.random.default_rng(0).dirichlet(np.ones(4), (2, 2, 4))
    target = ["▁eine", "▁leit", "er", "</s>"]
    choices = [[Choice(token, -0.1)] for token in target]
    words = [(0, 1), (1, 3)]
    said = (target, words, "eine leiter", weights, np.full(4, -0.1), choices, search)
    return Trace(PLACES[kind], *said)


@pytest.mark.parametrize(
    ("kind", "view", "suffix"),
    [
        ("text", "matrix", "png"), ("text", "arcs", "svg"), ("text", "heads", "pdf"),
        ("text", "tree", "svg"), ("text", "matrix", "html"), ("picture", "matrix", "svg"),
        ("picture", "tree", "svg"), ("picture", "animation", "gif"), ("picture", "matrix", "gif"),
        ("picture", "matrix", "html"), ("time", "matrix", "svg"), ("time", "heads", "svg"),
    ],
)  # fmt: skip
def test_every_view_of_every_kind(tmp_path, kind, view, suffix):
    path = tmp_path / "below" / f"look.{suffix}"
    assert trace(kind).save(path, view=view, title="$ knows", dark=True) == path
    assert path.read_bytes().startswith(BEGINS[suffix])
    assert [each.name for each in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize(
    ("kind", "view", "name", "message"),
    [
        ("text", "animation", "a.gif", "wanted matrix or arcs or heads or tree of a text, got 'an"),
        ("picture", "arcs", "a.png", "wanted matrix or tree or animation of a picture"),
        ("time", "arcs", "a.png", "of a sound or video"),
        ("text", "matrix", "a.gif", r"ends in \.png, \.svg, \.pdf"),
        ("picture", "animation", "a.png", r"ends in \.gif, \.webp"),
    ],
)
def test_what_does_not_fit(tmp_path, kind, view, name, message):
    with pytest.raises(ValueError, match=message):
        trace(kind).save(tmp_path / name, view=view)
    assert not list(tmp_path.iterdir())


def test_without_a_search_there_is_no_tree(tmp_path):
    with pytest.raises(ValueError, match="this answer was given"):
        trace("text", search=None).save(tmp_path / "a.png", view="tree")


def test_gold_is_for_words(tmp_path):
    links = gold("0-0 1-1")
    figure = trace("text").merged().heads(gold=links)
    assert any("fewest errors" in text.get_text() for text in figure.texts)
    assert [label.get_text() for label in figure.axes[-2].get_xticklabels()] == [
        "a", "ladder", "</s>"
    ]  # fmt: skip


@pytest.mark.parametrize("kind", PLACES)
def test_notebooks(kind):
    shown = trace(kind)._repr_html_()
    assert shown.startswith("<iframe")
    assert ("data:image/jpeg" in shown) == (kind == "picture")
