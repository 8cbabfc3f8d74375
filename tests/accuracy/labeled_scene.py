"""A Moment is a recorded scene beside the truth: what its agent was doing, and what was said of that.

The truth is no one's reading: people wrote it down from what the scene's author had just done to the agent
(tests/recordings/truth.json). Two states there mean that either is right. `gone` means that the program has ended; all
that its screen may say then is `unknown`.

What an agent's own word claims is what its source declares: one that tells all ends in the same way claims no more than
that the agent is at rest. What is known never to be told stands with its reason in tests/recordings/holes.json.
"""

from collections.abc import Iterator

import msgspec
from msgspec import Struct

from termvisor.agents.adapters.adapter import Adapter
from termvisor.agents.state.published_state import compute_state
from termvisor.agents.state.reducer import apply_fact
from termvisor.agents.state.thresholds import SECOND_NS
from termvisor.agents.tracking import screen_signal
from termvisor.agents.tracking.screen_signal import ClassifiedScreen
from termvisor.model.agent.agent_process import AgentProcess
from termvisor.model.agent.state import AgentState
from termvisor.model.ids import SignalId
from termvisor.model.terminal.screen import Screen
from tests.builtin_thresholds import DEFAULT_THRESHOLDS
from tests.recordings.scene import RECORDINGS_FOLDER, Scene, SceneReplay, load_runs

EXITED = "gone"
_SAMPLE_INTERVAL_NS = 2 * SECOND_NS
"""Between two looks."""
_SETTLE_TIME_NS = DEFAULT_THRESHOLDS.recovered_after + 2 * _SAMPLE_INTERVAL_NS
"""By then all that looks can prove is proven."""

_END_STATES = ("error", "completed", "idle")

TruthsByAgent = dict[str, dict[str, tuple[str, ...]]]


class LabeledScene(Struct, frozen=True, kw_only=True):
    version: str
    name: str
    truths: tuple[str, ...]
    screen_state: str
    """What the screen says, alone."""
    own_state: str = ""
    """What the agent's own signals come to, without any look; empty where it has told nothing of its state."""
    claimed_states: tuple[str, ...] = ()
    """The states that this may mean."""
    known_hole: str = ""
    """Why the agent's own word cannot be right here."""
    published_state: str = ""
    """What the product says once the screen has stood for a while; empty when the agent is gone."""

    @property
    def claimed_state(self) -> str:
        """Its own word, as far as it goes."""
        return next((state for state in self.truths if state in self.claimed_states), self.own_state)

    def pair_with_truth(self, state: str) -> tuple[str, str]:
        """What was so and what was said. Where several things are so, one that was said is as good as the first."""
        return state if state in self.truths else self.truths[0], state


def load_truths() -> TruthsByAgent:
    """By agent and scene."""
    written = msgspec.json.decode((RECORDINGS_FOLDER / "truth.json").read_bytes(), type=dict[str, dict[str, list[str]]])
    return {
        agent: {name: tuple(states.split()) for states, names in scenes.items() for name in names}
        for agent, scenes in written.items()
    }


def load_holes(agent: str) -> dict[str, str]:
    """By scene why the agent itself does not tell what it does there."""
    written = msgspec.json.decode((RECORDINGS_FOLDER / "holes.json").read_bytes(), type=dict[str, dict[str, str]])
    return written.get(agent, {})


def list_unlabeled_scenes(agent: str) -> list[str]:
    """Scenes of which nobody wrote down what the agent was doing."""
    return [scene.name for run in load_runs(agent) for scene in run if scene.name not in load_truths().get(agent, {})]


def load_labeled_scenes(adapter: Adapter) -> list[LabeledScene]:
    """All scenes of an agent whose truth is known."""
    known = load_truths().get(adapter.name, {})
    return [
        _label_scene(play, scene, known[scene.name]) for play, scene in _replay_scenes(adapter) if scene.name in known
    ]


def _replay_scenes(adapter: Adapter) -> Iterator[tuple[SceneReplay, Scene]]:
    for run in load_runs(adapter.name):
        play = SceneReplay(adapter, run[0].runtime)
        for scene in run:
            play.read_records(scene.records)
            yield play, scene


def _label_scene(replay: SceneReplay, scene: Scene, true_states: tuple[str, ...]) -> LabeledScene:
    seen = replay.adapter.classify_screen(scene.screen).state
    if true_states == (EXITED,):
        return LabeledScene(version=scene.version, name=scene.name, truths=("unknown",), screen_state=seen)
    told = replay.state
    is_told = told.evidence_mode == "deterministic"
    return LabeledScene(
        version=scene.version,
        name=scene.name,
        truths=true_states,
        screen_state=seen,
        own_state=told.value if is_told else "",
        claimed_states=_list_claimed_states(replay, told) if is_told else (),
        known_hole=load_holes(scene.agent).get(scene.name, ""),
        published_state=resolve_settled_state(replay, scene.screen).value,
    )


def _list_claimed_states(replay: SceneReplay, own_state: AgentState) -> tuple[str, ...]:
    source = next(one for one in replay.adapter.sources if one.name == own_state.source)
    return _END_STATES if source.blurs_ends and own_state.value in _END_STATES else (own_state.value,)


def resolve_settled_state(replay: SceneReplay, screen: Screen) -> AgentState:
    """What is said of it after this screen was looked at again and again. An agent at work keeps its pane moving."""
    knowledge, runtime = replay.knowledge, replay.runtime
    seen = replay.adapter.classify_screen(screen)
    begun = _find_last_signal_time(replay, runtime)
    for at in range(begun, begun + _SETTLE_TIME_NS, _SAMPLE_INTERVAL_NS):
        moved_at = at if seen.state == "running" else begun
        look = screen_signal.build_screen_signal(
            runtime, ClassifiedScreen(rows=screen.rows, reading=seen, at=at), moved_at
        )
        knowledge = apply_fact(knowledge, msgspec.structs.replace(look, id=SignalId(at)), DEFAULT_THRESHOLDS)
    return compute_state(knowledge, runtime.id, begun + _SETTLE_TIME_NS, DEFAULT_THRESHOLDS)


def _find_last_signal_time(replay: SceneReplay, runtime: AgentProcess) -> int:
    return max([runtime.started_at, *(one.ingested_at for one in replay.signals)]) + 1
