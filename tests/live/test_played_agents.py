"""Recorded agents, replayed in a real tmux with a real daemon: each state is detected without flapping."""

from collections.abc import Iterator

import pytest

from termvisor.testing.private_tmux import make_short_folder
from tests.bench.replayed_agents import AGENTS, ScenePart, build_script
from tests.live.conftest import WatchedTmux, run_watched_tmux
from tests.live.polling import wait_until
from tests.recordings.recorded_agent import HEIGHT, WIDTH, RecordedAgent

SCENES = 3
FIRST = {"copilot": 1}
"""Copilot's start is only visible on the screen, which takes longer."""


@pytest.fixture(scope="module")
def played_agents() -> Iterator[tuple[WatchedTmux, dict[str, RecordedAgent]]]:
    with make_short_folder() as folder, run_watched_tmux() as scene:
        agents = {agent: RecordedAgent(folder, number, agent) for number, agent in enumerate(AGENTS)}
        for agent_player in agents.values():
            agent_player.spool_dir = scene.visor.paths.spool_dir
            agent_player.start(lambda run, agent_player=agent_player: open_pane(scene, agent_player, run), scene.tmux)
        wait_until(lambda: {item["agent"] for item in scene.list_panes()} == set(AGENTS))
        yield scene, agents
        for agent_player in agents.values():
            agent_player.stop()


def open_pane(scene: WatchedTmux, agent_player: RecordedAgent, command: str) -> str:
    return scene.tmux.start_session(agent_player.agent, command, width=WIDTH, height=HEIGHT)


@pytest.mark.parametrize("agent", AGENTS)
def test_a_replayed_agent_reaches_each_state_without_extra_changes(played_agents, agent: str) -> None:
    scene, agents = played_agents
    first = FIRST.get(agent, 0)
    parts: list[ScenePart] = build_script(agent)[0][first : first + SCENES]
    pane_id = scene.find_pane_id(agents[agent].mux_id)
    for part in parts:
        agents[agent].play_scene(part.scene)
        wait_until(lambda part=part: find_state(scene, pane_id) in part.expected_states)
    changed = [one for one in scene.list_event_data(pane_id, "state_changed") if one["before"] != one["after"]]
    assert len(changed) <= 1 + sum(part.changes for part in parts)


def find_state(scene: WatchedTmux, pane_id: int) -> str:
    return next(item["state"] for item in scene.list_panes() if item["identity"]["id"] == pane_id)
