import io
import json
from pathlib import Path

import pytest

from cli.conftest import Say

WORDS = ["abc", "fedcba", "cab", "deface", "bead", "ace"]


def answers(out: str) -> list[str]:
    return out.removesuffix("\n").split("\n")


def test_texts(say: Say, model: Path) -> None:
    said = say("run", model, *WORDS)
    assert said.code == 0
    assert said.err == ""
    right = [out == word[::-1] for out, word in zip(answers(said.out), WORDS, strict=True)]
    assert sum(right) >= 3


def test_files_and_pipes_come_back_in_order(
    say: Say, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = [say("run", model, word).out for word in WORDS]
    (tmp_path / "words.txt").write_text("\n".join(WORDS) + "\n")
    assert say("run", model, "--input", tmp_path / "words.txt").out == "".join(alone)
    monkeypatch.setattr("sys.stdin", io.StringIO("\n".join(WORDS)))
    assert say("run", model, "--batch", 4).out == "".join(alone)


def test_options_may_stand_between_texts(say: Say, model: Path) -> None:
    assert (
        say("run", model, "abc", "--beam", 1, "cab").out
        == say("run", model, "--beam", 1, "abc", "cab").out
    )


def test_a_wider_beam_is_never_worse(say: Say, model: Path) -> None:
    def total(width: int) -> float:
        said = say("run", model, *WORDS, "--beam", width, "--json", "--penalty", "none")
        return sum(json.loads(line)["log_prob"] for line in answers(said.out))

    assert total(30) >= total(1) - 1e-4


def test_nbest_scores_fall(say: Say, model: Path) -> None:
    said = say("run", model, "abc", "--nbest", 4)
    rows = [line.split("\t") for line in answers(said.out)]
    scores = [float(score) for score, _ in rows]
    assert len({text for _, text in rows}) == 4
    assert scores == sorted(scores, reverse=True)
    listed = json.loads(say("run", model, "abc", "--nbest", 4, "--json").out)
    assert [listed["text"], *(other["text"] for other in listed["others"])] == [r[1] for r in rows]


def test_a_sample_depends_on_the_seed_and_its_own_text_only(say: Say, model: Path) -> None:
    drawn = ("run", model, "--sample", "--temperature", 3)
    together = answers(say(*drawn, *WORDS).out)
    assert together == answers(say(*drawn, *WORDS, "--seed", 1).out)
    assert together != answers(say(*drawn, *WORDS, "--seed", 2).out)
    assert together[3] == answers(say(*drawn, WORDS[3]).out)[0]
    assert together == answers(say(*drawn, *WORDS, "--batch", 2).out)


def test_narrow_sampling_is_greedy(say: Say, model: Path) -> None:
    greedy = say("run", model, *WORDS, "--beam", 1).out
    for narrow in (("--top-k", 1), ("--top-p", 1e-6), ("--temperature", 1e-3)):
        assert say("run", model, *WORDS, "--sample", *narrow).out == greedy


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (("--sample", "--temperature", 0), "temperature: wanted a number above 0, got 0.0"),
        (("--sample", "--temperature", "nan"), "temperature: wanted a number above 0, got nan"),
        (("--sample", "--temperature", "inf"), "temperature: wanted a number above 0, got inf"),
        (("--sample", "--top-k", 0), "top_k: wanted 1 or more, got 0"),
        (("--sample", "--top-p", 1.5), "top_p: wanted a share"),
        (("--top-k", 3), "--top-k: is for drawing at random; add --sample"),
        (("--seed", 3), "--seed: is for drawing at random; add --sample"),
        (("--beam", 0), "beam: wanted a width of 1 or more, got 0"),
        (("--beam", 2, "--nbest", 3), "nbest: wanted 1 to the beam's width 2, got 3"),
        (("--batch", 0), "batch: wanted 1 text or more, got 0"),
        (("--prefix", "xyz"), "prefix: no symbol for 'x', 'y', 'z'"),
        (("--input", "words.txt"), "wanted either texts or --input FILE, got both"),
    ],
)
def test_nonsense_is_refused(say: Say, model: Path, wrong: tuple[object, ...], said: str) -> None:
    found = say("run", model, "abc", *wrong)
    assert found.code == 1
    assert found.out == ""
    assert said in found.err


@pytest.mark.parametrize("how", [(), ("--beam", 1), ("--sample",), ("--nbest", 3, "--json")])
def test_every_answer_begins_with_the_prefix(
    say: Say, model: Path, how: tuple[object, ...]
) -> None:
    said = say("run", model, *WORDS, "--prefix", "ff", *how)
    assert said.code == 0
    for line in answers(said.out):
        outputs = [line]
        if "--json" in how:
            found = json.loads(line)
            outputs = [found["text"], *(other["text"] for other in found["others"])]
        assert all(output.startswith("ff") for output in outputs)


@pytest.mark.parametrize("which", ["model", "transformer"])
def test_json_has_scores_tokens_and_alignment(
    say: Say, which: str, request: pytest.FixtureRequest
) -> None:
    folder = request.getfixturevalue(which)
    plain = answers(say("run", folder, *WORDS).out)
    for line, word, text in zip(
        answers(say("run", folder, *WORDS, "--json").out), WORDS, plain, strict=True
    ):
        found = json.loads(line)
        assert (found["source"], found["text"]) == (word, text)
        assert "".join(found["tokens"]) == text
        assert found["log_prob"] <= found["score"] < 0
        assert found["source_tokens"] == [*word, "</s>"]
        # One row for each symbol of the answer and one for its end.
        assert len(found["alignment"]) == len(found["tokens"]) + 1
        for row in found["alignment"]:
            assert len(row) == len(found["source_tokens"])
            assert sum(row) == pytest.approx(1, abs=1e-3)


def test_json_without_attention_has_no_alignment(say: Say, blind: Path) -> None:
    said = say("run", blind, "abc", "--json")
    assert said.code == 0
    assert "alignment" not in json.loads(said.out)


def test_unknown_characters_are_reported(say: Say, model: Path) -> None:
    said = say("run", model, "axbzx")
    assert said.code == 0
    assert len(answers(said.out)) == 1
    assert "no symbol for 'x', 'z' in 'axbzx'" in said.err
    assert json.loads(say("run", model, "axbz", "--json").out)["unknown"] == ["x", "z"]


def test_an_empty_line_stays_empty(say: Say, model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("abc\n\n\ncab\n"))
    said = say("run", model)
    assert said.code == 0
    abc, cab = (say("run", model, word).out for word in ("abc", "cab"))
    assert said.out == f"{abc}\n\n{cab}"
    monkeypatch.setattr("sys.stdin", io.StringIO("\n"))
    found = json.loads(say("run", model, "--json").out)
    assert (found["text"], found["tokens"], found["log_prob"]) == ("", [], 0.0)


@pytest.mark.parametrize("piped", [True, False])
def test_bytes_that_are_no_text_are_named_after_the_lines_before(
    say: Say, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, piped: bool
) -> None:
    content = b"\xef\xbb\xbfabc\nab\xff cat\ncab\n"
    path = tmp_path / "lines.txt"
    path.write_bytes(content)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))
    said = say("run", model, *(() if piped else ("--input", path)))
    assert said.code == 1
    assert said.out == say("run", model, "abc").out
    where = "standard input" if piped else path
    assert f"{where}:2: invalid UTF-8: byte 0xff, byte 3 of the line. Remedy: mend" in said.err


def test_an_argument_that_is_no_text(say: Say, model: Path) -> None:
    for word in ("run", "look"):
        said = say(word, model, "ab\udcff")  # as Python hands over bytes that are not UTF-8
        assert said.code == 1
        assert r"'ab\udcff': wanted a text that UTF-8 can hold. Remedy: write it in" in said.err


def test_no_line_at_all(say: Say, model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    assert say("run", model) == (0, "", "")


def test_a_very_long_line(say: Say, model: Path) -> None:
    said = say("run", model, "abcdef" * 40, "abc", "--beam", 1)
    assert said.code == 0
    assert len(answers(said.out)) == 2


def test_a_line_beyond_the_positions_is_refused(say: Say, transformer: Path) -> None:
    said = say("run", transformer, "abc", "abcdef" * 10)
    assert said.code == 1
    assert "wanted at most 39 symbols" in said.err
    assert "got 60" in said.err


def test_an_answer_ends_where_the_positions_do(say: Say, transformer: Path) -> None:
    said = say("run", transformer, "abc" * 13, "--json")
    assert said.code == 0
    assert len(json.loads(said.out)["tokens"]) <= 39


def test_no_such_model(say: Say, model: Path) -> None:
    said = say("run", model.parent / "modell", "abc")
    assert said.code == 1
    assert "there is no such folder" in said.err
    assert "model" in said.err.partition("beside it")[2]


def test_not_a_model(say: Say, tmp_path: Path) -> None:
    said = say("run", tmp_path, "abc")
    assert said.code == 1
    assert "model.safetensors" in said.err


def test_a_line_beyond_the_positions_is_named_and_those_before_are_answered(
    say: Say, transformer: Path, tmp_path: Path
) -> None:
    path = tmp_path / "words.txt"
    path.write_text("\n".join([*WORDS[:2], "abc" * 1000, *WORDS[2:]]) + "\n")
    said = say("run", transformer, "--input", path)
    assert said.code == 1
    assert said.out == say("run", transformer, *WORDS[:2]).out
    assert f"{path}:3: wanted at most 39 symbols" in said.err
    assert "got 3,000" in said.err
