"""What the shells of one epoch ran, gathered between two commits.

An edge of a command's output is certain once the line that the mark stood in is over. Until then it is carried on, and
stored as if that line will be one: so at every commit each command has numbers, and in the end the exact ones.
"""

from bisect import bisect_left
from collections.abc import Sequence

from msgspec import Struct

from termvisor.model.terminal.command import CommandTold, Edge
from termvisor.model.terminal.mark import Mark
from termvisor.terminal.shell_commands import Happened, Heard, Shells, finish, hear, hear_folder
from termvisor.terminal.text_decoder import Settled

_EDGES = 64
"""That many may be uncertain at once; older ones, of a line made of nothing but marks, stay as they were stored."""

Told = tuple[tuple[CommandTold, ...], tuple[tuple[Edge, int], ...]]


class Remembered(Struct, frozen=True, array_like=True):
    shells: Shells = Shells()
    edges: tuple[Edge, ...] = ()


class ShellStory:
    def __init__(self, known: Remembered):
        self._shells, self._edges = known.shells, known.edges
        self._commands: dict[int, CommandTold] = {}
        self._certain: list[tuple[Edge, int]] = []
        self._lines = 0

    @property
    def remembered(self) -> Remembered:
        return Remembered(self._shells, self._edges)

    def hear(self, mark: Mark, at: int, is_proven: bool | None) -> None:
        """A mark; ``is_proven`` as `activity.belief` says."""
        if is_proven is not None:
            self._take_over(hear(self._shells, Heard(mark, at, is_proven)))
        elif mark.kind in ("cwd", "prompt_property"):
            self._shells = hear_folder(self._shells, mark)

    def settle(self, lines: Sequence[Settled], row: int) -> None:
        """These lines are next, and none that comes after them begins before ``row``."""
        for edge in self._edges:
            if edge.row <= row:
                before = bisect_left(lines, edge.row, key=lambda line: line.start)
                self._certain.append((edge, self._lines + before))
        self._edges = tuple(edge for edge in self._edges if edge.row > row)
        self._lines += len(lines)

    def finish(self, offset: int) -> None:
        """The epoch is over."""
        self._take_over(finish(self._shells, offset))

    def take(self) -> Told:
        """What is to be stored since the last time: commands, and edges with the lines before them."""
        guessed = [(edge, self._lines + 1) for edge in self._edges]
        told = tuple(self._commands.values()), (*self._certain, *guessed)
        self._commands, self._certain, self._lines = {}, [], 0
        return told

    def _take_over(self, happened: Happened) -> None:
        self._shells = happened.shells
        self._commands.update((told.start, told) for told in happened.told)
        self._edges = (*self._edges, *happened.edges)[-_EDGES:]
