"""Sixty panes in which agents' recordings are played at speed: what is said of them, and what that costs.

A scene every six seconds in every pane: its hooks, files, marks, and its screen. Nobody's agents change that fast.
What the recording itself comes to, reckoned without a daemon, is what the daemon may say; more changes than that would
be flapping.
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

from termvisor.agents import load
from termvisor.agents.adapters.adapter import Record
from termvisor.client import Visor
from termvisor.clock import NS
from termvisor.settings import Places
from termvisor.testing.instance import Instance, instance
from termvisor.testing.tmux import PrivateTmux, private_tmux, short_folder
from tests.accuracy.moment import GONE, truths
from tests.bench.figure import Figure
from tests.bench.panes import poller, rss, spent, tmux_pid
from tests.live.waiting import until
from tests.recordings.actor import HEIGHT, MARKS, WIDTH, Actor
from tests.recordings.scene import Play, Scene, runs

AGENTS = ("claude_code", "codex", "gemini", "opencode", "copilot")
PAUSE = 6.0
SCENES = 6
_PAINTS = 2
"""How often a second an agent at work paints its screen anew."""
_LONG = 4
"""Scenes of a run that is played."""
Told = dict[str, list[tuple[float, str]]]
"""By pane the states that were said of it, and when; the first is how it was before."""
_PLAYED = {*MARKS, "hook", "registry", "transcript", "rollout", "session_file"}


class Part(NamedTuple):
    """A scene as it is played: what may be said of it, and how often the agent's own word changes in it."""

    scene: Scene
    truths: tuple[str, ...]
    told: str
    changes: int

    @property
    def is_told(self) -> bool:
        """Whether the agent itself tells the truth here; else a look must, which takes longer than the scene."""
        return self.told in self.truths


class Played(NamedTuple):
    """A part, and when it ended, in seconds since 1970."""

    part: Part
    ended: float


class Cue(NamedTuple):
    """At this second of the performance an actor leaves a record behind or, without one, shows the scene's screen."""

    at: float
    ends: float
    actor: Actor
    part: Part
    record: Record | None = None


def replayed(count: int = 60, seconds: float = 10.0) -> list[Figure]:
    with short_folder() as folder, private_tmux(folder) as tmux:
        places = Places(f"{folder}/c", f"{folder}/d", f"{folder}/r")
        troupe = Troupe(tmux, folder, count)
        try:
            with troupe.rehearsing(f"{folder}/nowhere"):
                (alone,) = spent([tmux_pid(tmux)], seconds)
                polled = poller(tmux, seconds) - alone
            with instance(folder, tmux.socket) as one:
                return _watched(one, troupe, alone, polled, places)
        finally:
            troupe.leave()


def _watched(one: Instance, troupe: Troupe, alone: float, polled: float, places: Places) -> list[Figure]:
    until(lambda: all(item["agent"] for item in one.robot("state")["items"] or [{"agent": None}]), seconds=90)
    troupe.speak_to(places.spool_dir)
    with Visor(places=one.places) as visor:
        before, cursor, at_first = visor.health(), visor.list_events(limit=1)["cursor"], _now(visor)
        pids = [visor.daemon_pid, one.recorder_pid, tmux_pid(troupe.tmux)]
        performance = threading.Thread(target=troupe.perform)
        performance.start()
        costs = spent(pids, SCENES * PAUSE)
        performance.join()
        memory, after = rss(pids[0]), visor.health()
        told = _told(visor, cursor, at_first)
    daemon, recorder, server = costs
    ours = daemon + recorder + server - alone
    print(
        f"  daemon {daemon:.1f} %, recorder {recorder:.1f} %, tmux {server - alone:+.1f} %; the poller {polled:.1f} %"
    )
    return [
        *troupe.judged(told),
        # A poller only captures: it neither stores nor understands what it saw.
        Figure("CPU, 60 agents played at speed", ours / polled, 1.5, "x", f"a 1 s poller ({polled:.1f} % of a core)"),
        Figure("forks, 60 agents played at speed", after["forks"] - before["forks"], 0, "forks"),
        Figure("daemon RSS, 60 agents played at speed", memory, 50, "MB"),
    ]


class Troupe:
    """All actors and what each of them plays."""

    def __init__(self, tmux: PrivateTmux, folder: str, count: int):
        self.tmux = tmux
        self._actors = [Actor(folder, number, AGENTS[number % len(AGENTS)]) for number in range(count)]
        self._scripts = {agent: script(agent) for agent in AGENTS}
        for number, actor in enumerate(self._actors):
            actor.enter(lambda command, number=number: self._open(number, command), tmux)
        self._played: dict[tuple[str, float], Played] = {}

    def _open(self, number: int, command: str) -> str:
        if number % 10 == 0:
            return self.tmux.start(f"s{number // 10}", command, width=WIDTH, height=HEIGHT)
        return self.tmux.window(f"s{number // 10}", command)

    def leave(self) -> None:
        for actor in self._actors:
            actor.leave()

    def speak_to(self, spool_dir: str) -> None:
        for actor in self._actors:
            actor.spool_dir = spool_dir

    @contextmanager
    def rehearsing(self, spool_dir: str) -> Iterator[None]:
        """The same performance, again and again, for nobody."""
        os.makedirs(spool_dir)
        self.speak_to(spool_dir)
        stop = threading.Event()
        thread = threading.Thread(target=lambda: [self.perform(stop) for _ in iter(stop.is_set, True)])
        thread.start()
        try:
            yield
        finally:
            stop.set()
            thread.join()

    def perform(self, stop: threading.Event | None = None) -> None:
        """Everybody a scene every six seconds, not all at once; nobody hurries for who came late."""
        stop = stop or threading.Event()
        self._played = {}
        cues = sorted(self._cues(), key=lambda cue: cue.at)
        begun = time.time()
        for cue in cues:
            if stop.wait(max(0.0, begun + cue.at - time.time())):
                return
            self._give(cue, begun)
        stop.wait(PAUSE)

    def _cues(self) -> Iterator[Cue]:
        for number, actor in enumerate(self._actors):
            actor.begin_anew()
            offset = PAUSE * number / len(self._actors)
            for turn, part in enumerate(self._parts(number)):
                yield from cues(actor, part, offset + turn * PAUSE)

    def _give(self, cue: Cue, begun: float) -> None:
        if cue.record is not None:
            cue.actor.say(cue.record, cue.part.scene.runtime)
            return
        cue.actor.show(cue.part.scene.screen)
        self._played[cue.actor.mux_id, cue.ends] = Played(cue.part, begun + cue.ends)

    def _parts(self, number: int) -> list[Part]:
        """One run of its agent, over and over; the next actor of this agent plays the next run."""
        acts = self._scripts[AGENTS[number % len(AGENTS)]]
        return (acts[number // len(AGENTS) % len(acts)] * SCENES)[:SCENES]

    def judged(self, told: Told) -> list[Figure]:
        recorded, said, right, wrong = Counter[str](), Counter[str](), 0, Counter[str]()
        for actor in self._actors:
            pane = actor.mux_id
            played = [one for (whose, _), one in self._played.items() if whose == pane]
            said[pane] = len(told[pane]) - 1
            recorded[pane] = sum(one.part.changes + 2 * (not one.part.is_told) for one in played) + 1
            for one in [one for one in played if one.part.is_told]:
                name = f"{actor.agent}/{one.part.scene.name}"
                found = _at(told[pane], one.ended)
                right += found in one.part.truths
                wrong[f"{name}: {found}"] += found not in one.part.truths
        print(f"  {said.total()} changes of state told, {recorded.total()} recorded; not as recorded: {dict(+wrong)}")
        worst = max(said[pane] / recorded[pane] for pane in recorded)
        return [
            Figure("state changes, all panes", said.total() / recorded.total(), 1.0, "x", "those of the recordings"),
            Figure("state changes, the worst pane", worst, 1.1, "x", "those of its recording"),
            Figure("scenes known before the next one", right / (right + wrong.total()), 0.98, "", "", is_floor=True),
        ]


def cues(actor: Actor, part: Part, begins: float) -> Iterator[Cue]:
    """As far apart as they were recorded, unless that would be more than half of the scene."""
    records = part.scene.records
    first = records[0].at if records else 0
    took = (records[-1].at - first) / NS if records else 0.0
    speed = max(1.0, took / (PAUSE / 2))
    ends = begins + PAUSE
    for record in records:
        yield Cue(begins + (record.at - first) / NS / speed, ends, actor, part, record)
    shown = begins + took / speed
    paints = int((ends - shown) * _PAINTS) if part.scene.expected.get("look") == "running" else 1
    for number in range(max(1, paints)):
        yield Cue(shown + number / _PAINTS, ends, actor, part)


def script(agent: str) -> list[list[Part]]:
    """Its longer runs, each without what is no more than the end of it."""
    adapter = next(one for one in load() if one.name == agent)
    found = []
    for run in runs(agent):
        play, act = Play(adapter, run[0].runtime), []
        for scene in run:
            so = truths()[agent][scene.name]
            changes = _changes(play, scene)
            if so != (GONE,):
                act.append(Part(scene, so, play.state.value, changes))
        found += [act] if len(act) >= _LONG else []
    return found


def _changes(play: Play, scene: Scene) -> int:
    """How often the agent's own word changes, as far as it is played."""
    states = [play.state.value]
    for record in [one for one in scene.records if one.source in _PLAYED]:
        play.hear([record])
        states.append(play.state.value)
    return sum(one != other for one, other in pairwise(states))


def _now(visor: Visor) -> dict[int, tuple[str, str]]:
    """By our number of it each pane's own, and its state."""
    return {one["identity"]["id"]: (one["identity"]["pane_id"], one["state"]) for one in visor.list_panes()["items"]}


def _told(visor: Visor, cursor: str, at_first: dict[int, tuple[str, str]]) -> Told:
    found: Told = {pane: [(0.0, state)] for pane, state in at_first.values()}
    for event in visor.watch_events(since_cursor=cursor, kind="state_changed", once=True):
        if event["data"]["before"] != event["data"]["after"]:
            found[at_first[event["pane"]][0]].append(_moment(event))
    return found


def _moment(event: dict[str, Any]) -> tuple[float, str]:
    return datetime.fromisoformat(event["at"]).timestamp(), event["data"]["after"]


def _at(told: list[tuple[float, str]], at: float) -> str:
    return told[bisect_right(told, (at, "~")) - 1][1]
