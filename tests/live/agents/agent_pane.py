"""One real agent in a pane, with readers of its screen, hooks and files."""

import shlex
import time
from dataclasses import dataclass, field
from pathlib import Path

from termvisor.model.ids import EpochId, PaneId
from termvisor.model.terminal.output import Delta, Mark
from termvisor.model.terminal.screen import Screen
from termvisor.terminal.text_decoder import TextDecoder
from termvisor.testing.private_tmux import PrivateTmux
from tests.live.agents.agent_programs import AgentFolders, AgentProgram
from tests.live.agents.hook_setup import SPOOL_PATH
from tests.live.polling import wait_until

WIDTH, HEIGHT = 110, 46
STEP_TIMEOUT_S = 60.0
"""Seconds for one step of an agent: agents start slowly, and machines are busy."""


@dataclass
class AgentPane:
    """A real agent in a pane; it tracks how much of each growing file was read."""

    tmux: PrivateTmux
    place: AgentFolders
    program: AgentProgram
    pane: str = ""
    width: int = WIDTH
    height: int = HEIGHT
    read_offsets: dict[Path, int] = field(default_factory=dict)
    text_stage: TextDecoder = field(init=False)

    def __post_init__(self) -> None:
        self.text_stage = TextDecoder(self.width, self.height)

    def start(self, ready_text: str, *more: str) -> None:
        command = f"{self.program.build_command(self.place, *more).replace('exec env', 'env')}; exec sh"
        self.pane = self.tmux.start_session(command="sh", width=self.width, height=self.height)
        self.text_stage = TextDecoder(self.width, self.height)
        self.tmux("pipe-pane", "-O", "-t", self.pane, f"cat >> {shlex.quote(str(self.output))}")
        self.tmux("respawn-pane", "-k", "-t", self.pane, command)
        self.wait_until_started(ready_text)

    def wait_until_started(self, ready_text: str) -> None:
        """Wait until the text is visible; an agent that does not start is killed."""
        try:
            self.wait_for_text(ready_text, 2 * STEP_TIMEOUT_S)
        except AssertionError:
            self.tmux("kill-pane", "-t", self.pane)
            raise

    @property
    def output(self) -> Path:
        return self.place.folder / f"output{self.pane}"

    def capture_text(self) -> str:
        return self.tmux("capture-pane", "-p", "-t", self.pane)

    def capture_screen(self) -> Screen:
        x, y, alternate = map(int, self.tmux.read_format(self.pane, "#{cursor_x} #{cursor_y} #{alternate_on}").split())
        rows = tuple(row.rstrip() for row in self.capture_text().split("\n"))
        rows += ("",) * (self.height - len(rows))
        size = {"width": self.width, "height": self.height}
        return Screen(pane=PaneId(1), rows=rows, **size, cursor_x=x, cursor_y=y, alternate=bool(alternate))

    def send_prompt(self, text: str) -> None:
        """Type a prompt, wait until it is in the composer, then send it."""
        self.tmux("send-keys", "-t", self.pane, "-l", "--", text)
        tail = _squeeze(text)[-30:]
        wait_until(lambda: tail in _squeeze(self.capture_text()), timeout_s=STEP_TIMEOUT_S)
        self.wait_until_still()  # a slash opens a menu that ignores an early Enter
        self.press("Enter")

    def press(self, *keys: str) -> None:
        self.tmux("send-keys", "-t", self.pane, *keys)

    def wait_for_text(self, words: str, seconds: float = STEP_TIMEOUT_S) -> None:
        try:
            wait_until(lambda: words in self.capture_text(), timeout_s=seconds)
        except AssertionError as error:
            raise AssertionError(f"{words!r}: {error}\n{self.capture_text().rstrip()}") from None

    def wait_until_still(self) -> None:
        """Wait until several captures in a row are equal."""
        seen: list[str] = []
        wait_until(
            lambda: seen.append(self.capture_text()) or (len(seen) > 4 and len(set(seen[-5:])) == 1),
            timeout_s=STEP_TIMEOUT_S,
        )

    def read_hooks(self) -> list[str]:
        return self.read_new_lines(self.place.folder / SPOOL_PATH)

    def read_marks(self) -> list[Mark]:
        """Return the new marks in its output."""
        start = self.read_offsets.get(self.output, 0)
        data = self.output.read_bytes()[start:]
        self.read_offsets[self.output] = start + len(data)
        delta = Delta(EpochId(1), start, data, time.time_ns())
        return list(self.text_stage.feed(delta).marks)

    def read_new_lines(self, path: Path) -> list[str]:
        """Return the complete lines that were added since the last call."""
        if not path.exists():
            return []
        start, data = self.read_offsets.get(path, 0), path.read_bytes()
        self.read_offsets[path] = data.rfind(b"\n") + 1
        return data[start : self.read_offsets[path]].decode().splitlines()


def _squeeze(text: str) -> str:
    """Remove spaces and frames, to compare wrapped text."""
    return "".join(one for one in text if not one.isspace() and one not in "┃│❯")
