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
from termvisor.agents.state.published_state import state_of
from termvisor.agents.state.reducer import tell
from termvisor.agents.state.thresholds import SECOND
from termvisor.agents.tracking import screen_signal as glance
from termvisor.agents.tracking.screen_signal import Glance
from termvisor.model.agent.agent_process import Runtime
from termvisor.model.agent.state import AgentState
from termvisor.model.ids import SignalId
from termvisor.model.terminal.screen import Screen
from tests.declared import DEFAULT
from tests.recordings.scene import FOLDER, Play, Scene, runs

GONE = "gone"
_APART = 2 * SECOND
"""Between two looks."""
_STANDS_FOR = DEFAULT.recovered_after + 2 * _APART
"""By then all that looks can prove is proven."""

_ENDS = ("error", "completed", "idle")

Truths = dict[str, dict[str, tuple[str, ...]]]


class Moment(Struct, frozen=True, kw_only=True):
    version: str
    name: str
    truths: tuple[str, ...]
    seen: str
    """What the screen says, alone."""
    told: str = ""
    """What the agent's own signals come to, without any look; empty where it has told nothing of its state."""
    claims: tuple[str, ...] = ()
    """The states that this may mean."""
    hole: str = ""
    """Why the agent's own word cannot be right here."""
    published: str = ""
    """What the product says once the screen has stood for a while; empty when the agent is gone."""

    @property
    def claimed(self) -> str:
        """Its own word, as far as it goes."""
        return next((state for state in self.truths if state in self.claims), self.told)

    def against(self, said: str) -> tuple[str, str]:
        """What was so and what was said. Where several things are so, one that was said is as good as the first."""
        return said if said in self.truths else self.truths[0], said


def truths() -> Truths:
    """By agent and scene."""
    written = msgspec.json.decode((FOLDER / "truth.json").read_bytes(), type=dict[str, dict[str, list[str]]])
    return {
        agent: {name: tuple(states.split()) for states, names in scenes.items() for name in names}
        for agent, scenes in written.items()
    }


def holes(agent: str) -> dict[str, str]:
    """By scene why the agent itself does not tell what it does there."""
    written = msgspec.json.decode((FOLDER / "holes.json").read_bytes(), type=dict[str, dict[str, str]])
    return written.get(agent, {})


def without_truth(agent: str) -> list[str]:
    """Scenes of which nobody wrote down what the agent was doing."""
    return [scene.name for run in runs(agent) for scene in run if scene.name not in truths().get(agent, {})]


def moments(adapter: Adapter) -> list[Moment]:
    """All scenes of an agent whose truth is known."""
    known = truths().get(adapter.name, {})
    return [_judged(play, scene, known[scene.name]) for play, scene in _played(adapter) if scene.name in known]


def _played(adapter: Adapter) -> Iterator[tuple[Play, Scene]]:
    for run in runs(adapter.name):
        play = Play(adapter, run[0].runtime)
        for scene in run:
            play.hear(scene.records)
            yield play, scene


def _judged(play: Play, scene: Scene, so: tuple[str, ...]) -> Moment:
    seen = play.adapter.look(scene.screen).state
    if so == (GONE,):
        return Moment(version=scene.version, name=scene.name, truths=("unknown",), seen=seen)
    told = play.state
    is_told = told.evidence_mode == "deterministic"
    return Moment(
        version=scene.version,
        name=scene.name,
        truths=so,
        seen=seen,
        told=told.value if is_told else "",
        claims=_claims(play, told) if is_told else (),
        hole=holes(scene.agent).get(scene.name, ""),
        published=settled(play, scene.screen).value,
    )


def _claims(play: Play, told: AgentState) -> tuple[str, ...]:
    source = next(one for one in play.adapter.sources if one.name == told.source)
    return _ENDS if source.blurs_ends and told.value in _ENDS else (told.value,)


def settled(play: Play, screen: Screen) -> AgentState:
    """What is said of it after this screen was looked at again and again. An agent at work keeps its pane moving."""
    knowledge, runtime = play.knowledge, play.runtime
    seen = play.adapter.look(screen)
    begun = _last_heard(play, runtime)
    for at in range(begun, begun + _STANDS_FOR, _APART):
        moved_at = at if seen.state == "running" else begun
        look = glance.signal(runtime, Glance(rows=screen.rows, seen=seen, at=at), moved_at)
        knowledge = tell(knowledge, msgspec.structs.replace(look, id=SignalId(at)), DEFAULT)
    return state_of(knowledge, runtime.id, begun + _STANDS_FOR, DEFAULT)


def _last_heard(play: Play, runtime: Runtime) -> int:
    return max([runtime.started_at, *(one.ingested_at for one in play.signals)]) + 1
