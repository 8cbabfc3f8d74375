"""What the shells of one epoch ran, gathered between two commits.

An edge of a command's output is certain once the line that the mark stood in is over. Until then it is carried on, and
stored as if that line will be one: so at every commit each command has numbers, and in the end the exact ones.
"""

from bisect import bisect_left
from collections.abc import Sequence

from msgspec import Struct

from termvisor.model.terminal.command import CommandBoundary, CommandUpdate
from termvisor.model.terminal.mark import Mark
from termvisor.terminal.shell_commands import ShellMark, ShellState, ShellUpdate, apply_folder, apply_mark, finish_epoch
from termvisor.terminal.text_decoder import SettledLine

_MAX_UNCERTAIN_EDGES = 64
"""That many may be uncertain at once; older ones, of a line made of nothing but marks, stay as they were stored."""

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
        """A mark; ``is_proven`` as `activity.belief` says."""
        if is_proven is not None:
            self._apply_update(apply_mark(self._shells, ShellMark(mark, at, is_proven)))
        elif mark.kind in ("cwd", "prompt_property"):
            self._shells = apply_folder(self._shells, mark)

    def settle_lines(self, lines: Sequence[SettledLine], row: int) -> None:
        """These lines are next, and none that comes after them begins before ``row``."""
        for edge in self._edges:
            if edge.row <= row:
                before = bisect_left(lines, edge.row, key=lambda line: line.start)
                self._certain_edges.append((edge, self._line_count + before))
        self._edges = tuple(edge for edge in self._edges if edge.row > row)
        self._line_count += len(lines)

    def finish(self, offset: int) -> None:
        """The epoch is over."""
        self._apply_update(finish_epoch(self._shells, offset))

    def take_updates(self) -> CommandUpdates:
        """What is to be stored since the last time: commands, and edges with the lines before them."""
        guessed = [(edge, self._line_count + 1) for edge in self._edges]
        told = tuple(self._commands.values()), (*self._certain_edges, *guessed)
        self._commands, self._certain_edges, self._line_count = {}, [], 0
        return told

    def _apply_update(self, update: ShellUpdate) -> None:
        self._shells = update.shells
        self._commands.update((told.start, told) for told in update.commands)
        self._edges = (*self._edges, *update.edges)[-_MAX_UNCERTAIN_EDGES:]
