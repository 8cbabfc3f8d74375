"""What workflows stand on, in memory: a pane that answers as the test says, a gate that counts, a journal that may end.

A daemon that is killed is one whose journal stops: nothing that comes after is stored or done. The gate and the record
are the world's, and outlive it.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from msgspec.structs import replace

from termvisor.bus import Bus, Subscription
from termvisor.errors import NotFound, VisorError
from termvisor.model.action.action import Action, Actor, kind_of
from termvisor.model.action.approval import Approval
from termvisor.model.action.audit import AuditEntry
from termvisor.model.action.audit import Stage as AuditStage
from termvisor.model.action.delivery import Send
from termvisor.model.action.outcome import Outcome, RunIt
from termvisor.model.action.preconditions import Terms
from termvisor.model.action.verdict import Reason, Verdict, strictest
from termvisor.model.detection.detection import Detection, Handling
from termvisor.model.event import Event, Scalar
from termvisor.model.ids import EventId, PaneId, SessionId
from termvisor.model.terminal.output import Line
from termvisor.model.terminal.pane import PaneView
from termvisor.model.workflow.run import Mode, Run, RunFilter, RunId, RunSignal, Step
from termvisor.testing.world import MemoryWorld, StillClock, shell
from termvisor.workflows.account_failover import Failover, NoFailover
from termvisor.workflows.calls import CodeFound, Conversation, LastSession, Observation, Preferred
from termvisor.workflows.engine.dependencies import Ground
from termvisor.workflows.engine.engine import Engine
from termvisor.workflows.engine.services import Around, Runs, Stir
from termvisor.workflows.registry import Shelf
from termvisor.workflows.workflow import Workflow


class Mortal:
    """A journal whose daemon dies at its nth write: right before it, or right after. A dead process goes no further."""

    def __init__(self, runs: Runs, nth: int | None = None, *, after: bool = False):
        self._runs, self._nth, self._after = runs, nth, after
        self.writes = 0
        self.busy = 0
        """Calls that are not answered yet: a disk takes its time, whatever the test's clock shows."""
        self.dead = asyncio.Event()

    def __getattr__(self, name: str) -> Any:
        real = getattr(self._runs, name)
        return self._counted(self._mortal(real) if name in ("add", "offered", "save", "put") else real)

    def _counted(self, real: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        async def call(*given: Any) -> Any:
            self.busy += 1
            try:
                return await real(*given)
            finally:
                self.busy -= 1

        return call

    def _mortal(self, real: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        async def write(*given: Any) -> Any:
            self.writes += 1
            is_last = self.writes == self._nth
            if self.dead.is_set() or (is_last and not self._after):
                await self.die()
            came = await real(*given)
            if is_last:
                await self.die()
            return came

        return write

    async def die(self) -> None:
        self.dead.set()
        await asyncio.Event().wait()


class MemoryRuns:
    """The store's `Runs`, as lists."""

    def __init__(self) -> None:
        self.kept: dict[RunId, Run] = {}
        self.journal: dict[RunId, dict[int, Step]] = {}
        self.said: list[RunSignal] = []
        self.at_event: EventId | None = None

    async def add(self, run: Run, cursor: EventId | None = None) -> Run | None:
        is_known = run.event is not None and any(
            (one.workflow, one.event) == (run.workflow, run.event) for one in self.kept.values()
        )
        self.at_event = cursor if cursor is not None else self.at_event
        if is_known:
            return None
        added = replace(run, id=RunId(len(self.kept) + 1))
        self.kept[added.id] = added
        return added

    async def offered(self, cursor: EventId) -> None:
        self.at_event = cursor

    async def cursor(self) -> EventId | None:
        return self.at_event

    async def save(self, run: Run) -> None:
        if self.kept[run.id].ended_at is None:
            self.kept[run.id] = run

    async def put(self, run: RunId, step: Step) -> None:
        self.journal.setdefault(run, {})[step.number] = step

    async def say(self, signal: RunSignal) -> RunSignal:
        said = replace(signal, id=len(self.said) + 1)
        self.said.append(said)
        return said

    async def signals(self, run: RunId) -> list[RunSignal]:
        return [one for one in self.said if one.run == run]

    async def one(self, run: RunId) -> Run | None:
        return self.kept.get(run)

    async def steps(self, run: RunId) -> list[Step]:
        return [step for _, step in sorted(self.journal.get(run, {}).items())]

    async def open(self) -> list[Run]:
        return [run for run in self.kept.values() if run.ended_at is None]

    async def list(self, only: RunFilter, limit: int = 20) -> list[Run]:
        fits = [run for run in self.kept.values() if only.workflow in (None, run.workflow)]
        fits = [run for run in fits if only.pane in (None, run.pane) and run.at >= (only.since or 0)]
        return [run for run in fits if not only.statuses or run.status in only.statuses][-limit:]


class MemorySight:
    """``answers`` are printed by the pane after each text that is typed into it."""

    def __init__(self, world: MemoryWorld):
        self._world = world
        self.seen: dict[PaneId, Observation] = {}
        self.stirs: Bus[PaneId] = Bus()

    def change(self, pane: PaneId, **facts: object) -> None:
        """Something about the pane is different now."""
        known = self.seen.get(pane) or Observation(at=0, pane=pane)
        self.seen[pane] = replace(known, **facts)
        self.stirs.publish(pane)

    async def view(self, pane: PaneId) -> PaneView | None:
        return await self._world.fleet.pane(pane)

    async def observe(self, pane: PaneId, lines: int) -> Observation:
        view = await self._world.fleet.pane(pane)
        if view is None or view.gone_at is not None:
            raise NotFound(f"pane {pane} no longer exists")
        found = await self._world.history.lines(pane, limit=lines) if lines else []
        now, last = self._world.clock.now(), view.last_output_at
        known = self.seen.get(pane) or Observation(at=now, pane=pane)
        quiet_for = None if last is None else (now - last) / 1e9
        texts = tuple(line.text for line in found)
        return replace(known, at=now, line=view.lines, lines=texts, quiet_for=quiet_for)

    async def lines(self, pane: PaneId, after: int) -> list[Line]:
        return await self._world.history.lines(pane, after=after, limit=100)

    @contextmanager
    def stir(self, pane: PaneId) -> Iterator[Stir]:
        with self.stirs.subscribe() as news, self._world.news.output() as output:
            yield _MemoryStir(self._world.clock, (news, output))


class _MemoryStir:
    def __init__(self, clock: StillClock, sources: Sequence[Subscription[PaneId]]):
        self._clock, self._sources = clock, sources

    async def next(self, seconds: float) -> None:
        async with asyncio.TaskGroup() as group:
            waits = [group.create_task(one.get()) for one in self._sources]
            nap = group.create_task(self._clock.sleep(seconds))
            await asyncio.wait([nap, *waits], return_when=asyncio.FIRST_COMPLETED)
            for task in (nap, *waits):
                task.cancel()


class MemoryDetected:
    def __init__(self) -> None:
        self.found: list[Detection] = []
        self.handled: dict[EventId, Handling] = {}
        self.bus: Bus[object] = Bus()

    def add(self, detection: Detection) -> Detection:
        stored = replace(detection, event=EventId(len(self.found) + 1))
        self.found.append(stored)
        self.bus.publish(stored)
        return stored

    async def unhandled(self, after: int) -> Sequence[Detection]:
        return [one for one in self.found if one.event > after and one.event not in self.handled]

    async def since(self, pane: PaneId, at: int) -> Sequence[Detection]:
        return [one for one in self.found if one.pane == pane and one.at >= at]

    async def one(self, event: EventId) -> Detection | None:
        return next((one for one in self.found if one.event == event), None)

    async def handle(self, event: EventId, handling: Handling) -> None:
        self.handled.setdefault(event, handling)

    async def newest(self) -> EventId:
        return EventId(len(self.found))

    def news(self) -> AbstractContextManager[Subscription[object]]:
        return self.bus.subscribe()


class MemoryHands:
    """A gate that keeps its record. ``done`` is what really happened; ``errors`` are raised by the next acts."""

    def __init__(self, clock: StillClock):
        self._clock = clock
        self.done: list[Action] = []
        self.terms: list[Terms] = []
        self.errors: list[VisorError] = []
        self.outcome = Outcome(status="delivered")
        self.after: Callable[[Action], None] = lambda _action: None
        self.record: list[AuditEntry] = []
        self.sends: dict[str, Send] = {}
        self.withdrawn: list[str] = []
        self.dies: Callable[[str], bool] = lambda _moment: False
        """Whether the daemon dies at this moment of an act: `intent`, `deed`, `outcome`."""
        self.hangs = False

    async def do(self, action: Action, actor: Actor, terms: Terms) -> Outcome:
        self.terms.append(terms)
        if self.hangs:
            await asyncio.Event().wait()
        if self.errors:
            raise self.errors.pop(0)
        await self._moment("intent", action, actor, terms)
        self.done.append(action)
        self.after(action)
        await self._moment("deed", action, actor, terms)
        await self._moment("outcome", action, actor, terms)
        return replace(self.outcome, correlation=terms.correlation)

    async def _moment(self, moment: str, action: Action, actor: Actor, terms: Terms) -> None:
        """On record first; then the daemon may die."""
        stages: dict[str, AuditStage] = {"intent": "intent", "outcome": "outcome"}
        if moment in stages:
            entry = AuditEntry(
                at=self._clock.now(),
                correlation=terms.correlation,
                stage=stages[moment],
                kind=kind_of(action),
                actor=actor,
                outcome=self.outcome.status if moment == "outcome" else "",
            )
            self.record.append(entry)
        if self.dies(moment):
            await asyncio.Event().wait()

    async def try_out(self, action: Action, actor: Actor, terms: Terms) -> tuple[Verdict, str]:
        return strictest((Reason(source="default", id="others.input", answer="ask"),)), ""

    async def story(self, correlation: str) -> list[AuditEntry]:
        return [one for one in self.record if one.correlation == correlation]

    async def send(self, key: str) -> Send | None:
        return self.sends.get(key)

    async def withdraw(self, correlation: str) -> None:
        self.withdrawn.append(correlation)


class MemoryWords:
    def __init__(self, runs: Runs, bus: Bus[RunSignal]):
        self._runs, self._bus = runs, bus

    async def said(self, run: int) -> list[RunSignal]:
        return await self._runs.signals(RunId(run))

    def news(self) -> AbstractContextManager[Subscription[RunSignal]]:
        return self._bus.subscribe()


class MemoryModes:
    def __init__(self) -> None:
        self.modes: dict[str, Mode] = {}

    def of(self, workflow: str) -> Mode:
        return self.modes.get(workflow, "on")


class MemoryPreferences:
    """What is set; without a word a switch is on."""

    def __init__(self) -> None:
        self.told = Preferred(values={"pause_on_limit": True, "auto_resume": True, "continue_prompt": "proceed."})

    def set(self, **values: Scalar) -> None:
        self.told = replace(self.told, values={**self.told.values, **values})

    async def of(self, names: Sequence[str], agent: str, view: PaneView | None) -> Preferred:
        return self.told


class MemoryConversations:
    """``known`` are those of the pane, the newest last."""

    def __init__(self) -> None:
        self.known: list[Conversation] = []

    async def last(self, pane: PaneId, wanted: LastSession) -> Conversation:
        fitting = [one for one in self.known if wanted.runtime in (None, one.runtime)]
        fitting = [one for one in fitting if wanted.session in ("", one.session)]
        return fitting[-1] if fitting else Conversation()

    async def keep(self, session: SessionId, external_id: str, tokens: dict[str, int]) -> Conversation:
        place = next(at for at, one in enumerate(self.known) if one.id == session)
        one = self.known[place]
        self.known[place] = replace(one, session=one.session or external_id, tokens={**tokens, **one.tokens})
        return self.known[place]


class MemoryCode:
    def __init__(self) -> None:
        self.found = CodeFound()
        self.asked: list[tuple[str, ...]] = []

    async def search(self, names: Sequence[str], folder: str, run_it: RunIt) -> CodeFound:
        self.asked.append(tuple(names))
        return self.found


class Scene:
    """A world with one pane, in which daemons come and go."""

    def __init__(self, *workflows: Workflow):
        self.world = MemoryWorld()
        self.clock = self.world.clock
        self.pane = self.world.pane(shell()).id
        self.runs = MemoryRuns()
        self.sight, self.detected = MemorySight(self.world), MemoryDetected()
        self.hands, self.modes = MemoryHands(self.clock), MemoryModes()
        self.preferences = MemoryPreferences()
        self.failover: Failover = NoFailover()
        self.conversations, self.code = MemoryConversations(), MemoryCode()
        self.shelf = Shelf("/nowhere", workflows)
        self.questions: Bus[Approval] = Bus()
        self.events: Bus[Event] = Bus()
        self.most = 3

    def engine(self, runs: Runs | None = None) -> Engine:
        """A daemon's; what it stands on is the same for all of them."""
        kept = runs or self.runs
        words: Bus[RunSignal] = Bus()
        around = Around(
            sight=self.sight,
            detected=self.detected,
            hands=self.hands,
            words=MemoryWords(kept, words),
            modes=self.modes,
            preferences=self.preferences,
            failover=self.failover,
            conversations=self.conversations,
            code=self.code,
            clock=self.clock,
        )
        return Engine(
            Ground(
                runs=kept,
                around=around,
                shelf=self.shelf,
                clock=self.clock,
                words=words,
                questions=self.questions,
                events=self.events,
                most=lambda: self.most,
            )
        )

    def find(self, type_: str = "session.compaction", **more: object) -> Detection:
        """A rule finds something in the pane."""
        found = Detection(
            at=self.clock.now(),
            type=type_,
            rule="claude.compaction",
            pane=self.pane,
            source="stream",
            context="compacted",
        )
        return self.detected.add(replace(found, **more))
