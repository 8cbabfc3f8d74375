"""Recorded agents, played in panes of a real tmux beside a real daemon: each scene is known, and nothing flaps."""

from collections.abc import Iterator

import pytest

from termvisor.testing.tmux import short_folder
from tests.bench.agents import AGENTS, Part, script
from tests.live.conftest import Scene, watched_tmux
from tests.live.waiting import until
from tests.recordings.actor import HEIGHT, WIDTH, Actor

SCENES = 3
FIRST = {"copilot": 1}
"""Of Copilot's start only its screen tells, and that takes a while."""


@pytest.fixture(scope="module")
def stage() -> Iterator[tuple[Scene, dict[str, Actor]]]:
    with short_folder() as folder, watched_tmux() as scene:
        actors = {agent: Actor(folder, number, agent) for number, agent in enumerate(AGENTS)}
        for actor in actors.values():
            actor.spool_dir = scene.visor.places.spool_dir
            actor.enter(lambda run, actor=actor: open_pane(scene, actor, run), scene.tmux)
        until(lambda: {item["agent"] for item in scene.panes()} == set(AGENTS))
        yield scene, actors
        for actor in actors.values():
            actor.leave()


def open_pane(scene: Scene, actor: Actor, command: str) -> str:
    return scene.tmux.start(actor.agent, command, width=WIDTH, height=HEIGHT)


@pytest.mark.parametrize("agent", AGENTS)
def test_what_a_played_agent_does_is_known_and_changes_no_more_often_than_recorded(stage, agent: str) -> None:
    scene, actors = stage
    first = FIRST.get(agent, 0)
    parts: list[Part] = script(agent)[0][first : first + SCENES]
    ours = scene.id_of(actors[agent].mux_id)
    for part in parts:
        actors[agent].play(part.scene)
        until(lambda part=part: state_of(scene, ours) in part.truths)
    changed = [one for one in scene.told(ours, "state_changed") if one["before"] != one["after"]]
    assert len(changed) <= 1 + sum(part.changes for part in parts)


def state_of(scene: Scene, ours: int) -> str:
    return next(item["state"] for item in scene.panes() if item["identity"]["id"] == ours)
