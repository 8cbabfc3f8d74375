"""Detect drift: agents whose version, signals or dialogs no longer match the adapter; report it once per version."""

import asyncio

from termvisor.agents.adapters.loader import list_recorded_versions
from termvisor.agents.state.hysteresis import WAITING_STATES
from termvisor.agents.state.reducer import EMPTY_SOURCE_SLOTS
from termvisor.agents.state.source_slots import SourceSlots, read_sources
from termvisor.agents.state.thresholds import SECOND_NS, Thresholds
from termvisor.agents.tracking.transition import TrackingOutcome
from termvisor.daemon.components import Components
from termvisor.model.agent.agent_process import AgentProcess
from termvisor.model.agent.evidence import AgentDrift, DriftKind
from termvisor.model.agent.program_version import ProgramVersion, classify_version
from termvisor.model.agent.state import AgentState
from termvisor.model.ids import RuntimeId

DRIFT_EVENT = "agent_drifted"
_CHECK_INTERVAL_S = 30.0
_MAX_REMEMBERED_EVENTS = 1000
MIN_DRIFT_NS = 60 * SECOND_NS
_MAX_SCREEN_AGE_NS = 90 * SECOND_NS
_SCREEN_SOURCE = "screen"
# A dialog that is open for this long must be on at least one captured screen.
_MIN_DIALOG_NS = 3 * SECOND_NS
# Consecutive unrecognized dialogs that count as drift: a single one may just be a new kind of dialog.
_MIN_UNSEEN_DIALOGS = 3
# Screens, none of which was recognized, that count as drift without native signals: a single one may be a menu.
_MIN_STRANGE_SCREENS = 3
# Capabilities that need no proof by a recording: that a process was recognized, and how it is observed.
_PROVEN_CAPABILITIES = frozenset({"recognise", "event_driven", "polling_required"})


class DriftMonitor:
    def __init__(self, components: Components):
        self._components = components
        self._reported: set[tuple[object, ...]] = set()
        self._unseen_dialogs: dict[tuple[str, str], int] = {}
        """Consecutive unrecognized dialogs by agent and version."""
        self._last_counted: dict[tuple[str, str], tuple[RuntimeId, int | None]] = {}
        """The process and start time of the last counted dialog, by agent and version."""

    def find_drifts(self) -> list[AgentDrift]:
        """Return the drifts of all running agents."""
        return [
            drift
            for agent_process in self._components.agent_tracking.tracker.agents_by_pane.values()
            for drift in self._find_drifts_of(agent_process)
        ]

    async def run(self) -> None:
        """Check all agents periodically until cancelled; drifts reported by an earlier daemon are not repeated."""
        past = await self._components.store.events.list(kind=DRIFT_EVENT, limit=_MAX_REMEMBERED_EVENTS)
        self._reported = {tuple(event.data.get(name) for name in ("agent", "sign", "version")) for event in past}
        async with asyncio.TaskGroup() as group:
            group.create_task(self._watch_transitions())
            while True:
                await self._components.clock.sleep(_CHECK_INTERVAL_S)
                await self.report_drifts()

    async def _watch_transitions(self) -> None:
        with self._components.agent_tracking.tracker.outcomes.subscribe() as transitions:
            # Most transitions change no state; they must not fill the bounded queue of this subscription.
            transitions.is_wanted = lambda outcome: bool(outcome.changes)
            while True:
                self.count_dialogs(await transitions.get())

    def count_dialogs(self, outcome: TrackingOutcome) -> None:
        """Count every finished dialog as recognized or not."""
        for change in outcome.changes:
            slots = outcome.state.knowledge.source_slots.get(change.after.runtime)
            if slots is None or change.before is None or change.before.value == change.after.value:
                continue
            if (was_recognized := has_shown_dialog(slots, change.before, change.at)) is not None:
                self._count_dialog(change.before, was_recognized)

    def _count_dialog(self, state: AgentState, was_recognized: bool) -> None:
        """Count a dialog once, even if its state changed several times."""
        key = state.agent, self._components.agent_tracking.tracker.get_version(state.runtime)
        is_new = self._last_counted.get(key) != (state.runtime, state.since)
        self._last_counted[key] = state.runtime, state.since
        self._unseen_dialogs[key] = 0 if was_recognized else self._unseen_dialogs.get(key, 0) + is_new

    async def report_drifts(self) -> None:
        for drift in self.find_drifts():
            if drift.key not in self._reported:
                self._reported.add(drift.key)
                await self._components.event_log.emit(
                    DRIFT_EVENT,
                    drift.pane,
                    sign=drift.kind,
                    what=drift.description,
                    agent=drift.agent,
                    version=drift.version,
                )

    def _find_drifts_of(self, agent_process: AgentProcess) -> list[AgentDrift]:
        tracker, now = self._components.agent_tracking.tracker, self._components.clock.now()
        program = self.describe_program(agent_process)
        slots = tracker.state.knowledge.source_slots.get(agent_process.id, EMPTY_SOURCE_SLOTS)
        is_never_recognized = program.screens == program.strange_screens >= _MIN_STRANGE_SCREENS
        drifts: list[tuple[DriftKind, int]] = find_drift(
            slots, agent_process.agent, now, tracker.config.thresholds, is_never_recognized=is_never_recognized
        )
        if program.status == "unseen":
            drifts.insert(0, ("unseen_version", agent_process.started_at))
        if self._unseen_dialogs.get((agent_process.agent, program.version), 0) >= _MIN_UNSEEN_DIALOGS:
            drifts.append(("unseen_dialogs", agent_process.started_at))
        return [
            AgentDrift(
                agent=agent_process.agent,
                kind=kind,
                pane=agent_process.pane,
                runtime=agent_process.id,
                since=since,
                program=program,
            )
            for kind, since in drifts
        ]

    def describe_program(self, agent_process: AgentProcess) -> ProgramVersion:
        """Return the version of an agent, whether it was recorded, and what is unproven without that."""
        tracking, agent = self._components.agent_tracking, agent_process.agent
        version, recorded = tracking.tracker.get_version(agent_process.id), list_recorded_versions(agent)
        status, counts = classify_version(version, recorded), tracking.agent_screens.get_screen_counts(agent_process.id)
        return ProgramVersion(
            version=version,
            status=status,
            recorded=recorded,
            unproven=() if status == "recorded" else self._list_unproven(agent_process),
            screens=counts.seen,
            strange_screens=counts.strange,
        )

    def _list_unproven(self, agent_process: AgentProcess) -> tuple[str, ...]:
        """Return what the adapter claims to recognize, except signals if the process has reported a state by itself."""
        tracking, agent = self._components.agent_tracking, agent_process.agent
        adapter = tracking.adapter_registry.adapters.get(agent)
        slots = tracking.tracker.state.knowledge.source_slots.get(agent_process.id, EMPTY_SOURCE_SLOTS)
        native = {one.name for one in adapter.sources if one.tier == "deterministic"} if adapter is not None else set()
        has_signals = any(slot.statement is not None for name, slot in slots.slots.items() if name in native)
        claims = adapter.capabilities - _PROVEN_CAPABILITIES if adapter is not None else frozenset()
        return tuple(sorted(claims - {"signals"} if has_signals else claims))


def find_drift(
    source_slots: SourceSlots, agent: str, now: int, thresholds: Thresholds, *, is_never_recognized: bool = False
) -> list[tuple[DriftKind, int]]:
    """Return the kinds of drift, each with the time when it began.

    A user may open an unknown menu, and an agent may think for a long time without a signal. So a mismatch counts only
    if it lasts, and only while another source continues to report, or if none of its screens was ever recognized.
    """
    screen = source_slots.slots.get(_SCREEN_SOURCE)
    statement = screen.statement if screen is not None else None
    if screen is None or statement is None or now - screen.heard_at > _MAX_SCREEN_AGE_NS:
        return []
    readings = read_sources(source_slots, agent, now, thresholds)
    native = [one for one in readings if one.source.tier == "deterministic" and one.slot.statement is not None]
    drifts: list[tuple[DriftKind, int]] = []
    is_reporting = any(one.slot.heard_at >= statement.since for one in native)
    if statement.state == "unknown" and now - statement.since >= MIN_DRIFT_NS and (is_reporting or is_never_recognized):
        drifts.append(("strange_screens", statement.since))
    shown = next((one for one in readings if one.source.name == _SCREEN_SOURCE and one.is_usable), None)
    # Only counts if no native source reports work: some sources are known to miss the end of it.
    if shown is not None and shown.state == "running" and native and all(one.state != "running" for one in native):
        captured_at = max(one.slot.heard_at for one in native)
        since = max(captured_at, shown.since)
        if now - since >= MIN_DRIFT_NS and (screen.screen_history.moved_at or 0) > captured_at:
            drifts.append(("silent_signals", since))
    return drifts


def has_shown_dialog(source_slots: SourceSlots, waiting_state: AgentState, until: int) -> bool | None:
    """Return True if the screen showed the dialog that the agent reported up to ``until``; None if unknown."""
    screen, since = source_slots.slots.get(_SCREEN_SOURCE), waiting_state.since
    if waiting_state.value not in WAITING_STATES or waiting_state.evidence_mode != "deterministic" or since is None:
        return None
    if screen is None or screen.statement is None or until - since < _MIN_DIALOG_NS:
        return None
    shown = [one for one in (screen.statement, screen.screen_history.before) if one is not None]
    if any(one.state in WAITING_STATES for one in shown):
        return True
    return False if screen.statement.at > since + SECOND_NS else None
