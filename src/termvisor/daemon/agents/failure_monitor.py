"""Minds agents that are in trouble without saying so, and tells each trouble once, as a detection.

    agent.crashed     its process ended without a goodbye, and the pane is still there
    agent.stuck       it is said to work, and nothing new was shown or said for a while
    agent.unanswered  it waits for a permission, and nobody was asked about that

In: ends and states of agents. Out: detections, stored before they are told; the key of each names the agent's process
and the stretch, so another daemon tells nothing twice.
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
"""Seconds after an end in which a shell tells the status, and what the agent printed last becomes text."""
_LOOKBACK_NS = 120 * NS
"""Ends of so long ago are looked at when the daemon starts."""
_EXIT_WINDOW_NS = 15 * NS
_UNANSWERED_AFTER_S = 60.0
"""Seconds that an agent may wait for a permission before it counts that nobody is asked."""
_COOLDOWN_S = 86_400.0
_MAX_REPORTED_KEYS = 1000
"""Troubles that were told and need not be offered to the store again; it tells none twice by itself."""
_KILL_DETECTIONS = ("process.killed", "process.crashed", "process.out_of_memory")
_CLEAN_EXIT_DETECTIONS = ("session.resume_hint", "session.summary")
log = get_logger("minding")


class FailureMonitor:
    def __init__(self, components: Components):
        self._components, self._clock, self._store = components, components.clock, components.store
        self._tracker = components.agent_tracking.tracker
        self._reported_keys: set[str] = set()

    async def run(self) -> None:
        """Until it is cancelled."""
        await self._components.server_supervisor.first_scan_done.wait()
        async with asyncio.TaskGroup() as group:
            group.create_task(self._run_checks())
            with self._components.event_log.events.subscribe() as news:
                since = self._clock.now() - _LOOKBACK_NS
                for event in await self._store.events.list(kind="agent_ended", since=since, limit=1000):
                    group.create_task(self._handle_exit(event))
                while True:
                    event = await news.get()
                    if event.kind == "agent_ended":
                        group.create_task(self._handle_exit(event))

    async def _handle_exit(self, event: Event) -> None:
        """Once its last words are read."""
        try:
            await self._clock.sleep(max(0.0, _EXIT_GRACE_S - (self._clock.now() - event.at) / NS))
            await self.check_exit(event)
        except StorageError as error:
            log.warning("an end could not be looked at: %s", error.message)

    async def check_exit(self, event: Event) -> None:
        """Whether it was a crash."""
        pane, runtime = event.pane, event.data.get("runtime")
        if pane is None or not isinstance(runtime, int):
            return
        await self._components.pipeline.wait_settled(pane)
        known = await self._store.panes.find(pane)
        if known is None or known.gone_at is not None:
            return
        ending = await self._collect_exit_evidence(event, pane)
        if why := describe_crash(ending):
            session = await self._find_session(pane, runtime)
            await self._store_detection(_build_crash_detection(event, ending, why, session))

    async def _collect_exit_evidence(self, event: Event, pane: PaneId) -> ExitEvidence:
        around = DetectionFilter(pane=pane, since=event.at - _EXIT_WINDOW_NS, limit=100)
        found = [one for one in await self._store.detections.list(around) if one.at <= event.at + _EXIT_WINDOW_NS]
        command = await self._store.commands.find(pane, "last")
        is_its = (
            command is not None and command.ended_at is not None and abs(command.ended_at - event.at) <= _EXIT_WINDOW_NS
        )
        return ExitEvidence(
            reason=str(event.data.get("end_reason") or ""),
            has_reported_end=any(one.type in _CLEAN_EXIT_DETECTIONS and one.source != "signal" for one in found),
            exit_code=command.exit_code if command is not None and is_its else None,
            was_killed=any(one.type in _KILL_DETECTIONS for one in found),
        )

    async def _find_session(self, pane: PaneId, runtime: int) -> AgentSession | None:
        known = await self._store.sessions.list(pane=pane, limit=20)
        return next((one for one in reversed(known) if one.runtime == runtime), None)

    async def _run_checks(self) -> None:
        while True:
            await self._clock.sleep(_CHECK_INTERVAL_S)
            for pane, runtime in list(self._tracker.agents_by_pane.items()):
                known = self._tracker.get_projection(runtime.id)
                if known is None or known.state.since is None:
                    continue
                try:
                    await self.check_agent(pane, known.state, known.state.since)
                except StorageError as error:
                    log.warning("pane %d could not be minded: %s", pane, error.message)

    async def check_agent(self, pane: PaneId, state: AgentState, since: int) -> None:
        """Whether an agent that is in this state since then is in trouble."""
        now, patience = self._clock.now(), self._components.settings.workflow_unstick_after
        if state.value == "running" and patience and now - since >= patience * NS:
            moved = max(since, await self._find_last_activity(pane))
            if now - moved >= patience * NS:
                await self._store_detection(_build_stuck_detection(state, moved, now))
        if (
            state.value == "waiting_approval"
            and now - since >= _UNANSWERED_AFTER_S * NS
            and not await self._has_approval_request(pane, since)
        ):
            await self._store_detection(_build_unanswered_detection(state, since, now))

    async def _find_last_activity(self, pane: PaneId) -> int:
        """When something new was printed, shown or said; a spinner that turns is nothing new."""
        lines = await self._store.output.read_lines(pane, limit=1)
        shown, said = (
            await self._store.sightings.find_newest_time(pane),
            await self._store.transcripts.find_newest_time(pane),
        )
        return max(shown, said, *(line.at for line in lines), 0)

    async def _has_approval_request(self, pane: PaneId, since: int) -> bool:
        """Whether anybody was asked about this pane in this stretch, whatever they said."""
        questions = [*await self._store.approvals.list(), *await self._store.approvals.list(is_open=False)]
        return any(one.pane == pane and (one.state == "open" or one.at >= since - _EXIT_WINDOW_NS) for one in questions)

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
    told = {"why": reason, "session_id": session.external_id if session is not None else ""}
    code = "" if exit_evidence.exit_code is None else str(exit_evidence.exit_code)
    return Detection(
        at=event.at,
        type="agent.crashed",
        rule="signal.crashed",
        pane=event.pane or PaneId(0),
        runtime=runtime,
        agent=str(event.data.get("agent", "")),
        severity="error",
        captures={name: value for name, value in {**told, "exit_code": code}.items() if value},
        source="signal",
        evidence={"event": event.id},
        key=f"agent.crashed runtime:{runtime}",
        cooldown=_COOLDOWN_S,
    )


def _build_stuck_detection(state: AgentState, last_activity_at: int, now: int) -> Detection:
    minutes = {"minutes": f"{(now - last_activity_at) / NS / 60:.0f}"}
    found = _build_state_detection(state, "agent.stuck", last_activity_at, now)
    return replace(found, captures=minutes)


def _build_unanswered_detection(state: AgentState, since: int, now: int) -> Detection:
    return _build_state_detection(state, "agent.unanswered", since, now)


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
