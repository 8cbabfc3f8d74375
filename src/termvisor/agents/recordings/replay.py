"""Replay a recording through the tracker's fold, and explain the state at an instant. Pure.

Invariant: the facts go through the same fold as those of a running agent, so the result is what a daemon with these
settings would have shown.
"""

from collections.abc import Iterator

from msgspec.structs import replace

from termvisor.agents.adapters.adapter import ScreenReading
from termvisor.agents.adapters.loader import list_recorded_versions
from termvisor.agents.recordings.recording import AgentRecording, RecordedMoment
from termvisor.agents.sources.redaction import redact_fact
from termvisor.agents.state.explain import explain_state
from termvisor.agents.state.reducer import EMPTY_SOURCE_SLOTS
from termvisor.agents.state.titles import find_session_titles, select_title
from termvisor.agents.tracking import agent_screens
from termvisor.agents.tracking.adapter_registry import AdapterRegistry
from termvisor.agents.tracking.agent_screens import ClassifiedScreen
from termvisor.agents.tracking.transition import TrackerState, TrackingConfig, compute_transition
from termvisor.clock import NS
from termvisor.errors import AgentNotFound, BadRequest
from termvisor.model.agent.agent_process import AgentStarted, Fact
from termvisor.model.agent.agent_view import AgentView, ReplayResult
from termvisor.model.agent.attention import find_need
from termvisor.model.agent.program_version import ProgramVersion, classify_version
from termvisor.model.agent.signal import Signal
from termvisor.model.ids import SignalId
from termvisor.model.terminal.screen import Screen

_SCREEN_INTERVAL_NS = 2 * NS
# Limit of repeated samples of the last screen when ``at`` is after the end of the recording.
_MAX_EXTRA_SCREENS = 300


def replay_recording(
    recording: AgentRecording, at: int, registry: AdapterRegistry, config: TrackingConfig
) -> ReplayResult:
    """Return the state at this instant. After the end of the recording, its last screen is repeated.

    Raises BadRequest if ``at`` is before the start, AgentNotFound if the agent is unknown or had exited by then.
    """
    if at < recording.began_at:
        raise BadRequest("--at is before the start of the recording")
    recording = _resolve_agent(recording, registry, at)
    if recording.gone_at is not None and at >= recording.gone_at:
        raise AgentNotFound("the agent had exited by then", hint="Pass an earlier --at.")
    return _build_result(recording, at, _apply_recording(recording, at, registry, config), config)


def _resolve_agent(recording: AgentRecording, registry: AdapterRegistry, at: int) -> AgentRecording:
    """Set the agent: the one named in the recording, else the only one whose screen rules match."""
    agent = recording.agent or _identify_agent(recording, registry, at)
    if agent not in registry.adapters:
        known = ", ".join(sorted(registry.adapters))
        raise BadRequest(f"unknown agent {agent}", hint=f"Known agents: {known}.")
    return replace(recording, agent=agent, runtime=replace(recording.runtime, agent=agent))


def _identify_agent(recording: AgentRecording, registry: AdapterRegistry, at: int) -> str:
    screens = [one.screen for one in recording.moments if one.at <= at and one.screen is not None]
    readings = {
        agent: reading
        for agent in registry.adapters
        if (reading := registry.classify_screen(agent, screens[-1])) and reading.names_agent
    }
    agents = [agent for agent, reading in readings.items() if reading.state != "unknown"]
    if len(agents) != 1:
        problem = "its screen matches several agents" if agents else "its screen matches no known agent"
        raise AgentNotFound(f"the agent of the recording is unknown: {problem}", hint="Pass --agent.")
    return agents[0]


def _apply_recording(
    recording: AgentRecording, at: int, registry: AdapterRegistry, config: TrackingConfig
) -> tuple[TrackerState, list[Signal]]:
    agent_process = recording.runtime
    started = AgentStarted(at=recording.began_at, runtime=agent_process)
    state = compute_transition(TrackerState(), [started], recording.began_at, config).state
    signals: list[Signal] = []
    for now, facts in _read_facts(recording, at, registry):
        outcome = compute_transition(state, [redact_fact(fact) for fact in facts], now, config)
        state = outcome.state
        signals += [fact for _, fact in outcome.batch.facts if isinstance(fact, Signal)]
    if agent_process.id not in state.knowledge.roster.agents:
        raise AgentNotFound("the agent had exited by then", hint="Pass an earlier --at.")
    return compute_transition(state, (), at, config).state, signals


def _read_facts(recording: AgentRecording, at: int, registry: AdapterRegistry) -> Iterator[tuple[int, list[Fact]]]:
    """Yield the facts of the recording with their instants, in order."""
    last: ClassifiedScreen | None = None
    moved_at = recording.began_at
    for moment in [*recording.moments, *_repeat_last_screen(recording, at)]:
        for record in [record for record in moment.records if record.at <= at]:
            yield record.at, list(registry.read_record(recording.agent, record))
        if moment.screen is None or moment.at > at:
            continue
        seen = registry.classify_screen(recording.agent, moment.screen, recording.version) or ScreenReading()
        now = ClassifiedScreen(
            rows=moment.screen.rows,
            reading=seen,
            at=moment.at,
            stored_at=last.stored_at if last else 0,
            unknown_reason=agent_screens.choose_unknown_reason(recording.agent, recording.version),
        )
        moved_at = moved_at if last is not None and last.rows == now.rows else moment.at
        if agent_screens.is_news(last, now, _SCREEN_INTERVAL_NS):
            now.stored_at = moment.at
            yield moment.at, [agent_screens.build_screen_signal(recording.runtime, now, moved_at)]
        last = now


def _repeat_last_screen(recording: AgentRecording, at: int) -> Iterator[RecordedMoment]:
    """Yield samples of the last screen after the end of the recording."""
    last: Screen | None = recording.moments[-1].screen
    interval_ns = max(_SCREEN_INTERVAL_NS, (at - recording.ended_at) // _MAX_EXTRA_SCREENS)
    for now in range(recording.ended_at + interval_ns, at + 1, interval_ns):
        yield RecordedMoment(at=now, screen=last)


def _build_result(
    recording: AgentRecording, at: int, applied: tuple[TrackerState, list[Signal]], config: TrackingConfig
) -> ReplayResult:
    state, signals = applied
    agent_process = recording.runtime
    explanation = explain_state(state.knowledge, agent_process.id, at, config.thresholds)
    evidence_ids = {explanation.state.evidence, *(one.evidence for one in explanation.testimonies)} - {
        None,
        SignalId(0),
    }
    own, past = find_session_titles(
        state.knowledge.source_slots.get(agent_process.id, EMPTY_SOURCE_SLOTS), agent_process.agent, config.thresholds
    )
    need, projection = find_need(explanation.state), state.projections.get(agent_process.id)
    session = state.sessions.open_sessions.get(agent_process.id)
    recorded = list_recorded_versions(recording.agent)
    version = recording.version or (session.version if session is not None else "")
    view = AgentView(
        state=explanation.state,
        version=projection.version if projection is not None else 0,
        title=select_title((own, past, agent_process.cwd), agent_process.agent),
        need=need.kind if need is not None else None,
        needs_action=need is not None and need.is_action,
        session=session,
        program=ProgramVersion(version=version, status=classify_version(version, recorded), recorded=recorded),
    )
    return ReplayResult(
        kind=recording.kind,
        version=version,
        began_at=recording.began_at,
        ended_at=recording.ended_at,
        at=at,
        moments=sum(one.at <= at for one in recording.moments),
        runtime=agent_process,
        view=view,
        explanation=explanation,
        signals=tuple(one for one in signals if one.id in evidence_ids),
    )
