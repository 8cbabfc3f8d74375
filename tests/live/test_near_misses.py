"""Pictures of agents' questions, in other programs and in agents' own prose: nobody waits there.

`RECORD=1` writes every one to tests/recordings/near_misses, where `make accuracy` and the unit tests judge it.
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
"""So many rows of a dialog are quoted in prose."""
VOICES = {"claude_code": "● ", "codex": "• ", "gemini": "✦ ", "opencode": "     ", "copilot": " ● "}
"""How the agent's answers begin; what follows is indented as far."""


@pytest.fixture
def tmux() -> Iterator[PrivateTmux]:
    with make_short_folder() as folder, run_private_tmux(folder) as server:
        yield server


@pytest.fixture(params=TITLES)
def asked(request) -> Scene:
    """The real agent, asking for permission."""
    return scene_of(request.param, "approval_asked")


def test_a_dialog_that_is_printed(tmux: PrivateTmux, asked: Scene) -> None:
    pane, file = staged(tmux, asked)
    tmux.type_line(pane, f"clear; ls -l; cat {file}")
    judge(f"cat_{asked.agent}", "a file that was printed at a shell", "sh", prompted(tmux, pane))


@pytest.mark.parametrize(("program", "sign"), [("vim -u NONE -N +", '"screen.txt" '), ("less +G", "(END)")])
def test_a_transcript_that_is_read_to_its_end(tmux: PrivateTmux, asked: Scene, program: str, sign: str) -> None:
    pane, file = staged(tmux, asked)
    tmux.type_line(pane, f"{program} {file}")
    wait_until(lambda: sign in shown(tmux, pane).rows[-1])
    name = program.split()[0]
    judge(f"{name}_{asked.agent}", f"a transcript in {name}", name, shown(tmux, pane))


def test_what_an_agent_that_was_killed_leaves_behind(tmux: PrivateTmux, asked: Scene) -> None:
    pane, file = staged(tmux, asked)
    tmux("select-pane", "-t", pane, "-T", TITLES[asked.agent])
    tmux.type_line(pane, f"clear; (cat {file}; kill -KILL $(sh -c 'echo $PPID'))")
    screen = prompted(tmux, pane)
    assert "Killed" in screen.rows[lowest(screen) - 1]
    what = "the screen and the title of an agent that was killed"
    judge(f"killed_{asked.agent}", what, "sh", screen, tmux.read_format(pane, "#{pane_title}"))


def test_prose_that_quotes_a_dialog(asked: Scene) -> None:
    """In a screen of the real agent at rest, its answer becomes a quotation of its own dialog."""
    rest, voice = scene_of(asked.agent, "completed").screen, VOICES[asked.agent]
    rows = list(rest.rows)
    prompt = next(n for n, row in enumerate(rows) if "MODEL" in row)
    place = next(n for n, row in enumerate(rows) if n > prompt and row.startswith(voice))
    quoted = [row for row in asked.screen.rows if row.strip()][-QUOTED:]
    prose = [f"{voice}It then asks this, and waits:", *(" " * len(voice) + row for row in quoted)]
    rows[place : place + 1] = prose
    blank = [n for n, row in enumerate(rows) if not row.strip() and n > place + len(prose)]
    spare = set(blank[-(len(prose) - 1) :])
    kept = tuple(row[:WIDTH] for n, row in enumerate(rows) if n not in spare)[:HEIGHT]
    screen = replace(rest, rows=kept)
    judge(f"prose_{asked.agent}", "an agent at rest whose answer quotes a dialog", asked.agent, screen)


def judge(name: str, what: str, command: str, screen: Screen, title: str = "") -> None:
    if os.environ.get("RECORD") == "1":
        write_near_miss(NearMiss(name=name, what=what, command=command, title=title, screen=screen))
    assert [one.name for one in load_adapters() if one.classify_screen(screen).state in WAITING_STATES] == []


def scene_of(agent: str, name: str) -> Scene:
    return next(scene for scene in load_scenes(agent) if scene.name == name)


def staged(tmux: PrivateTmux, asked: Scene) -> tuple[str, str]:
    """A shell, and in its folder the file that shows the question."""
    folder = Path(tmux.socket).parent / "src"
    folder.mkdir()
    rows = "\n".join(asked.screen.rows).rstrip()
    (folder / "screen.txt").write_text(f"{rows}\n")
    pane = tmux.start_session("work", f"cd {folder} && {SHELL}", width=WIDTH, height=HEIGHT)
    wait_until(lambda: shown(tmux, pane).rows[0].startswith(PROMPT))
    return pane, "screen.txt"


def shown(tmux: PrivateTmux, pane: str) -> Screen:
    x, y, alternate = map(int, tmux.read_format(pane, "#{cursor_x} #{cursor_y} #{alternate_on}").split())
    rows = [row.rstrip() for row in tmux("capture-pane", "-p", "-t", pane).split("\n")]
    rows += [""] * (HEIGHT - len(rows))
    size = {"width": WIDTH, "height": HEIGHT}
    return Screen(pane=PaneId(1), rows=tuple(rows), **size, cursor_x=x, cursor_y=y, alternate=bool(alternate))


def prompted(tmux: PrivateTmux, pane: str) -> Screen:
    """The screen once a command has said what it says: under it stands the next prompt, at which nothing is typed."""
    return wait_until(lambda: now if lowest(now := shown(tmux, pane)) and now.rows[lowest(now)] == PROMPT else None)


def lowest(screen: Screen) -> int:
    """The last row on which anything stands."""
    return max((n for n, row in enumerate(screen.rows) if row), default=0)
