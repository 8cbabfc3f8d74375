"""Detect agents that crashed, are stuck, or wait for an approval that was never requested.

    agent.crashed     the process exited abnormally, and the pane still exists
    agent.stuck       the state is running, but there was no new output, screen or message for a while
    agent.unanswered  it waits for permission, but no approval request exists for it

In: exits and states of agents. Out: detections, stored before they are published. The key of a detection contains the
agent process and the start of the state, so that the next daemon does not report it again.
"""

import asyncio

from msgspec import Struct
from msgspec.structs import replace

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
# Time for the shell to report the exit status and for the agent's last output to be stored.
_EXIT_GRACE_S = 2.0
# Exits up to this long before the daemon's start are checked too.
_LOOKBACK_NS = 120 * NS
# Detections and commands this close to the exit are attributed to it.
_EXIT_WINDOW_NS = 15 * NS
_UNANSWERED_AFTER_S = 60.0
_COOLDOWN_S = 86_400.0
# Size of the cache of reported keys; the store drops duplicates in any case.
_MAX_REPORTED_KEYS = 1000
_KILL_DETECTIONS = ("process.killed", "process.crashed", "process.out_of_memory")
_CLEAN_EXIT_DETECTIONS = ("session.resume_hint", "session.summary")
# Exit statuses of a normal end, a lost terminal (SIGHUP), Ctrl-C (SIGINT) and a plain `kill` (SIGTERM).
_NORMAL_EXIT_CODES = frozenset({0, 129, 130, 143})
_SIGNAL_EXIT_BASE = 128
# End reasons that are inferred if the agent reported none: it was working, or in an error state.
_ABRUPT_END_REASONS = ("", "error")
log = get_logger("agent_failures")


class ExitEvidence(Struct, frozen=True, kw_only=True):
    """What is known about the exit of an agent process."""

    reason: str = ""
    """The end reason of its session; empty if it ended while working and reported no reason."""
    has_reported_end: bool = False
    """True if it printed how to resume its session, or its usage."""
    exit_code: int | None = None
    """Exit code reported by the kernel or its shell, or None."""
    was_killed: bool = False
    """True if the output contains a detection of a kill, a crash or a lack of memory."""


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
            # The exit is in the event log, so a daemon that starts within the lookback time checks it again.
            log.warning("the exit of an agent could not be checked: %s", error.message)

    async def check_exit(self, event: Event) -> None:
        """Store a detection if this exit was a crash."""
        pane, runtime = event.pane, event.data.get("runtime")
        if pane is None or not isinstance(runtime, int):
            return
        # The agent's last lines may show how it ended.
        await self._components.pipeline.wait_settled(pane)
        stored = await self._store.panes.find(pane)
        # Closing a pane ends its agent, which is not a crash.
        if stored is None or stored.gone_at is not None:
            return
        evidence = await self._collect_exit_evidence(event, pane)
        if reason := describe_crash(evidence):
            sessions = await self._store.sessions.list(pane=pane, limit=20)
            session = next((one for one in reversed(sessions) if one.runtime == runtime), None)
            await self._store_detection(_build_crash_detection(event, evidence, reason, session))

    async def _collect_exit_evidence(self, event: Event, pane: PaneId) -> ExitEvidence:
        filters = DetectionFilter(pane=pane, since=event.at - _EXIT_WINDOW_NS, limit=100)
        nearby = [item for item in await self._store.detections.list(filters) if item.at <= event.at + _EXIT_WINDOW_NS]
        command = await self._store.commands.find(pane, "last")
        exit_code = event.data.get("exit_code")
        is_near = command is not None and abs((command.ended_at or 0) - event.at) <= _EXIT_WINDOW_NS
        if exit_code is None and command is not None and is_near:
            exit_code = command.exit_code
        return ExitEvidence(
            reason=str(event.data.get("end_reason") or ""),
            has_reported_end=any(item.type in _CLEAN_EXIT_DETECTIONS and item.source != "signal" for item in nearby),
            exit_code=exit_code if isinstance(exit_code, int) else None,
            was_killed=any(item.type in _KILL_DETECTIONS for item in nearby),
        )

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
                    # The next check finds the same state again.
                    log.warning("the agent in pane %d could not be checked: %s", pane, error.message)

    async def check_agent(self, pane: PaneId, state: AgentState, since: int) -> None:
        """Store a detection if an agent in this state since ``since`` is stuck or unanswered."""
        now, stuck_after_s = self._clock.now(), self._components.settings.workflow_unstick_after
        if state.value == "running" and stuck_after_s and now - since >= stuck_after_s * NS:
            active_at = max(since, await self._find_last_activity(pane))
            if now - active_at >= stuck_after_s * NS:
                detection = _build_state_detection(state, "agent.stuck", active_at, now)
                minutes = f"{(now - active_at) / NS / 60:.0f}"
                await self._store_detection(replace(detection, captures={"minutes": minutes}))
        if (
            state.value == "waiting_approval"
            and now - since >= _UNANSWERED_AFTER_S * NS
            and not await self._has_approval_request(pane, since)
        ):
            await self._store_detection(_build_state_detection(state, "agent.unanswered", since, now))

    async def _find_last_activity(self, pane: PaneId) -> int:
        """Return the time of the newest line, screen row or transcript message; a spinner does not count."""
        lines = await self._components.pipeline.lines.read(pane, limit=1)
        row_at = await self._store.sightings.find_newest_time(pane)
        message_at = await self._store.transcripts.find_newest_time(pane)
        return max(row_at, message_at, *(line.at for line in lines), 0)

    async def _has_approval_request(self, pane: PaneId, since: int) -> bool:
        """Return True if an approval for this pane was requested since then, answered or not."""
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


def describe_crash(exit_evidence: ExitEvidence) -> str:
    """Describe to the user why the exit counts as a crash; return an empty text if it does not."""
    code = exit_evidence.exit_code
    if exit_evidence.was_killed and code not in _NORMAL_EXIT_CODES:
        return "it was killed or crashed"
    if code is not None and code > _SIGNAL_EXIT_BASE and code not in _NORMAL_EXIT_CODES:
        return f"it was terminated by signal {code - _SIGNAL_EXIT_BASE}"
    if exit_evidence.has_reported_end or code in _NORMAL_EXIT_CODES:
        return ""
    if code is not None:
        return f"it exited with status {code}"
    if exit_evidence.reason not in _ABRUPT_END_REASONS:
        return ""
    return "it exited in an error state" if exit_evidence.reason else "it exited while it was working"
