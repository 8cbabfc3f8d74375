"""Compute F1, recall and false positive rate from pairs of true and predicted labels."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence

LabelPairs = Counter[tuple[str, str]]
"""Counts of (true label, predicted label)."""


def compute_f1(pairs: LabelPairs, label: str) -> float:
    """Return the F1 score of one label: 2·hits / (true + predicted)."""
    true = sum(count for (truth, _), count in pairs.items() if truth == label)
    predicted = sum(count for (_, name), count in pairs.items() if name == label)
    return 2 * pairs[label, label] / (true + predicted) if true + predicted else 1.0


def compute_weighted_f1(pairs: LabelPairs) -> float:
    """Return the mean F1 score of all labels, weighted by how often each is true; 1 without pairs."""
    truths = Counter[str]()
    for (truth, _), count in pairs.items():
        truths[truth] += count
    weighted = sum(count * compute_f1(pairs, label) for label, count in truths.items())
    return weighted / truths.total() if truths.total() else 1.0


def compute_recall(pairs: LabelPairs, group: Collection[str]) -> float:
    """Return the share of true labels in the group that were predicted as any label of the group."""
    outcomes = [(name in group, count) for (truth, name), count in pairs.items() if truth in group]
    return _compute_share(outcomes, default=1.0)


def compute_false_rate(pairs: LabelPairs, group: Collection[str]) -> float:
    """Return the share of true labels outside of the group that were predicted as one of the group."""
    outcomes = [(name in group, count) for (truth, name), count in pairs.items() if truth not in group]
    return _compute_share(outcomes, default=0.0)


def _compute_share(outcomes: Iterable[tuple[bool, int]], default: float) -> float:
    counts = Counter[bool]()
    for is_in, count in outcomes:
        counts[is_in] += count
    return counts[True] / counts.total() if counts.total() else default


def format_matrix(pairs: LabelPairs, labels: Sequence[str]) -> str:
    """Return a confusion matrix: a row for each true label, a column for each predicted one; a dot for zero."""
    rows = [label for label in labels if any(truth == label for truth, _ in pairs)]
    columns = [label for label in labels if any(label in pair for pair in pairs)]
    cells = [["so \\ said", *columns]]
    cells += [[row, *(str(pairs[row, column] or "·") for column in columns)] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return "\n".join("  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in cells)
