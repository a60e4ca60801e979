import json
import re
from pathlib import Path

import pytest

from cli.conftest import Say
from regard.look.curves import read_curves
from regard.look.html import embedded


def written(say: Say, model: Path, data: Path, path: Path, *options: str) -> str:
    said = say("report", model, data, "--output", path, *options)
    assert said.code == 0, said.err
    assert str(path) in said.out
    return path.read_text(encoding="utf-8")


def test_everything_is_in_one_file_that_fetches_nothing(
    say: Say, model: Path, toy: Path, tmp_path: Path
) -> None:
    page = written(say, model, toy / "valid.tsv", tmp_path / "r.html", "--examples", "3")
    for title in ("Scores", "By length of the source", "Best answers", "Worst answers", "Training",
                  "All answers", "Recipe", "Card"):  # fmt: skip
        assert f"<h2>{title}</h2>" in page
    assert "systems.bahdanau" in page
    scores = json.loads(say("evaluate", model, toy / "valid.tsv", "--json").out)["scores"]
    for name, row in scores.items():
        assert f">{name}<" in page
        assert f">{row['score']:.2f}<" in page
        assert f">{row['low']:.2f} to {row['high']:.2f}<" in page
    assert page.count("<tr><td class='number'>") == 40
    without = re.sub(r'xmlns(:\w+)?="[^"]*"|<metadata>.*?</metadata>', "", page, flags=re.S)
    assert not re.search(r"""(src|href)=["'](https?:)?//""", without)
    assert "default-src 'none'" in page


def test_traces_are_those_of_the_best_and_the_worst(
    say: Say, model: Path, toy: Path, tmp_path: Path
) -> None:
    page = written(say, model, toy / "valid.tsv", tmp_path / "r.html", "--examples", "2")
    found = re.search(r'id="traces">(.*?)</script>', page)
    assert found
    traces = json.loads(found[1])
    assert len(traces) == 4
    ranked = [float(score) for score in re.findall(r"<span class='number'>([\d.]+)</span>", page)]
    assert min(ranked[:2]) >= max(ranked[2:])
    for trace in traces:
        assert f"<b dir='auto'>{trace['text']}</b>" in page
        assert len(trace["alignment"]) == len(trace["target"]["tokens"])
        assert trace["search"]["best"]
    ids = re.findall(r'\bid="([^"]+)"', page)
    assert len(ids) == len(set(ids))


def test_what_texts_hold_cannot_become_markup(say: Say, model: Path, tmp_path: Path) -> None:
    (tmp_path / "d.tsv").write_text("</script><b>ab\tba<i>\nabc\tcba\n")
    page = written(say, model, tmp_path / "d.tsv", tmp_path / "r.html")
    assert "</script><b>" not in page
    assert "ba<i>" not in page
    assert "ba&lt;i&gt;" in page
    assert "</" not in embedded({"a": "</script>"})


def test_a_wrong_ending_is_refused(say: Say, model: Path, toy: Path, tmp_path: Path) -> None:
    said = say("report", model, toy / "valid.tsv", "--output", tmp_path / "r.pdf")
    assert said.code == 1
    assert "wanted a file that ends in .html" in said.err


def test_curves_are_read_from_the_log(model: Path, tmp_path: Path) -> None:
    curves = read_curves(model)
    assert curves is not None
    assert [update for update, _ in curves.series["valid/exact"]] == [40, 80]
    assert curves.validated[0] == "valid/exact"
    assert read_curves(tmp_path) is None
    lines = ['{"update": 1, "loss": 2}', '{"update": 2, "loss": 9}', '{"update": 2, "loss": 1}']
    (tmp_path / "log.jsonl").write_text("\n".join([*lines, '{"update": 3, "lo']))
    again = read_curves(tmp_path)
    assert again is not None
    assert again.series == {"loss": [(1, 2.0), (2, pytest.approx(1.0))]}
