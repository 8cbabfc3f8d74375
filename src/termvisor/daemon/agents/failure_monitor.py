"""Minds agents that are in trouble without saying so, and tells each trouble once, as a detection.

    agent.crashed     its process ended without a goodbye, and the pane is still there
    agent.stuck       it is said to work, and nothing new was shown or said for a while
    agent.unanswered  it waits for a permission, and nobody was asked about that

In: ends and states of agents. Out: detections, stored before they are told; the key of each names the agent's process
and the stretch, so another daemon tells nothing twice.
"""

import asyncio

from msgspec.structs import replace

from termvisor.agents.state.failures import Ending, crash
from termvisor.clock import NS
from termvisor.daemon.components import Parts
from termvisor.errors import StorageError
from termvisor.log import logger
from termvisor.model.agent.session import AgentSession
from termvisor.model.agent.state import AgentState
from termvisor.model.detection.detection import Detection, DetectionFilter
from termvisor.model.event import Event
from termvisor.model.ids import PaneId, RuntimeId

_EVERY = 15.0
_LAST_WORDS = 2.0
"""Seconds after an end in which a shell tells the status, and what the agent printed last becomes text."""
_BACK = 120 * NS
"""Ends of so long ago are looked at when the daemon starts."""
_AROUND = 15 * NS
_UNHEARD = 60.0
"""Seconds that an agent may wait for a permission before it counts that nobody is asked."""
_A_DAY = 86_400.0
_REMEMBERED = 1000
"""Troubles that were told and need not be offered to the store again; it tells none twice by itself."""
_KILLS = ("process.killed", "process.crashed", "process.out_of_memory")
_GOODBYES = ("session.resume_hint", "session.summary")
log = logger("minding")


class Minding:
    def __init__(self, parts: Parts):
        self._parts, self._clock, self._store = parts, parts.clock, parts.store
        self._knowing = parts.attending.knowing
        self._told: set[str] = set()

    async def run(self) -> None:
        """Until it is cancelled."""
        await self._parts.lookout.has_looked.wait()
        async with asyncio.TaskGroup() as group:
            group.create_task(self._rounds())
            with self._parts.chronicle.news.subscribe() as news:
                since = self._clock.now() - _BACK
                for event in await self._store.events.list(kind="agent_ended", since=since, limit=1000):
                    group.create_task(self._ended(event))
                while True:
                    event = await news.get()
                    if event.kind == "agent_ended":
                        group.create_task(self._ended(event))

    async def _ended(self, event: Event) -> None:
        """Once its last words are read."""
        try:
            await self._clock.sleep(max(0.0, _LAST_WORDS - (self._clock.now() - event.at) / NS))
            await self.look_at_end(event)
        except StorageError as error:
            log.warning("an end could not be looked at: %s", error.message)

    async def look_at_end(self, event: Event) -> None:
        """Whether it was a crash."""
        pane, runtime = event.pane, event.data.get("runtime")
        if pane is None or not isinstance(runtime, int):
            return
        await self._parts.pipeline.settle(pane)
        known = await self._store.panes.one(pane)
        if known is None or known.gone_at is not None:
            return
        ending = await self._ending(event, pane)
        if why := crash(ending):
            session = await self._session(pane, runtime)
            await self._tell(_crashed(event, ending, why, session))

    async def _ending(self, event: Event, pane: PaneId) -> Ending:
        around = DetectionFilter(pane=pane, since=event.at - _AROUND, limit=100)
        found = [one for one in await self._store.detections.list(around) if one.at <= event.at + _AROUND]
        command = await self._store.commands.one(pane, "last")
        is_its = command is not None and command.ended_at is not None and abs(command.ended_at - event.at) <= _AROUND
        return Ending(
            reason=str(event.data.get("end_reason") or ""),
            said_goodbye=any(one.type in _GOODBYES and one.source != "signal" for one in found),
            exit_code=command.exit_code if command is not None and is_its else None,
            was_killed=any(one.type in _KILLS for one in found),
        )

    async def _session(self, pane: PaneId, runtime: int) -> AgentSession | None:
        known = await self._store.sessions.list(pane=pane, limit=20)
        return next((one for one in reversed(known) if one.runtime == runtime), None)

    async def _rounds(self) -> None:
        while True:
            await self._clock.sleep(_EVERY)
            for pane, runtime in list(self._knowing.living.items()):
                known = self._knowing.projection(runtime.id)
                if known is None or known.state.since is None:
                    continue
                try:
                    await self.look(pane, known.state, known.state.since)
                except StorageError as error:
                    log.warning("pane %d could not be minded: %s", pane, error.message)

    async def look(self, pane: PaneId, state: AgentState, since: int) -> None:
        """Whether an agent that is in this state since then is in trouble."""
        now, patience = self._clock.now(), self._parts.settings.workflow_unstick_after
        if state.value == "running" and patience and now - since >= patience * NS:
            moved = max(since, await self._moved_at(pane))
            if now - moved >= patience * NS:
                await self._tell(_stuck(state, moved, now))
        if state.value == "waiting_approval" and now - since >= _UNHEARD * NS and not await self._is_asked(pane, since):
            await self._tell(_unanswered(state, since, now))

    async def _moved_at(self, pane: PaneId) -> int:
        """When something new was printed, shown or said; a spinner that turns is nothing new."""
        lines = await self._store.output.lines(pane, limit=1)
        shown, said = await self._store.sightings.newest_at(pane), await self._store.utterances.newest_at(pane)
        return max(shown, said, *(line.at for line in lines), 0)

    async def _is_asked(self, pane: PaneId, since: int) -> bool:
        """Whether anybody was asked about this pane in this stretch, whatever they said."""
        questions = [*await self._store.approvals.list(), *await self._store.approvals.list(is_open=False)]
        return any(one.pane == pane and (one.state == "open" or one.at >= since - _AROUND) for one in questions)

    async def _tell(self, found: Detection) -> None:
        if found.key in self._told:
            return
        for event in await self._store.detections.add([found]):
            self._parts.chronicle.news.publish(event)
        if len(self._told) >= _REMEMBERED:
            self._told.clear()
        self._told.add(found.key)


def _crashed(event: Event, ending: Ending, why: str, session: AgentSession | None) -> Detection:
    runtime = RuntimeId(int(event.data["runtime"] or 0))
    told = {"why": why, "session_id": session.external_id if session is not None else ""}
    code = "" if ending.exit_code is None else str(ending.exit_code)
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
        cooldown=_A_DAY,
    )


def _stuck(state: AgentState, moved: int, now: int) -> Detection:
    minutes = {"minutes": f"{(now - moved) / NS / 60:.0f}"}
    found = _of_state(state, "agent.stuck", moved, now)
    return replace(found, captures=minutes)


def _unanswered(state: AgentState, since: int, now: int) -> Detection:
    return _of_state(state, "agent.unanswered", since, now)


def _of_state(state: AgentState, kind: str, since: int, now: int) -> Detection:
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
        cooldown=_A_DAY,
    )
