"""Agent dialogs that are only displayed by other programs or quoted in prose: no agent waits there.

`RECORD=1` writes each screen to tests/recordings/near_misses for `make accuracy` and the unit tests.
"""

import os
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from termvisor.agents.adapters.loader import load_adapters
from termvisor.model.ids import PaneId
from termvisor.model.terminal.screen import Screen
from termvisor.testing.private_tmux import PrivateTmux, make_short_folder, run_private_tmux
from tests.accuracy.agent_accuracy import WAITING_STATES
from tests.live.polling import wait_until
from tests.recordings.near_miss import NearMiss, write_near_miss
from tests.recordings.scene import Scene, load_scenes

pytestmark = pytest.mark.live

WIDTH, HEIGHT = 110, 46
PROMPT = "dev@host:~$"
SHELL = f"exec env PS1={shlex.quote(PROMPT + ' ')} HISTFILE= sh -i"
TITLES = {
    "claude_code": "✳ Claude Code",
    "codex": "[ ! ] Action Required | src",
    "gemini": "✋  Action Required (src)",
    "opencode": "OpenCode",
    "copilot": "GitHub Copilot",
}
QUOTED = 14
"""Number of dialog rows that are quoted in prose."""
ANSWER_PREFIXES = {"claude_code": "● ", "codex": "• ", "gemini": "✦ ", "opencode": "     ", "copilot": " ● "}
"""Prefix of the agent's answers; the following rows are indented as far."""


@pytest.fixture
def tmux() -> Iterator[PrivateTmux]:
    with make_short_folder() as folder, run_private_tmux(folder) as server:
        yield server


@pytest.fixture(params=TITLES)
def dialog_scene(request) -> Scene:
    """A recorded scene of the real agent's permission request."""
    return find_scene(request.param, "approval_asked")


def test_a_printed_dialog_is_no_waiting_state(tmux: PrivateTmux, dialog_scene: Scene) -> None:
    pane, file = open_shell(tmux, dialog_scene)
    tmux.type_line(pane, f"clear; ls -l; cat {file}")
    check_not_waiting(
        f"cat_{dialog_scene.agent}", "a file that was printed at a shell", "sh", wait_for_prompt(tmux, pane)
    )


@pytest.mark.parametrize(("program", "marker"), [("vim -u NONE -N +", '"screen.txt" '), ("less +G", "(END)")])
def test_a_transcript_in_a_pager_or_editor_is_no_waiting_state(
    tmux: PrivateTmux, dialog_scene: Scene, program: str, marker: str
) -> None:
    pane, file = open_shell(tmux, dialog_scene)
    tmux.type_line(pane, f"{program} {file}")
    wait_until(lambda: marker in capture_screen(tmux, pane).rows[-1])
    name = program.split()[0]
    check_not_waiting(f"{name}_{dialog_scene.agent}", f"a transcript in {name}", name, capture_screen(tmux, pane))


def test_the_screen_of_a_killed_agent_is_no_waiting_state(tmux: PrivateTmux, dialog_scene: Scene) -> None:
    pane, file = open_shell(tmux, dialog_scene)
    tmux("select-pane", "-t", pane, "-T", TITLES[dialog_scene.agent])
    tmux.type_line(pane, f"clear; (cat {file}; kill -KILL $(sh -c 'echo $PPID'))")
    screen = wait_for_prompt(tmux, pane)
    assert "Killed" in screen.rows[find_last_row(screen) - 1]
    what = "the screen and the title of an agent that was killed"
    check_not_waiting(f"killed_{dialog_scene.agent}", what, "sh", screen, tmux.read_format(pane, "#{pane_title}"))


def test_prose_that_quotes_a_dialog_is_no_waiting_state(dialog_scene: Scene) -> None:
    """Replace the answer on a screen of the idle agent by a quotation of its own dialog."""
    rest, prefix = find_scene(dialog_scene.agent, "completed").screen, ANSWER_PREFIXES[dialog_scene.agent]
    rows = list(rest.rows)
    prompt = next(n for n, row in enumerate(rows) if "MODEL" in row)
    place = next(n for n, row in enumerate(rows) if n > prompt and row.startswith(prefix))
    quoted = [row for row in dialog_scene.screen.rows if row.strip()][-QUOTED:]
    prose = [f"{prefix}It then asks this, and waits:", *(" " * len(prefix) + row for row in quoted)]
    rows[place : place + 1] = prose
    blank = [n for n, row in enumerate(rows) if not row.strip() and n > place + len(prose)]
    spare = set(blank[-(len(prose) - 1) :])
    kept = tuple(row[:WIDTH] for n, row in enumerate(rows) if n not in spare)[:HEIGHT]
    screen = replace(rest, rows=kept)
    check_not_waiting(
        f"prose_{dialog_scene.agent}", "an agent at rest whose answer quotes a dialog", dialog_scene.agent, screen
    )


def check_not_waiting(name: str, what: str, command: str, screen: Screen, title: str = "") -> None:
    if os.environ.get("RECORD") == "1":
        write_near_miss(NearMiss(name=name, what=what, command=command, title=title, screen=screen))
    assert [one.name for one in load_adapters() if one.classify_screen(screen).state in WAITING_STATES] == []


def find_scene(agent: str, name: str) -> Scene:
    return next(scene for scene in load_scenes(agent) if scene.name == name)


def open_shell(tmux: PrivateTmux, dialog_scene: Scene) -> tuple[str, str]:
    """Open a shell in a folder with a file that contains the dialog."""
    folder = Path(tmux.socket).parent / "src"
    folder.mkdir()
    rows = "\n".join(dialog_scene.screen.rows).rstrip()
    (folder / "screen.txt").write_text(f"{rows}\n")
    pane = tmux.start_session("work", f"cd {folder} && {SHELL}", width=WIDTH, height=HEIGHT)
    wait_until(lambda: capture_screen(tmux, pane).rows[0].startswith(PROMPT))
    return pane, "screen.txt"


def capture_screen(tmux: PrivateTmux, pane: str) -> Screen:
    x, y, alternate = map(int, tmux.read_format(pane, "#{cursor_x} #{cursor_y} #{alternate_on}").split())
    rows = [row.rstrip() for row in tmux("capture-pane", "-p", "-t", pane).split("\n")]
    rows += [""] * (HEIGHT - len(rows))
    size = {"width": WIDTH, "height": HEIGHT}
    return Screen(pane=PaneId(1), rows=tuple(rows), **size, cursor_x=x, cursor_y=y, alternate=bool(alternate))


def wait_for_prompt(tmux: PrivateTmux, pane: str) -> Screen:
    """Wait until the command has ended with an empty prompt below its output, and return the screen."""
    return wait_until(
        lambda: (
            now if find_last_row(now := capture_screen(tmux, pane)) and now.rows[find_last_row(now)] == PROMPT else None
        )
    )


def find_last_row(screen: Screen) -> int:
    """Return the index of the last row that is not empty."""
    return max((n for n, row in enumerate(screen.rows) if row), default=0)
