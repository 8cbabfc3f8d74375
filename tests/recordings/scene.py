"""A Scene is one moment of a real agent: what it left behind since the moment before, its screen, and what that means.

Recorded by the live tests from the real program, replayed by the unit tests without it. The scenes of one ``run`` are
one process, in order.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from termvisor.agents.adapters.adapter import Adapter, SourceRecord
from termvisor.agents.state.published_state import compute_state
from termvisor.agents.state.reducer import AgentKnowledge, apply_fact
from termvisor.model.agent.agent_process import AgentProcess, AgentStarted
from termvisor.model.agent.signal import Signal
from termvisor.model.agent.state import AgentState
from termvisor.model.ids import SignalId
from termvisor.model.terminal.screen import Screen
from tests.builtin_thresholds import DEFAULT_THRESHOLDS

RECORDINGS_FOLDER = Path(__file__).parent
SceneMeaning = dict[str, str | int | bool]
"""By source the state that it said last since the scene before; `look` and `rule` for the screen; under `state`,
`subtasks`, `usage_limited`, `resets`, `compacting` and `auth_needed` what all of them together come to."""


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
    """A run, scene by scene, as the product would hear it."""

    def __init__(self, adapter: Adapter, runtime: AgentProcess):
        self.adapter, self.runtime = adapter, runtime
        self.knowledge = apply_fact(
            AgentKnowledge(), AgentStarted(at=runtime.started_at, runtime=runtime), DEFAULT_THRESHOLDS
        )
        self.signals: list[Signal] = []
        self._latest_states: dict[str, str] = {}
        self._now = runtime.started_at

    def start_next_scene(self) -> None:
        """What was said up to now counts for the state, but is no news any more."""
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
        """Once all that was said at about the same time is said."""
        return compute_state(
            self.knowledge, self.runtime.id, self._now + DEFAULT_THRESHOLDS.settled_after, DEFAULT_THRESHOLDS
        )

    def describe_scene(self, screen: Screen) -> SceneMeaning:
        seen, state = self.adapter.classify_screen(screen), self.state
        flags = state.flags
        return {
            **self._latest_states,
            "look": seen.state,
            "rule": seen.rule_name,
            "state": state.value,
            "subtasks": flags.subtasks,
            "usage_limited": flags.usage_limited,
            "resets": flags.resets_at is not None,
            "compacting": flags.compacting,
            "auth_needed": flags.auth_needed,
        }


def find_differences(expected: SceneMeaning, found: SceneMeaning) -> dict[str, tuple[object, object]]:
    """What was expected and what is, where they are not the same."""
    return {name: (value, found.get(name)) for name, value in expected.items() if found.get(name) != value}


def write_scene(scene: Scene) -> None:
    path = RECORDINGS_FOLDER / scene.agent / f"{scene.name}.json"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(msgspec.json.format(msgspec.json.encode(scene), indent=1) + b"\n")


def load_scenes(agent: str) -> list[Scene]:
    """All of an agent, in the order in which they happened."""
    found = [msgspec.json.decode(path.read_bytes(), type=Scene) for path in (RECORDINGS_FOLDER / agent).glob("*.json")]
    return sorted(found, key=lambda scene: (scene.run, scene.number))


def load_runs(agent: str) -> list[Sequence[Scene]]:
    found: dict[str, list[Scene]] = {}
    for scene in load_scenes(agent):
        found.setdefault(scene.run, []).append(scene)
    return list(found.values())
