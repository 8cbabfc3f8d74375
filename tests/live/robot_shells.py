"""Shells that a program sends text to or starts, as the policy allows it, without approval."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from termvisor.system.shell_nonce import load_nonce
from termvisor.testing.visor_instance import VisorInstance
from tests.live.conftest import WatchedTmux, run_watched_tmux
from tests.live.shell_setup import ShellPane

live = pytest.mark.live
SHELLS = ["bash", pytest.param("zsh", marks=live), pytest.param("fish", marks=live)]
POLICY = """
[[rule]]
id = "programs_may"
when = {{ actor = ["robot"], kind = ["{kind}"] }}
answer = "allow"
[commands]
unknown_effect = "allow"
"""


def allow_robots(visor: VisorInstance, kind: str) -> None:
    """Let programs do this kind of action. Also makes the nonce, so that shells that start now print it."""
    path = Path(visor.paths.config_dir, "policy.toml")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(POLICY.format(kind=kind))
    path.chmod(0o600)
    load_nonce(visor.paths.nonce_file)


@contextmanager
def run_robot_scene(kind: str) -> Iterator[WatchedTmux]:
    """Run a captured tmux server with a session `keep`, where programs may do this kind of action."""
    with run_watched_tmux() as scene:
        allow_robots(scene.visor, kind)
        scene.tmux.start_session("keep", "sleep 1000")
        scene.list_panes()
        yield scene


class RobotShell(ShellPane):
    """A shell pane that a program sends text to."""

    @property
    def home(self) -> Path:
        return self._home.folder

    def send(self, *words: str) -> tuple[int, dict]:
        """Return the exit status, and the data or the error's details."""
        status, out, _ = self._scene.visor.run("robot", "--full", "send", str(self.pane_id), *words)
        response = json.loads(out)
        return status, response["data"] if response["ok"] else response["error"]["details"]
