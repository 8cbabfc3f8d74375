"""Recorded agents, played in panes of a real tmux beside a real daemon: each scene is known, and nothing flaps."""

from collections.abc import Iterator

import pytest

from termvisor.testing.private_tmux import make_short_folder
from tests.bench.replayed_agents import AGENTS, ScenePart, build_script
from tests.live.conftest import WatchedTmux, run_watched_tmux
from tests.live.polling import wait_until
from tests.recordings.recorded_agent import HEIGHT, WIDTH, RecordedAgent

SCENES = 3
FIRST = {"copilot": 1}
"""Of Copilot's start only its screen tells, and that takes a while."""


@pytest.fixture(scope="module")
def stage() -> Iterator[tuple[WatchedTmux, dict[str, RecordedAgent]]]:
    with make_short_folder() as folder, run_watched_tmux() as scene:
        actors = {agent: RecordedAgent(folder, number, agent) for number, agent in enumerate(AGENTS)}
        for actor in actors.values():
            actor.spool_dir = scene.visor.paths.spool_dir
            actor.start(lambda run, actor=actor: open_pane(scene, actor, run), scene.tmux)
        wait_until(lambda: {item["agent"] for item in scene.list_panes()} == set(AGENTS))
        yield scene, actors
        for actor in actors.values():
            actor.stop()


def open_pane(scene: WatchedTmux, actor: RecordedAgent, command: str) -> str:
    return scene.tmux.start_session(actor.agent, command, width=WIDTH, height=HEIGHT)


@pytest.mark.parametrize("agent", AGENTS)
def test_what_a_played_agent_does_is_known_and_changes_no_more_often_than_recorded(stage, agent: str) -> None:
    scene, actors = stage
    first = FIRST.get(agent, 0)
    parts: list[ScenePart] = build_script(agent)[0][first : first + SCENES]
    ours = scene.find_pane_id(actors[agent].mux_id)
    for part in parts:
        actors[agent].play_scene(part.scene)
        wait_until(lambda part=part: state_of(scene, ours) in part.expected_states)
    changed = [one for one in scene.list_event_data(ours, "state_changed") if one["before"] != one["after"]]
    assert len(changed) <= 1 + sum(part.changes for part in parts)


def state_of(scene: WatchedTmux, ours: int) -> str:
    return next(item["state"] for item in scene.list_panes() if item["identity"]["id"] == ours)
