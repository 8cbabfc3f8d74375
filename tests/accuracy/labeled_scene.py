"""Label recorded scenes with the true state of the agent and the states that were detected.

The truth was written down from what was done to the agent, not derived from its output (tests/recordings/truth.json).
Two states there mean that either is right. `gone` means that the program has exited; its screen may only be `unknown`.

Own signals claim what their source declares: one that reports all ends of a turn in the same way claims only that the
agent is resting. What an agent never reports is listed with the reason in tests/recordings/holes.json.
"""

from collections.abc import Iterator

import msgspec
from msgspec import Struct

from termvisor.agents.adapters.adapter import Adapter
from termvisor.agents.state.published_state import compute_state
from termvisor.agents.state.reducer import apply_fact
from termvisor.agents.state.thresholds import SECOND_NS
from termvisor.agents.tracking import agent_screens
from termvisor.agents.tracking.agent_screens import ClassifiedScreen
from termvisor.model.agent.agent_process import AgentProcess
from termvisor.model.agent.state import AgentState
from termvisor.model.ids import SignalId
from termvisor.model.terminal.screen import Screen
from tests.builtin_thresholds import DEFAULT_THRESHOLDS
from tests.recordings.scene import RECORDINGS_FOLDER, Scene, SceneReplay, load_runs

EXITED = "gone"
_SAMPLE_INTERVAL_NS = 2 * SECOND_NS
"""Time between two screen samples."""
_SETTLE_TIME_NS = DEFAULT_THRESHOLDS.recovered_after + 2 * _SAMPLE_INTERVAL_NS
"""After this time no further screen sample changes the state."""

_END_STATES = ("error", "completed", "idle")

TruthsByAgent = dict[str, dict[str, tuple[str, ...]]]


class LabeledScene(Struct, frozen=True, kw_only=True):
    """One scene with its true and detected states."""

    version: str
    name: str
    truths: tuple[str, ...]
    screen_state: str
    """The state by the screen alone."""
    own_state: str = ""
    """The state by the agent's own signals alone; empty if they report none."""
    claimed_states: tuple[str, ...] = ()
    """The states that the own signals may mean."""
    known_hole: str = ""
    """Why the agent's own signals cannot be right here."""
    published_state: str = ""
    """The resolved state after the settling time; empty if the agent has exited."""

    @property
    def claimed_state(self) -> str:
        """The true state if the own signals may mean it, else their state."""
        return next((state for state in self.truths if state in self.claimed_states), self.own_state)

    def pair_with_truth(self, state: str) -> tuple[str, str]:
        """Return the true and the detected state. If several are true, the detected one counts if it is among them."""
        return state if state in self.truths else self.truths[0], state


def load_truths() -> TruthsByAgent:
    """Return the true states by agent and scene."""
    written = msgspec.json.decode((RECORDINGS_FOLDER / "truth.json").read_bytes(), type=dict[str, dict[str, list[str]]])
    return {
        agent: {name: tuple(states.split()) for states, names in scenes.items() for name in names}
        for agent, scenes in written.items()
    }


def load_holes(agent: str) -> dict[str, str]:
    """Return, by scene, why the agent does not report its state there."""
    written = msgspec.json.decode((RECORDINGS_FOLDER / "holes.json").read_bytes(), type=dict[str, dict[str, str]])
    return written.get(agent, {})


def list_unlabeled_scenes(agent: str) -> list[str]:
    """Return the scenes without a true state in truth.json."""
    return [scene.name for run in load_runs(agent) for scene in run if scene.name not in load_truths().get(agent, {})]


def load_labeled_scenes(adapter: Adapter) -> list[LabeledScene]:
    """Return all scenes of an agent whose true state is known."""
    truths = load_truths().get(adapter.name, {})
    return [
        _label_scene(replay, scene, truths[scene.name])
        for replay, scene in _replay_scenes(adapter)
        if scene.name in truths
    ]


def _replay_scenes(adapter: Adapter) -> Iterator[tuple[SceneReplay, Scene]]:
    for run in load_runs(adapter.name):
        replay = SceneReplay(adapter, run[0].runtime)
        for scene in run:
            replay.read_records(scene.records)
            yield replay, scene


def _label_scene(replay: SceneReplay, scene: Scene, true_states: tuple[str, ...]) -> LabeledScene:
    screen_state = replay.adapter.classify_screen(scene.screen).state
    if true_states == (EXITED,):
        return LabeledScene(version=scene.version, name=scene.name, truths=("unknown",), screen_state=screen_state)
    own_state = replay.state
    is_reported = own_state.evidence_mode == "deterministic"
    return LabeledScene(
        version=scene.version,
        name=scene.name,
        truths=true_states,
        screen_state=screen_state,
        own_state=own_state.value if is_reported else "",
        claimed_states=_list_claimed_states(replay, own_state) if is_reported else (),
        known_hole=load_holes(scene.agent).get(scene.name, ""),
        published_state=resolve_settled_state(replay, scene.screen).value,
    )


def _list_claimed_states(replay: SceneReplay, own_state: AgentState) -> tuple[str, ...]:
    source = next(one for one in replay.adapter.sources if one.name == own_state.source)
    return _END_STATES if source.blurs_ends and own_state.value in _END_STATES else (own_state.value,)


def resolve_settled_state(replay: SceneReplay, screen: Screen) -> AgentState:
    """Return the state after this screen was sampled repeatedly. The pane of a working agent keeps changing."""
    knowledge, runtime = replay.knowledge, replay.runtime
    reading = replay.adapter.classify_screen(screen)
    start = _find_last_signal_time(replay, runtime)
    for at in range(start, start + _SETTLE_TIME_NS, _SAMPLE_INTERVAL_NS):
        moved_at = at if reading.state == "running" else start
        signal = agent_screens.build_screen_signal(
            runtime, ClassifiedScreen(rows=screen.rows, reading=reading, at=at), moved_at
        )
        knowledge = apply_fact(knowledge, msgspec.structs.replace(signal, id=SignalId(at)), DEFAULT_THRESHOLDS)
    return compute_state(knowledge, runtime.id, start + _SETTLE_TIME_NS, DEFAULT_THRESHOLDS)


def _find_last_signal_time(replay: SceneReplay, runtime: AgentProcess) -> int:
    return max([runtime.started_at, *(one.ingested_at for one in replay.signals)]) + 1
