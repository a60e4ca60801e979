import subprocess
import sys

import pytest

from regard.metrics import NAMES, Bleu, Metric, named


@pytest.mark.parametrize("name", [name for name in NAMES if name != "meteor"])
def test_every_name_gives_a_metric_that_knows_right_from_wrong(name):
    metric = named(name)
    assert isinstance(metric, Metric)
    wanted = [["the cat sat on the mat ."], ["a dog barks at the moon ."]]
    right = metric([each[0] for each in wanted], wanted)
    wrong = metric(["the cat sits on a mat .", "no dog"], wanted)
    assert (right > wrong) == metric.higher_is_better
    best = 1000 if name == "cider" else 100
    assert right == pytest.approx(best if metric.higher_is_better else 0)
    assert "nrefs:1" in metric.signature(wanted)


def test_tokenized_bleu_has_no_tokenizer():
    metric = named("bleu_tok")
    assert isinstance(metric, Bleu)
    assert metric.tokenize == "none"


@pytest.mark.parametrize(
    ("wrong", "near"), [("blue", "bleu"), ("BLEU", "bleu"), ("sequence_error", "sequence_errors")]
)
def test_a_mistake_names_the_nearest(wrong, near):
    with pytest.raises(ValueError, match=f"got '{wrong}'; did you mean '{near}'"):
        named(wrong)


def test_a_word_like_no_other_lists_them_all():
    with pytest.raises(ValueError, match="wanted one of bleu, bleu_tok, chrf"):
        named("zzz")


def test_the_import_is_light():
    heavy = "{'torch', 'sacrebleu', 'matplotlib'}"
    code = f"import sys, regard.metrics; print(*sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
