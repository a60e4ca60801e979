"""Tokenizers: the way there and back, special symbols, files, determinism."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from regard.data import Bpe, Characters, DataError, Tokenizer, TokenizerSettings, Unigram, Words
from regard.data.tokenizers import PLAIN

KINDS: list[TokenizerSettings] = [Characters(), Words(), Bpe(size=60), Unigram(size=60)]
TEXTS = [
    "A man, a plan -- a canal: Panama!",
    "a pre-tokenised &apos;s @-@ sentence .",
    "猫は窓の外を見ています。",
    "cafe\u0301 na\u00efve Q\u0323uoi\u202f?",
    "▁ and <pad> and </s> are text",
]
TEXT = st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=12), max_size=4)
SLOW = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))


def one_blank(text: str) -> str:
    for blank in "\t\r\n":
        text = text.replace(blank, " ")
    return " ".join(word for word in text.split(" ") if word)


@pytest.mark.parametrize("kind", KINDS)
@SLOW
@given(texts=TEXT)
def test_there_and_back(kind: TokenizerSettings, texts: list[str]) -> None:
    # Each text twice in the training data, so that the alphabet holds its characters.
    if not any(one_blank(text) for text in texts):
        return
    tokenizer = kind.train(texts * 2)
    assert tokenizer.size >= 5
    for text, ids in zip(texts, tokenizer.encode(texts), strict=True):
        wanted = text if kind == Characters() else one_blank(text)
        assert not set(ids) & {Tokenizer.PAD, Tokenizer.BOS, Tokenizer.EOS}
        if Tokenizer.UNK not in ids and not PLAIN.keys() & set(text):
            assert tokenizer.decode(ids) == wanted
        assert tokenizer.decode([Tokenizer.BOS, *ids, Tokenizer.EOS, 4]) == tokenizer.decode(ids)


@pytest.mark.parametrize("kind", [Characters(), Words(), Bpe(size=400), Unigram(size=400)])
def test_real_texts_come_back(kind: TokenizerSettings) -> None:
    tokenizer = kind.train(TEXTS)
    assert [tokenizer.decode(ids) for ids in tokenizer.encode(TEXTS)] == TEXTS


@pytest.mark.parametrize("kind", KINDS)
def test_text_never_becomes_a_special_symbol(kind: TokenizerSettings) -> None:
    names = ["</s> <pad> <s> <unk>", "</s>\n<pad>\n", "</s>", "a</s>b"]
    tokenizer = kind.train(names * 50)
    for ids in tokenizer.encode(names):
        assert not set(ids) & {Tokenizer.PAD, Tokenizer.UNK, Tokenizer.BOS, Tokenizer.EOS}


@pytest.mark.parametrize("kind", KINDS)
def test_unknown_and_empty(kind: TokenizerSettings) -> None:
    tokenizer = kind.train(["a b c"] * 3)
    (ids,) = tokenizer.encode(["a ☃"])
    assert Tokenizer.UNK in ids
    assert tokenizer.decode(ids) == "a ⁇"
    assert tokenizer.unknown("a ☃") == ["☃"]
    assert tokenizer.encode([""]) == [[]]
    assert tokenizer.encode([]) == []
    assert tokenizer.decode([]) == ""
    assert tokenizer.tokens([0, 1, 2, 3]) == ["<pad>", "<unk>", "<s>", "</s>"]


@pytest.mark.parametrize("kind", [Characters(), Words(), Bpe(size=60), Unigram(size=60)])
def test_signs_never_met_are_read_as_plain_ones(kind: TokenizerSettings, tmp_path: Path) -> None:
    plain, typed = 'don\'t say "so" so', "don’t say “so”\u00a0so"
    tokenizer = kind.train([plain] * 3)
    assert tokenizer.encode([typed]) == tokenizer.encode([plain])
    assert tokenizer.unknown(typed + " ☃") == ["☃"]
    tokenizer.save(tmp_path / "tokenizer.json")
    assert Tokenizer.load(tmp_path / "tokenizer.json").encode([typed]) == tokenizer.encode([plain])
    both = kind.train([plain, typed] * 3)
    assert both.encode([typed]) != both.encode([plain])
    assert both.decode(both.encode([typed])[0]) == typed
    neither = kind.train(["dont say so"] * 3)
    assert "’" in "".join(neither.unknown("don’t"))


def test_tokens_are_labels() -> None:
    tokenizer = Bpe(size=50).train(["the cat the cat"])
    assert tokenizer.tokens(tokenizer.encode(["the cat"])[0]) == ["▁the", "▁cat"]
    words = Words().train(["the cat"])
    assert words.tokens(words.encode(["cat the"])[0]) == ["cat", "the"]


@pytest.mark.parametrize("kind", [Characters(lowercase=True), Words(lowercase=True)])
def test_lowercase(kind: TokenizerSettings) -> None:
    tokenizer = kind.train(["Σας ÄB"])
    assert Tokenizer.UNK not in tokenizer.encode(["ΣΑΣ äB"])[0][-1:]
    assert tokenizer.decode(tokenizer.encode(["äB"])[0]) == "äb"


def test_words_take_the_commonest() -> None:
    texts = ["a a a b b c"] + [f"w{n}" for n in range(20)]
    assert Words(size=10).train(texts).size == 10
    assert Words(min_count=2).train(texts).size == 6
    with pytest.raises(ValueError, match="size: wanted a vocabulary of at least 10"):
        Words(size=3).train(texts)


@pytest.mark.parametrize("kind", [Bpe(size=100), Unigram(size=100)])
def test_rare_characters_leave_room_for_pieces(kind: TokenizerSettings) -> None:
    rare = [chr(0x4E00 + n) for n in range(200)]
    tokenizer = kind.train([*rare, *["the cat and the dog"] * 20])
    assert tokenizer.size <= 100
    assert len(tokenizer.encode(["the cat"])[0]) == 2
    assert tokenizer.decode(tokenizer.encode([rare[-1]])[0]) == "⁇"


def test_unigram_keeps_common_words_whole() -> None:
    # "sind" occurs in one form only, yet often.
    texts = ["wir sind da"] * 30 + [f"wort{n} spiel{n}en" for n in range(60)]
    tokenizer = Unigram(size=60).train(texts)
    assert "▁sind" in tokenizer.tokens(tokenizer.encode(["wir sind da"])[0])


@pytest.mark.parametrize("kind", KINDS)
def test_no_text(kind: TokenizerSettings) -> None:
    with pytest.raises(DataError, match="no text to train it on"):
        kind.train([])


def test_one_str_is_not_a_list_of_them() -> None:
    tokenizer = Words().train(["a"])
    with pytest.raises(ValueError, match="UTF-8"):
        tokenizer.encode(["\ud800"])


@pytest.mark.parametrize("kind", KINDS)
def test_saved_and_loaded(kind: TokenizerSettings, tmp_path: Path) -> None:
    tokenizer = kind.train(TEXTS)
    tokenizer.save(tmp_path / "a.json")
    loaded = Tokenizer.load(tmp_path / "a.json")
    assert loaded.encode(TEXTS) == tokenizer.encode(TEXTS)
    assert loaded.fingerprint == tokenizer.fingerprint
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '{"format": "x", "kind": "words"}'])
def test_broken_file(content: str, tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(content)
    with pytest.raises(DataError, match=r"a\.json: .*Remedy: train the tokenizer anew"):
        Tokenizer.load(path)


def test_damaged_vocabulary(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    Words().train(["a b"]).save(path)
    content = json.loads(path.read_text())
    content["tokenizer"]["model"]["vocab"] = {"a": 0, "b": 9}
    path.write_text(json.dumps(content))
    with pytest.raises(DataError, match="Remedy"):
        Tokenizer.load(path)
    with pytest.raises(DataError, match="no such tokenizer file"):
        Tokenizer.load(tmp_path / "b.json")


def test_training_is_the_same_in_every_process() -> None:
    program = (
        "from regard.data import Bpe, Unigram\n"
        "texts = [f'{n * 7919 % 1000} wort{n % 37} spiel{n % 11}en' for n in range(400)]\n"
        "print([kind(size=150).train(texts).fingerprint for kind in (Bpe, Unigram)])"
    )
    runs = {
        subprocess.run([sys.executable, "-c", program], capture_output=True, check=True).stdout
        for _ in range(2)
    }
    assert len(runs) == 1


@pytest.mark.parametrize("settings", [Bpe(size=60), Unigram(size=60)])
def test_a_number_is_said_digit_by_digit(settings: TokenizerSettings) -> None:
    """So that one which was never seen can still be said."""
    tokenizer = settings.train(["in 1984 and 1985 there were 7 of 39 left 260"] * 9)
    (row,) = tokenizer.encode(["in 5048"])
    assert tokenizer.tokens(row)[-4:] == ["▁5", "0", "4", "8"] or tokenizer.tokens(row)[-5:] == [
        "▁", "5", "0", "4", "8",
    ]  # fmt: skip
    assert tokenizer.decode(row) == "in 5048"
