"""Detect drift: agents whose version, signals or dialogs no longer match the adapter; report it once per version."""

import asyncio

from termvisor.agents.adapters.recorded_versions import list_recorded_versions
from termvisor.agents.state.drift import find_drift, has_shown_dialog
from termvisor.agents.state.reducer import EMPTY_SOURCE_SLOTS
from termvisor.agents.tracking.transition import TrackingOutcome
from termvisor.daemon.components import Components
from termvisor.model.agent.agent_process import AgentProcess
from termvisor.model.agent.drift import AgentDrift, DriftKind
from termvisor.model.agent.state import AgentState
from termvisor.model.event import Event
from termvisor.model.ids import RuntimeId

DRIFT_EVENT = "agent_drifted"
_CHECK_INTERVAL_S = 30.0
_MAX_REMEMBERED_EVENTS = 1000
_MIN_UNSEEN_DIALOGS = 3
"""Consecutive unrecognized dialogs that count as drift: a single one may just be a new kind of dialog."""


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
        self._reported = {_build_report_key(event) for event in past}
        async with asyncio.TaskGroup() as group:
            group.create_task(self._watch_transitions())
            while True:
                await self._components.clock.sleep(_CHECK_INTERVAL_S)
                await self.report_drifts()

    async def _watch_transitions(self) -> None:
        with self._components.agent_tracking.tracker.outcomes.subscribe() as transitions:
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
        key = state.agent, self._find_version(state.runtime)
        is_new = self._last_counted.get(key) != (state.runtime, state.since)
        self._last_counted[key] = state.runtime, state.since
        self._unseen_dialogs[key] = 0 if was_recognized else self._unseen_dialogs.get(key, 0) + is_new

    def _find_version(self, runtime: RuntimeId) -> str:
        session = self._components.agent_tracking.tracker.get_session(runtime)
        return session.version if session is not None else ""

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
        version = self._find_version(agent_process.id)
        recorded = list_recorded_versions(agent_process.agent)
        slots = tracker.state.knowledge.source_slots.get(agent_process.id, EMPTY_SOURCE_SLOTS)
        drifts: list[tuple[DriftKind, int]] = find_drift(slots, agent_process.agent, now, tracker.config.thresholds)
        if version and recorded and version not in recorded:
            drifts.insert(0, ("unseen_version", agent_process.started_at))
        if self._unseen_dialogs.get((agent_process.agent, version), 0) >= _MIN_UNSEEN_DIALOGS:
            drifts.append(("unseen_dialogs", agent_process.started_at))
        return [
            AgentDrift(
                agent=agent_process.agent,
                kind=kind,
                pane=agent_process.pane,
                runtime=agent_process.id,
                version=version,
                since=since,
                recorded=recorded,
            )
            for kind, since in drifts
        ]


def _build_report_key(event: Event) -> tuple[object, ...]:
    return event.data.get("agent"), event.data.get("sign"), event.data.get("version")
