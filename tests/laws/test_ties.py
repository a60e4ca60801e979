"""Which checkpoints are kept as the best."""

from __future__ import annotations

from regard.train.state import State


def test_of_equal_scores_the_later_is_kept_but_patience_counts_from_the_first() -> None:
    state = State()
    for update, goal in ((10, 0.0), (20, 0.0), (30, 0.5)):
        state.update = update
        state.note(goal, {}, keep=1)
    assert state.best == [20]
    assert state.waited() == 2
