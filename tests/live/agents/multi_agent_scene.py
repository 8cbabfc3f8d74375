"""One captured tmux with any number of agents, in the homes and folders that a test chooses."""

import contextlib
import os
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from termvisor.testing.private_tmux import make_short_folder, run_private_tmux
from termvisor.testing.visor_instance import run_instance
from tests.live.agents.agent_programs import AgentFolders, AgentProgram
from tests.live.agents.model.server import run_model_server
from tests.live.conftest import WatchedTmux
from tests.live.polling import wait_until
from tests.live.robot_call import call_robot
from tests.pattern_cache import install_pattern_cache

WIDTH, HEIGHT = 110, 36
_STILL_SAMPLES = 12
"""This many equal captures in a row count as still."""


class ShellPane:
    """One pane with a shell, and the published state of the agent in it."""

    def __init__(self, scene: WatchedTmux, mux_id: str):
        self.scene, self.mux_id = scene, mux_id

    @property
    def pane_row(self) -> dict[str, Any]:
        """The pane's row in `visor robot state`; empty before it is listed."""
        return next((item for item in self.scene.list_panes() if item["identity"]["pane_id"] == self.mux_id), {})

    @property
    def id(self) -> int:
        return wait_until(lambda: self.scene.find_pane_id(self.mux_id))

    @property
    def screen(self) -> str:
        return self.scene.tmux("capture-pane", "-p", "-J", "-t", self.mux_id)

    @property
    def began_events(self) -> list[dict[str, Any]]:
        """The start events of all agents in this pane, in order."""
        return sorted(self.scene.list_event_data(self.id, "agent_began"), key=lambda event: event["runtime"])

    @property
    def explanation(self) -> dict[str, Any]:
        return call_robot(self.scene.visor, "explain", str(self.id))

    def type(self, line: str) -> None:
        self.scene.tmux.type_line(self.mux_id, line)

    def wait_for_prompt(self) -> None:
        """Wait until the shell, which has prompt marks, is at its prompt."""
        self.scene.wait_until_captured(self.mux_id)
        self.type("")
        wait_until(lambda: self.pane_row["activity"]["kind"] == "prompt")

    def press(self, *keys: str) -> None:
        self.scene.tmux("send-keys", "-t", self.mux_id, *keys)

    def wait_for_text(self, words: str, seconds: float = 40.0) -> None:
        wait_until(lambda: words in self.screen, timeout_s=seconds)

    def send_prompt(self, text: str) -> None:
        """Type a prompt and send it once the screen is still: an Enter right after a text counts as a part of it."""
        self.scene.tmux("send-keys", "-t", self.mux_id, "-l", text)
        wait_until(lambda: text in self.screen)
        seen: list[str] = []
        wait_until(
            lambda: seen.append(self.screen) or (len(seen) > _STILL_SAMPLES and len(set(seen[-_STILL_SAMPLES:])) == 1)
        )
        self.press("Enter")

    def wait_for_state(self, *states: str | None, seconds: float = 40.0) -> dict[str, Any]:
        """Wait for one of these states (None: no agent) and return the pane's row."""
        try:
            return wait_until(
                lambda: next((row for row in [self.pane_row] if row and row["state"] in states), None),
                timeout_s=seconds,
            )
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.pane_row.get('state')}\n{self.screen.rstrip()}") from None


class MultiAgentScene:
    def __init__(self, scene: WatchedTmux, folder: Path, model: str):
        self.scene, self.folder, self.model = scene, folder, model
        self.inner_scene: WatchedTmux | None = None
        """A second tmux that the same daemon captures."""
        self._count = 0

    def prepare_folders(self, name: str, program: AgentProgram) -> AgentFolders:
        """Create a home and a working folder."""
        found = AgentFolders(self.folder / name, self.model)
        program.prepare(found)
        return found

    def open_pane(self) -> ShellPane:
        self._count += 1
        return ShellPane(
            self.scene, self.scene.tmux.start_session(f"s{self._count}", "bash --norc", width=WIDTH, height=HEIGHT)
        )

    def start(self, program: AgentProgram, place: AgentFolders, *more: str, wrap: str = "{}") -> ShellPane:
        """Start an agent in its own shell."""
        seat = self.open_pane()
        seat.type(build_shell_command(program, place, *more, wrap=wrap))
        return seat


def build_shell_command(program: AgentProgram, place: AgentFolders, *more: str, wrap: str = "{}") -> str:
    """Return the command line that a user types; ``wrap`` is a format around the program's own command."""
    whole = program.build_command(place, *more).replace("&& exec ", "&& ")
    start = ["node", str(program.path)] if program.path.suffix == ".js" else [str(program.path)]
    run = shlex.join([*start, *program.default_args, *more])
    assert whole.endswith(run)
    return whole.removesuffix(run) + wrap.format(run, quoted=shlex.quote(run))


@contextlib.contextmanager
def open_multi_agent_scene(**env: str) -> Iterator[MultiAgentScene]:
    """Open the scene; ``env`` is the daemon's environment."""
    with contextlib.ExitStack() as stack:
        model, folder, own = (
            stack.enter_context(one) for one in (run_model_server(), make_short_folder(), make_short_folder())
        )
        tmux, inner = (stack.enter_context(run_private_tmux(own, name)) for name in ("t", "inner"))
        visor = stack.enter_context(run_instance(own, tmux.socket, inner.socket))
        visor.env = {**visor.env, **env}
        install_pattern_cache(visor.paths)
        os.chmod(folder, 0o777)  # other users may work here, too
        found = MultiAgentScene(WatchedTmux(tmux, visor), Path(folder), model)
        found.inner_scene = WatchedTmux(inner, visor)
        tmux.start_session("keep", "sleep 1000")
        yield found
