"""A Scene is one moment of a real agent: what it left behind since the moment before, its screen, and what that means.

Recorded by the live tests from the real program, replayed by the unit tests without it. The scenes of one ``run`` are
one process, in order.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from termvisor.agents.adapters.adapter import Adapter, Record
from termvisor.agents.state.published_state import state_of
from termvisor.agents.state.reducer import Knowledge, tell
from termvisor.model.agent.agent_process import Runtime, RuntimeBegan
from termvisor.model.agent.signal import Signal
from termvisor.model.agent.state import AgentState
from termvisor.model.ids import SignalId
from termvisor.model.terminal.screen import Screen
from tests.declared import DEFAULT

FOLDER = Path(__file__).parent
Meaning = dict[str, str | int | bool]
"""By source the state that it said last since the scene before; `look` and `rule` for the screen; under `state`,
`subtasks`, `usage_limited`, `resets`, `compacting` and `auth_needed` what all of them together come to."""


class Scene(Struct, frozen=True, kw_only=True, omit_defaults=True):
    agent: str
    version: str
    run: str
    number: int
    name: str
    runtime: Runtime
    records: tuple[Record, ...] = ()
    screen: Screen
    expected: Meaning


class Play:
    """A run, scene by scene, as the product would hear it."""

    def __init__(self, adapter: Adapter, runtime: Runtime):
        self.adapter, self.runtime = adapter, runtime
        self.knowledge = tell(Knowledge(), RuntimeBegan(at=runtime.started_at, runtime=runtime), DEFAULT)
        self.signals: list[Signal] = []
        self._said: dict[str, str] = {}
        self._now = runtime.started_at

    def next_scene(self) -> None:
        """What was said up to now counts for the state, but is no news any more."""
        self._said = {}

    def hear(self, records: Iterable[Record]) -> None:
        for record in records:
            for signal in self.adapter.read(record):
                self._take(replace(signal, id=SignalId(len(self.signals) + 1)))
            self._now = max(self._now, record.at)

    def _take(self, signal: Signal) -> None:
        self.signals.append(signal)
        self.knowledge = tell(self.knowledge, signal, DEFAULT)
        if signal.kind in ("state", "source_down"):
            self._said[signal.source] = signal.state or "down"

    @property
    def state(self) -> AgentState:
        """Once all that was said at about the same time is said."""
        return state_of(self.knowledge, self.runtime.id, self._now + DEFAULT.settled_after, DEFAULT)

    def meaning(self, screen: Screen) -> Meaning:
        seen, state = self.adapter.look(screen), self.state
        flags = state.flags
        return {
            **self._said,
            "look": seen.state,
            "rule": seen.name,
            "state": state.value,
            "subtasks": flags.subtasks,
            "usage_limited": flags.usage_limited,
            "resets": flags.resets_at is not None,
            "compacting": flags.compacting,
            "auth_needed": flags.auth_needed,
        }


def differences(expected: Meaning, found: Meaning) -> dict[str, tuple[object, object]]:
    """What was expected and what is, where they are not the same."""
    return {name: (value, found.get(name)) for name, value in expected.items() if found.get(name) != value}


def write(scene: Scene) -> None:
    path = FOLDER / scene.agent / f"{scene.name}.json"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(msgspec.json.format(msgspec.json.encode(scene), indent=1) + b"\n")


def scenes(agent: str) -> list[Scene]:
    """All of an agent, in the order in which they happened."""
    found = [msgspec.json.decode(path.read_bytes(), type=Scene) for path in (FOLDER / agent).glob("*.json")]
    return sorted(found, key=lambda scene: (scene.run, scene.number))


def runs(agent: str) -> list[Sequence[Scene]]:
    found: dict[str, list[Scene]] = {}
    for scene in scenes(agent):
        found.setdefault(scene.run, []).append(scene)
    return list(found.values())
