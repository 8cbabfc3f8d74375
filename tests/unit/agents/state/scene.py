"""The words in which the tests of states talk: who said what, and when, in seconds."""

from msgspec.structs import replace

from termvisor.agents.state.published_state import state_of
from termvisor.agents.state.reducer import Knowledge, told
from termvisor.agents.state.thresholds import Measure
from termvisor.model.agent.agent_process import Fact, Place, Runtime, RuntimeBegan
from termvisor.model.agent.signal import Signal
from termvisor.model.agent.state import AgentState, StateName
from termvisor.model.ids import MuxPaneId, PaneId, RuntimeId, SignalId, TargetName
from tests.declared import DEFAULT

S = 10**9
START = 1_800_000_000 * S
"""Second 0 of every scene."""
LOCAL = TargetName("local")
ONE = RuntimeId(1)
HEURISTIC = ("screen", "title", "process")


def at(seconds: float) -> int:
    return START + round(seconds * S)


def runtime(number: int = 1, agent: str = "claude_code", mux_pane: str = "%5", **fields) -> Runtime:
    given = {
        "id": RuntimeId(number),
        "pane": PaneId(number + 6),
        "place": Place(LOCAL, "/tmp/tmux", MuxPaneId(mux_pane)),
        "agent": agent,
        "pid": 100 + number,
        "pid_started": 5000 + number,
        "cwd": "/home/ada/src",
        "started_at": at(0),
    }
    return Runtime(**(given | fields))


def began(seconds: float = 0, one: Runtime | None = None) -> RuntimeBegan:
    known = one or runtime()
    return RuntimeBegan(at=at(seconds), runtime=replace(known, started_at=at(seconds)))


def says(seconds: float, source: str, state: StateName | None = None, **fields) -> Signal:
    """What a source says of agent 1 at a second; without a state it is a heartbeat."""
    given = {
        "id": SignalId(round(seconds * 1000)),
        "source": source,
        "tier": "heuristic" if source in HEURISTIC else "deterministic",
        "agent": "claude_code",
        "runtime": ONE,
        "event_at": at(seconds),
        "ingested_at": at(seconds),
        "dedupe_key": f"{source} {seconds} {fields.get('task', '')}",
        "kind": "state" if state else "heartbeat",
        "state": state,
    }
    return Signal(**(given | fields))


def shows(seconds: float, state: StateName, moved: float | None = None, **fields) -> Signal:
    """A look at the screen; the pane last moved at second ``moved``."""
    reason = "unknown_screen" if state == "unknown" else None
    moved_at = None if moved is None else at(moved)
    given = {"reason": reason, "moved_at": moved_at, "look_interval": 2 * S}
    return says(seconds, "screen", state, **(given | fields))


def working(*seconds: float) -> list[Signal]:
    """Looks at a screen that shows work and moves."""
    return [shows(one, "running", moved=one) for one in seconds]


def resting(*seconds: float, moved: float = 0) -> list[Signal]:
    """Looks at a screen that shows a quiet prompt."""
    return [shows(one, "idle", moved=moved) for one in seconds]


def knowing(*facts: Fact | list[Signal], measure: Measure = DEFAULT, agent: str = "claude_code") -> Knowledge:
    """What is known after agent 1 began at second 0 and all this was heard."""
    flat: list[Fact] = [began(0, runtime(agent=agent))]
    for fact in facts:
        flat += fact if isinstance(fact, list) else [fact]
    spoken = [replace(one, agent=agent) if isinstance(one, Signal) else one for one in flat]
    return told(Knowledge(), spoken, measure)


def state(seconds: float, *facts: Fact | list[Signal], measure: Measure = DEFAULT, agent: str = "claude_code"):
    """The state of agent 1 at a second, after all this."""
    return seen(knowing(*facts, measure=measure, agent=agent), seconds, measure)


def seen(knowledge: Knowledge, seconds: float, measure: Measure = DEFAULT) -> AgentState:
    return state_of(knowledge, ONE, at(seconds), measure)
