"""Compare our text of a pane with tmux's, and count."""

import difflib
from collections import Counter
from collections.abc import Iterable
from typing import Literal

from msgspec import Struct

from tests.live.text_differential.documented_differences import DOCUMENTED, Render
from tests.live.text_differential.scenario import ScenarioRun
from tests.recordings.terminal_recording import Recording

Verdict = Literal["equal", "documented", "different"]
_MIN_SHARE = 0.97
"""Share of the runs whose text must be equal, or differ in a documented way only."""
_SHOWN_DIFFERENCES, _SHOWN_LINES = 6, 12


class Comparison(Struct, frozen=True):
    run: ScenarioRun
    verdict: Verdict
    lost: tuple[str, ...] = ()
    """Lines of tmux's that are nowhere in ours."""
    invented: tuple[str, ...] = ()
    """Lines of ours that are nowhere in tmux's text, nor in an earlier one."""
    explanation: str = ""


def compare_texts(run: ScenarioRun, recording: Recording, ours: tuple[str, ...], render: Render) -> Comparison:
    if ours == recording.text:
        return Comparison(run, "equal")
    for difference in DOCUMENTED:
        if difference.explains(recording, ours, render):
            return Comparison(run, "documented", explanation=difference.name)
    only_tmux, only_ours = subtract(recording.text, ours), subtract(ours, recording.text)
    shown = {line for text in (recording.text, *recording.earlier_texts) for line in text}
    return Comparison(
        run,
        "different",
        find_missing(only_tmux, only_ours),
        find_missing([line for line in only_ours if line not in shown], only_tmux),
        "\n".join(list(difflib.unified_diff(recording.text, ours, "tmux", "ours", lineterm="", n=0))[:_SHOWN_LINES]),
    )


def subtract(lines: Iterable[str], others: Iterable[str]) -> list[str]:
    """Return the lines without their counterparts among the others, each of which counts once."""
    counts, rest = Counter(others), []
    for line in lines:
        if counts[line]:
            counts[line] -= 1
        else:
            rest.append(line)
    return rest


def find_missing(lines: Iterable[str], others: Iterable[str]) -> tuple[str, ...]:
    """Return the lines that are not part of one of the others, nor joined of several."""
    joined = squeeze("".join(others))
    return tuple(line for line in lines if squeeze(line) not in joined)


def squeeze(text: str) -> str:
    return "".join(text.split())


class DifferentialReport:
    """Counts comparisons by group and says what must not be."""

    def __init__(self, comparisons: Iterable[Comparison]):
        self.comparisons = list(comparisons)

    def count(self, verdict: Verdict, group: str | None = None) -> int:
        return sum(one.verdict == verdict and group in (None, one.run.scenario.group) for one in self.comparisons)

    @property
    def share_accepted(self) -> float:
        return 1 - self.count("different") / len(self.comparisons)

    @property
    def lost(self) -> list[str]:
        return [f"{one.run.name}: {line}" for one in self.comparisons for line in one.lost]

    @property
    def invented(self) -> list[str]:
        return [f"{one.run.name}: {line}" for one in self.comparisons for line in one.invented]

    def require_equal_text(self) -> None:
        """Raise AssertionError if a line is lost or invented, a long output changed, or too many runs differ."""
        assert self.lost == [], self.describe()
        assert self.invented == [], self.describe()
        assert self.count("different", "long") == 0, self.describe()
        assert self.share_accepted >= _MIN_SHARE, self.describe()

    def summarize(self) -> str:
        groups = Counter(one.run.scenario.group for one in self.comparisons)
        parts = [f"{group} {self._count_all(group)}" for group in groups]
        return f"equal/documented/different: all {self._count_all(None)}, {', '.join(parts)}"

    def describe(self) -> str:
        """Return the summary and the first differences, for the message of a failed test."""
        different = [one for one in self.comparisons if one.verdict == "different"]
        shown = [f"--- {one.run.name}\n{one.explanation}" for one in different[:_SHOWN_DIFFERENCES]]
        return "\n".join([self.summarize(), "different: " + " ".join(one.run.name for one in different), *shown])

    def _count_all(self, group: str | None) -> str:
        return "/".join(str(self.count(verdict, group)) for verdict in ("equal", "documented", "different"))
