"""The learning rate's course, by the formulas."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.train import Constant, Cosine, InverseSqrt, Linear, Plateau, Schedule

AT = (1, 25, 50, 100)


@pytest.mark.parametrize(
    ("schedule", "wanted"),
    [
        (Constant(), [1, 1, 1, 1]),
        (Cosine(), [(1 + math.cos(math.pi * t / 100)) / 2 for t in AT]),
        (Cosine(floor=0.2), [0.2 + 0.4 * (1 + math.cos(math.pi * t / 100)) for t in AT]),
        (Linear(), [0.99, 0.75, 0.5, 0]),
        (Linear(warmup=20), [0.05, 1 - 5 / 80, 1 - 30 / 80, 0]),
        (Linear(warmup=0.2), [0.05, 1 - 5 / 80, 1 - 30 / 80, 0]),
        (InverseSqrt(warmup=0.25), [0.04, 1, math.sqrt(0.5), 0.5]),
        (InverseSqrt(warmup=25), [0.04, 1, math.sqrt(0.5), 0.5]),
    ],
)  # fmt: skip
def test_four_updates_of_a_hundred(schedule: Schedule, wanted: list[float]) -> None:
    found = [schedule.factor(update, 100, []) for update in AT]
    assert found == pytest.approx(wanted)


def test_a_plateau_is_left_downwards() -> None:
    falls = [1.0, 0.9, 0.9, 0.95, 0.8, 0.8, 0.8]
    course = Plateau(by=0.5, patience=2)
    assert [course.factor(9, 100, falls[:seen]) for seen in range(len(falls) + 1)] == [
        1, 1, 1, 1, 0.5, 0.5, 0.5, 0.25,
    ]  # fmt: skip


@given(warmup=st.integers(1, 50), update=st.integers(1, 200))
@pytest.mark.parametrize("kind", [Constant, Cosine, InverseSqrt, Linear, Plateau])
def test_a_rate_rises_straight_and_never_passes_its_top(
    kind: type[Schedule], warmup: int, update: int
) -> None:
    factor = kind(warmup=warmup).factor(update, 200, [])
    assert 0 <= factor <= 1
    if update < warmup:
        assert factor == pytest.approx(update / warmup)
