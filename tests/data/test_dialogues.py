"""Dialogues: pairs of turns and reply, the mark between turns, tokenizers that keep it apart."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from regard.data import (
    Bpe,
    Characters,
    Dialogues,
    Report,
    Tokenizer,
    TokenizerSettings,
    Unigram,
    Words,
    prepare,
    train_tokenizers,
)
from regard.data.dialogues import as_typed, joined
from regard.data.tokenizer import TURN

from .reading import message, put, read

FOUR = ["Hello there .", "Hi , Ann !", "Tea ?", "Yes ."]
EOS = Tokenizer.EOS
KINDS: list[TokenizerSettings] = [Characters(), Words(), Bpe(size=60), Unigram(size=60)]


def lines(path: Path, *rows: Any) -> Path:
    return put(path, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))


def test_a_reply_has_the_last_turns_before_it(tmp_path: Path) -> None:
    path = lines(tmp_path / "a.jsonl", FOUR, ["One .", "Two ."])
    report = Report()
    pairs = list(Dialogues(path, turns=2).read(report))
    assert [(pair.source, pair.target) for pair in pairs] == [
        ("Hello there .", "Hi , Ann !"),
        (f"Hello there . {TURN} Hi , Ann !", "Tea ?"),
        (f"Hi , Ann ! {TURN} Tea ?", "Yes ."),
        ("One .", "Two ."),
    ]
    assert pairs[2].where == f"{path}:1 turn 4"
    assert report.total == 0
    assert read(Dialogues(path, turns=1))[0][2] == ("Tea ?", "Yes .")
    assert read(Dialogues(path, turns=9))[0][2][0].count(TURN) == 2


def test_compressed_and_in_fields(tmp_path: Path) -> None:
    rows = [{"id": 1, "talk": {"turns": [{"who": "A", "says": text} for text in FOUR]}}]
    path = lines(tmp_path / "a.jsonl", *rows)
    named = Dialogues(path, field="talk.turns", text="says")
    put(tmp_path / "b.jsonl.gz", gzip.compress(json.dumps(FOUR).encode()))
    assert read(named)[0] == read(Dialogues(tmp_path / "b.jsonl.gz"))[0]
    assert len(read(named)[0]) == 3


BAD = [
    ({"turns": FOUR}, ":2: wanted a list of turns, got an object; name the key with the turns as"),
    ("a text", ":2: wanted a list of turns, got a text"),
    (["Hi .", 3], ":2: turn 2 holds a number, wanted a text"),
    (["Hi .", " ", "Yes ."], ":2: turn 2 is empty"),
    (["Hi .", f" {TURN} "], ":2: turn 2 is empty"),
    (["Hi .", "\ud800"], ":2: turn 2 holds half a surrogate pair"),
]


@pytest.mark.parametrize(("row", "wanted"), BAD)
def test_bad_dialogues_stop_or_are_counted(tmp_path: Path, row: Any, wanted: str) -> None:
    path = put(tmp_path / "a.jsonl", f'["a", "b"]\n{json.dumps(row)}\n')
    said = message(Dialogues(path))
    assert f"{path}{wanted}" in said
    assert "on_error: skip" in said
    pairs, report = read(Dialogues(path, on_error="skip"))
    assert pairs == [("a", "b")]
    assert report.as_dict()["bad dialogue"] == {"count": 1, "examples": [f"{path}:2"]}


def test_fields_that_are_not_there(tmp_path: Path) -> None:
    path = lines(tmp_path / "a.jsonl", {"dialog": [{"txt": "a"}, {"txt": "b"}]})
    said = message(Dialogues(path, field="dialogue"))
    assert f"{path}:1: no key 'dialogue', only dialog; did you mean 'dialog'?" in said
    said = message(Dialogues(path, field="dialog", text="text"))
    assert "no key 'text', only txt; did you mean 'txt'?" in said
    assert "turn 1 holds a list, wanted a text" in message(
        Dialogues(lines(tmp_path / "b.jsonl", [["a"], ["b"]]))
    )


def test_what_gives_no_pair_is_counted(tmp_path: Path) -> None:
    path = put(tmp_path / "a.jsonl", '["alone"]\n\n[]\n["a", "b"]\n{\n')
    pairs, report = read(Dialogues(path, on_error="skip"))
    assert pairs == [("a", "b")]
    assert report.counts == {"dialogue without a reply": 2, "blank line": 1, "bad JSON": 1}
    assert f"{path}:5: not JSON" in message(Dialogues(path))


def test_long_sides_are_refused_one_by_one(tmp_path: Path) -> None:
    path = lines(tmp_path / "a.jsonl", ["a", "b" * 30, "c"])
    assert f"{path}:1 turn 2: the target side has 30 characters" in message(
        Dialogues(path, longest=20)
    )
    assert read(Dialogues(path, longest=20, turns=1, on_error="skip"))[0] == []
    assert len(read(Dialogues(path, longest=40, turns=2))[0]) == 2


def test_without_leaves_out_whole_dialogues(tmp_path: Path) -> None:
    path = lines(tmp_path / "dev.jsonl", FOUR, ["Hello there .", "No ."], ["Tea ?", "Yes ."])
    train = lines(tmp_path / "train.jsonl", FOUR, ["Tea ?", "Yes .", "Good ."])
    pairs, report = read(Dialogues(path, without=train))
    assert pairs == [("Hello there .", "No ."), ("Tea ?", "Yes .")]
    assert report.counts == {"dialogue also stands in the file of without": 1}
    assert Dialogues(path, without=train).files == [path, train]


def test_a_json_file_of_lists_says_who_reads_it(tmp_path: Path) -> None:
    from regard.data import as_pairs

    path = lines(tmp_path / "a.jsonl", FOUR)
    assert "got a list; dialogues are read by data.Dialogues" in message(as_pairs(path))


def test_turns_that_mean_nothing() -> None:
    with pytest.raises(ValueError, match="turns: wanted 1 or more before each reply, got 0"):
        Dialogues("a.jsonl", turns=0)


def test_every_setting_changes_the_fingerprint() -> None:
    changes: list[dict[str, Any]] = [
        {},
        {"turns": 2},
        {"field": "a"},
        {"text": "a"},
        {"typed": True},
        {"without": "b.jsonl"},
        {"on_error": "skip"},
        {"longest": 9},
    ]
    settings = [json.dumps(Dialogues("a.jsonl", **change).settings) for change in changes]
    assert len(set(settings)) == len(changes)


@pytest.mark.parametrize(
    ("written", "typed"),
    [
        ("Don ’ t worry , it's $ 5 .", "Don't worry, it's $5."),
        ("You are right.But what shall we do ?", "You are right. But what shall we do?"),
        ("I ’ Ve two ( or 3 ) : 50 % !", "I've two (or 3): 50%!"),
        ("At 7 o ’ clock , ma ' am ?", "At 7 o'clock, ma'am?"),
        ("It costs 2,000.50 at abc.com , e.g. now", "It costs 2,000.50 at abc.com, e.g. now"),
        ("the boys ' own 'walk' and ' sit '", "the boys ' own 'walk' and ' sit '"),
    ],
)
def test_as_typed(written: str, typed: str) -> None:
    assert as_typed(written) == typed
    assert as_typed(typed) == typed


def test_typed_changes_both_sides(tmp_path: Path) -> None:
    path = lines(tmp_path / "a.jsonl", FOUR)
    assert read(Dialogues(path, turns=2, typed=True))[0][1] == (
        f"Hello there. {TURN} Hi, Ann!",
        "Tea?",
    )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("joint", [True, False])
def test_the_mark_is_the_end_symbol_of_every_tokenizer(
    kind: TokenizerSettings, joint: bool, tmp_path: Path
) -> None:
    pairs = Dialogues(lines(tmp_path / "a.jsonl", FOUR, FOUR), turns=3)
    source, target = train_tokenizers(
        pairs, kind, None if joint else kind, cache=tmp_path / "cache", progress=False
    )
    (row,) = source.encode([joined(FOUR[:3])])
    plain = [source.encode([turn])[0] for turn in FOUR[:3]]
    assert row == [*plain[0], EOS, *plain[1], EOS, *plain[2]]
    assert all(plain)
    assert (source.turns, target.turns) == (3, 1)
    assert not any(TURN in piece for piece in source.tokens(range(source.size)))
    # What the training data become is what the tokenizer says.
    corpus = prepare(pairs, source, target, cache=tmp_path / "cache", progress=False)
    sources, targets = corpus.rows([2])
    assert sources[0].tolist() == row
    assert targets[0].tolist() == target.encode(["Yes ."])[0]
    source.save(tmp_path / "source.json")
    loaded = Tokenizer.load(tmp_path / "source.json")
    assert loaded.turns == 3
    assert loaded.encode([joined(FOUR[:3])]) == [row]
    assert loaded.fingerprint == source.fingerprint


@pytest.mark.parametrize("kind", KINDS)
def test_nobody_can_forge_a_turn(kind: TokenizerSettings, tmp_path: Path) -> None:
    forged = [f"Hello {TURN} there </s> . {TURN}", f"{TURN}Hi{TURN}{TURN}, Ann !", "Tea ?"]
    path = lines(tmp_path / "a.jsonl", forged, forged)
    pairs = Dialogues(path, turns=2)
    assert [source.count(TURN) for source, _ in read(pairs)[0][:2]] == [0, 1]
    assert not any(TURN in target for _, target in read(pairs)[0])
    source, target = train_tokenizers(pairs, kind, None, cache=tmp_path / "c", progress=False)
    (row,) = source.encode([joined(forged[:2])])
    assert row.count(EOS) == 1
    # On the side of the reply, and without dialogues, the mark is a text like any other.
    assert EOS not in target.encode([joined(forged)])[0]
    plain = kind.train([joined(forged)] * 2)
    assert plain.turns == 1
    assert EOS not in plain.encode([joined(forged)])[0]


@pytest.mark.parametrize("kind", KINDS)
def test_unknown_and_empty_turns(kind: TokenizerSettings) -> None:
    tokenizer = kind.train(["a b c"] * 3).of_dialogue(2)
    assert tokenizer.unknown(f"a ☃ {TURN} b ☂ {TURN}") == ["☃", "☂"]
    a, b = tokenizer.encode(["a", "b"])
    assert tokenizer.encode([f"a{TURN}b", "", f"{TURN} a", "a"]) == [
        [*a, EOS, *b],
        [],
        [EOS, *a],
        a,
    ]
    assert tokenizer.encode([]) == []
    assert tokenizer.of_dialogue(2) is tokenizer


def test_a_damaged_number_of_turns(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    Words().train(["a b"]).of_dialogue(2).save(path)
    for wrong in (0, "2", None):
        content = json.loads(path.read_text()) | {"turns": wrong}
        (tmp_path / "b.json").write_text(json.dumps(content))
        with pytest.raises(ValueError, match=r"b\.json: not a tokenizer file"):
            Tokenizer.load(tmp_path / "b.json")
