"""One stretch of a run in this daemon: its work from the first line on, against its journal; then, once, its cleanup.

The work runs in a task of its own, so that whatever it does, here it can be ended: when it hangs, when a person says
so, when its pane is gone. However it ends, that is one step in the journal, and what follows it is the cleanup's.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Literal

from msgspec import Struct

from termvisor.clock import Clock
from termvisor.errors import Diverged, NotDone, NotFound, StorageError, VisorError
from termvisor.log import logger
from termvisor.model.detection.detection import Detection
from termvisor.model.workflow.run import Run, Step
from termvisor.redaction import redact
from termvisor.workflows.calls import RESTING, Act, Call, WaitFor
from termvisor.workflows.context import Context, StepBack
from termvisor.workflows.engine.journal_replay import END, End, kind_of, spent, split, written
from termvisor.workflows.engine.journaled_calls import Journal, Journaled, Means
from termvisor.workflows.workflow import Work, Workflow

THINKS_FOR = 20.0
"""Seconds that a workflow may take between two steps."""
STEP_FOR = 120.0
"""Seconds that a step may take beyond what it may wait."""
CLEANS_FOR = 120.0
GIVES_UP_AFTER = 5.0
"""Seconds that a workflow which was told to end may take to do so."""
log = logger("workflow")


class Stop(Struct, frozen=True):
    """Why a life ends before its run does by itself. Only a ``cancel`` ends the run."""

    kind: Literal["cancel", "hold"]
    why: str


class Tools(Struct, frozen=True, kw_only=True):
    """``group`` is the engine's: work that does not end when it is told to must not keep its run from ending."""

    group: asyncio.TaskGroup
    journal: Journal
    means: Means
    clock: Clock
    begins: Callable[[Run, Call], Awaitable[None]]
    ends: Callable[[Run, Call], Awaitable[None]]


class Life:
    def __init__(self, run: Run, workflow: Workflow, trigger: Detection | None, tools: Tools):
        self.run, self._workflow, self._trigger, self._tools = run, workflow, trigger, tools
        self._stop: Stop | None = None
        self._stirred = asyncio.Event()
        self._deadline: float | None = None
        self._is_stalled = False
        self._left, self._began = workflow.timeout, 0.0

    @property
    def is_stalled(self) -> bool:
        """Nothing could be stored: it must be lived again later."""
        return self._is_stalled

    @property
    def is_ending(self) -> bool:
        return self._stop is not None

    @property
    def outlives_agent(self) -> bool:
        return self._workflow.outlives_agent

    @property
    def outlives_pane(self) -> bool:
        return self._workflow.outlives_pane

    def stop(self, stop: Stop) -> None:
        self._stop = self._stop or stop
        self._stirred.set()

    def extend(self, seconds: float | None) -> None:
        """The step under way may take so long from now on; None: as long as it likes."""
        self._deadline = None if seconds is None else self._tools.clock.monotonic() + seconds
        self._stirred.set()

    async def live(self, steps: Sequence[Step]) -> End | None:
        """How the run ended, its cleanup done; None when it was held or stalled, and is to be lived again."""
        work, end, cleaning = split(steps)
        if end is None:
            effects = self._effects(work)
            end = await self._worked(effects, spent(work))
            if end is None:
                return None
            number = effects.met
            if not await self._noted(effects, end, number):
                return None
        else:
            number = len(work)
        return end if await self._cleaned(cleaning, number + 1) else None

    def _effects(self, steps: Sequence[Step]) -> Journaled:
        tools = self._tools
        effects = Journaled(self.run, steps, tools.journal, tools.means, tools.clock)
        effects.begins, effects.ends = self._begins, self._ends
        return effects

    async def _worked(self, effects: Journaled, already: float) -> End | None:
        self.extend(THINKS_FOR)
        self._left = max(1.0, self._workflow.timeout - already)
        return await self._supervised(self._workflow.run, effects)

    async def _supervised(self, work: Work, effects: Journaled) -> End | None:
        task = self._tools.group.create_task(self._caught(work, effects))
        try:
            found = await self._watched(task)
            if found is None:
                return task.result()
            effects.close(found.why)
        finally:
            await self._ended(task)
        if found.kind == "hold":
            return None
        if found is self._stop:
            return End(status="cancelled", why=found.why)
        return End(status="failed", why=effects.closed.message if effects.closed else found.why)

    async def _ended(self, task: "asyncio.Task[End | None]") -> None:
        task.cancel()
        await asyncio.wait({task}, timeout=GIVES_UP_AFTER)
        if not task.done():
            log.error("the workflow %s does not end in run %d: it is left behind", self.run.workflow, self.run.id)

    async def _watched(self, task: "asyncio.Task[End | None]") -> Stop | None:
        """None once the work is over by itself; else why it has to end."""
        async with asyncio.TaskGroup() as group:
            while True:
                self._stirred.clear()
                if task.done():
                    return None
                if self._stop is not None:
                    return self._stop
                left = self._remains()
                if left is not None and left <= 0:
                    return Stop("cancel", "a step hung, or the run took longer than it may")
                naps: list[asyncio.Task[Any]] = [group.create_task(self._stirred.wait())]
                naps += [] if left is None else [group.create_task(self._tools.clock.sleep(left))]
                await asyncio.wait({task, *naps}, return_when=asyncio.FIRST_COMPLETED)
                for nap in naps:
                    nap.cancel()

    def _remains(self) -> float | None:
        return None if self._deadline is None else self._deadline - self._tools.clock.monotonic()

    async def _caught(self, work: Work, effects: Journaled) -> End | None:
        """Whatever a workflow raises ends its own run, and nothing else."""
        try:
            told = await work(Context(self.run, self._trigger, effects))
            effects.finish()
            return End(status="completed", why=redact(_told(told)))
        except StorageError as error:
            self._is_stalled = True
            log.warning("run %d waits: %s", self.run.id, error.message)
            return None
        except (
            Exception,
            KeyboardInterrupt,
            SystemExit,
            asyncio.CancelledError,
        ) as error:  # workflows are foreign code
            if is_cancelled(error):
                raise
            if isinstance(effects.closed, StorageError):
                self._is_stalled = True
                return None
            return _end_of(effects.closed or error, self.run)

    async def _noted(self, effects: Journaled, end: End, number: int) -> bool:
        """The end is a step; a step that was under way is skipped first."""
        now = self._tools.clock.now()
        step = Step(
            number=number, kind=END, name=end.status, came=written(end), status="completed", at=now, ended_at=now
        )
        try:
            await effects.skip(end.why)
            await self._tools.journal.put(self.run.id, step)
        except StorageError as error:
            self._is_stalled = True
            log.warning("run %d waits: %s", self.run.id, error.message)
            return False
        return True

    async def _cleaned(self, steps: Sequence[Step], first: int) -> bool:
        """Once: what it did already is answered by the journal. What goes wrong in it changes no end."""
        if self._workflow.cleanup is None:
            return True
        self._stop = None
        effects = self._effects(steps)
        effects.first = first
        self.extend(THINKS_FOR)
        self._left = CLEANS_FOR
        end = await self._supervised(self._workflow.cleanup, effects)
        if end is not None and end.status != "completed":
            log.warning("the cleanup of run %d (%s): %s", self.run.id, self.run.workflow, end.why)
        return end is not None

    async def _begins(self, call: Call) -> None:
        if kind_of(call) in RESTING:
            self.extend(None)
        else:
            waits = call.timeout if isinstance(call, WaitFor) else 0.0
            waits += _tries_for(call) if isinstance(call, Act) else 0.0
            self.extend(min(waits + STEP_FOR, self._left))
        self._began = self._tools.clock.monotonic()
        await self._tools.begins(self.run, call)

    async def _ends(self, call: Call) -> None:
        if kind_of(call) not in RESTING:
            self._left -= self._tools.clock.monotonic() - self._began
        self.extend(THINKS_FOR)
        await self._tools.ends(self.run, call)


def is_cancelled(error: BaseException) -> bool:
    """Whether somebody else ends the task that runs here; what a workflow raises by itself is its own end alone."""
    task = asyncio.current_task()
    return isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling() > 0


def _told(told: object) -> str:
    if told is not None and not isinstance(told, str):
        raise TypeError(f"a workflow gives back a text or nothing, not {type(told).__name__}")
    return told or ""


def _tries_for(call: Act) -> float:
    return sum(call.retry.delay(attempt) for attempt in range(1, call.retry.times)) + STEP_FOR * call.retry.times


def _end_of(error: BaseException, run: Run) -> End:
    if isinstance(error, StepBack):
        return End(status="cancelled", why=redact(str(error)))
    if isinstance(error, NotFound):
        return End(status="cancelled", why=error.message)
    if isinstance(error, NotDone) and (error.status, error.why) in _WISHED:
        return End(status="cancelled", why=error.message)
    if isinstance(error, Diverged | VisorError):
        return End(status="failed", why=redact(error.message))
    log.error("the workflow %s failed in run %d", run.workflow, run.id, exc_info=error)
    return End(status="failed", why=redact(f"{type(error).__name__}: {error}".removesuffix(": ")))


_WISHED = {("denied", "denied"), ("denied", "switched_off"), ("denied", "edited")}
"""Somebody wanted that it is not done."""
