import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import regard
from cli.conftest import Said, Say, trained
from regard.commands.talk import WELCOME
from regard.data.tokenizer import TURN
from regard.tasks import Output, Sampling, Talk, Translator

HIERARCHICAL = {
    "is": "systems.hierarchical", "embedding": 8, "encoder": 8, "context": 16, "decoder": 16,
    "attention": "words", "dropout": 0.0,
}  # fmt: skip
DIALOGUES = [[f"{a}{b}", f"{b}!", f"{a}?", "bye"] for a in "abcd" for b in "abcd"]

Spoken = Callable[..., Said]


@pytest.fixture(scope="session")
def chatter(toy: Path) -> Path:
    """A small talker that remembers two turns, trained after perplexity."""
    path = toy / "dialogues.jsonl"
    path.write_text("".join(json.dumps(turns) + "\n" for turns in DIALOGUES))
    source = {"is": "data.Dialogues", "path": str(path), "turns": 2}
    return trained(
        toy, "chatter", model=dict(HIERARCHICAL), data__train=source, data__valid=source,
        metrics=["perplexity"], train__updates=40, train__validate_every=8, train__average=1,
    )  # fmt: skip


@pytest.fixture
def spoken(say: Say, monkeypatch: pytest.MonkeyPatch) -> Spoken:
    """Talk to a model through a pipe."""

    def run(folder: Path, lines: str | bytes, *options: object) -> Said:
        content = lines.encode() if isinstance(lines, str) else lines
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content), encoding="utf-8"))
        return say("run", folder, "--talk", *options)

    return run


def test_a_reply_to_every_line_until_quit(spoken: Spoken, chatter: Path) -> None:
    said = spoken(chatter, "ab\n\n   \nb?\n/quit\nab\n")
    assert said.code == 0
    assert said.err == f"{WELCOME}\n"
    assert len(said.out.splitlines()) == 2
    assert spoken(chatter, "ab\nb?").out == said.out  # the end of the input ends it, too


def test_new_forgets(spoken: Spoken, chatter: Path) -> None:
    said = spoken(chatter, "ab\nc?\n/new\nab\nc?\n")
    first, second = said.out.splitlines()[:2], said.out.splitlines()[2:]
    assert first == second
    assert said.err.splitlines() == [WELCOME, "a new dialogue"]


def test_other_orders_are_named(spoken: Spoken, chatter: Path) -> None:
    said = spoken(chatter, "/help me\n")
    assert said == (0, "", f"{WELCOME}\nthere is no /help, only /new and /quit\n")


@pytest.mark.parametrize(
    "line",
    ["☃" * 9, "a" * 200_000, f"a {TURN} b", "a\0b\x1b[31m", "</s>", "ａ" * 3],
    ids=["unknown", "long", "mark", "control", "special", "wide"],
)
def test_nothing_that_is_typed_ends_it(spoken: Spoken, chatter: Path, line: str) -> None:
    said = spoken(chatter, f"{line}\nab\n")
    assert said.code == 0
    assert len(said.out.splitlines()) == 2


def test_broken_bytes_end_nothing(spoken: Spoken, chatter: Path) -> None:
    said = spoken(chatter, b"a\xff\xfeb\nab\n")
    assert said.code == 0
    assert len(said.out.splitlines()) == 2


def test_samples_follow_the_seed(spoken: Spoken, chatter: Path) -> None:
    lines = "ab\nab\nab\nab\n"
    drawn = ("--sample", "--temperature", 3)
    said = spoken(chatter, lines, *drawn).out
    assert said == spoken(chatter, lines, *drawn, "--seed", 1).out
    assert said != spoken(chatter, lines, *drawn, "--seed", 2).out
    narrow = spoken(chatter, lines, "--sample", "--top-k", 1).out
    assert narrow == spoken(chatter, lines, "--beam", 1).out


def test_a_model_of_something_else_takes_one_turn(spoken: Spoken, say: Say, model: Path) -> None:
    words = ["abc", "fade", "cab"]
    assert spoken(model, "\n".join(words)).out == say("run", model, *words).out


@pytest.mark.parametrize(
    ("options", "name"),
    [
        (("abc",), "TEXT"),
        (("--input", "a.txt"), "--input"),
        (("--json",), "--json"),
        (("--prefix", "a"), "--prefix"),
        (("--nbest", 2), "--nbest"),
    ],
)
def test_only_lines_are_replied_to(
    spoken: Spoken, chatter: Path, options: tuple[object, ...], name: str
) -> None:
    said = spoken(chatter, "ab\n", *options)
    assert said.code == 1
    assert said.out == ""
    assert f"{name}: a dialogue is made of lines alone" in said.err


def test_typed_lines_have_a_prompt(
    say: Say, chatter: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    typed = iter(["ab", "/quit"])
    prompts: list[str] = []

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    def answer(prompt: str) -> str:
        prompts.append(prompt)
        return next(typed)

    monkeypatch.setattr("sys.stdin", Terminal())
    monkeypatch.setattr("builtins.input", answer)
    assert len(say("run", chatter, "--talk").out.splitlines()) == 1
    assert prompts == ["> ", "> "]

    def closed(prompt: str) -> str:
        raise EOFError

    monkeypatch.setattr("builtins.input", closed)
    assert say("run", chatter, "--talk").code == 0


class Listened:
    """A model's ears: every context that it was asked to reply to."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        loaded: Any = regard.load(folder)
        self.model: Translator = loaded
        self.contexts: list[str] = []
        run = self.model.run

        def listen(inputs: list[str], **how: Any) -> list[Output]:
            self.contexts += inputs
            return run(inputs, **how)

        monkeypatch.setattr(self.model, "run", listen)


@pytest.fixture
def ears(chatter: Path, monkeypatch: pytest.MonkeyPatch) -> Listened:
    return Listened(chatter, monkeypatch)


def test_the_last_turns_of_both_sides_are_remembered(ears: Listened) -> None:
    talk = Talk(ears.model, turns=3)
    replies = [talk.say(text) for text in ("ab", "  cd ", "a?")]
    assert all(replies)
    assert ears.contexts == [
        "ab",
        f"ab {TURN} {replies[0]} {TURN} cd",
        f"cd {TURN} {replies[1]} {TURN} a?",
    ]
    talk.forget()
    assert talk.say("ab") == replies[0]
    assert ears.contexts[-1] == "ab"


def test_as_many_turns_as_in_training(ears: Listened) -> None:
    talk = Talk(ears.model)
    assert talk.turns == 2
    first = talk.say("ab")
    talk.say("cd")
    assert ears.contexts[-1] == f"{first} {TURN} cd"


def test_nobody_forges_a_turn(ears: Listened) -> None:
    talk = Talk(ears.model)
    talk.say(f"a {TURN} b")
    assert ears.contexts == ["a   b"]
    assert talk.say(f" {TURN} ") == talk.say(" ") == ""


def test_nothing_and_halves_of_characters(ears: Listened) -> None:
    talk = Talk(ears.model)
    assert talk.say(" \n") == ""
    assert ears.contexts == talk.said == []
    talk.say("a\ud800b")
    assert ears.contexts == ["a?b"]


def test_what_is_too_long_is_cut_from_the_front(ears: Listened) -> None:
    talk = Talk(ears.model, turns=3, longest=20)
    talk.say("a" * 15)
    talk.say("b" * 15)
    assert ears.contexts[1].endswith("b" * 15)
    assert "a" * 15 not in ears.contexts[1]  # there is no room for the oldest turn
    talk.say("c" * 50 + "dddd")
    assert ears.contexts[2].endswith("cdddd")
    assert 5 < len(ears.contexts[2]) <= 20


def test_a_model_with_positions_reads_no_further_than_they_reach(
    transformer: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ears = Listened(transformer, monkeypatch)
    talk = Talk(ears.model)
    talk.say("abcdef" * 100)
    assert 10 < len(ears.contexts[0]) <= 39


def test_the_same_words_may_get_another_reply(ears: Listened) -> None:
    talk = Talk(ears.model, turns=1, sampling=Sampling(temperature=5.0))
    replies = [talk.say("ab") for _ in range(5)]
    assert len(set(replies)) > 1
    talk.forget()
    assert [talk.say("ab") for _ in range(5)] == replies


def test_what_cannot_be_remembered_is_refused(ears: Listened, model: Path) -> None:
    other: Any = regard.load(model)
    with pytest.raises(ValueError, match="turns: wanted 1, for this model knows no dialogues"):
        Talk(other, turns=2)
    with pytest.raises(ValueError, match="turns: wanted 1 or more, got 0"):
        Talk(ears.model, turns=0)
    with pytest.raises(ValueError, match="longest: wanted 1 or more, got 0"):
        Talk(ears.model, longest=0)


def test_training_is_after_the_lowest_perplexity(chatter: Path) -> None:
    log = [json.loads(line) for line in (chatter / "log.jsonl").read_text().splitlines()]
    found = {row["update"]: row["valid/perplexity"] for row in log if "valid/perplexity" in row}
    assert len(found) == 5
    card = json.loads((chatter / "card.json").read_text())
    best = min(found, key=lambda update: found[update])
    assert card["weights"].endswith(f"from update {best}")
    assert card["validation"] == {"perplexity": pytest.approx(found[best])}


def test_perplexity_alone_can_be_evaluated(say: Say, chatter: Path) -> None:
    said = say("evaluate", chatter, "valid", "--json")
    assert list(json.loads(said.out)["scores"]) == ["perplexity"]
    said = say("evaluate", chatter, "valid", "--metrics", "perplexity,exact", "--json")
    assert list(json.loads(said.out)["scores"]) == ["perplexity", "exact"]
    said = say("evaluate", chatter, "valid", "--with", chatter)
    assert said.code == 1
    assert "an ensemble has no perplexity" in said.err
