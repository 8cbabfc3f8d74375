"""The settled lines of one epoch are looked through, from batch to batch, as if they were one text.

Invariant: what is found in a batch, and what must be known to go on after it, are stored together with its lines; so
neither a border between batches nor a crash loses a detection or doubles one.
"""

from collections.abc import Iterable, Sequence
from functools import partial

from msgspec import Struct
from msgspec.structs import replace

from termvisor.model.ids import EpochId, PaneId
from termvisor.model.terminal.mark import Mark
from termvisor.model.terminal.output import TextBlock
from termvisor.pipeline.rule_match import LINES_BEFORE, RuleMatch, TextLocation
from termvisor.pipeline.rule_matcher import PendingDetection, RuleMatcher
from termvisor.store.tables.pipeline_commit import StreamDetection

_MAX_PENDING = 16


class LineScanState(Struct, frozen=True, array_like=True):
    """What must be known to go on: the last lines, and what waits for its agent."""

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
        """What is to be stored with these lines and marks, and of what waited before."""
        texts = [line for block in blocks for line in block.lines]
        spots = self._matcher.match_lines(
            self._line_location, texts, partial(_find_line_time, blocks), self.state.last_lines
        )
        heard = self._match_marks(marks) if self._matcher.has_mark_rules else []
        ready, held = self._matcher.retry_pending(self.state.pending) if self.state.pending else ([], ())
        held += self._matcher.list_pending([*spots, *heard])
        last = (*self.state.last_lines, *texts[-LINES_BEFORE:])[-LINES_BEFORE:] if texts else self.state.last_lines
        self.state = LineScanState(last, held[-_MAX_PENDING:])
        told = [StreamDetection(one) for one in ready] + [
            StreamDetection(one.detection, one.line) for one in spots if one.detection
        ]
        return (*told, *(StreamDetection(one.detection) for one in heard if one.detection))

    def add_pending(self, matches: Iterable[RuleMatch]) -> None:
        """Keep what was found on this pane's screen until its agent is known."""
        held = (*self.state.pending, *self._matcher.list_pending(matches))
        self.state = replace(self.state, pending=held[-_MAX_PENDING:])

    def _match_marks(self, marks: Sequence[tuple[int, Mark]]) -> list[RuleMatch]:
        said = [(at, f"{mark.kind} {mark.text}") for at, mark in marks if mark.text]
        return [spot for at, text in said for spot in self._matcher.match_mark(self._mark_location, text, at)]


def _find_line_time(blocks: Sequence[TextBlock], line: int) -> int:
    """When a line of some blocks was printed; asked for lines that hit only, which are few."""
    for block in blocks:
        if line < len(block.lines):
            return block.until
        line -= len(block.lines)
    return blocks[-1].until
