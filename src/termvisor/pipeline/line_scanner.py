"""Scan the settled lines of one epoch for rule matches, batch by batch, as if they were one text.

Invariant: the detections of a batch and the scan state after it are stored together with its lines, so neither a
batch boundary nor a crash loses or doubles a detection.
"""

from collections.abc import Iterable, Sequence
from functools import partial

from msgspec import Struct
from msgspec.structs import replace

from termvisor.model.ids import EpochId, PaneId
from termvisor.model.terminal.mark import Mark
from termvisor.model.terminal.output import TextBlock
from termvisor.pipeline.rule_matcher import (
    LINES_BEFORE,
    MAX_PENDING_DETECTIONS,
    PendingDetection,
    RuleMatch,
    RuleMatcher,
    TextLocation,
)
from termvisor.store.tables.pipeline_commit import StreamDetection


class LineScanState(Struct, frozen=True, array_like=True):
    """What the next batch needs: the last lines and the detections whose agent is not known yet."""

    last_lines: tuple[str, ...] = ()
    pending: tuple[PendingDetection, ...] = ()


class LineScanner:
    def __init__(self, matcher: RuleMatcher, pane: PaneId, epoch: EpochId, state: LineScanState):
        self._matcher = matcher
        self.state = state
        self._line_location = TextLocation(pane=pane, epoch=epoch, source="stream")
        self._mark_location = replace(self._line_location, source="mark")

    @property
    def has_pending(self) -> bool:
        return bool(self.state.pending)

    def scan_blocks(
        self, blocks: Sequence[TextBlock], marks: Sequence[tuple[int, Mark]]
    ) -> tuple[StreamDetection, ...]:
        """Return the detections to store with these lines and marks, including pending ones that found their agent."""
        texts = [line for block in blocks for line in block.lines]
        line_matches = self._matcher.match_lines(
            self._line_location, texts, partial(_find_line_time, blocks), self.state.last_lines
        )
        mark_matches = self._match_marks(marks) if self._matcher.has_mark_rules else []
        ready, pending = self._matcher.retry_pending(self.state.pending) if self.state.pending else ([], ())
        pending += self._matcher.list_pending([*line_matches, *mark_matches])
        last = (*self.state.last_lines, *texts[-LINES_BEFORE:])[-LINES_BEFORE:] if texts else self.state.last_lines
        self.state = LineScanState(last, pending[-MAX_PENDING_DETECTIONS:])
        return (
            *(StreamDetection(detection) for detection in ready),
            *(StreamDetection(match.detection, match.line) for match in line_matches if match.detection),
            *(StreamDetection(match.detection) for match in mark_matches if match.detection),
        )

    def add_pending(self, matches: Iterable[RuleMatch]) -> None:
        """Keep matches from this pane's screen until their agent is known."""
        pending = (*self.state.pending, *self._matcher.list_pending(matches))
        self.state = replace(self.state, pending=pending[-MAX_PENDING_DETECTIONS:])

    def _match_marks(self, marks: Sequence[tuple[int, Mark]]) -> list[RuleMatch]:
        texts = [(at, f"{mark.kind} {mark.text}") for at, mark in marks if mark.text]
        return [match for at, text in texts for match in self._matcher.match_mark(self._mark_location, text, at)]


def _find_line_time(blocks: Sequence[TextBlock], line: int) -> int:
    """Return when a line was printed. Linear, but called only for the few lines that match."""
    for block in blocks:
        if line < len(block.lines):
            return block.until
        line -= len(block.lines)
    return blocks[-1].until
