"""Scenes: recorded moments of a real agent, with its new records, its screen and the expected state.

Recorded by the live tests with the real program, replayed by the unit tests without it. The scenes of one ``run``
belong to one process, in order.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from termvisor.agents.adapters.adapter import Adapter, SourceRecord
from termvisor.agents.state.published_state import compute_state
from termvisor.agents.state.reducer import AgentKnowledge, apply_fact
from termvisor.agents.tracking.agent_screens import ClassifiedScreen, build_screen_signal
from termvisor.model.agent.agent_process import AgentProcess, AgentStarted
from termvisor.model.agent.signal import Signal
from termvisor.model.agent.state import AgentState
from termvisor.model.ids import SignalId
from termvisor.model.terminal.screen import Screen
from tests.builtin_thresholds import DEFAULT_THRESHOLDS

RECORDINGS_FOLDER = Path(__file__).parent
SceneMeaning = dict[str, str | int | bool]
"""By source, the state it reported last since the previous scene; `look` and `rule` for the screen; `state`,
`subtasks`, `usage_limited`, `resets`, `compacting` and `auth_needed` for the resolved state."""


class Scene(Struct, frozen=True, kw_only=True, omit_defaults=True):
    agent: str
    version: str
    run: str
    number: int
    name: str
    runtime: AgentProcess
    records: tuple[SourceRecord, ...] = ()
    screen: Screen
    expected: SceneMeaning


class SceneReplay:
    """Replay a run, scene by scene, as the daemon would process it."""

    def __init__(self, adapter: Adapter, runtime: AgentProcess):
        self.adapter, self.runtime = adapter, runtime
        self.knowledge = apply_fact(
            AgentKnowledge(), AgentStarted(at=runtime.started_at, runtime=runtime), DEFAULT_THRESHOLDS
        )
        self.signals: list[Signal] = []
        self._latest_states: dict[str, str] = {}
        self._now = runtime.started_at

    def start_next_scene(self) -> None:
        """Forget which states were reported; they still count for the resolved state."""
        self._latest_states = {}

    def read_records(self, records: Iterable[SourceRecord]) -> None:
        for record in records:
            for signal in self.adapter.read_record(record):
                self._apply_signal(replace(signal, id=SignalId(len(self.signals) + 1)))
            self._now = max(self._now, record.at)

    def _apply_signal(self, signal: Signal) -> None:
        self.signals.append(signal)
        self.knowledge = apply_fact(self.knowledge, signal, DEFAULT_THRESHOLDS)
        if signal.kind in ("state", "source_down"):
            self._latest_states[signal.source] = signal.state or "down"

    @property
    def state(self) -> AgentState:
        """The resolved state after the settling time."""
        return compute_state(
            self.knowledge, self.runtime.id, self._now + DEFAULT_THRESHOLDS.settled_after, DEFAULT_THRESHOLDS
        )

    def describe_scene(self, screen: Screen) -> SceneMeaning:
        reading, state = self.adapter.classify_screen(screen), self.state
        flags = state.flags
        return {
            **self._latest_states,
            "look": reading.state,
            "rule": reading.rule_name,
            "state": state.value,
            "subtasks": flags.subtasks,
            "usage_limited": flags.usage_limited,
            "resets": flags.resets_at is not None,
            "compacting": flags.compacting,
            "auth_needed": flags.auth_needed,
        }


def resolve_state_with_screen(replay: SceneReplay, screen: Screen) -> AgentState:
    """Return the state right after this screen was sampled, in a pane that has just changed."""
    now = max([replay.runtime.started_at, *(signal.ingested_at for signal in replay.signals)]) + 1
    classified = ClassifiedScreen(rows=screen.rows, reading=replay.adapter.classify_screen(screen), at=now)
    signal = replace(build_screen_signal(replay.runtime, classified, now), id=SignalId(len(replay.signals) + 1))
    knowledge = apply_fact(replay.knowledge, signal, DEFAULT_THRESHOLDS)
    return compute_state(knowledge, replay.runtime.id, now, DEFAULT_THRESHOLDS)


def find_differences(expected: SceneMeaning, found: SceneMeaning) -> dict[str, tuple[object, object]]:
    """Return expected and actual values that differ, by name."""
    return {name: (value, found.get(name)) for name, value in expected.items() if found.get(name) != value}


def write_scene(scene: Scene) -> None:
    path = RECORDINGS_FOLDER / scene.agent / f"{scene.name}.json"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(msgspec.json.format(msgspec.json.encode(scene), indent=1) + b"\n")


def load_scenes(agent: str) -> list[Scene]:
    """Return all scenes of an agent, in order."""
    found = [msgspec.json.decode(path.read_bytes(), type=Scene) for path in (RECORDINGS_FOLDER / agent).glob("*.json")]
    return sorted(found, key=lambda scene: (scene.run, scene.number))


def load_runs(agent: str) -> list[Sequence[Scene]]:
    found: dict[str, list[Scene]] = {}
    for scene in load_scenes(agent):
        found.setdefault(scene.run, []).append(scene)
    return list(found.values())
