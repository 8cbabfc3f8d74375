"""Detect agents that crashed, are stuck, or wait for an approval that was never requested.

    agent.crashed     the process exited without its usual end, and the pane still exists
    agent.stuck       the state is running, but no new output, screen or message for a while
    agent.unanswered  it waits for a permission, and no approval request exists for it

In: exits and states of agents. Out: detections, stored before they are published. The key of each names the agent
process and the start of the state, so that the next daemon does not report it again.
"""

import asyncio

from msgspec.structs import replace

from termvisor.agents.state.failures import ExitEvidence, describe_crash
from termvisor.clock import NS
from termvisor.daemon.components import Components
from termvisor.errors import StorageError
from termvisor.log import get_logger
from termvisor.model.agent.session import AgentSession
from termvisor.model.agent.state import AgentState
from termvisor.model.detection.detection import Detection, DetectionFilter
from termvisor.model.event import Event
from termvisor.model.ids import PaneId, RuntimeId

_CHECK_INTERVAL_S = 15.0
_EXIT_GRACE_S = 2.0
"""Time for the shell to report the exit status and for the agent's last output to be stored."""
_LOOKBACK_NS = 120 * NS
"""Exits this long before the daemon's start are checked too."""
_EXIT_WINDOW_NS = 15 * NS
"""Detections and commands this close to the exit belong to it."""
_UNANSWERED_AFTER_S = 60.0
_COOLDOWN_S = 86_400.0
_MAX_REPORTED_KEYS = 1000
"""Size of the cache of reported keys; the store drops duplicates in any case."""
_KILL_DETECTIONS = ("process.killed", "process.crashed", "process.out_of_memory")
_CLEAN_EXIT_DETECTIONS = ("session.resume_hint", "session.summary")
log = get_logger("agent_failures")


class FailureMonitor:
    def __init__(self, components: Components):
        self._components, self._clock, self._store = components, components.clock, components.store
        self._tracker = components.agent_tracking.tracker
        self._reported_keys: set[str] = set()

    async def run(self) -> None:
        """Check exits and states until cancelled."""
        await self._components.server_supervisor.first_scan_done.wait()
        async with asyncio.TaskGroup() as group:
            group.create_task(self._run_checks())
            with self._components.event_log.events.subscribe() as events:
                since = self._clock.now() - _LOOKBACK_NS
                for event in await self._store.events.list(kind="agent_ended", since=since, limit=1000):
                    group.create_task(self._handle_exit(event))
                while True:
                    event = await events.get()
                    if event.kind == "agent_ended":
                        group.create_task(self._handle_exit(event))

    async def _handle_exit(self, event: Event) -> None:
        try:
            await self._clock.sleep(max(0.0, _EXIT_GRACE_S - (self._clock.now() - event.at) / NS))
            await self.check_exit(event)
        except StorageError as error:
            log.warning("the exit of an agent could not be checked: %s", error.message)

    async def check_exit(self, event: Event) -> None:
        """Store a detection if this exit was a crash."""
        pane, runtime = event.pane, event.data.get("runtime")
        if pane is None or not isinstance(runtime, int):
            return
        await self._components.pipeline.wait_settled(pane)
        stored = await self._store.panes.find(pane)
        if stored is None or stored.gone_at is not None:
            return
        evidence = await self._collect_exit_evidence(event, pane)
        if reason := describe_crash(evidence):
            session = await self._find_session(pane, runtime)
            await self._store_detection(_build_crash_detection(event, evidence, reason, session))

    async def _collect_exit_evidence(self, event: Event, pane: PaneId) -> ExitEvidence:
        filters = DetectionFilter(pane=pane, since=event.at - _EXIT_WINDOW_NS, limit=100)
        nearby = [item for item in await self._store.detections.list(filters) if item.at <= event.at + _EXIT_WINDOW_NS]
        command = await self._store.commands.find(pane, "last")
        exit_code = None
        if command is not None and command.ended_at is not None and abs(command.ended_at - event.at) <= _EXIT_WINDOW_NS:
            exit_code = command.exit_code
        return ExitEvidence(
            reason=str(event.data.get("end_reason") or ""),
            has_reported_end=any(item.type in _CLEAN_EXIT_DETECTIONS and item.source != "signal" for item in nearby),
            exit_code=exit_code,
            was_killed=any(item.type in _KILL_DETECTIONS for item in nearby),
        )

    async def _find_session(self, pane: PaneId, runtime: int) -> AgentSession | None:
        sessions = await self._store.sessions.list(pane=pane, limit=20)
        return next((session for session in reversed(sessions) if session.runtime == runtime), None)

    async def _run_checks(self) -> None:
        while True:
            await self._clock.sleep(_CHECK_INTERVAL_S)
            for pane, agent_process in list(self._tracker.agents_by_pane.items()):
                projection = self._tracker.get_projection(agent_process.id)
                if projection is None or projection.state.since is None:
                    continue
                try:
                    await self.check_agent(pane, projection.state, projection.state.since)
                except StorageError as error:
                    log.warning("the agent in pane %d could not be checked: %s", pane, error.message)

    async def check_agent(self, pane: PaneId, state: AgentState, since: int) -> None:
        """Store a detection if an agent in this state since ``since`` is stuck or unanswered."""
        now, stuck_after_s = self._clock.now(), self._components.settings.workflow_unstick_after
        if state.value == "running" and stuck_after_s and now - since >= stuck_after_s * NS:
            active_at = max(since, await self._find_last_activity(pane))
            if now - active_at >= stuck_after_s * NS:
                await self._store_detection(_build_stuck_detection(state, active_at, now))
        if (
            state.value == "waiting_approval"
            and now - since >= _UNANSWERED_AFTER_S * NS
            and not await self._has_approval_request(pane, since)
        ):
            await self._store_detection(_build_state_detection(state, "agent.unanswered", since, now))

    async def _find_last_activity(self, pane: PaneId) -> int:
        """Return the time of the newest line, screen row or transcript message; a turning spinner is none of them."""
        lines = await self._store.output.read_lines(pane, limit=1)
        row_at = await self._store.sightings.find_newest_time(pane)
        message_at = await self._store.transcripts.find_newest_time(pane)
        return max(row_at, message_at, *(line.at for line in lines), 0)

    async def _has_approval_request(self, pane: PaneId, since: int) -> bool:
        """Return True if an approval was requested for this pane since then, whatever its answer."""
        approvals = [*await self._store.approvals.list(), *await self._store.approvals.list(is_open=False)]
        since -= _EXIT_WINDOW_NS
        return any(item.pane == pane and (item.state == "open" or item.at >= since) for item in approvals)

    async def _store_detection(self, detection: Detection) -> None:
        if detection.key in self._reported_keys:
            return
        for event in await self._store.detections.add([detection]):
            self._components.event_log.events.publish(event)
        if len(self._reported_keys) >= _MAX_REPORTED_KEYS:
            self._reported_keys.clear()
        self._reported_keys.add(detection.key)


def _build_crash_detection(
    event: Event, exit_evidence: ExitEvidence, reason: str, session: AgentSession | None
) -> Detection:
    runtime = RuntimeId(int(event.data["runtime"] or 0))
    captures = {
        "why": reason,
        "session_id": session.external_id if session is not None else "",
        "exit_code": "" if exit_evidence.exit_code is None else str(exit_evidence.exit_code),
    }
    return Detection(
        at=event.at,
        type="agent.crashed",
        rule="signal.crashed",
        pane=event.pane or PaneId(0),
        runtime=runtime,
        agent=str(event.data.get("agent", "")),
        severity="error",
        captures={name: value for name, value in captures.items() if value},
        source="signal",
        evidence={"event": event.id},
        key=f"agent.crashed runtime:{runtime}",
        cooldown=_COOLDOWN_S,
    )


def _build_stuck_detection(state: AgentState, last_activity_at: int, now: int) -> Detection:
    minutes = {"minutes": f"{(now - last_activity_at) / NS / 60:.0f}"}
    return replace(_build_state_detection(state, "agent.stuck", last_activity_at, now), captures=minutes)


def _build_state_detection(state: AgentState, kind: str, since: int, now: int) -> Detection:
    return Detection(
        at=now,
        type=kind,
        rule=f"signal.{kind.rpartition('.')[2]}",
        pane=state.pane,
        runtime=state.runtime,
        agent=state.agent,
        severity="warning",
        source="signal",
        evidence={"since": since},
        key=f"{kind} runtime:{state.runtime} since:{since}",
        cooldown=_COOLDOWN_S,
    )
