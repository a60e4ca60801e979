"""Pages that stand alone: one script from all modules, and no trace can break out of it."""

import json
import re
from typing import Any

import pytest
from PIL import Image

from regard.look import html

TRACE: dict[str, Any] = {
    "kind": "text",
    "text": "</script><b>\u2028 & ja",
    "source": {"tokens": ["▁<!--", "▁yes", "</s>"], "words": [[0, 1], [1, 2]]},
    "target": {"tokens": ["▁</script>", "▁ja", "</s>"], "words": [[0, 1], [1, 2]]},
    "layers": 1,
    "heads": 1,
    "alignment": [[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]],
    "log_probs": [-0.1, -0.2, -0.3],
    "choices": [[], [], []],
    "search": None,
}


def test_modules_become_one_script_in_order() -> None:
    script = html.script()
    assert not re.search(r"^\s*(import|export)\b", script, re.MULTILINE)
    defined: set[str] = set()
    for line in script.splitlines():
        if used := re.fullmatch(r"const \{.*\} = (module_\w+);", line):
            assert used[1] in defined, line
        if begun := re.fullmatch(r"const (module_\w+) = \(\(\) => \{", line):
            assert begun[1] not in defined
            defined.add(begun[1])
    assert {"module_matrix", "module_tree", "module_view"} <= defined


def test_what_is_embedded_comes_back_and_cannot_break_out() -> None:
    written = html.embedded(TRACE)
    assert json.loads(written) == TRACE
    assert not set(written) & set("<>&\u2028\u2029")


def test_numbers_that_are_none_are_refused() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        html.embedded({"log_prob": float("nan")})


def test_page_needs_nothing_from_elsewhere() -> None:
    page = html.page(TRACE, title="a <b> & c")
    assert page.count("</script>") == 1
    assert "default-src 'none'" in page
    assert "<title>a &lt;b&gt; &amp; c</title>" in page
    assert not re.search(r"""(src|href)\s*=\s*["']?(https?:)?//""", page)


def test_frame_keeps_the_page_to_itself() -> None:
    frame = html.fragment(TRACE)
    assert frame.startswith("<iframe ")
    assert frame.endswith("</iframe>")
    assert frame.count("<") == 2  # all that is inside is an attribute


def test_picture_travels_with_the_page_and_is_small() -> None:
    photo = Image.new("RGBA", (3000, 1500), "red")
    shown = html.page({**TRACE, "kind": "picture"}, image=photo)
    assert "data:image/jpeg;base64," in shown
    assert photo.size == (3000, 1500)
    assert len(html.data_url(photo)) < 30_000
