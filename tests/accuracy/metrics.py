"""How well what was said fits what was so: counts of pairs, and the usual figures made of them."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence

LabelPairs = Counter[tuple[str, str]]
"""How often a truth was given a name: (what was so, what was said)."""


def compute_f1(pairs: LabelPairs, label: str) -> float:
    """The harmonic mean of precision and recall of one label: 2·hits / (so + said)."""
    so = sum(count for (truth, _), count in pairs.items() if truth == label)
    said = sum(count for (_, name), count in pairs.items() if name == label)
    return 2 * pairs[label, label] / (so + said) if so + said else 1.0


def compute_weighted_f1(pairs: LabelPairs) -> float:
    """The mean of the labels' F1, each weighed by how often it was so; 1 where there was nothing to say."""
    so = Counter[str]()
    for (truth, _), count in pairs.items():
        so[truth] += count
    return sum(count * compute_f1(pairs, label) for label, count in so.items()) / so.total() if so.total() else 1.0


def compute_recall(pairs: LabelPairs, group: Collection[str]) -> float:
    """Of what was in the group, how much was said to be in it; which of its labels was said does not matter."""
    said = [(name in group, count) for (truth, name), count in pairs.items() if truth in group]
    return _compute_share(said, default=1.0)


def compute_false_rate(pairs: LabelPairs, group: Collection[str]) -> float:
    """Of what was not in the group, how much was said to be."""
    said = [(name in group, count) for (truth, name), count in pairs.items() if truth not in group]
    return _compute_share(said, default=0.0)


def _compute_share(outcomes: Iterable[tuple[bool, int]], default: float) -> float:
    counts = Counter[bool]()
    for is_in, count in outcomes:
        counts[is_in] += count
    return counts[True] / counts.total() if counts.total() else default


def format_matrix(pairs: LabelPairs, labels: Sequence[str]) -> str:
    """A row for each truth, a column for each name; a dot for never. Labels that do not occur are left out."""
    rows = [label for label in labels if any(truth == label for truth, _ in pairs)]
    columns = [label for label in labels if any(label in pair for pair in pairs)]
    cells = [["so \\ said", *columns]]
    cells += [[row, *(str(pairs[row, column] or "·") for column in columns)] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return "\n".join("  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in cells)
