"""Plays a recording as the product would have heard it, and explains what it would have said at an instant. Pure.

Invariant: the same facts go through the same fold as those of a living agent, so what is explained here is what a
daemon with these settings would have shown.
"""

from collections.abc import Iterator

from msgspec.structs import replace

from termvisor.agents.adapters.adapter import ScreenReading
from termvisor.agents.recordings.recording import AgentRecording, RecordedMoment
from termvisor.agents.state.explain import explain_state
from termvisor.agents.state.reducer import EMPTY_SOURCE_SLOTS
from termvisor.agents.state.titles import TitleCandidates, find_session_titles, select_title
from termvisor.agents.tracking import screen_signal
from termvisor.agents.tracking.adapter_registry import AdapterRegistry
from termvisor.agents.tracking.fact_redaction import redact_fact
from termvisor.agents.tracking.screen_signal import ClassifiedScreen
from termvisor.agents.tracking.transition import TrackerState, TrackingConfig, compute_transition
from termvisor.clock import NS
from termvisor.errors import AgentNotFound, BadRequest
from termvisor.model.agent.agent_process import AgentStarted, Fact
from termvisor.model.agent.attention import find_need
from termvisor.model.agent.replay_result import ReplayResult
from termvisor.model.agent.session import AgentView
from termvisor.model.agent.signal import Signal
from termvisor.model.ids import SignalId
from termvisor.model.terminal.screen import Screen

_SCREEN_INTERVAL_NS = 2 * NS
_MAX_EXTRA_SCREENS = 300
"""So many looks, at most, are taken at the last screen when it is asked what would follow if it stood."""


def replay_recording(
    recording: AgentRecording, at: int, registry: AdapterRegistry, config: TrackingConfig
) -> ReplayResult:
    """What is known at this instant; after the end of the recording its last screen is taken to stand still."""
    if at < recording.began_at:
        raise BadRequest("--at lies before the recording begins")
    recording = _resolve_agent(recording, registry, at)
    if recording.gone_at is not None and at >= recording.gone_at:
        raise AgentNotFound("the agent had ended by then", hint="Name an earlier instant with --at.")
    told = _apply_recording(recording, at, registry, config)
    return _build_result(recording, at, told, config)


def _resolve_agent(recording: AgentRecording, registry: AdapterRegistry, at: int) -> AgentRecording:
    """With its agent: the one that the recording tells, else the only one whose screens are like this."""
    agent = recording.agent or _identify_agent(recording, registry, at)
    if agent not in registry.adapters:
        known = ", ".join(sorted(registry.adapters))
        raise BadRequest(f"no agent is known by the name {agent}", hint=f"These are: {known}.")
    return replace(recording, agent=agent, runtime=replace(recording.runtime, agent=agent))


def _identify_agent(recording: AgentRecording, registry: AdapterRegistry, at: int) -> str:
    screens = [one.screen for one in recording.moments if one.at <= at and one.screen is not None]
    found = {
        agent: seen
        for agent in registry.adapters
        if (seen := registry.classify_screen(agent, screens[-1])) and seen.rule
    }
    named = [agent for agent, seen in found.items() if seen.state != "unknown"]
    if len(named) != 1:
        why = "several agents' screens look like this" if named else "no known agent looks like this"
        raise AgentNotFound(f"the recording does not say whose it is, and {why}", hint="Name the agent with --agent.")
    return named[0]


def _apply_recording(
    recording: AgentRecording, at: int, registry: AdapterRegistry, config: TrackingConfig
) -> tuple[TrackerState, list[Signal]]:
    runtime = recording.runtime
    began = AgentStarted(at=recording.began_at, runtime=runtime)
    standing = compute_transition(TrackerState(), [began], recording.began_at, config).state
    signals: list[Signal] = []
    for now, facts in _read_facts(recording, at, registry):
        outcome = compute_transition(standing, [redact_fact(fact) for fact in facts], now, config)
        standing = outcome.state
        signals += [fact for _, fact in outcome.turn.facts if isinstance(fact, Signal)]
    if runtime.id not in standing.knowledge.roster.tenants:
        raise AgentNotFound("the agent had ended by then", hint="Name an earlier instant with --at.")
    return compute_transition(standing, (), at, config).state, signals


def _read_facts(recording: AgentRecording, at: int, registry: AdapterRegistry) -> Iterator[tuple[int, list[Fact]]]:
    """What becomes known, instant by instant."""
    last: ClassifiedScreen | None = None
    moved_at = recording.began_at
    for moment in [*recording.moments, *_repeat_last_screen(recording, at)]:
        heard = [record for record in moment.records if record.at <= at]
        for record in heard:
            yield record.at, list(registry.read_record(recording.agent, record))
        if moment.screen is None or moment.at > at:
            continue
        seen = registry.classify_screen(recording.agent, moment.screen) or ScreenReading()
        now = ClassifiedScreen(
            rows=moment.screen.rows, reading=seen, at=moment.at, stored_at=last.stored_at if last else 0
        )
        moved_at = moved_at if last is not None and last.rows == now.rows else moment.at
        if screen_signal.is_news(last, now, _SCREEN_INTERVAL_NS):
            now.stored_at = moment.at
            yield moment.at, [screen_signal.build_screen_signal(recording.runtime, now, moved_at)]
        last = now


def _repeat_last_screen(recording: AgentRecording, at: int) -> Iterator[RecordedMoment]:
    """Looks at the last screen after the end."""
    last: Screen | None = recording.moments[-1].screen
    pace = max(_SCREEN_INTERVAL_NS, (at - recording.ended_at) // _MAX_EXTRA_SCREENS)
    for now in range(recording.ended_at + pace, at + 1, pace):
        yield RecordedMoment(at=now, screen=last)


def _build_result(
    recording: AgentRecording, at: int, applied: tuple[TrackerState, list[Signal]], config: TrackingConfig
) -> ReplayResult:
    standing, signals = applied
    runtime = recording.runtime
    found = explain_state(standing.knowledge, runtime.id, at, config.thresholds)
    named = {found.state.evidence, *(one.evidence for one in found.testimonies)} - {None, SignalId(0)}
    own, past = find_session_titles(
        standing.knowledge.ledgers.get(runtime.id, EMPTY_SOURCE_SLOTS), runtime.agent, config.thresholds
    )
    wanted, projection = find_need(found.state), standing.projections.get(runtime.id)
    view = AgentView(
        state=found.state,
        version=projection.version if projection is not None else 0,
        title=select_title(TitleCandidates(own_name=own, past_title=past, path=runtime.cwd), runtime.agent),
        need=wanted.kind if wanted is not None else None,
        needs_action=wanted is not None and wanted.is_action,
        session=standing.story.going_on.get(runtime.id),
    )
    return ReplayResult(
        kind=recording.kind,
        version=recording.version or (view.session.version if view.session is not None else ""),
        began_at=recording.began_at,
        ended_at=recording.ended_at,
        at=at,
        moments=sum(one.at <= at for one in recording.moments),
        runtime=runtime,
        view=view,
        explanation=found,
        signals=tuple(one for one in signals if one.id in named),
    )
