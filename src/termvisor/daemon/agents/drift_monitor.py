"""Agents that are no longer as we know them: looked for now and then, and told once for each version of a program."""

import asyncio

from msgspec.structs import asdict

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
"""Dialogs that no rule knew: one of them may be new, or of a kind that we never met."""


class DriftMonitor:
    def __init__(self, components: Components):
        self._components = components
        self._reported: set[tuple[object, ...]] = set()
        self._unseen_dialogs: dict[tuple[str, str], int] = {}
        """How many dialogs in a row were not recognised, by agent and version."""
        self._last_counted: dict[tuple[str, str], tuple[RuntimeId, int | None]] = {}
        """The last of them: whose it was, and since when."""

    def find_drifts(self) -> list[AgentDrift]:
        """Of the agents that live."""
        return [
            one
            for runtime in self._components.agent_tracking.tracker.agents_by_pane.values()
            for one in self._find_drifts_of(runtime)
        ]

    async def run(self) -> None:
        """Until it is cancelled. What an earlier daemon told is not told again."""
        parts = self._components
        past = await parts.store.events.list(kind=DRIFT_EVENT, limit=_MAX_REMEMBERED_EVENTS)
        self._reported = {_build_report_key(event) for event in past}
        async with asyncio.TaskGroup() as group:
            group.create_task(self._watch_transitions())
            while True:
                await parts.clock.sleep(_CHECK_INTERVAL_S)
                await self.report_drifts()

    async def _watch_transitions(self) -> None:
        with self._components.agent_tracking.tracker.outcomes.subscribe() as turns:
            turns.is_wanted = lambda outcome: bool(outcome.changes)
            while True:
                self.count_dialogs(await turns.get())

    def count_dialogs(self, outcome: TrackingOutcome) -> None:
        """Of every dialog that is over, whether its screen was recognised."""
        for change in outcome.changes:
            ledger = outcome.state.knowledge.ledgers.get(change.after.runtime)
            if ledger is None or change.before is None or change.before.value == change.after.value:
                continue
            if (seen := has_shown_dialog(ledger, change.before, change.at)) is not None:
                self._count_dialog(change.before, seen)

    def _count_dialog(self, state: AgentState, was_recognized: bool) -> None:
        """Once for each dialog, though what is believed of it may change."""
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
                about = {name: value for name, value in asdict(drift).items() if name in ("agent", "version")}
                await self._components.event_log.emit(
                    DRIFT_EVENT, drift.pane, sign=drift.kind, what=drift.description, **about
                )

    def _find_drifts_of(self, agent_process: AgentProcess) -> list[AgentDrift]:
        knowing, now = self._components.agent_tracking.tracker, self._components.clock.now()
        version = self._find_version(agent_process.id)
        known = list_recorded_versions(agent_process.agent)
        ledger = knowing.state.knowledge.ledgers.get(agent_process.id, EMPTY_SOURCE_SLOTS)
        found: list[tuple[DriftKind, int]] = find_drift(ledger, agent_process.agent, now, knowing.config.thresholds)
        if version and known and version not in known:
            found.insert(0, ("unseen_version", agent_process.started_at))
        if self._unseen_dialogs.get((agent_process.agent, version), 0) >= _MIN_UNSEEN_DIALOGS:
            found.append(("unseen_dialogs", agent_process.started_at))
        return [
            AgentDrift(
                agent=agent_process.agent,
                kind=kind,
                pane=agent_process.pane,
                runtime=agent_process.id,
                version=version,
                since=since,
                recorded=known,
            )
            for kind, since in found
        ]


def _build_report_key(event: Event) -> tuple[object, ...]:
    return event.data.get("agent"), event.data.get("sign"), event.data.get("version")
