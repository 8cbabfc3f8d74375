"""Collect the shell commands of one epoch between two commits.

The first or last line of a command's output is certain once the line that contains its mark is settled. Until then the
edge is carried over and stored with an estimate, so that every command has line numbers at each commit.
"""

from bisect import bisect_left
from collections.abc import Sequence

from msgspec import Struct

from termvisor.model.terminal.command import CommandBoundary, CommandUpdate
from termvisor.model.terminal.mark import Mark
from termvisor.terminal.shell_commands import ShellMark, ShellState, ShellUpdate, apply_folder, apply_mark, finish_epoch
from termvisor.terminal.text_decoder import SettledLine

_MAX_UNCERTAIN_EDGES = 64
"""Limit for a line that consists of marks only; older edges keep their stored estimate."""

CommandUpdates = tuple[tuple[CommandUpdate, ...], tuple[tuple[CommandBoundary, int], ...]]


class ShellCommandsState(Struct, frozen=True, array_like=True):
    shells: ShellState = ShellState()
    edges: tuple[CommandBoundary, ...] = ()


class ShellCommandCollector:
    def __init__(self, state: ShellCommandsState):
        self._shells, self._edges = state.shells, state.edges
        self._commands: dict[int, CommandUpdate] = {}
        self._certain_edges: list[tuple[CommandBoundary, int]] = []
        self._line_count = 0

    @property
    def state(self) -> ShellCommandsState:
        return ShellCommandsState(self._shells, self._edges)

    def observe_mark(self, mark: Mark, at: int, is_proven: bool | None) -> None:
        """Apply a mark; ``is_proven`` is the result of activity.check_mark_proof."""
        if is_proven is not None:
            self._apply_update(apply_mark(self._shells, ShellMark(mark, at, is_proven)))
        elif mark.kind in ("cwd", "prompt_property"):
            self._shells = apply_folder(self._shells, mark)

    def settle_lines(self, lines: Sequence[SettledLine], row: int) -> None:
        """Add the next settled lines; all later lines start at or after ``row``."""
        for edge in self._edges:
            if edge.row <= row:
                before = bisect_left(lines, edge.row, key=lambda line: line.start)
                self._certain_edges.append((edge, self._line_count + before))
        self._edges = tuple(edge for edge in self._edges if edge.row > row)
        self._line_count += len(lines)

    def finish(self, offset: int) -> None:
        """Close the running commands at the end of the epoch."""
        self._apply_update(finish_epoch(self._shells, offset))

    def take_updates(self) -> CommandUpdates:
        """Return the commands and edges (with their line numbers) to store since the last call."""
        estimated = [(edge, self._line_count + 1) for edge in self._edges]
        updates = tuple(self._commands.values()), (*self._certain_edges, *estimated)
        self._commands, self._certain_edges, self._line_count = {}, [], 0
        return updates

    def _apply_update(self, update: ShellUpdate) -> None:
        self._shells = update.shells
        self._commands.update((command.start, command) for command in update.commands)
        self._edges = (*self._edges, *update.edges)[-_MAX_UNCERTAIN_EDGES:]
