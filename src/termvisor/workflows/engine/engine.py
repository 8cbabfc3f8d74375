"""The engine: events become runs, runs become steps, and every run that was begun comes to an end.

What comes in: detections, and the wishes of people and programs. What goes out: runs in the store, news of them.
Invariant: an event is offered to the workflows once, whatever happens to the daemon in between; a pane is acted on by
one run at a time; what one run does wrong is its own affair.
"""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable
from contextlib import nullcontext
from functools import partial

from msgspec.structs import replace

from termvisor.bus import Bus
from termvisor.errors import Conflict, NotFound, NoWorkflow, StorageError, Unavailable, VisorError
from termvisor.log import logger
from termvisor.model.action.approval import Approval
from termvisor.model.detection.detection import Detection, Handling
from termvisor.model.event import Event
from termvisor.model.ids import PaneId
from termvisor.model.workflow.run import ENDED, Run, RunId, RunSignal
from termvisor.redaction import redact
from termvisor.workflows.calls import RESTING, Ask, Call, Pause, SleepUntil
from termvisor.workflows.engine.concurrency import Seat, Slots
from termvisor.workflows.engine.crash_loop import DEADLY, is_deadly
from termvisor.workflows.engine.dependencies import Ground
from termvisor.workflows.engine.journal_replay import End, kind_of
from termvisor.workflows.engine.run_task import STEP_FOR, Life, Stop, Tools
from termvisor.workflows.steps.act import story_of
from termvisor.workflows.steps.dispatch import Steps
from termvisor.workflows.steps.sleep import RESUME
from termvisor.workflows.trigger_match import choose, run_for
from termvisor.workflows.workflow import Workflow

_AGAIN_AFTER = 5.0
"""Seconds after which a run is lived again that could not be stored."""
CANCEL = "cancel"
PLANNED = "as planned"
"""Why a run is paused that paused itself."""
log = logger("workflow")


class Engine:
    def __init__(self, ground: Ground):
        self._ground, self._runs, self._clock = ground, ground.runs, ground.clock
        self.steps = Steps(ground.around)
        self._slots = Slots(ground.most)
        self.news: Bus[Run] = Bus()
        """Runs as they begin, change and end; each is stored before."""
        self._panes: defaultdict[PaneId, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._open: dict[RunId, Run] = {}
        self._lives: dict[RunId, Life] = {}
        self._seats: dict[RunId, Seat] = {}
        self._held: set[RunId] = set()
        """Those that a person paused: they do not live until a person says so."""
        self._again: set[RunId] = set()
        """Those that are to live once more as soon as the life that ends now has ended."""
        self._group: asyncio.TaskGroup | None = None
        self._tools: Tools

    async def run(self) -> None:
        """Until it is cancelled; runs that are open then go on with the next daemon."""
        async with asyncio.TaskGroup() as group:
            self._group, self._tools = group, self._tools_in(group)
            try:
                await self._patiently(self._revive)
                group.create_task(self._follow_questions())
                group.create_task(self._follow_panes())
                await self._feed()
            finally:
                self._group = None

    def _tools_in(self, group: asyncio.TaskGroup) -> Tools:
        clock, begins, ends = self._clock, self._begins, self._ends
        return Tools(group=group, journal=self._runs, means=self.steps, clock=clock, begins=begins, ends=ends)

    @property
    def open(self) -> list[Run]:
        """Runs that have not ended, as they stand."""
        return sorted(self._open.values(), key=lambda run: run.id)

    async def begin(self, run: Run) -> Run:
        """A run that a person or program wants. Raises ``NoWorkflow``."""
        if self._ground.shelf.find(run.workflow, run.version) is None:
            raise NoWorkflow(f"there is no workflow {run.workflow!r}")
        begun = await self._runs.add(run)
        if begun is None:
            raise Conflict(f"{run.workflow} has answered event {run.event} already")
        self._start(begun)
        return begun

    async def cancel(self, number: RunId, why: str, by: str) -> Run:
        """Raises ``NoWorkflow`` for no such run, ``Conflict`` for one that has ended."""
        run = await self._open_run(number)
        await self._say(run, CANCEL, why, by)
        self._held.discard(number)
        life = self._lives.get(number)
        if life is None and not await self._runs.steps(number):
            await self._ended(run, End(status="cancelled", why=why))
        elif life is None:
            self._start(run)  # it lives once more, to end
        elif life.is_ending:
            self._again.add(number)
        else:
            life.stop(Stop("cancel", why))
        return run

    async def pause(self, number: RunId, why: str) -> Run:
        """Hold it where it is. What it is doing right now is found out when it goes on."""
        held = f"held: {redact(why)}" if why else "held"
        run = replace(await self._open_run(number), status="paused", why=held, due_at=None, plan="")
        self._held.add(number)
        await self._save(run)
        if life := self._lives.get(number):
            life.stop(Stop("hold", why))
        return run

    async def resume(self, number: RunId, by: str) -> Run:
        """Go on: with what it was held in, or behind the pause that it is in."""
        run = await self._open_run(number)
        if number not in self._held:
            await self._say(run, RESUME, "", by)
            return run
        self._held.discard(number)
        run = replace(run, status="waiting", why="it waits for its turn")
        await self._save(run)
        if number in self._lives:
            self._again.add(number)
        else:
            self._start(run)
        return run

    async def signal(self, number: RunId, word: str, value: str, by: str) -> Run:
        run = await self._open_run(number)
        await self._say(run, word, value, by)
        return run

    async def _say(self, run: Run, word: str, value: str, by: str) -> None:
        signal = RunSignal(run=run.id, at=self._clock.now(), word=word, value=redact(value), by=by)
        self._ground.words.publish(await self._runs.say(signal))

    async def _open_run(self, number: RunId) -> Run:
        if number in self._open:
            return self._open[number]
        found = await self._runs.one(number)
        if found is None:
            raise NoWorkflow(f"there is no run {number}")
        if found.status not in ENDED:
            raise Unavailable("the runs that the last daemon left are not taken up yet", hint="Ask again in a moment.")
        raise Conflict(f"run {number} is {found.status}", hint=f"`visor workflow history {number}` tells how it went.")

    async def _revive(self) -> None:
        """Those that had begun go first: they may hold their panes."""
        left = [(run, await self._runs.steps(run.id)) for run in await self._runs.open()]
        for run, steps in sorted(left, key=lambda one: (not one[1], one[0].id)):
            self._open[run.id] = run
            if await is_deadly(self._runs, run, steps, self._clock.now()):
                log.error("run %d (%s) is held: %s", run.id, run.workflow, DEADLY)
                await self.pause(run.id, DEADLY)
                continue
            if run.status == "paused" and run.why != PLANNED and not await self._cancelled(run):
                self._held.add(run.id)
            else:
                self._start(run)

    async def _feed(self) -> None:
        """Every detection is offered once; the cursor moves in the same transaction in which its run begins."""
        with self._ground.around.detected.news() as news:
            while True:
                await self._patiently(self._offer_all)
                await news.get()
                news.drain()

    async def _offer_all(self) -> None:
        detected = self._ground.around.detected
        cursor = await self._runs.cursor()
        if cursor is None:  # on the very first start nothing of the past is answered
            cursor = await detected.newest()
            await self._runs.offered(cursor)
        while found := await detected.unhandled(cursor):
            for one in found:
                await self._offer(one)
                cursor = one.event

    async def _offer(self, found: Detection) -> None:
        modes, now = self._ground.around.modes, self._clock.now()
        chosen = choose(found, self._ground.shelf.all(), modes.of, now)
        if chosen is None:
            await self._runs.offered(found.event)
            return
        run = await self._runs.add(run_for(found, chosen, modes.of(chosen.workflow.name), now), found.event)
        if run is not None:
            self._start(run)

    def _start(self, run: Run) -> None:
        self._open[run.id] = run
        self.news.publish(run)
        if self._group is not None:
            self._group.create_task(self._live(run))

    async def _live(self, run: Run) -> None:
        """A run from its turn to its end; again where nothing could be stored."""
        number, workflow = run.id, self._ground.shelf.find(run.workflow)
        pane = run.pane if workflow is None or workflow.takes_pane else None
        async with nullcontext() if pane is None else self._panes[pane]:
            while number in self._open and number not in self._lives and number not in self._held:
                if await self._stretch(number):
                    await self._clock.sleep(_AGAIN_AFTER)
                elif number not in self._again:
                    return
                self._again.discard(number)

    async def _stretch(self, number: RunId) -> bool:
        """One life of a run; whether it must be lived again because nothing could be stored."""
        seat = self._seats[number] = Seat(self._slots)
        try:
            await seat.take()
            return await self._lived(number)
        except StorageError as error:
            log.warning("run %d waits: %s", number, error.message)
            return True
        except VisorError as error:
            log.error("run %d cannot go on: %s", number, error.message)
            await self._ended(self._open[number], End(status="failed", why=error.message))
            return False
        finally:
            seat.rest()
            self._lives.pop(number, None)
            self._seats.pop(number, None)

    async def _lived(self, number: RunId) -> bool:
        if (run := self._open.get(number)) is None:
            return False
        workflow = self._ground.shelf.find(run.workflow, run.version)
        if workflow is None:
            await self._ended(run, await self._lost(run))
            return False
        life = await self._life(run, workflow)
        if number not in self._open:
            return False  # it was cancelled in this moment
        self._lives[number] = life
        if not life.is_ending:
            await self._save(self._with(run, status="running", why="", due_at=None))
        end = await life.live(await self._runs.steps(number))
        if end is not None:
            await self._ended(self._open[number], end)
        elif number in self._held:
            await self._ground.around.hands.withdraw(story_of(run))  # it is asked anew when it goes on
        return life.is_stalled

    async def _lost(self, run: Run) -> End:
        """What it began with is no longer there; what it was at is left as it is."""
        steps = await self._runs.steps(run.id)
        why = self._ground.shelf.lost(run, steps)
        for step in steps:
            if step.status in ("running", "retry"):
                await self._runs.put(run.id, replace(step, status="skipped", why=why, ended_at=self._clock.now()))
        cancelled = await self._cancelled(run)
        return End(status="cancelled", why=cancelled) if cancelled else End(status="failed", why=why)

    async def _life(self, run: Run, workflow: Workflow) -> Life:
        trigger = None if run.event is None else await self._ground.around.detected.one(run.event)
        life = Life(run, workflow, trigger, self._tools)
        if why := await self._against(run, workflow):
            life.stop(Stop("cancel", why))
        return life

    async def _against(self, run: Run, workflow: Workflow) -> str:
        """Why a run should not go on, before it does."""
        if cancelled := await self._cancelled(run) or self._switched_off(run):
            return cancelled
        if run.pane is None:
            return ""
        try:
            seen = await self._ground.around.sight.observe(run.pane, 0)
        except NotFound as error:
            return "" if workflow.outlives_pane else error.message
        except VisorError:
            return ""  # its next step will find out
        is_other = run.runtime is not None and seen.runtime != run.runtime and not workflow.outlives_agent
        return "its agent ended" if is_other else ""

    def _switched_off(self, run: Run) -> str:
        return f"{run.workflow} is switched off" if self._ground.around.modes.of(run.workflow) == "off" else ""

    async def _cancelled(self, run: Run) -> str:
        """What was said when it was cancelled; empty where it was not."""
        said = [one.value or "it was cancelled" for one in await self._runs.signals(run.id) if one.word == CANCEL]
        return said[0] if said else ""

    async def _begins(self, run: Run, call: Call) -> None:
        if kind_of(call) not in RESTING:
            return
        if isinstance(call, Pause):
            plan = redact(call.plan)
            await self._save(self._with(run, status="paused", plan=plan, due_at=call.until, why=PLANNED))
            await self._handled(run, "paused, as planned")
        elif isinstance(call, SleepUntil):
            await self._save(self._with(run, status="waiting", due_at=call.at, why="it waits for a time"))
        elif isinstance(call, Ask):
            why = f"a person must say {' or '.join(call.choices)}: `visor inbox` asks"
            await self._save(self._with(run, status="waiting", why=why))
        self._rests(run.id)

    async def _ends(self, run: Run, call: Call) -> None:
        if kind_of(call) not in RESTING:
            return
        await self._seats[run.id].take()
        await self._save(self._with(run, status="running", due_at=None, plan="", why=""))

    def _rests(self, number: RunId) -> None:
        if seat := self._seats.get(number):
            seat.rest()

    def _with(self, run: Run, **changes: object) -> Run:
        return replace(self._open.get(run.id, run), **changes)

    async def _ended(self, run: Run, end: End) -> None:
        done = replace(run, status=end.status, why=end.why, due_at=None, plan="", ended_at=self._clock.now())
        if end.status == "completed":
            await self._handled(done, end.why or "completed")
        await self._runs.save(done)
        await self._ground.around.hands.withdraw(story_of(run))
        self._open.pop(run.id, None)
        self.news.publish(done)

    async def _handled(self, run: Run, action: str) -> None:
        if run.event is not None:
            by = f"workflow:{run.workflow}"
            handling = Handling(at=self._clock.now(), by=by, action=redact(action)[:200], run=run.id)
            await self._ground.around.detected.handle(run.event, handling)

    async def _save(self, run: Run) -> None:
        await self._runs.save(run)
        self._open[run.id] = run
        self.news.publish(run)

    async def _patiently(self, work: Callable[[], Awaitable[None]]) -> None:
        """Until it could be stored."""
        while True:
            try:
                return await work()
            except StorageError as error:
                log.warning("workflows wait: %s", error.message)
                await self._clock.sleep(_AGAIN_AFTER)

    async def _follow_questions(self) -> None:
        """A run whose act a person is asked about waits; the time that they take is not its own."""
        with self._ground.questions.subscribe() as news:
            while True:
                question = await news.get()
                for life in list(self._lives.values()):
                    if question.correlation.startswith(f"{story_of(life.run)}.") and question.kind != "ask_person":
                        await self._patiently(partial(self._asked, life, question))

    async def _asked(self, life: Life, question: Approval) -> None:
        number = life.run.id
        if question.state == "open":
            self._rests(number)
            life.extend(None)
            why = f"a person must allow what it wants to do (question {question.id})"
            await self._save(self._with(life.run, status="waiting", why=why))
        elif seat := self._seats.get(number):
            seat.press_in()
            life.extend(STEP_FOR)
            await self._save(self._with(life.run, status="running", why=""))

    async def _follow_panes(self) -> None:
        """Whose pane or agent is gone ends, and who is switched off."""
        with self._ground.events.subscribe() as news:
            while True:
                event = await news.get()
                if event.kind in ("pane_gone", "agent_ended") and event.pane is not None:
                    self._gone(event)
                if event.kind == "config_reloaded":
                    self._follow_modes()

    def _follow_modes(self) -> None:
        for life in list(self._lives.values()):
            if why := self._switched_off(life.run):
                life.stop(Stop("cancel", why))

    def _gone(self, event: Event) -> None:
        for life in list(self._lives.values()):
            if life.run.pane != event.pane:
                continue
            if event.kind == "pane_gone" and life.outlives_pane:
                continue
            if event.kind == "pane_gone":
                life.stop(Stop("cancel", f"pane {event.pane} no longer exists"))
            elif life.run.runtime is not None and not life.outlives_agent:
                life.stop(Stop("cancel", "its agent ended"))
