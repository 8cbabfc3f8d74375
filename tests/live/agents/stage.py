"""One real agent in a pane, and everything that it leaves behind for others to read."""

import shlex
import time
from dataclasses import dataclass, field
from pathlib import Path

from termvisor.model.ids import EpochId, PaneId
from termvisor.model.terminal.mark import Mark
from termvisor.model.terminal.output import Delta
from termvisor.model.terminal.screen import Screen
from termvisor.terminal.text_decoder import TextStage
from termvisor.testing.tmux import PrivateTmux
from tests.live.agents.hooked import SPOOL
from tests.live.agents.lab import Program, Workplace
from tests.live.waiting import until

WIDTH, HEIGHT = 110, 46
PATIENCE = 60.0
"""Seconds for one step of an agent: they are slow starters, and machines are busy."""


@dataclass
class Stage:
    """``read`` counts what was taken of each file that grows."""

    tmux: PrivateTmux
    place: Workplace
    program: Program
    pane: str = ""
    read: dict[Path, int] = field(default_factory=dict)
    text_stage: TextStage = field(default_factory=TextStage)

    def start(self, waits_for: str, *more: str) -> None:
        command = f"{self.program.command(self.place, *more).replace('exec env', 'env')}; exec sh"
        self.pane = self.tmux.start(command="sh", width=WIDTH, height=HEIGHT)
        self.text_stage = TextStage()
        self.tmux("pipe-pane", "-O", "-t", self.pane, f"cat >> {shlex.quote(str(self.output))}")
        self.tmux("respawn-pane", "-k", "-t", self.pane, command)
        self.begins(waits_for)

    def begins(self, waits_for: str) -> None:
        """Wait until it stands there; one that does not come up is not left to whoever is next."""
        try:
            self.shows(waits_for, 2 * PATIENCE)
        except AssertionError:
            self.tmux("kill-pane", "-t", self.pane)
            raise

    @property
    def output(self) -> Path:
        return self.place.folder / f"output{self.pane}"

    def text(self) -> str:
        return self.tmux("capture-pane", "-p", "-t", self.pane)

    def screen(self) -> Screen:
        x, y, alternate = map(int, self.tmux.ask(self.pane, "#{cursor_x} #{cursor_y} #{alternate_on}").split())
        rows = tuple(row.rstrip() for row in self.text().split("\n"))
        rows += ("",) * (HEIGHT - len(rows))
        size = {"width": WIDTH, "height": HEIGHT}
        return Screen(pane=PaneId(1), rows=rows, **size, cursor_x=x, cursor_y=y, alternate=bool(alternate))

    def prompt(self, text: str) -> None:
        """Typed, seen in the composer, then sent."""
        self.tmux("send-keys", "-t", self.pane, "-l", "--", text)
        tail = _squeezed(text)[-30:]
        until(lambda: tail in _squeezed(self.text()), seconds=PATIENCE)
        self.rests()  # a slash opens a menu that swallows an early Enter
        self.press("Enter")

    def press(self, *keys: str) -> None:
        self.tmux("send-keys", "-t", self.pane, *keys)

    def shows(self, words: str, seconds: float = PATIENCE) -> None:
        try:
            until(lambda: words in self.text(), seconds=seconds)
        except AssertionError as error:
            raise AssertionError(f"{words!r}: {error}\n{self.text().rstrip()}") from None

    def rests(self) -> None:
        """Wait until the screen has been the same for some looks."""
        seen: list[str] = []
        until(
            lambda: seen.append(self.text()) or (len(seen) > 4 and len(set(seen[-5:])) == 1),
            seconds=PATIENCE,
        )

    def hooks(self) -> list[str]:
        return self.fresh(self.place.folder / SPOOL)

    def marks(self) -> list[Mark]:
        """What it printed for the terminal to act on, since the last time."""
        start = self.read.get(self.output, 0)
        data = self.output.read_bytes()[start:]
        self.read[self.output] = start + len(data)
        delta = Delta(EpochId(1), start, data, time.time_ns())
        return list(self.text_stage.feed(delta).marks)

    def fresh(self, path: Path) -> list[str]:
        """The whole lines that were added since the last time."""
        if not path.exists():
            return []
        start, data = self.read.get(path, 0), path.read_bytes()
        self.read[path] = data.rfind(b"\n") + 1
        return data[start : self.read[path]].decode().splitlines()


def _squeezed(text: str) -> str:
    """As it is when no row ends: without space and frames."""
    return "".join(one for one in text if not one.isspace() and one not in "┃│❯")
