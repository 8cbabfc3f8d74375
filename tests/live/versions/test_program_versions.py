"""The daemon finds the version of released agents without hooks and without running them."""

from pathlib import Path

import pytest

from termvisor.testing.private_tmux import make_short_folder, run_private_tmux
from termvisor.testing.visor_instance import run_instance
from tests.live.agents.agent_programs import AgentFolders
from tests.live.agents.model.server import open_model_server
from tests.live.polling import wait_until
from tests.live.robot_call import call_robot
from tests.live.versions.packages import PACKAGES
from tests.pattern_cache import install_pattern_cache

pytestmark = pytest.mark.live


@pytest.mark.parametrize(
    ("agent", "version"),
    [
        ("claude_code", "2.0.76"),
        ("codex", "0.77.0"),
        ("codex", "0.142.5"),
        ("gemini", "0.33.0"),
        ("gemini", "0.43.0"),
        ("copilot", "1.0.39"),
        ("opencode", "1.2.11"),
    ],
)
def test_the_version_of_a_running_agent_is_found(agent: str, version: str) -> None:
    program = PACKAGES[agent].install(version)
    with (
        open_model_server() as model,
        make_short_folder() as folder,
        run_private_tmux(folder) as tmux,
        run_instance(folder, tmux.socket) as visor,
    ):
        install_pattern_cache(visor.paths)
        place = AgentFolders(Path(folder) / "agent", model.address)
        place.folder.mkdir()
        program.prepare(place)
        visor.start()
        pane = tmux.start_session(command="sh", width=110, height=46)
        tmux("respawn-pane", "-k", "-t", pane, program.build_command(place))
        rows = wait_until(
            lambda: [row for row in call_robot(visor, "state")["items"] if row["agent_version"]], timeout_s=60
        )
        assert [(row["agent"], row["agent_version"]) for row in rows] == [(agent, version)]
