"""Workflows in the daemon: what the engine stands on, and what operations see of it."""

import asyncio
import os
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from termvisor.bus import Bus, Subscription
from termvisor.clock import NS
from termvisor.daemon.components import Parts
from termvisor.daemon.workflows.code_search import LiveCode
from termvisor.daemon.workflows.file_warnings import doubts
from termvisor.daemon.workflows.pane_observer import LiveSight
from termvisor.daemon.workflows.preferences import LivePreferences
from termvisor.daemon.workflows.sessions import LiveConversations
from termvisor.errors import Conflict, NoWorkflow, Refused
from termvisor.model.action.action import Action, Actor
from termvisor.model.action.audit import AuditEntry, AuditFilter
from termvisor.model.action.delivery import Send
from termvisor.model.action.outcome import Outcome
from termvisor.model.action.preconditions import Terms
from termvisor.model.action.verdict import Verdict
from termvisor.model.detection.detection import Detection, DetectionFilter, Handling
from termvisor.model.event import Event
from termvisor.model.ids import EventId, PaneId
from termvisor.model.settings.workflows import mode_of
from termvisor.model.workflow.info import Rehearsed, RunChange, WorkflowInfo, WorkflowTrouble
from termvisor.model.workflow.run import Mode, Run, RunFilter, RunId, RunSignal, Step
from termvisor.ops.api.services import Watched
from termvisor.store.tables.workflow_runs import Runs
from termvisor.workflows.account_failover import Failover
from termvisor.workflows.calls import Ask
from termvisor.workflows.engine.dependencies import Ground
from termvisor.workflows.engine.dry_run import Rehearsal, rehearse
from termvisor.workflows.engine.engine import Engine
from termvisor.workflows.engine.services import Around
from termvisor.workflows.registry import Shelf
from termvisor.workflows.trigger_match import Chosen, choose, run_for
from termvisor.workflows.workflow import Workflow

if TYPE_CHECKING:
    from termvisor.daemon.services.gate import Behind

FOLDER = "workflows"
_BACK = 200
"""How many of a pane's detections are looked through for one that a workflow answers."""


class LiveDetected:
    def __init__(self, parts: Parts):
        self._found, self._events, self._news = parts.store.detections, parts.store.events, parts.chronicle.news

    async def unhandled(self, after: int) -> Sequence[Detection]:
        return await self._found.unhandled(after)

    async def since(self, pane: PaneId, at: int) -> Sequence[Detection]:
        return await self._found.list(DetectionFilter(pane=pane, since=at, limit=_BACK))

    async def one(self, event: EventId) -> Detection | None:
        return await self._found.one(event)

    async def handle(self, event: EventId, handling: Handling) -> None:
        await self._found.handle(event, handling)

    async def newest(self) -> EventId:
        return EventId(await self._events.newest())

    def news(self) -> AbstractContextManager[Subscription[Event]]:
        return self._news.subscribe()


class LiveHands:
    """What stands behind the door is loaded when a run acts for the first time."""

    def __init__(self, parts: Parts, behind: "Callable[[], Behind]"):
        self._store, self._behind = parts.store, behind

    async def do(self, action: Action, actor: Actor, terms: Terms) -> Outcome:
        return await self._behind().gate.do(action, actor, terms)

    async def try_out(self, action: Action, actor: Actor, terms: Terms) -> tuple[Verdict, str]:
        verdict, refused, _ = await self._behind().gate.try_out(action, actor, terms)
        return verdict, refused.text if refused else ""

    async def story(self, correlation: str) -> list[AuditEntry]:
        return await self._store.audit.list(only=AuditFilter(correlation=correlation))

    async def send(self, key: str) -> Send | None:
        return await self._store.sends.one(key)

    async def withdraw(self, correlation: str) -> None:
        for question in await self._store.approvals.list():
            if f"{question.correlation}.".startswith(f"{correlation}."):
                withdrawn = await self._store.approvals.withdraw(question.id)
                self._behind().inbox.news.publish(withdrawn or question)


class LiveWords:
    def __init__(self, runs: Runs, bus: Bus[RunSignal]):
        self._runs, self._bus = runs, bus

    async def said(self, run: int) -> list[RunSignal]:
        return await self._runs.signals(RunId(run))

    def news(self) -> AbstractContextManager[Subscription[RunSignal]]:
        return self._bus.subscribe()


class LiveModes:
    def __init__(self, parts: Parts, shelf: Shelf):
        self._parts, self._shelf = parts, shelf

    def of(self, workflow: str) -> Mode:
        found = self._shelf.find(workflow)
        return "off" if found is None else mode_of(self._parts.settings.workflow_modes, workflow, found.mode)


class LiveRuns:
    """``engine`` runs for as long as the daemon does."""

    def __init__(self, parts: Parts, world: Watched, behind: "Callable[[], Behind]", failover: Failover):
        self._parts, self._runs, self._clock = parts, parts.store.runs, parts.clock
        self._shelf = Shelf(f"{parts.places.config_dir}/{FOLDER}")
        words: Bus[RunSignal] = Bus()
        self._around = Around(
            sight=LiveSight(world, parts.clock),
            detected=LiveDetected(parts),
            hands=LiveHands(parts, behind),
            words=LiveWords(parts.store.runs, words),
            modes=LiveModes(parts, self._shelf),
            preferences=LivePreferences(parts),
            conversations=LiveConversations(parts),
            code=LiveCode(),
            clock=parts.clock,
            failover=failover,
        )
        ground = Ground(
            runs=parts.store.runs,
            around=self._around,
            shelf=self._shelf,
            clock=parts.clock,
            words=words,
            questions=parts.questions,
            events=parts.chronicle.news,
            most=lambda: parts.settings.workflow_max_concurrent,
        )
        self.engine = Engine(ground)
        self.recovered = asyncio.Event()
        """Set once the sends that an earlier daemon left open were looked at."""

    async def run(self) -> None:
        """Begins once the panes are known, and once it is known what became of texts that were on their way."""
        await self._parts.lookout.has_looked.wait()
        await self.recovered.wait()
        await self.engine.run()

    def workflows(self) -> tuple[Sequence[WorkflowInfo], Sequence[WorkflowTrouble]]:
        rules = self._parts.ruling.telling
        found = [
            replace(_info(one, self._around.modes.of(one.name)), doubts=doubts(one.names, rules))
            for one in self._shelf.all()
        ]
        return found, [WorkflowTrouble(file=one.file, why=one.why, name=one.name) for one in self._shelf.troubles]

    def answering(self, found: Detection) -> str | None:
        chosen = choose(found, self._shelf.all(), self._around.modes.of, self._clock.now())
        return chosen.workflow.name if chosen is not None else None

    async def list(self, only: RunFilter, limit: int = 20) -> list[Run]:
        return await self._runs.list(only, limit)

    async def one(self, number: RunId) -> tuple[Run, Sequence[Step]]:
        found = await self._runs.one(number)
        if found is None:
            raise NoWorkflow(f"there is no run {number}")
        return found, await self._runs.steps(number)

    async def begin(self, workflow: str, pane: PaneId, actor: Actor, *, force: bool = False) -> Run:
        found = self._found(workflow)
        if self._around.modes.of(workflow) == "off":
            raise Refused(f"{workflow} is off", hint=f"`visor config set workflow_modes {workflow}=ask` lets it run.")
        return await self.engine.begin(await self._run(found, pane, actor, force=force))

    async def rehearse(self, workflow: str, pane: PaneId) -> tuple[Sequence[Rehearsed], str]:
        found, now, mode = self._found(workflow), self._clock.now(), self._around.modes.of(workflow)
        trigger = await self._seen(found, pane)
        run = await self._forced(found, pane) if trigger is None else run_for(trigger, Chosen(found), mode, now)
        rehearsal = Rehearsal(run, self.engine.steps, self._around.hands, self._clock)
        ending = await rehearse(found, rehearsal, run, trigger)
        return ending.steps, ending.why

    async def change(self, number: RunId, change: RunChange, actor: Actor) -> Run:
        by = f"{actor.kind}:{actor.uid}"
        if change.kind == "cancel":
            return await self.engine.cancel(number, change.word or f"cancelled by {by}", by)
        if change.kind == "pause":
            return await self.engine.pause(number, change.word)
        if change.kind == "resume":
            return await self.engine.resume(number, by)
        if actor.kind != "human" and change.word in await self._choices(number):
            raise Refused("only a person may answer that question", hint="Answer it at a terminal: `visor inbox`.")
        return await self.engine.signal(number, change.word, change.value, by)

    async def _choices(self, number: RunId) -> Sequence[str]:
        """Of the question to a person that the run waits in."""
        steps = await self._runs.steps(number)
        asked = [step for step in steps[-1:] if step.kind == "ask_person" and step.status == "running"]
        return msgspec.json.decode(asked[0].given, type=Ask).choices if asked else ()

    def _found(self, name: str) -> Workflow:
        found = self._shelf.find(name)
        if found is None:
            raise NoWorkflow(f"there is no workflow {name!r}")
        return found

    async def _run(self, workflow: Workflow, pane: PaneId, actor: Actor, *, force: bool) -> Run:
        origin = "person" if actor.kind == "human" else "robot"
        if force or not workflow.trigger.events:
            return replace(await self._forced(workflow, pane), origin=origin)
        trigger = await self._seen(workflow, pane)
        if trigger is None:
            raise Conflict(
                f"nothing that {workflow.name} answers was seen in pane {pane} lately",
                hint="`--force` starts it all the same; policy and guards hold as ever.",
            )
        mode = self._around.modes.of(workflow.name)
        return replace(run_for(trigger, Chosen(workflow), mode, self._clock.now()), origin=origin)

    async def _forced(self, workflow: Workflow, pane: PaneId) -> Run:
        """Without anything that started it, for whoever is in the pane."""
        seen = await self._around.sight.observe(pane, 0)
        bare = _bare(workflow, pane, self._clock.now(), self._around.modes.of(workflow.name))
        return replace(bare, runtime=seen.runtime, agent=seen.agent)

    async def _seen(self, workflow: Workflow, pane: PaneId) -> Detection | None:
        """The newest thing in the pane that it answers."""
        since = self._clock.now() - int(workflow.trigger.fresh_for * NS)
        fitting = [one for one in await self._around.detected.since(pane, since) if workflow.trigger.fits(one)]
        return fitting[-1] if fitting else None


def _bare(workflow: Workflow, pane: PaneId, now: int, mode: Mode) -> Run:
    return Run(
        workflow=workflow.name,
        version=workflow.version,
        pane=pane,
        at=now,
        status="waiting",
        why="it waits for its turn",
        correlation=os.urandom(8).hex(),
        mode=mode,
    )


def _info(workflow: Workflow, mode: Mode) -> WorkflowInfo:
    trigger = workflow.trigger
    return WorkflowInfo(
        name=workflow.name,
        version=workflow.version,
        summary=workflow.summary,
        origin=workflow.origin,
        mode=mode,
        events=trigger.events,
        agents=trigger.agents,
        rules=trigger.rules,
        severity=trigger.severity,
        fresh_for=trigger.fresh_for,
        priority=workflow.priority,
        timeout=workflow.timeout,
        takes_pane=workflow.takes_pane,
        steps=workflow.steps,
    )
