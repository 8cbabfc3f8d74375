"""How the calls of a live run are answered: by its journal as far as that goes, then by the world.

Invariant: a step is on record before it is taken, and its outcome before the workflow hears of it.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from termvisor.clock import NS, Clock
from termvisor.errors import Conflict, Diverged, NotDone, StorageError, VisorError
from termvisor.model.workflow.run import Run, RunId, Step
from termvisor.workflows.calls import Act, Call, Came, Deed, Met, Retry, SendTo
from termvisor.workflows.engine.journal_replay import (
    Begun,
    Fresh,
    Known,
    error_text,
    given_of,
    kind_of,
    left_over,
    meet,
    name_of,
    read,
    written,
)

PASSING = frozenset(
    {
        "copy_mode",
        "human_typing",
        "input_not_empty",
        "mux_error",
        "not_at_prompt",
        "rate",
        "recent_gap",
        "reserved",
        "stale_snapshot",
    }
)
"""Reasons against an act that may pass by themselves: it is tried again, within its budget."""


MOST_STEPS = 2000
"""In one run: a loop without an end would fill the disk."""


class Journal(Protocol):
    async def put(self, run: RunId, step: Step) -> None:
        """On disk when it returns."""


class Going(Struct, frozen=True, kw_only=True):
    """A step on its way. ``is_resumed``: an earlier daemon began it, and may have done it."""

    run: Run
    step: Step
    is_resumed: bool = False
    so_far: str = ""
    """What was noted when it began."""


class Last(Struct, frozen=True, kw_only=True):
    """The newest act of the run: what was printed after it is its answer."""

    line: int | None = None
    text: str = ""
    at: int = 0
    signal: int = 0
    """The newest signal that was waited for and came."""


class Means(Protocol):
    """What carries a step out."""

    async def prepare(self, run: Run, call: Call, last: Last) -> str:
        """What must be noted when a step begins, so that it can be gone on with."""

    async def take(self, call: Call, going: Going) -> Came:
        """Do it; raises what the workflow is to hear."""


class Journaled:
    """``begins`` and ``ends`` are told around every step that is really taken."""

    def __init__(self, run: Run, steps: Sequence[Step], journal: Journal, means: Means, clock: Clock):
        self._run, self._steps, self._journal = run, list(steps), journal
        self._means, self._clock = means, clock
        self._number = 0
        self.first = 0
        """The number of its first step; the cleanup's come after the work's."""
        self._is_busy = False
        self._last = Last()
        self.closed: VisorError | None = None
        """Why nothing more is answered."""
        self.begins: Callable[[Call], Awaitable[None]] | None = None
        self.ends: Callable[[Call], Awaitable[None]] | None = None

    async def do(self, call: Call) -> Came:
        if self.closed is not None:
            await asyncio.sleep(0)  # one that asks again and again keeps nobody else from their work
            raise self.closed
        if self._is_busy:
            why = f"a run wants one thing at a time: step {self._number} was wanted before the one before it was over"
            raise self._close(Diverged(why, details={"step": self._number}))
        if self._number >= MOST_STEPS:
            raise self._close(Conflict(f"a run ends after {MOST_STEPS} steps"))
        self._is_busy = True
        try:
            return await self._answer(call)
        except (Diverged, StorageError) as error:
            raise self._close(error) from error
        finally:
            self._is_busy = False

    def finish(self) -> None:
        """The work is over. Raises ``Diverged`` where the journal knows more steps."""
        if self.closed is not None:
            raise self.closed
        if (error := left_over(self._steps, self._number)) is not None:
            raise self._close(error)

    async def skip(self, why: str) -> None:
        """The step under way, if there is one, is left as it is."""
        step = next((one for one in self._steps if one.status in ("running", "retry")), None)
        if step is not None:
            await self._put(replace(step, status="skipped", why=why, ended_at=self._clock.now()))

    @property
    def met(self) -> int:
        """How many steps there are by now."""
        return len(self._steps)

    def close(self, why: str) -> None:
        self.closed = self.closed or Diverged(why)

    def _close(self, error: VisorError) -> VisorError:
        self.closed = self.closed or error
        return self.closed

    async def _answer(self, call: Call) -> Came:
        found = meet(self._steps, self._number, call)
        self._number += 1
        if isinstance(found, Known):
            came = self._heard(found)
        else:
            came = await self._told(call, found)
        self._remember(call, came)
        return came

    def _heard(self, found: Known) -> Came:
        if found.error is not None:
            raise found.error
        if found.came is None:
            raise Diverged("a step without an answer")
        return found.came

    async def _told(self, call: Call, found: Fresh | Begun) -> Came:
        if self.begins is not None:
            await self.begins(call)
        try:
            came = await self._tries(call, await self._begin(call, found))
        except VisorError:
            await self._over(call)
            raise
        await self._over(call)
        return came

    async def _over(self, call: Call) -> None:
        if self.ends is not None:
            await self.ends(call)

    async def _begin(self, call: Call, found: Fresh | Begun) -> Going:
        if isinstance(found, Begun):
            return Going(run=self._run, step=found.step, is_resumed=True, so_far=found.step.came)
        step = Step(
            number=self.first + found.number,
            kind=kind_of(call),
            name=name_of(call),
            given=given_of(call),
            came=await self._means.prepare(self._run, call, self._last),
            at=self._clock.now(),
        )
        await self._put(step)
        return Going(run=self._run, step=step, so_far=step.came)

    async def _tries(self, call: Call, going: Going) -> Came:
        """Until it is done, or the budget for trying again is spent."""
        retry = call.retry if isinstance(call, Act) else Retry(times=1)
        while True:
            if going.step.status == "retry":
                going = await self._again(going, retry)
            try:
                came = await self._means.take(call, going)
            except StorageError:
                raise
            except NotDone as error:
                if error.why not in PASSING or going.step.attempt >= retry.times:
                    raise await self._failed(going.step, error) from error
                waiting = replace(going.step, status="retry", why=f"{error.why}: {error.message}")
                await self._put(waiting)
                going = replace(going, step=waiting, is_resumed=False)
            except VisorError as error:
                raise await self._failed(going.step, error) from error
            else:
                return await self._done(call, going.step, came)

    async def _again(self, going: Going, retry: Retry) -> Going:
        """The back-off, then the next attempt: it is on record before it is made, and has a key of its own."""
        await self._clock.sleep(retry.delay(going.step.attempt))
        step = replace(going.step, status="running", attempt=going.step.attempt + 1)
        await self._put(step)
        return replace(going, step=step, is_resumed=False)

    async def _done(self, call: Call, step: Step, came: Came) -> Came:
        """What the workflow sees is what the journal will tell it again."""
        text = written(came)
        await self._put(replace(step, status="completed", came=text, ended_at=self._clock.now()))
        return read(call, text)

    async def _failed(self, step: Step, error: VisorError) -> VisorError:
        ended = replace(step, status="failed", came=error_text(error), why=error.message, ended_at=self._clock.now())
        await self._put(ended)
        return error

    async def _put(self, step: Step) -> None:
        await self._journal.put(self._run.id, step)
        self._steps[step.number - self.first : step.number - self.first + 1] = [step]

    def _remember(self, call: Call, came: Came) -> None:
        if isinstance(call, Act) and isinstance(came, Deed):
            text = call.wish.text if isinstance(call.wish, SendTo) else ""
            self._last = replace(self._last, line=came.line, text=text, at=came.at)
        elif isinstance(came, Met) and came.what == "signal":
            self._last = replace(self._last, signal=came.event or 0)


def left(going: Going, seconds: float, now: int) -> float:
    """How long a step that may take so many seconds still may, by the journal's own time.

    A clock that was set back gives it no more than that; one that was set on ends it early.
    """
    return min(seconds, max(0.0, seconds - (now - going.step.at) / NS))
