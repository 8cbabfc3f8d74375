"""Versions whose words no rule knows: their dialogs are in the inbox and answered, and prompts provably arrive."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from termvisor.testing.private_tmux import make_short_folder, run_private_tmux
from termvisor.testing.visor_instance import run_instance
from tests.live.agents.agent_pane import AgentPane
from tests.live.agents.agent_programs import AgentFolders
from tests.live.agents.model.server import run_model_server
from tests.live.agents.watched_agent import WatchedAgent
from tests.live.polling import wait_until
from tests.live.robot_call import call_robot
from tests.live.versions.packages import PACKAGES
from tests.pattern_cache import install_pattern_cache

pytestmark = pytest.mark.live
# The panes have no shell with marks, so nothing proves what an agent without an alternate screen is doing there.
POLICY = """unproven_prompt = true
[[rule]]
id = "free"
answer = "allow"
when = { actor = ["robot"] }
[commands]
unknown_effect = "allow"
"""


@contextmanager
def start_version(agent: str, version: str, ready_text: str, width: int) -> Iterator[WatchedAgent]:
    program = PACKAGES[agent].install(version)
    with (
        run_model_server() as model,
        make_short_folder() as folder,
        run_private_tmux(folder) as tmux,
        run_instance(folder, tmux.socket) as visor,
    ):
        install_pattern_cache(visor.paths)
        place = AgentFolders(Path(folder) / "agent", model)
        place.folder.mkdir()
        program.prepare(place)
        agent_pane = AgentPane(tmux, place, program, width=width)
        agent_pane.start(ready_text)
        visor.start()
        yield WatchedAgent(visor, agent_pane)


@pytest.mark.parametrize(
    ("agent", "version", "ready_text", "width"),
    [
        ("gemini", "0.33.0", "Type your message", 80),
        ("opencode", "1.14.41", "Ask anything", 200),
    ],
)
def test_a_prompt_arrives_and_its_request_is_allowed_from_the_inbox(agent, version, ready_text, width):
    with start_version(agent, version, ready_text, width) as watched:
        pane = watched.pane
        wait_until(lambda: not watched.dry_run("send", pane, "hello")["refused"], timeout_s=60)
        watched.write_policy(POLICY)
        sent = watched.visor.call_robot("send", pane, "MODEL shell touch made")
        assert (sent["status"], sent["channel"]) == ("delivered", "keys")
        assert sent["why"] in ("turn_started", "in_conversation")
        request = wait_until(lambda: call_robot(watched.visor, "inbox")["items"], timeout_s=30)[0]
        assert (request["action"]["agent"], request["action"]["tool"]) == (agent, "dialog")
        watched.run_in_user_terminal(f"approve {request['id']}", " approved")
        wait_until(watched.get_path("made").exists)
        wait_until(lambda: watched.get_state() in ("completed", "idle"), timeout_s=30)
