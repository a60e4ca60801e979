"""The tree that grew while a beam searched: what continued what, and where greedy went."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from regard.look.trace import Branch, SearchTree

# As much of a beginning as a line of a terminal has room for.
_ROOM = 56


@dataclass(eq=False)
class Node:
    """A branch of the search with what it continues and what continues it."""

    branch: Branch
    parent: Node | None
    lost: float
    """By how much a pruned one fell short of the last that was kept."""
    row: int = 0
    children: list[Node] = field(default_factory=list)

    @property
    def probability(self) -> float:
        """Of its symbol, after what it continues."""
        before = 0.0 if self.parent is None else self.parent.branch.log_prob
        return math.exp(self.branch.log_prob - before)

    @property
    def said(self) -> list[str]:
        """All symbols up to here."""
        before = [] if self.parent is None else self.parent.said
        return [*before, self.branch.token]


@dataclass(frozen=True)
class Grown:
    """A column of nodes for each step, the best first, and two ways through them.

    The rows keep children in the order of their parents, so that no two edges cross.
    """

    columns: list[list[Node]]
    best: list[Node]
    """The answer's way."""
    greedy: list[Node]
    """The likeliest symbol at each step, as far as the beam saw it."""

    @property
    def parting(self) -> int | None:
        """The step at which greedy search leaves the answer, None if it finds it too."""
        ways = enumerate(zip(self.greedy, self.best, strict=False))
        return next((step for step, (other, own) in ways if other is not own), None)

    def why(self) -> str:
        """In words where greedy search left the answer, and what became of it."""
        step = self.parting
        if step is None:
            return "Greedy search finds the same answer." if self.best else ""
        other, own, last = self.greedy[step], self.best[step], self.greedy[-1]
        score = self.best[-1].branch.score
        if not last.branch.kept:
            fate = f"is pruned at step {last.branch.step + 1}, short by {last.lost:.2f}"
        elif last.branch.ended:
            fate = f"ends with the score {last.branch.score:.2f}; the answer's is {score:.2f}"
            if last.branch.score > score:
                fate += ", chosen among all that the beam found"
        else:
            fate = f"is out of sight after step {last.branch.step + 1}"
        return (
            f"At step {step + 1} greedy takes {other.branch.token} ({other.probability:.0%}), "
            f"not {own.branch.token} ({own.probability:.0%}): it {fate}."
        )

    def passed_over(self) -> str:
        """In words what the beam ranks above the answer, where somebody else made the choice."""
        ended = [n for column in self.columns for n in column if n.branch.kept and n.branch.ended]
        first = max(ended, key=lambda node: node.branch.score, default=None)
        if first is None or not self.best or self.best[-1].branch.score >= first.branch.score:
            return ""
        return (
            f"The beam ranks {_beginning(first)} first ({first.branch.score:.2f}); the answer "
            f"({self.best[-1].branch.score:.2f}) was chosen among all that it found, by a "
            "consensus or by n-grams."
        )


def grow(search: SearchTree) -> Grown:
    """Put every branch behind the one that it continues."""
    columns: list[list[Node]] = []
    nodes: list[Node] = []
    front: list[Node] = []
    steps = 1 + max((branch.step for branch in search.forks), default=-1)
    for step in range(steps):
        branches = [branch for branch in search.forks if branch.step == step]
        least = min((b.log_prob for b in branches if b.kept), default=0.0)
        column = [_placed(branch, front, least) for branch in branches]
        nodes += column
        _set_rows(column)
        columns.append(column)
        front = [node for node in column if node.branch.kept and not node.branch.ended]
    best = [nodes[place] for place in search.best]
    return Grown(columns, best, _greedy(columns[0] if columns else []))


def _placed(branch: Branch, front: list[Node], least: float) -> Node:
    parent = front[branch.parent] if front else None
    node = Node(branch, parent, 0.0 if branch.kept else least - branch.log_prob)
    if parent is not None:
        parent.children.append(node)
    return node


def _set_rows(column: list[Node]) -> None:
    order = sorted(column, key=lambda node: -1 if node.parent is None else node.parent.row)
    for row, node in enumerate(order):
        node.row = row


def _greedy(first: list[Node]) -> list[Node]:
    way: list[Node] = []
    ahead = first
    while ahead:
        way.append(max(ahead, key=lambda node: node.branch.log_prob))
        ahead = way[-1].children
    return way


def tree_text(search: SearchTree) -> str:
    """The search for a terminal: at each step what was kept, what was pruned and by how much."""
    grown = grow(search)
    beginnings = {node: _beginning(node) for column in grown.columns for node in column}
    room = max((len(words) for words in beginnings.values()), default=0)
    lines = []
    for step, column in enumerate(grown.columns, start=1):
        lines.append(f"step {step}")
        for node in column:
            sign = "×" if not node.branch.kept else "■" if node.branch.ended else "·"
            words = f"  {sign} {beginnings[node]:{room}}  {node.branch.log_prob:8.3f}"
            lines.append(f"{words}  {_remark(node, grown)}".rstrip())
    return "\n".join([*lines, *filter(None, [grown.why(), grown.passed_over()])])


def _beginning(node: Node) -> str:
    words = " ".join(node.said)
    return words if len(words) <= _ROOM else f"…{words[-_ROOM + 1 :]}"


def _remark(node: Node, grown: Grown) -> str:
    remarks = []
    if not node.branch.kept:
        remarks.append(f"pruned, short by {node.lost:.2f}")
    elif node.branch.ended:
        remarks.append(f"ended, score {node.branch.score:.3f}")
    remarks += ["answer"] if node in grown.best else []
    remarks += ["greedy"] if node in grown.greedy else []
    return ", ".join(remarks)
