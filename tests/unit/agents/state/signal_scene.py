"""Builders for signals, screens and knowledge in tests of agent states; times are in seconds."""

from msgspec.structs import replace

from termvisor.agents.state.published_state import compute_state
from termvisor.agents.state.reducer import AgentKnowledge, apply_facts
from termvisor.agents.state.thresholds import Thresholds
from termvisor.model.agent.agent_process import AgentProcess, AgentStarted, Fact, PaneLocation
from termvisor.model.agent.signal import Signal
from termvisor.model.agent.state import AgentState, StateName
from termvisor.model.ids import MuxPaneId, PaneId, RuntimeId, SignalId, TargetName
from tests.builtin_thresholds import DEFAULT_THRESHOLDS

SECOND_NS = 10**9
START_NS = 1_800_000_000 * SECOND_NS
"""Second 0 of every scene."""
LOCAL = TargetName("local")
ONE = RuntimeId(1)
HEURISTIC = ("screen", "title", "process")


def to_ns(seconds: float) -> int:
    return START_NS + round(seconds * SECOND_NS)


def build_agent_process(number: int = 1, agent: str = "claude_code", mux_pane: str = "%5", **fields) -> AgentProcess:
    defaults = {
        "id": RuntimeId(number),
        "pane": PaneId(number + 6),
        "place": PaneLocation(LOCAL, "/tmp/tmux", MuxPaneId(mux_pane)),
        "agent": agent,
        "pid": 100 + number,
        "pid_started": 5000 + number,
        "cwd": "/home/ada/src",
        "started_at": to_ns(0),
    }
    return AgentProcess(**(defaults | fields))


def build_agent_started(seconds: float = 0, one: AgentProcess | None = None) -> AgentStarted:
    known = one or build_agent_process()
    return AgentStarted(at=to_ns(seconds), runtime=replace(known, started_at=to_ns(seconds)))


def build_signal(seconds: float, source: str, state: StateName | None = None, **fields) -> Signal:
    """Build a signal of agent 1 at a second; without a state it is a heartbeat."""
    defaults = {
        "id": SignalId(round(seconds * 1000)),
        "source": source,
        "tier": "heuristic" if source in HEURISTIC else "deterministic",
        "agent": "claude_code",
        "runtime": ONE,
        "event_at": to_ns(seconds),
        "ingested_at": to_ns(seconds),
        "dedupe_key": f"{source} {seconds} {fields.get('task', '')}",
        "kind": "state" if state else "heartbeat",
        "state": state,
    }
    return Signal(**(defaults | fields))


def build_screen_signal(seconds: float, state: StateName, moved: float | None = None, **fields) -> Signal:
    """Build a screen sample; the pane last moved at second ``moved``."""
    reason = "unknown_screen" if state == "unknown" else None
    moved_at = None if moved is None else to_ns(moved)
    defaults = {"reason": reason, "moved_at": moved_at, "look_interval": 2 * SECOND_NS}
    return build_signal(seconds, "screen", state, **(defaults | fields))


def build_working_screens(*seconds: float) -> list[Signal]:
    """Build samples of a screen that shows work and moves."""
    return [build_screen_signal(one, "running", moved=one) for one in seconds]


def build_idle_screens(*seconds: float, moved: float = 0) -> list[Signal]:
    """Build samples of a screen that shows a quiet prompt."""
    return [build_screen_signal(one, "idle", moved=moved) for one in seconds]


def build_knowledge(
    *facts: Fact | list[Signal], thresholds: Thresholds = DEFAULT_THRESHOLDS, agent: str = "claude_code"
) -> AgentKnowledge:
    """Return the knowledge after agent 1 started at second 0 and these facts."""
    flat: list[Fact] = [build_agent_started(0, build_agent_process(agent=agent))]
    for fact in facts:
        flat += fact if isinstance(fact, list) else [fact]
    facts_of_agent = [replace(one, agent=agent) if isinstance(one, Signal) else one for one in flat]
    return apply_facts(AgentKnowledge(), facts_of_agent, thresholds)


def compute_state_after(
    seconds: float, *facts: Fact | list[Signal], thresholds: Thresholds = DEFAULT_THRESHOLDS, agent: str = "claude_code"
):
    """Return the state of agent 1 at a second, after these facts."""
    return compute_state_at(build_knowledge(*facts, thresholds=thresholds, agent=agent), seconds, thresholds)


def compute_state_at(
    knowledge: AgentKnowledge, seconds: float, thresholds: Thresholds = DEFAULT_THRESHOLDS
) -> AgentState:
    return compute_state(knowledge, ONE, to_ns(seconds), thresholds)
