"""How hard the words of the longer pronouncing recipe are: an n-gram model on the same words.

pip install phonetisaurus
python -m benchmarks.ngram data/cmudict
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from regard.metrics import named


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("folder", type=Path, help="has train.txt and dev.txt")
    folder = arguments.parse_args().folder
    train, dev = read(folder / "train.txt"), read(folder / "dev.txt")
    unseen = {word: said for word, said in dev.items() if word not in train}
    outputs = predicted(train, list(unseen))
    references = list(unseen.values())
    print(f"{len(unseen):,} words of dev that are not in train")
    for name in ("sequence_errors", "per"):
        print(f"{name}: {named(name)(outputs, references):.2f}")


def read(path: Path) -> dict[str, list[str]]:
    """Each word with all of its pronunciations."""
    found: dict[str, list[str]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        word, _, said = line.partition("  ")
        found.setdefault(word, []).append(said)
    return found


def predicted(train: dict[str, list[str]], words: list[str]) -> list[str]:
    """What a joint model of 8-grams says (Novak, Minematsu and Hirose, 2016)."""
    import phonetisaurus

    lexicon = {word: [each.split() for each in said] for word, said in train.items()}
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "model.fst"
        phonetisaurus.train(lexicon, model_path=model)
        said = dict(phonetisaurus.predict(words, model_path=model))
    return [" ".join(said.get(word, [])) for word in words]


if __name__ == "__main__":
    main()
