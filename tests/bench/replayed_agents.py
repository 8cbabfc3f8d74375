"""Replay recorded agents in sixty panes, and measure the published states and the cost.

Every pane plays a scene every six seconds, faster than real agents: hooks, files, marks and screen. The expected number
of state changes is computed from the recording without a daemon; more changes are flapping.
"""

from __future__ import annotations

import os
import threading
import time
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from itertools import pairwise
from typing import Any, NamedTuple

from termvisor.agents.adapters.adapter import SourceRecord
from termvisor.agents.adapters.loader import load_adapters
from termvisor.client import Visor
from termvisor.clock import NS
from termvisor.settings import Paths
from termvisor.testing.private_tmux import PrivateTmux, make_short_folder, run_private_tmux
from termvisor.testing.visor_instance import VisorInstance, run_instance
from tests.accuracy.labeled_scene import EXITED, load_truths
from tests.bench.figure import BudgetedFigure
from tests.bench.pane_cost import get_tmux_pid, measure_cpu, measure_poller_cpu, read_rss_mb
from tests.live.polling import wait_until
from tests.recordings.recorded_agent import HEIGHT, TERMINAL_SEQUENCES, WIDTH, RecordedAgent
from tests.recordings.scene import Scene, SceneReplay, load_runs

AGENTS = ("claude_code", "codex", "gemini", "opencode", "copilot")
SCENE_SECONDS = 6.0
SCENES_PER_PANE = 6
_PAINTS_PER_SECOND = 2
"""How many times per second a working agent repaints its screen."""
_MIN_SCENES_PER_RUN = 4
"""Number of scenes that are played of a run."""
StatesByPane = dict[str, list[tuple[float, str]]]
"""Published states with their times by pane; the first is the state before the replay."""
_PLAYED_SOURCES = {*TERMINAL_SEQUENCES, "hook", "registry", "transcript", "rollout", "session_file"}


class ScenePart(NamedTuple):
    """A scene of the replay: its true states, and how often the agent's own signals change in it."""

    scene: Scene
    expected_states: tuple[str, ...]
    own_state: str
    changes: int

    @property
    def is_state_reported(self) -> bool:
        """Return True if the agent reports the true state itself; a screen sample would take longer than the scene."""
        return self.own_state in self.expected_states


class PlayedScene(NamedTuple):
    """A scene and the time of its end, in seconds since 1970."""

    part: ScenePart
    ended_at: float


class RecordCue(NamedTuple):
    """At this second of the replay an agent writes a record or, without one, shows the scene's screen."""

    starts_at: float
    ends_at: float
    actor: RecordedAgent
    part: ScenePart
    record: SourceRecord | None = None


def measure_replayed_agents(count: int = 60, seconds: float = 10.0) -> list[BudgetedFigure]:
    with make_short_folder() as folder, run_private_tmux(folder) as tmux:
        places = Paths(f"{folder}/c", f"{folder}/d", f"{folder}/r")
        troupe = ReplayedAgents(tmux, folder, count)
        try:
            with troupe.playing_in_loop(f"{folder}/nowhere"):
                (alone,) = measure_cpu([get_tmux_pid(tmux)], seconds)
                polled = measure_poller_cpu(tmux, seconds) - alone
            with run_instance(folder, tmux.socket) as one:
                return _measure_watched(one, troupe, alone, polled, places)
        finally:
            troupe.close()


def _measure_watched(
    one: VisorInstance, troupe: ReplayedAgents, alone: float, polled: float, places: Paths
) -> list[BudgetedFigure]:
    wait_until(
        lambda: all(item["agent"] for item in one.call_robot("state")["items"] or [{"agent": None}]), timeout_s=90
    )
    troupe.set_spool_dir(places.spool_dir)
    with Visor(places=one.paths) as visor:
        before, cursor, at_first = visor.health(), visor.list_events(limit=1)["cursor"], _list_current_states(visor)
        pids = [visor.daemon_pid, one.recorder_pid, get_tmux_pid(troupe.tmux)]
        performance = threading.Thread(target=troupe.play_scenes)
        performance.start()
        costs = measure_cpu(pids, SCENES_PER_PANE * SCENE_SECONDS)
        performance.join()
        memory, after = read_rss_mb(pids[0]), visor.health()
        changes = _collect_state_changes(visor, cursor, at_first)
    daemon, recorder, server = costs
    ours = daemon + recorder + server - alone
    print(
        f"  daemon {daemon:.1f} %, recorder {recorder:.1f} %, tmux {server - alone:+.1f} %; the poller {polled:.1f} %"
    )
    return [
        *troupe.compare_states(changes),
        # A poller only captures: it neither stores nor classifies the screens.
        BudgetedFigure(
            "CPU, 60 agents played at speed", ours / polled, 1.5, "x", f"a 1 s poller ({polled:.1f} % of a core)"
        ),
        BudgetedFigure("forks, 60 agents played at speed", after["forks"] - before["forks"], 0, "forks"),
        # The budget of a daemon with everything on: the gate and its parsers are loaded for the agents' requests.
        BudgetedFigure("daemon RSS, 60 agents played at speed", memory, 64, "MB"),
    ]


class ReplayedAgents:
    """All replayed agents and the scenes of each."""

    def __init__(self, tmux: PrivateTmux, folder: str, count: int):
        self.tmux = tmux
        self._actors = [RecordedAgent(folder, number, AGENTS[number % len(AGENTS)]) for number in range(count)]
        self._scripts_by_agent = {agent: build_script(agent) for agent in AGENTS}
        for number, actor in enumerate(self._actors):
            actor.start(lambda command, number=number: self._open_pane(number, command), tmux)
        self._played_scenes: dict[tuple[str, float], PlayedScene] = {}

    def _open_pane(self, number: int, command: str) -> str:
        if number % 10 == 0:
            return self.tmux.start_session(f"s{number // 10}", command, width=WIDTH, height=HEIGHT)
        return self.tmux.open_window(f"s{number // 10}", command)

    def close(self) -> None:
        for actor in self._actors:
            actor.stop()

    def set_spool_dir(self, spool_dir: str) -> None:
        for actor in self._actors:
            actor.spool_dir = spool_dir

    @contextmanager
    def playing_in_loop(self, spool_dir: str) -> Iterator[None]:
        """Repeat the replay in the background until the context exits."""
        os.makedirs(spool_dir)
        self.set_spool_dir(spool_dir)
        stop = threading.Event()
        thread = threading.Thread(target=lambda: [self.play_scenes(stop) for _ in iter(stop.is_set, True)])
        thread.start()
        try:
            yield
        finally:
            stop.set()
            thread.join()

    def play_scenes(self, stop: threading.Event | None = None) -> None:
        """Play a scene per agent every six seconds, staggered; late scenes are not caught up."""
        stop = stop or threading.Event()
        self._played_scenes = {}
        cues = sorted(self._build_cues(), key=lambda cue: cue.starts_at)
        begun = time.time()
        for cue in cues:
            if stop.wait(max(0.0, begun + cue.starts_at - time.time())):
                return
            self._play_cue(cue, begun)
        stop.wait(SCENE_SECONDS)

    def _build_cues(self) -> Iterator[RecordCue]:
        for number, actor in enumerate(self._actors):
            actor.start_new_sessions()
            offset = SCENE_SECONDS * number / len(self._actors)
            for turn, part in enumerate(self._select_parts(number)):
                yield from build_cues(actor, part, offset + turn * SCENE_SECONDS)

    def _play_cue(self, cue: RecordCue, begun: float) -> None:
        if cue.record is not None:
            cue.actor.write_record(cue.record, cue.part.scene.runtime)
            return
        cue.actor.show_screen(cue.part.scene.screen)
        self._played_scenes[cue.actor.mux_id, cue.ends_at] = PlayedScene(cue.part, begun + cue.ends_at)

    def _select_parts(self, number: int) -> list[ScenePart]:
        """Repeat one run of the agent; the next pane with this agent plays the next run."""
        acts = self._scripts_by_agent[AGENTS[number % len(AGENTS)]]
        return (acts[number // len(AGENTS) % len(acts)] * SCENES_PER_PANE)[:SCENES_PER_PANE]

    def compare_states(self, states: StatesByPane) -> list[BudgetedFigure]:
        recorded, published, right, wrong = Counter[str](), Counter[str](), 0, Counter[str]()
        for actor in self._actors:
            pane = actor.mux_id
            played = [one for (whose, _), one in self._played_scenes.items() if whose == pane]
            published[pane] = len(states[pane]) - 1
            recorded[pane] = sum(one.part.changes + 2 * (not one.part.is_state_reported) for one in played) + 1
            for one in [one for one in played if one.part.is_state_reported]:
                name = f"{actor.agent}/{one.part.scene.name}"
                found = _find_state_at(states[pane], one.ended_at)
                right += found in one.part.expected_states
                wrong[f"{name}: {found}"] += found not in one.part.expected_states
        print(f"  {published.total()} state changes, {recorded.total()} recorded; not as recorded: {dict(+wrong)}")
        worst = max(published[pane] / recorded[pane] for pane in recorded)
        return [
            BudgetedFigure(
                "state changes, all panes", published.total() / recorded.total(), 1.0, "x", "those of the recordings"
            ),
            BudgetedFigure("state changes, the worst pane", worst, 1.1, "x", "those of its recording"),
            BudgetedFigure(
                "scenes known before the next one", right / (right + wrong.total()), 0.98, "", "", is_floor=True
            ),
        ]


def build_cues(actor: RecordedAgent, part: ScenePart, begins: float) -> Iterator[RecordCue]:
    """Yield cues at their recorded intervals, compressed to at most half of the scene."""
    records = part.scene.records
    first = records[0].at if records else 0
    took = (records[-1].at - first) / NS if records else 0.0
    speed = max(1.0, took / (SCENE_SECONDS / 2))
    ends = begins + SCENE_SECONDS
    for record in records:
        yield RecordCue(begins + (record.at - first) / NS / speed, ends, actor, part, record)
    shown = begins + took / speed
    paints = int((ends - shown) * _PAINTS_PER_SECOND) if part.scene.expected.get("look") == "running" else 1
    for number in range(max(1, paints)):
        yield RecordCue(shown + number / _PAINTS_PER_SECOND, ends, actor, part)


def build_script(agent: str) -> list[list[ScenePart]]:
    """Return the agent's longer runs without their closing scenes."""
    adapter = next(one for one in load_adapters() if one.name == agent)
    found = []
    for run in load_runs(agent):
        play, act = SceneReplay(adapter, run[0].runtime), []
        for scene in run:
            so = load_truths()[agent][scene.name]
            changes = _count_changes(play, scene)
            if so != (EXITED,):
                act.append(ScenePart(scene, so, play.state.value, changes))
        found += [act] if len(act) >= _MIN_SCENES_PER_RUN else []
    return found


def _count_changes(play: SceneReplay, scene: Scene) -> int:
    """Return how often the agent's own signals change during the played part."""
    states = [play.state.value]
    for record in [one for one in scene.records if one.source in _PLAYED_SOURCES]:
        play.read_records([record])
        states.append(play.state.value)
    return sum(one != other for one, other in pairwise(states))


def _list_current_states(visor: Visor) -> dict[int, tuple[str, str]]:
    """Return tmux's pane id and the state by pane number."""
    return {one["identity"]["id"]: (one["identity"]["pane_id"], one["state"]) for one in visor.list_panes()["items"]}


def _collect_state_changes(visor: Visor, cursor: str, at_first: dict[int, tuple[str, str]]) -> StatesByPane:
    found: StatesByPane = {pane: [(0.0, state)] for pane, state in at_first.values()}
    for event in visor.watch_events(since_cursor=cursor, kind="state_changed", once=True):
        if event["data"]["before"] != event["data"]["after"]:
            found[at_first[event["pane"]][0]].append(_parse_state_change(event))
    return found


def _parse_state_change(event: dict[str, Any]) -> tuple[float, str]:
    return datetime.fromisoformat(event["at"]).timestamp(), event["data"]["after"]


def _find_state_at(changes: list[tuple[float, str]], at: float) -> str:
    return changes[bisect_right(changes, (at, "~")) - 1][1]
